#!/bin/sh
# scripts/campaign.sh [SECONDS [EXECUTIONS]]: every fuzzer for SECONDS (20) of the clock, those of whole models and of arrays four times as long,
# round after round until all have together made so many executions (0: one round); then the faults of verify/faults.py in full: every call, every allocation, 500 signals.
# build/campaign keeps executions by target and what is done: after an interruption, the same command goes on; with FRESH=1 another
# run adds to it. FORMATS chooses fuzzers, PARTS faults (PARTS=: none). Inputs that fuzzing finds are kept in build-fuzz/corpus, and
# minimized. Ends with a summary: executions by target and the most memory that one took, faults by kind.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-20} executions=${2:-0} log=build/campaign
mkdir -p "$log"
[ -z "${FRESH:-}" ] || rm -f "$log"/*.done

# Target, executions, MiB at most.
table()
{
    for c in "$log"/fuzz-*.count; do
        [ -e "$c" ] || continue
        f=${c#"$log/fuzz-"}
        awk -v f="${f%.count}" '$1 == "rss" { if ($2 > rss) rss = $2; next } { n += $1 } END { print f, n, rss }' "$c"
    done | awk '{ print; n += $2 } END { print "all", n + 0, "" }'
}

fuzz()
{
    case $1 in nami | bugs | syntax | model | run | npy | records_idx | records_npy) time=$((4 * seconds)) ;; *) time=$seconds ;; esac
    BUILT=1 fuzz/run.sh "$time" "$1" >"$log/fuzz-$1.log" 2>&1 || { tail -n 40 "$log/fuzz-$1.log"; exit 1; }
    sed -n 's/^stat::number_of_executed_units: *\([0-9]*\)/\1/p; s/^stat::peak_rss_mb: *\([0-9]*\)/rss \1/p' \
        "$log/fuzz-$1.log" >>"$log/fuzz-$1.count"
    touch "$log/fuzz-$1.done"
}

# The smallest set of inputs with the same coverage.
minimize()
{
    mkdir -p "build-fuzz/minimal/$1"
    "build-fuzz/fuzz/fuzz_$1" -merge=1 "build-fuzz/minimal/$1" "build-fuzz/corpus/$1" "fuzz/corpus/$1" >/dev/null 2>&1 &&
        rm -rf "build-fuzz/corpus/$1" && mv "build-fuzz/minimal/$1" "build-fuzz/corpus/$1"
}

fuzz/run.sh --build ${FORMATS:-} >"$log/build.log" 2>&1 || { tail -n 40 "$log/build.log"; exit 1; }
while :; do
    for f in ${FORMATS:-$(fuzz/run.sh --list)}; do
        [ -e "$log/fuzz-$f.done" ] && continue
        echo "fuzz $f"
        fuzz "$f"
    done
    awk -v n="$(table | sed -n 's/^all //p')" -v all="$executions" 'BEGIN { exit n + 0 < all + 0 }' && break
    rm -f "$log"/fuzz-*.done
done
for f in ${FORMATS:-$(fuzz/run.sh --list)}; do minimize "$f"; done
for part in ${PARTS-calls outputs crash limits memory signals}; do
    [ -e "$log/$part.done" ] && continue
    echo "faults: $part"
    /usr/bin/python3 verify/faults.py build/nami build/tests/faulty.so $part >"$log/$part.log" 2>&1 || { cat "$log/$part.log"; exit 1; }
    touch "$log/$part.done"
done
{
    echo "target executions peak-MiB"
    table
    for part in calls outputs crash limits memory signals; do
        [ ! -e "$log/$part.log" ] || cat "$log/$part.log"
    done
} | tee "$log/summary.txt"
