#!/bin/sh
# bench/simulate.sh [MODEL...]: forward sampling of tree (d = 10), gmm (N = 200) and lgssm (T = 1000):
# NaMI, NumPy with one process and with one for each core, and JAGS, in turn, five times; medians.
# The last column is how many times faster NaMI on all cores is.  REPEATS=5, SECONDS_EACH=1.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
repeats=${REPEATS:-5} each=${SECONDS_EACH:-1}
cores=$(getconf _NPROCESSORS_ONLN)
python=
for p in python3 /usr/bin/python3; do
    if "$p" -c 'import numpy' 2>/dev/null; then python=$p; break; fi
done
[ -n "$python" ] || echo "SKIPPED numpy: no python3 has it" >&2
command -v jags >/dev/null || echo "SKIPPED jags: it is not installed" >&2

log=$(mktemp)
trap 'rm -f "$log"' EXIT
[ $# -gt 0 ] || set -- tree gmm lgssm
for model; do
    i=0
    while [ $i -lt "$repeats" ]; do
        for p in 1 $([ "$cores" -gt 1 ] && echo "$cores"); do
            "$here/simulate_nami.sh" "$model" "$p" >>"$log"
        done
        if [ -n "$python" ]; then
            for p in 1 $([ "$cores" -gt 1 ] && echo "$cores"); do
                OPENBLAS_NUM_THREADS=1 "$python" "$here/simulate_numpy.py" "$model" --processes "$p" \
                    --repeats 1 --seconds "$each" >>"$log"
            done
        fi
        if command -v jags >/dev/null; then "$here/simulate_jags.sh" "$model" 1 >>"$log"; fi
        i=$((i + 1))
    done
done
printf '%-8s %-10s %14s %14s %8s\n' model engine 'seconds/draw' draws/second ratio
sort -k2,2 -k1,1 -k3,3g "$log" | awk -v best="nami-$cores" '
    function put() { if (n) { k++; M[k] = m; E[k] = e; T[k] = x[int((n + 1) / 2)]; if (e == best) B[m] = T[k] } }
    $1 != e || $2 != m { put(); n = 0; e = $1; m = $2 }
    { x[++n] = $3 }
    END { put(); for (i = 1; i <= k; i++)
              printf "%-8s %-10s %14.3g %14.0f %8.1f\n", M[i], E[i], T[i], 1 / T[i], T[i] / B[M[i]] }'
