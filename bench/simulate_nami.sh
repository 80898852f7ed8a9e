#!/bin/sh
# bench/simulate_nami.sh MODEL THREADS: prints "nami-THREADS MODEL seconds-per-draw", the median of five
# runs inside one process.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
model=$1 threads=$2
run=$here/../build/bench/bench_simulate models=$here/../examples/models
w=$(mktemp --suffix=.json)
trap 'rm -f "$w"' EXIT
awk 'BEGIN { srand(1); printf "{\"w\":[1"; for (i = 2; i <= 1023; i++) printf ",%.3f", 0.5 + rand(); print "]}" }' >"$w"
case $model in
tree)  n=200000 opt="--set d=10 $w" ;;
gmm)   n=200000 opt="$models/gmm.json" ;;
lgssm) n=200000 opt="--set T=1000" ;;
*)     echo "no benchmark is called $model" >&2; exit 2 ;;
esac
# shellcheck disable=SC2086 # several options
t=$("$run" "$models/$model.nami" $n "$threads" $opt)
awk -v t="$t" -v n=$n -v m="$model" -v k="$threads" 'BEGIN { printf "nami-%s %s %.6g\n", k, m, t / n }'
