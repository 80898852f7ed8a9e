#!/bin/sh
# fuzz/run.sh [SECONDS [FORMAT...]]: builds with the preset `fuzz` and runs every
# target (or those of the formats named) for so many seconds, 60 by default.
# --list prints their names, --build only builds; BUILT=1 runs what is built.  Stops at the first crash,
# execution of more than 5 s or process of more than 2 GiB; the input stays in build-fuzz/.
set -eu
cd "$(dirname "$0")/.."
all="$(sed -n 's/^FORMAT(\([a-z0-9_]*\)).*/\1/p' src/io/format.def) values syntax model data npy npz rows safetensors request
    records_idx records_npy records_csv run"
if [ "${1:-}" = --list ]; then echo $all; exit; fi
seconds=${1:-60}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- $all
if [ -z "${BUILT:-}" ]; then
    cmake --preset fuzz >/dev/null
    cmake --build build-fuzz -j "${JOBS:-2}" --target $(printf 'fuzz_%s ' "$@")
fi
[ "$seconds" = --build ] && exit
for f in "$@"; do
    found=build-fuzz/corpus/$f # what fuzzing finds; the seeds stay as they are
    mkdir -p "$found"
    opt=
    [ -f "fuzz/dict/$f.dict" ] && opt="-dict=fuzz/dict/$f.dict"
    echo "== $f, $seconds s"
    # Short stacks of allocations and a small quarantine: 512 MiB less, and up to twice as many executions.
    ASAN_OPTIONS="malloc_context_size=4:quarantine_size_mb=16:${ASAN_OPTIONS:-}" "build-fuzz/fuzz/fuzz_$f" \
        -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048 -timeout=5 \
        -artifact_prefix="build-fuzz/$f-" -print_final_stats=1 $opt "$found" "fuzz/corpus/$f"
done
