#!/bin/sh
# conda/build.sh: builds and installs into $PREFIX; $SP_DIR is the folder of Python packages, $CPU_COUNT the processors.
set -eu
cd "${SRC_DIR:-$(dirname "$0")/..}"
# shellcheck disable=SC2086 # CMAKE_ARGS are several options
cmake -S . -B build-conda ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
    -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib -DNAMI_WERROR=OFF -DNAMI_PYTHON_DIR="$SP_DIR"
cmake --build build-conda -j "${CPU_COUNT:-2}" --target nami nami_shared nami_static nami_python man
for component in library development command python; do
    cmake --install build-conda --component $component
done
