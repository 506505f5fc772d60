#!/usr/bin/env bash
# Collects the snapshot and trains the committed heads again: about two hours on two cores, safe to kill and rerun.
# Attempts that are already there are kept; remove data/snapshot/rewards* first to ask every worker anew.
set -euo pipefail
cd "$(dirname "$0")/../.."
fugu="${1:-.venv/bin}/fugu-lite"
here=data/snapshot
"$fugu" weights fetch smollm2-135m
"$(dirname "$fugu")/python" $here/make_tasks.py
"$fugu" split --tasks $here/tasks.jsonl --output $here/tasks.jsonl
"$fugu" generate --workers configs/workers.local.yaml --tasks $here/tasks.jsonl --output $here/rewards.jsonl --resume
"$(dirname "$fugu")/python" $here/card.py
pools=("default:" "without-calculator:smol_direct,smol_steps,smol_fewshot")
for entry in "${pools[@]}"; do
  name="${entry%%:*}" columns="${entry#*:}"
  target=artifacts; [ "$name" = default ] || target="artifacts/$name"
  only=(); [ -z "$columns" ] || only=(--only-workers "$columns")
  data=(--data $here/rewards.jsonl "${only[@]}")
  "$fugu" train-sft --config configs/train_sft.yaml "${data[@]}" --output "$target/router-sft"
  "$fugu" train-rl --config configs/train_rl.yaml "${data[@]}" --checkpoint "$target/router-sft" --output "$target/router-rl"
  "$fugu" train-es --config configs/train_es.yaml "${data[@]}" --checkpoint "$target/router-rl" --output "$target/router-es"
  for stage in sft rl es; do
    "$fugu" evaluate --checkpoint "$target/router-$stage" "${data[@]}" --split test --output "$target/router-$stage/test_metrics.json"
  done
done
