#!/usr/bin/env bash
# The whole job before your eyes: real local models answer tasks, their rewards train a router, the router is judged
# and answers a question. No key, no GPU, no hub. Run it with `make quickstart`.
set -euo pipefail
cd "$(dirname "$0")/.."
fugu="${1:-.venv/bin}/fugu-lite"
work=runs/quickstart
rm -rf "$work" && mkdir -p "$work"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
do_() { printf '\033[2m$ fugu-lite %s\033[0m\n' "$*"; "$fugu" "$@"; }

say "1. What can this machine run?"
do_ weights fetch smollm2-135m
do_ doctor

say "2. Measure: every worker answers 30 fresh tasks, here and now"
do_ generate --workers configs/workers.local.yaml --tasks data/quickstart.tasks.jsonl \
  --output "$work/fresh.jsonl" --repetitions 1

say "3. Train on the committed snapshot plus the fresh rows: imitate, then reinforce, then evolve"
rows=(--data data/snapshot/rewards.jsonl --data "$work/fresh.jsonl")
do_ train-sft --config configs/train_sft.yaml "${rows[@]}" --output "$work/router-sft"
do_ train-rl --config configs/train_rl.yaml "${rows[@]}" --checkpoint "$work/router-sft" --output "$work/router-rl"
do_ train-es --config configs/train_es.yaml "${rows[@]}" --checkpoint "$work/router-rl" --output "$work/router-es"

say "4. Judge: does it beat always calling the best single worker, on tasks it never saw?"
for stage in sft rl es; do
  do_ evaluate --checkpoint "$work/router-$stage" "${rows[@]}" --split test --output "$work/router-$stage.json"
done

say "5. Use it: route a question, then let the chosen worker answer"
question="A baker sells 12 boxes with 6 rolls each. How many rolls is that?"
do_ route --checkpoint "$work/router-sft" --prompt "$question"
do_ ask --checkpoint "$work/router-sft" --workers configs/workers.local.yaml --prompt "$question"

cat <<TXT

Where to go next
  your own workers     cp configs/workers.openrouter.example.yaml configs/workers.yaml, then docs/how-to/openrouter.md
  your own tasks       docs/how-to/tasks.md: one JSON object per line, with a grader
  what the numbers say docs/concepts/evaluation.md
  serve it             $fugu serve --checkpoint $work/router-sft --workers configs/workers.local.yaml
TXT
