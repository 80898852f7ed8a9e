#!/bin/bash
# test_check.sh NAMI: `nami check` finds every trap that docs/check.md names, in a model that has it, names the prior
# to change and proposes one; and it has nothing to say about the examples.
set -u
nami=$(realpath "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0 done=0
no() { printf 'FAIL: %s\n' "$*"; failed=$((failed + 1)); }
ok() { done=$((done + 1)); }

# trap_is NAME TEXT...: the model on standard input has a problem that is told in these words
trap_is() {
    local name=$1 text
    shift
    cat >"$name"
    "$nami" check "$name" >out 2>err; local rc=$?
    ok; [ $rc = 1 ] || no "$name: exit code $rc, not 1"
    for text in "$@"; do
        ok; grep -qF -- "$text" err || no "$name: no '$text' in: $(cat err)"
    done
    "$nami" check "$name" --json >json
    ok; grep -q '"ok":false' json || no "$name: JSON says ok"
}

trap_is underflow.bug 'tau ~ dgamma(.001, .001) underflows to 0 in' 'tau ~ dgamma(2, 1)' <<'M'
model { tau ~ dgamma(.001, .001)
  for (i in 1:5) { y[i] ~ dnorm(0, tau) } }
M
trap_is support.nami 'gets parameters outside of their support' 'keep its arguments inside' <<'M'
model { a ~ normal(0, 1)
  y ~ normal(0, 2 * a) }
observe y
M
trap_is overflow.bug 'b ~ dnorm(0, 1.0E-6) is so wide that' 'overflows' 'b ~ dnorm(0, 0.16)' \
        'dnorm(0, 1.0E-6) is a normal with sd = 1000' <<'M'
model { b ~ dnorm(0, 1.0E-6)
  m <- exp(b)
  y ~ dnorm(m, 1) }
M
trap_is counts.nami 'a ~ normal(0, 300) is so wide that y[i] is at 0 or at its maximum' 'a ~ normal(0, 2.5)' <<'M'
model { a ~ normal(0, 300)
  for (i in 1:9) { y[i] ~ binomial(20, ilogit(a + i)) } }
observe y
M
trap_is coins.nami 'a ~ normal(0, 300) is so wide that y[i] is all 0 or all 1' <<'M'
model { a ~ normal(0, 300)
  for (i in 1:20) { y[i] ~ bernoulli(ilogit(a)) } }
observe y
M
trap_is unused.nami 'const k is never used' <<'M'
const k = 3
model { y ~ normal(0, 1) }
observe y
M
trap_is lonely.nami 'no observation informs z' <<'M'
model { z ~ normal(0, 1)
  m ~ normal(0, 1)
  y ~ normal(m, 1) }
observe y
M

# a prediction is no trap: what it depends on is informed
printf 'model { m ~ normal(0, 1)\ny ~ normal(m, 1)\nnew ~ normal(m, 1) }\nobserve y\n' >prediction.nami
ok; "$nami" check prediction.nami -q || no 'a prediction is called a problem'

for model in "$here"/examples/models/*.nami; do
    data=${model%.nami}.json
    [ -e "$data" ] || continue # simulators
    "$nami" check "$model" --data "$data" >out 2>err; rc=$?
    ok; [ $rc = 0 ] || no "$(basename "$model") has problems: exit code $rc"
    ok; [ -s err ] && no "$(basename "$model"): $(cat err)"
done

# of the classic BUGS models, those with vague priors are told so
n=0 vague=0
for dir in "$here"/tests/models/bugs/*/; do
    b=$(basename "$dir")
    "$nami" check "$dir$b.bug" --data "$dir$b-data.R" -n 500 -q >out 2>err; rc=$?
    n=$((n + 1))
    [ $rc = 1 ] && vague=$((vague + 1))
    ok; [ $rc -le 1 ] || no "$b: exit code $rc: $(head -2 err)"
done
echo "$vague of $n classic models have problems"
ok; [ $vague -gt 20 ] || no "only $vague of $n"
echo "$done checks, $failed failed"
[ $failed = 0 ]
