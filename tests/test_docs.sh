#!/bin/bash
# test_docs.sh NAMI FILE...: runs the commands of every ```console block of these
# Markdown files, from the root of the repository, and compares what they print
# (messages too) with what the block says.  A line `...` stands for any lines.
# Every line of a ```c block is a line of examples/*.c.
set -u
PATH=$(dirname "$(realpath "$1")"):$PATH
shift
cd "$(dirname "$0")/.." || exit 1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0 done=0

# Does the text in file $2 fit the pattern of lines in file $1?
fits() {
    awk 'function fit(i, k) { # pattern lines i.. against text lines k..
             if (i > n) return k > m
             if (p[i] != "...") return k <= m && p[i] == t[k] && fit(i + 1, k + 1)
             for (; k <= m + 1; k++) if (fit(i + 1, k)) return 1
             return 0
         }
         NR == FNR { p[n = FNR] = $0; next }
         { t[m = FNR] = $0 }
         END { exit !fit(1, 1) }' "$1" "$2"
}

check() { # FILE LINE COMMAND, with what is expected in $tmp/want
    done=$((done + 1))
    # build/nami is what a reader has; here it is the one that is tested
    bash -c "${3//build\/nami/nami}" >"$tmp/got" 2>&1 </dev/null
    sed -i -e :a -e '/^\n*$/{$d;N;ba' -e '}' "$tmp/want" "$tmp/got" # empty lines at the end
    echo . | tee -a "$tmp/want" >>"$tmp/got" # so that neither file is empty
    fits "$tmp/want" "$tmp/got" && return
    failed=$((failed + 1))
    printf 'FAIL: %s:%d: %s\n' "$1" "$2" "$3"
    diff "$tmp/want" "$tmp/got"
}

for file in "$@"; do
    inside= command= at=0 n=0
    while IFS= read -r line || [ -n "$line" ]; do
        n=$((n + 1))
        if [ -z "$inside" ]; then
            case $line in '```console' | '```c') inside=${line#'```'} command= ;; esac
            continue
        fi
        if [ "$inside" = c ] && [ "$line" != '```' ]; then
            sed 's/^ *//' examples/*.c | grep -qxF -- "${line#"${line%%[! ]*}"}" ||
                { failed=$((failed + 1)); echo "FAIL: $file:$n: not in examples/: $line"; }
            continue
        fi
        case $line in
        '```' | '$ '*)
            [ -n "$command" ] && check "$file" $at "$command"
            command=${line#'$ '} at=$n
            : >"$tmp/want"
            if [ "$line" = '```' ]; then inside= command=; fi ;;
        *) printf '%s\n' "$line" >>"$tmp/want" ;;
        esac
    done <"$file"
done
echo "$done commands, $failed failed"
[ $failed = 0 ] && [ $done -gt 0 ]
