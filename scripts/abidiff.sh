#!/bin/bash
# scripts/abidiff.sh [REVISION]: compares the binary interface of nami.h with that of a revision (default: the last tag),
# type by type, by abidiff.  tests/abi.txt is the record that `make test` compares; this is the closer look before a
# release.  Only the files that define functions of nami.h are compiled, with debugging information.
# Exit code 0: programs that were built for the revision run with this one.
set -euo pipefail
cd "$(dirname "$0")/.."
revision=${1:-$(git describe --tags --abbrev=0)}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/old"
git archive "$revision" include src | tar -x -C "$dir/old"
interface() { # TREE LIBRARY
    (cd "$1" && grep -lE '^[a-z].*\bnami_[a-z0-9_]+\(' src/*/*.c src/*/*/*.c |
        xargs gcc -std=gnu11 -g -O0 -w -shared -fPIC -Iinclude -Isrc -I"$embedded" \
            $(pkg-config --cflags libcgraph libgvc jansson) -o "$2")
}
embedded=$PWD/build/embedded
interface "$dir/old" "$dir/old.so"
interface . "$dir/new.so"
code=0
abidiff --headers-dir1 "$dir/old/include" --headers-dir2 include --drop-private-types "$dir/old.so" "$dir/new.so" || code=$?
# bits of the exit code: 1 error, 2 usage, 4 changes, 8 incompatible changes
[ $((code & 3)) = 0 ] || exit 2
if [ $((code & 12)) = 0 ]; then
    echo "no change since $revision"
elif [ $((code & 8)) = 0 ]; then
    echo "changes since $revision: see docs/release.md for what they ask of the version number"
else
    echo "incompatible with $revision: functions were removed" >&2
    exit 1
fi
