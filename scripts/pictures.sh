#!/bin/bash
# pictures.sh NAMI DIRECTORY: draws every example model and its inverse, as SVG.
set -eu
nami=$(realpath "$1")
mkdir -p "$2"
to=$(realpath "$2")
cd "$(dirname "$0")/../examples/models"
for model in *.nami; do
    name=${model%.nami}
    data=
    [ -f "$name.json" ] && data="--data $name.json"
    # shellcheck disable=SC2086 # an option and its value
    "$nami" invert "$model" $data --quiet -o "$to/$name.svg"
done
