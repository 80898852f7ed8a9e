#!/bin/bash
# test_export.sh NAMI: exported models say the same as the originals: to NaMI, which reads them again
# and finds the same densities and the same graph, and to JAGS, where it is installed.
set -u
nami=$(realpath "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0 done=0
no() { printf 'FAIL: %s\n' "$*"; failed=$((failed + 1)); }
ok() { done=$((done + 1)); }
has() { ok; grep -qF -- "$2" "$1" || no "no '$2' in $1: $(head -c 600 "$1")"; }

cannot='gmm vae semi pca gk ricker' # inv_wishart; networks; simulators

# ---- to JAGS's language and back ------------------------------------------------------
for model in "$here"/examples/models/*.nami "$here"/tests/models/export.nami; do
    b=$(basename "$model" .nami) data=${model%.nami}.json
    [ -e "$data" ] || data=/dev/null
    ok
    if ! "$nami" export "$model" -d "$data" --to jags -o "$b.bug" --data-out "$b.R" -q 2>err; then
        [[ " $cannot " == *" $b "* ]] || no "$b: $(head -3 err)"
        ok; [ -e "$b.bug" ] || [ -e "$b.R" ] && no "$b is refused, but a file was left"
        continue
    fi
    ok; [[ " $cannot " == *" $b "* ]] && no "$b should be refused"
    "$nami" simulate "$model" -d "$data" -n 5 --seed 3 -q -o points.json || no "$b: simulate"
    "$nami" logp "$model" -d "$data" --at points.json -q >want 2>err || no "$b: $(head -3 err)"
    "$nami" logp "$b.bug" -d "$b.R" --at points.json -q >got 2>err || no "$b again: $(head -3 err)"
    ok; paste want got | awk '{ d = $1 - $2; if (NF != 2 || d * d > 1e-16 * (1 + $1 * $1)) bad = 1 }
                              END { exit bad || NR != 5 }' ||
        no "$b: other densities: $(paste want got)"
    "$nami" invert "$model" -d "$data" -q --json --compact >want
    "$nami" invert "$b.bug" -d "$b.R" -q --json --compact >got
    ok; cmp -s want got || no "$b.bug has another inverse"
done

# ---- what is refused, and where ---------------------------------------------------------
"$nami" export "$here/examples/models/vae.nami" --to jags >out 2>err; rc=$?
ok; [ $rc = 2 ] || no "vae: exit code $rc"
has err 'vae.nami:13:12: error: JAGS has no distribution relaxed_bernoulli()'
has err 'vae.nami:15:13: error: JAGS has no function dec()'
"$nami" export "$here/examples/models/gmm.nami" --to jags >out 2>err
has err 'JAGS has no distribution inv_wishart()'
has err 'use its inverse: W ~ wishart'
printf 'model { x ~ gamma(1, 1)\n y ~ multi_normal(c(0, 0), diag(x, x)) }' >diag.nami
"$nami" export diag.nami --to jags >out 2>err
has err 'diag.nami:2:28: error: JAGS has no function diag()'
printf 'model { x[1:2] ~ multi_normal(c(0, 0), inverse(W))\n W[1:2,1:2] ~ wishart(3, diag(1, 1))\n y ~ normal(sum(phi(x)), 1) }' >phi.nami
"$nami" export phi.nami --to jags >out 2>err
has err 'phi.nami:3:17: error: JAGS has no vectors in phi()'

printf 'model { x ~ gamma(2, 1)\n y ~ normal(half_normal_lpdf(x, 1), 1)\n z ~ normal(punif(x, 0, 9), 1) }' >half.nami
"$nami" export half.nami --to jags >out 2>err
has err 'half.nami:2:13: error: JAGS has no function half_normal_lpdf()'
has err 'half.nami:3:13: error: JAGS has no function punif()'

# ---- constants --------------------------------------------------------------------------
"$nami" export "$here/examples/models/hmm.nami" --to jags --set T=9 >out 2>err
has out 'T <- 9'
has out 'K <- 3'
"$nami" export "$here/examples/models/tree.nami" -d "$here/examples/models/tree.json" --to jags >out 2>err
has out 'n <- 2^d - 1'
has out 'x[i] ~ dnorm(w[i] * x[trunc(i / 2)], 1)'

# ---- usage ---------------------------------------------------------------------------------
bad() { # TEXT ARG...
    local text=$1; shift
    "$nami" export "$@" >out 2>err; local rc=$?
    ok; [ $rc = 2 ] || no "nami export $*: exit $rc"
    has err "$text"
}
bad 'as what?' "$here/examples/models/hmm.nami"
bad '--data-out goes with' "$here/examples/models/hmm.nami" --to json --data-out x.R
bad 'choose from jags, json, dot, c' "$here/examples/models/hmm.nami" --to xml
bad 'cannot open' nosuch.nami --to json

# ---- JSON and DOT ------------------------------------------------------------------------
printf 'model { a ~ normal(0, 1)\n for (i in 1:3) { b[i] ~ normal(a, 1)\n c[i] <- b[i] + 1\n d[i] ~ normal(c[i], 1) } }
observe d\ninfer b\nstages b[2] ; b[1]\n' >small.nami
for model in "$here"/examples/models/{rats,student,hmm,tree}.nami small.nami; do
    data=${model%.nami}.json
    [ -e "$data" ] && data="-d $data" || data=
    # shellcheck disable=SC2086
    "$nami" export "$model" $data -o m.json -q || no "$model: json"
    # shellcheck disable=SC2086
    "$nami" invert "$model" $data --exact none -q --json >want
    "$nami" invert m.json -q --json >got
    ok; cmp -s want got || no "$model as JSON has another inverse"
done
has m.json '{"name":"b[2]","size":1,"dist":"normal","observed":false,"stmt":1}'
has m.json '{"text":"c[i] <- b[i] + 1","line":3,"instances":3,"plates":["i in 1:3"]}'
"$nami" export "$here/examples/models/gmm.nami" -o gmm.dot || no 'gmm.dot'
has gmm.dot 'i in 1:200'
has gmm.dot 'Sigma[k,1:2,1:2]'
ok; grep -q inverse gmm.dot && no 'the model alone has no inverse'

# ---- JAGS itself ------------------------------------------------------------------------------
if command -v jags >/dev/null; then
    for bug in *.bug; do
        b=${bug%.bug}
        printf 'model in "%s"\ndata in "%s"\ncompile\ninitialize\nupdate 2\nexit\n' "$bug" "$b.R" >run.cmd
        [ -s "$b.R" ] || sed -i '/^data/d' run.cmd
        jags run.cmd >log 2>&1
        # as many nodes as NaMI has
        n=$("$nami" invert "$bug" -d "$b.R" -q --show model --json | grep -o '"node"' | wc -l)
        seen=$(sed -n 's/.* Observed stochastic nodes: //p' log) hidden=$(sed -n 's/.*Unobserved stochastic nodes: //p' log)
        ok; [ "$n" = "${hidden:-none}" ] && [ "${seen:-0}" -gt 0 ] || no "$b in JAGS: $n latents; $(cat log)"
        ok; grep -q 'Updating 2' log && ! grep -qi 'error' log || no "$b in JAGS: $(cat log)"
    done
else
    echo 'SKIPPED: jags is not installed, so nobody else has read the exported models'
fi

echo "$done checks, $failed failed"
[ $failed = 0 ]
