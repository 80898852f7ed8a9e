#!/bin/sh
# bench/simulate_jags.sh tree|gmm|lgssm [REPEATS]: seconds per forward draw of JAGS, median:
#
#     jags tree 1.234e-04
#
# Nothing is observed, so JAGS draws from the prior. It skips nodes that nobody looks at: every array has a
# monitor, of type mean, the cheapest. Compilation does not count: what is timed is the difference
# between a long and a short run.
set -eu
model=$1 repeats=${2:-5}
root=$(cd "$(dirname "$0")/.." && pwd)
command -v jags >/dev/null || { echo "SKIPPED jags $model: jags is not installed" >&2; exit 0; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

case $model in
tree)  n=1023 draws=20000 vars="x"
       awk -v n=$n 'BEGIN { srand(1); printf "n <- %d\nw <-\nc(1", n
                            for (i = 2; i <= n; i++) printf ", %.3f", 0.5 + rand(); print ")" }' >"$dir/data.R" ;;
gmm)   draws=5000 vars="phi mu Omega z y"
       printf 'K <- 3\nN <- 200\n' >"$dir/data.R" ;;
lgssm) draws=10000 vars="x y"
       printf 'T <- 1000\na <- 0.9\nq <- 0.5\nr <- 1\n' >"$dir/data.R" ;;
*)     echo "simulate_jags.sh: no model is called '$model'" >&2; exit 2 ;;
esac

script() { # draws
    printf 'model in "%s"\ndata in "%s"\ncompile\ninitialize\n' "$root/tests/oracle/$model.bug" "$dir/data.R"
    for v in $vars; do printf 'monitor %s, type(mean)\n' "$v"; done
    printf 'update %d\n' "$1"
}
script 100 >"$dir/short"
script $((draws + 100)) >"$dir/long"

seconds() { # script
    start=$(date +%s.%N)
    jags "$1" >"$dir/log" 2>&1 || { cat "$dir/log" >&2; exit 1; }
    echo "$start $(date +%s.%N)" | awk '{ print $2 - $1 }'
}
i=0
while [ $i -lt "$repeats" ]; do
    a=$(seconds "$dir/short")
    b=$(seconds "$dir/long")
    echo "$a $b" | awk -v n=$draws '{ print ($2 - $1) / n }'
    i=$((i + 1))
done | sort -g | awk -v m="$model" '{ t[NR] = $1 } END { printf "jags %s %.4g\n", m, t[int((NR + 1) / 2)] }'
