#!/bin/bash
# test_pictures.sh NAMI: draws the example models again; every statement is in the picture of the
# model and in that of the inverse, and so it is in docs/models (the bytes differ with Graphviz).
set -u
nami=$(realpath "$1")
cd "$(dirname "$0")/.." || exit 1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0 done=0
no() { printf 'FAIL: %s\n' "$*"; failed=$((failed + 1)); }

texts() { sed -n 's/&#45;/-/g; s/^<text.*>\(.*\)<\/text>$/\1/p' "$1"; }

scripts/pictures.sh "$nami" "$tmp" || no 'pictures.sh'
for model in examples/models/*.nami; do
    name=$(basename "$model" .nami)
    for svg in "$tmp/$name.svg" "docs/models/$name.svg"; do
        [ -s "$svg" ] || { no "no $svg; run make pictures"; continue; }
        # left sides of ~, without comments and blanks
        while read -r label; do
            done=$((done + 1))
            n=$(texts "$svg" | grep -cxF -e "$label" -e "${label%%\[1:*}") # y[1:T] alone is just y
            [ "$n" = 2 ] || no "$svg: '$label' is there $n times, not 2; run make pictures"
        done < <(sed 's/#.*//; /~/!d; s/~.*//; s/ //g' "$model")
    done
    a=$(texts "$tmp/$name.svg" | sort) b=$(texts "docs/models/$name.svg" | sort)
    [ "$a" = "$b" ] || no "docs/models/$name.svg is old; run make pictures"
done
for svg in docs/models/*.svg; do
    [ -e "examples/models/$(basename "$svg" .svg).nami" ] || no "$svg has no model"
done
echo "$done checks, $failed failed"
[ $failed = 0 ] && [ $done -gt 50 ]
