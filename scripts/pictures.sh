#!/bin/bash
# pictures.sh NAMI DIRECTORY: draws every example model and its inverse, as SVG.
set -eu
nami=$(realpath "$1")
mkdir -p "$2"
to=$(realpath "$2")
cd "$(dirname "$0")/../examples/models"
for model in *.nami; do
    name=${model%.nami}
    "$nami" invert "$model" --data "$name.json" --quiet -o "$to/$name.svg"
done
