#!/bin/sh
# scripts/campaign.sh [SECONDS]: every fuzzer for SECONDS (20), then the faults of verify/faults.py in full: every call, every
# allocation, 500 signals. What is done is noted in build/campaign and not done again: after an interruption, the same command goes
# on; another run with FRESH=1 adds to it. Inputs that fuzzing finds are kept in build-fuzz/corpus, and minimized.
# Ends with a summary: executions by target, faults by kind.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-20} log=build/campaign
mkdir -p "$log"
[ -z "${FRESH:-}" ] || rm -f "$log"/*.done
for f in $(fuzz/run.sh --list); do
    [ -e "$log/fuzz-$f.done" ] && continue
    echo "fuzz $f"
    fuzz/run.sh "$seconds" "$f" >"$log/fuzz-$f.log" 2>&1 || { tail -n 40 "$log/fuzz-$f.log"; exit 1; }
    sed -n 's/^stat::number_of_executed_units: *\([0-9]*\)/\1/p; s/^stat::peak_rss_mb: *\([0-9]*\)/rss \1/p' \
        "$log/fuzz-$f.log" >>"$log/fuzz-$f.count"
    mkdir -p "build-fuzz/minimal/$f" # the smallest set of inputs with the same coverage
    "build-fuzz/fuzz/fuzz_$f" -merge=1 "build-fuzz/minimal/$f" "build-fuzz/corpus/$f" "fuzz/corpus/$f" >/dev/null 2>&1 &&
        rm -rf "build-fuzz/corpus/$f" && mv "build-fuzz/minimal/$f" "build-fuzz/corpus/$f"
    touch "$log/fuzz-$f.done"
done
for part in calls crash limits memory signals; do
    [ -e "$log/$part.done" ] && continue
    echo "faults: $part"
    /usr/bin/python3 verify/faults.py build/nami build/tests/faulty.so $part >"$log/$part.log" 2>&1 || { cat "$log/$part.log"; exit 1; }
    touch "$log/$part.done"
done
{
    echo "target executions peak-MiB"
    for c in "$log"/fuzz-*.count; do
        f=${c#"$log/fuzz-"}
        awk -v f="${f%.count}" '$1 == "rss" { if ($2 > rss) rss = $2; next } { n += $1 } END { print f, n, rss }' "$c"
    done | awk '{ print; n += $2 } END { print "all", n, "" }'
    cat "$log"/calls.log "$log"/crash.log "$log"/limits.log "$log"/memory.log "$log"/signals.log
} | tee "$log/summary.txt"
