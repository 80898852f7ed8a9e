#!/bin/sh
# fuzz/run.sh [SECONDS [FORMAT...]]: builds with the preset `fuzz` and runs every
# target (or those of the formats named) for so many seconds, 60 by default.
# --list prints their names.  Stops at the first crash, execution of more than 5 s or
# process of more than 2 GiB; the input stays in build-fuzz/.
set -eu
cd "$(dirname "$0")/.."
all="$(sed -n 's/^FORMAT(\([a-z0-9_]*\)).*/\1/p' src/io/format.def) values syntax model data npy npz rows safetensors request
    records_idx records_npy records_csv run"
if [ "${1:-}" = --list ]; then echo $all; exit; fi
seconds=${1:-60}
[ $# -gt 0 ] && shift
cmake --preset fuzz >/dev/null
[ $# -gt 0 ] || set -- $all
cmake --build build-fuzz -j "${JOBS:-2}" --target $(printf 'fuzz_%s ' "$@")
for f in "$@"; do
    found=build-fuzz/corpus/$f # what fuzzing finds; the seeds stay as they are
    mkdir -p "$found"
    opt=
    [ -f "fuzz/dict/$f.dict" ] && opt="-dict=fuzz/dict/$f.dict"
    # libcgraph leaks the half-made graph when it meets a syntax error.
    leaks=1
    [ "$f" = dot ] && leaks=0
    echo "== $f, $seconds s"
    ASAN_OPTIONS="detect_leaks=$leaks:${ASAN_OPTIONS:-}" "build-fuzz/fuzz/fuzz_$f" \
        -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048 -timeout=5 \
        -artifact_prefix="build-fuzz/$f-" -print_final_stats=1 $opt "$found" "fuzz/corpus/$f"
done
