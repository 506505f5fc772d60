#!/usr/bin/env bash
# Collects the snapshot and trains the committed heads again. Takes about two hours on two cores; safe to kill and rerun.
set -euo pipefail
cd "$(dirname "$0")/../.."
fugu="${1:-.venv/bin}/fugu-lite"
here=data/snapshot
"$fugu" weights fetch smollm2-135m
"$fugu" generate --workers configs/workers.local.yaml --tasks $here/tasks.jsonl --output $here/rewards.jsonl --resume
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
