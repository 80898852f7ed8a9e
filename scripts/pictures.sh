#!/bin/bash
# pictures.sh NAMI DIRECTORY: draws every example model and its inverse, as SVG.
set -eu
nami=$(realpath "$1")
mkdir -p "$2"
to=$(realpath "$2")
cd "$(dirname "$0")/../examples/models"
for model in *.nami; do
    name=${model%.nami}
    if [ -e "$name.json" ]; then set -- --data "$name.json"; else set --; fi # simulators have none
    "$nami" invert "$model" "$@" --quiet -o "$to/$name.svg"
done
