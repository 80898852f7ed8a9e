#!/bin/sh
# scripts/r.sh BUILD [check]: builds the R package of r/ as BUILD/r/nami_VERSION.tar.gz; `check` runs R CMD check on it
# with the command BUILD/nami: errors and warnings fail, notes are printed.
set -eu
cd "$(dirname "$0")/.."
build=$(realpath "$1")
out=$build/r
command -v R >/dev/null || { echo "R is not installed: scripts/setup.sh r" >&2; exit 1; }
mkdir -p "$out"
rm -rf "$out"/nami_*.tar.gz "$out"/nami.Rcheck
source=$(realpath r)
(cd "$out" && R CMD build "$source") >"$out/log" 2>&1 || { cat "$out/log" >&2; exit 1; }
package=$(ls "$out"/nami_*.tar.gz)
echo "$package"
[ "${2:-}" = check ] || exit 0
# Manuals as PDF need LaTeX; bayesplot is optional.
NAMI=$build/nami _R_CHECK_FORCE_SUGGESTS_=false LC_ALL=${LC_ALL:-C.UTF-8} \
    R CMD check --no-manual --output="$out" "$package" >"$out/log" 2>&1 || { cat "$out/log" >&2; exit 1; }
if grep -q '^SKIPPED' "$out"/nami.Rcheck/tests/*.Rout; then
    echo "the tests of the package did not find the command" >&2
    exit 1
fi
sed -n '/NOTE$/,/^\* /p; /^Status/p' "$out/log"
if grep -q '^Status:.*\(ERROR\|WARNING\)' "$out/log"; then
    cat "$out/log" >&2
    exit 1
fi
