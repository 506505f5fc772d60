# Two commands for a newcomer: `make quickstart` and `make test`. Everything lives in .venv.
#
# TORCH_INDEX: a wheel index with CPU builds of torch, so that a laptop is not given a CUDA build, e.g.
#   make quickstart TORCH_INDEX=<address of the PyTorch CPU wheel index>

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TORCH_INDEX ?=
STAMP := $(VENV)/.installed

.PHONY: help setup quickstart test test-slow check format docs bench snapshot clean

help: ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: $(STAMP) ## make .venv with everything the other targets need

$(STAMP): pyproject.toml requirements/dev.txt requirements/torch.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) -r requirements/torch.txt
	$(BIN)/python -m pip install --quiet -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@

quickstart: setup ## the whole job before your eyes: collect, train, evaluate, route, ask
	@bash examples/quickstart.sh $(BIN)

test: setup ## all tests
	$(BIN)/fugu-lite weights fetch smollm2-135m
	$(BIN)/pytest

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

snapshot: setup ## collect and train the committed snapshot again
	bash data/snapshot/collect.sh $(BIN)

clean: ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis site
