#!/bin/bash
# test_abi.sh: the binary interface of nami.h is that of tests/abi.txt (64-bit systems).
. tests/checks.sh
[ "$(getconf LONG_BIT)" = 64 ] || { echo "SKIPPED: sizes are of 64-bit systems"; exit 77; }
scripts/abi.sh >"$dir/now"
same() { diff tests/abi.txt "$dir/now"; }
ok "nami.h (>) has the functions and sizes of tests/abi.txt (<); docs/release.md says when they may change, 'make abi' records it" same
summary
