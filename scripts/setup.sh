#!/bin/sh
# scripts/setup.sh [--check] GROUP...: installs the Debian packages of these
# groups that are missing; does nothing, without network, when none is.
# --check only says what is missing, and how to get it.
set -eu

# package, and the command that makes it unnecessary, if it is a program
packages() {
    case $1 in
    build) echo gcc:cc binutils:objcopy make:make cmake:cmake pkg-config:pkg-config libc6-dev librandom123-dev \
                libjansson-dev libgraphviz-dev libexpat1-dev libzip-dev zlib1g-dev libnetcdf-dev libmicrohttpd-dev ;;
    test)  echo curl:curl libcmocka-dev libgsl-dev valgrind:valgrind jags:jags python3-numpy python3-xarray python3-netcdf4 \
                python3-setuptools python3-wheel python3-venv g++:g++ openmpi-bin libopenmpi-dev mpich libmpich-dev \
                python3-mpmath python3-gmpy2 strace:strace librsvg2-2 ;;
    bench) echo libsuitesparse-dev jags:jags python3-numpy libopenblas-pthread-dev libopenblas0-openmp \
                python3-torch openmpi-bin libopenmpi-dev ;;
    serve) echo wrk:wrk nginx:nginx curl:curl openssl:openssl ;;
    pages) echo chromium:chromium nodejs:node npm:npm ;;
    site)  echo python3:python3 python3-html5lib chromium:chromium nodejs:node npm:npm ;;
    python) echo python3-numpy python3-setuptools python3-wheel python3-venv ;;
    r)     echo r-base-core r-cran-posterior r-cran-jsonlite ;;
    deb)   echo dpkg-dev:dpkg-shlibdeps file:file python3:python3 ;;
    root)  echo mmdebstrap:mmdebstrap ;;
    portable) echo clang:clang musl-tools:musl-gcc ;;
    abi)   echo abigail-tools:abidiff ;;
    onnx)  echo nodejs:node npm:npm python3:python3 ;;
    fuzz)  echo clang:clang libclang-rt-dev ;;
    lint)  echo clang-tidy:clang-tidy clang-format:clang-format cppcheck:cppcheck mypy ;;
    *)     echo "setup.sh: no group is called '$1'" >&2; exit 2 ;;
    esac
}

installed() {
    dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q ' installed$'
}

check=
if [ "${1:-}" = --check ]; then check=1; shift; fi
missing=
for group in "$@"; do
    for entry in $(packages "$group"); do
        package=${entry%%:*} command=${entry#"${entry%%:*}"}
        command=${command#:}
        if [ -n "$command" ] && command -v "$command" >/dev/null; then continue; fi
        if ! command -v dpkg-query >/dev/null; then continue; fi # not Debian: cmake will say
        if ! installed "$package"; then missing="$missing $package"; fi
    done
done
[ -n "$missing" ] || exit 0

install="apt-get install -y --no-install-recommends$missing"
if [ -n "$check" ]; then
    echo "missing packages:$missing" >&2
    echo "'scripts/setup.sh $*' installs them" >&2
    exit 1
fi
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null; then
    as_root=sudo
else
    echo "missing packages:$missing" >&2
    echo "There is no sudo here; as root, run: $install" >&2
    exit 1
fi
echo "installing$missing"
run() {
    $as_root env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1 && return
    tail -n 20 "$log" >&2
    echo "could not install$missing; what failed: $*" >&2
    exit 1
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
run apt-get update
# shellcheck disable=SC2086 # a list of words
run $install
