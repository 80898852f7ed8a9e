#!/bin/sh
# scripts/wheel.sh BUILD [DIR]: packs python/ and the shared library of the directory BUILD into a
# wheel, BUILD/wheel/nami-VERSION-py3-none-PLATFORM.whl (or in DIR).  No network, no compiler.
set -eu
cd "$(dirname "$0")/.."
build=$(realpath "$1")
out=${2:-$build/wheel}
python=/usr/bin/python3 # the one that Debian's setuptools belongs to
[ -x $python ] || python=python3
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
cp -R python/nami python/setup.py python/README.md LICENSE "$stage"
rm -rf "$stage"/nami/__pycache__
for library in libnami.so nami_python.so; do
    cp -L "$build/$library" "$stage/nami/$library"
    strip --strip-unneeded "$stage/nami/$library"
done
NAMI_VERSION=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
export NAMI_VERSION
mkdir -p "$out"
out=$(realpath "$out")
rm -f "$out"/nami-*.whl
(cd "$stage" && $python setup.py -q bdist_wheel --dist-dir "$out") >"$stage/log" 2>&1 || { cat "$stage/log" >&2; exit 1; }
ls "$out"/nami-*.whl
