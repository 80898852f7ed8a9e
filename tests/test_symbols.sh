#!/bin/bash
# test_symbols.sh LIBRARY...: the libraries (.so, .a) define the functions of include/nami.h, and nothing else.
. tests/checks.sh
command -v nm >/dev/null || { echo "SKIPPED: there is no nm"; exit 77; }

declared() { grep -ohE '\bnami_[a-z0-9_]+\(' include/nami.h | tr -d '(' | sort -u; }
defined() { # type A: the version of the symbols
    case $1 in *.a) nm -g --defined-only "$1" ;; *) nm -D --defined-only "$1" ;; esac |
        awk 'NF == 3 && $2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u
}
same() { diff "$dir/declared" "$dir/defined"; }

declared >"$dir/declared"
ok "nami.h declares functions" test -s "$dir/declared"
for library in "$@"; do
    defined "$library" >"$dir/defined"
    ok "${library##*/} (>) has the functions of nami.h (<)" same
done
summary
