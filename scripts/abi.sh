#!/bin/sh
# scripts/abi.sh: the binary interface of include/nami.h as text: its functions, and the sizes of its structs.
# tests/abi.txt is the output at the last deliberate change: `make abi` writes it, test_abi compares.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
grep -ohE '\bnami_[a-z0-9_]+\(' include/nami.h | tr -d '(' | LC_ALL=C sort -u | sed 's/^/function /'
{
    printf '#include <stdio.h>\n#include "nami.h"\nint main(void)\n{\n'
    sed -n 's/^} *\(nami_[a-z0-9_]*\);.*/\1/p' include/nami.h | LC_ALL=C sort -u |
        sed 's/.*/    printf("size %zu  &\\n", sizeof(&));/'
    printf '    return 0;\n}\n'
} >"$dir/abi.c"
${CC:-cc} -Iinclude "$dir/abi.c" -o "$dir/abi"
"$dir/abi"
