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

# trap_is NAME TEXT...: the model on standard input has a problem that is told in these words; data=FILE before it
trap_is() {
    local name=$1 text
    shift
    cat >"$name"
    "$nami" check "$name" ${data:+--data "$data"} >out 2>err; local rc=$?
    ok; [ $rc = 1 ] || no "$name: exit code $rc, not 1"
    for text in "$@"; do
        ok; grep -qF -- "$text" err || no "$name: no '$text' in: $(cat err)"
    done
    "$nami" check "$name" ${data:+--data "$data"} --json >json
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
trap_is overflow.bug 'overflows' 'b ~ dnorm(0, 0.16)' \
        'b ~ dnorm(0, 1.0E-6) (sd 1000) is so wide' <<'M'
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

# draws without bound, though nothing overflows
trap_is huge.bug 'mu ~ dnorm(0, 1.0E-300) (sd 1e+150) is beyond 1e12 in' <<'M'
model { mu ~ dnorm(0, 1.0E-300)
  for (i in 1:5) { y[i] ~ dnorm(mu, 1) } }
M
grep -q '^no data: with observed values' out || no "huge.bug: no word about missing data"
trap_is explosive.nami 'phi ~ normal(0, 100) is so wide that y[t] is beyond 1e12 in' <<'M'
model { y[1] ~ normal(0, 1)
  for (t in 2:50) { y[t] ~ normal(phi * y[t - 1], 1) }
  phi ~ normal(0, 100) }
observe y
M

# with data: which prior, how much too wide, and another in proportion to data and covariates.  Applied as it
# stands, it leaves nothing to say.
# proposes TEXT...: as trap_is of m.bug with d.json; then with what is proposed in place of what was there
proposes() {
    local rest
    data=d.json trap_is m.bug "$@" <m.txt
    rest=$(sed -n 's/.*for instance \(.*\) ~ \([^:]*\): .*/\1|\2/p' err)
    cp m.bug better.bug
    while IFS='|' read -r name dist; do
        name=${name//./\\.}; name=${name//[/\\[}
        sed -i "s/^\( *\)\($name\) ~ .*/\1\2 ~ $dist/" better.bug
    done <<<"$rest"
    ok; "$nami" check better.bug --data d.json >out 2>err || no "after '$*': $(cat better.bug err)"
    ok; grep -q '^no data' out && no "'no data' with data"
}
for unit in 1 1000; do # data in other units: all is in proportion
    echo "{\"y\": [$((10 * unit)), $((12 * unit)), $((14 * unit)), $((15 * unit)), $((19 * unit))], \"x\": [-2, -1, 0, 1, 2]}" >d.json
    cat >m.txt <<'M'
model {
  for (i in 1:5) { y[i] ~ dnorm(a + b * x[i], pow(s, -2)) }
  a ~ dnorm(0, 1.0E-12)
  b ~ dnorm(0, 1.0E-12)
  s ~ dunif(0, 1.0E6)
}
M
    if [ $unit = 1 ]; then
        proposes 'a ~ dnorm(0, 1.0E-12) (sd 1e+06) is 330000 times wider than your data suggest (sd of y[i] 3)' \
            'a ~ dnorm(14, 0.0043): sd 15' 'b ~ dnorm(0, 0.0087): sd 11, still 5 times what they suggest' \
            '(sd of y[i] 3, of its covariate 1.4)' 's ~ dunif(0, 15): up to 15'
    else
        proposes 'is 330 times wider than your data suggest (sd of y[i] 3000)' \
            'a ~ dnorm(14000, 4.3e-09): sd 15000' 'b ~ dnorm(0, 8.7e-09): sd 11000' \
            's ~ dunif(0, 15000): up to 15000'
    fi
done
cat >m.txt <<'M' # links have a unit of their own; a latent lies between
model {
  for (i in 1:9) { r[i] ~ dbin(p[i], 20)
    logit(p[i]) <- b[i] + c * x[i]
    b[i] ~ dnorm(mu, tau) }
  mu ~ dnorm(0, 1.0E-6)
  c ~ dnorm(0, 1.0E-6)
  tau ~ dgamma(0.001, 0.001)
}
M
echo '{"x": [-40, -30, -20, -10, 0, 10, 20, 30, 40], "r": [1, 2, 1, 3, 4, 5, 4, 8, 6]}' >d.json
proposes 'mu ~ dnorm(0, 1.0E-6) (sd 1000) is' 'mu ~ dnorm(0, 0.16): sd 2.5' 'sd of its covariate 26, log-odds scale' \
    'c ~ dnorm(0, 110): sd 0.097' 'tau ~ dgamma(0.5, 0.005): sds from 0.05 to 1.6'
cat >m.txt <<'M' # a coefficient of the data before
model {
  for (t in 2:30) { y[t] ~ dnorm(a + phi * y[t - 1], tau) }
  a ~ dnorm(0, 0.0001)
  phi ~ dnorm(0, 0.0001)
  tau ~ dgamma(2, 1)
}
M
echo '{"y": [0.1, 0.9, 0.3, -0.4, -1.1, -0.2, 0.6, 1.4, 0.8, 0.2, -0.6, -0.9, -1.5, -0.3, 0.4, 0.5, 1.2, 0.1, -0.2,
-0.8, 0.3, 1.0, 0.7, -0.5, -0.1, 0.6, 0.2, -1.0, -0.4, 0.3]}' >d.json
proposes 'phi ~ dnorm(0, 0.0001) (sd 100) is' 'phi ~ dunif(-1, 1): beyond, y[t] grows without bound'
cat >m.txt <<'M' # the same with moving averages: innovations are covariates, too
model {
  m[1] <- c
  e[1] <- y[1] - m[1]
  y[1] ~ dnorm(m[1], tau)
  for (t in 2:30) {
    m[t] <- c + phi * y[t - 1] + theta * e[t - 1]
    e[t] <- y[t] - m[t]
    y[t] ~ dnorm(m[t], tau)
  }
  c ~ dnorm(0, 1.0E-4)
  phi ~ dnorm(0, 1.0E-4)
  theta ~ dnorm(0, 1.0E-4)
  tau ~ dgamma(2, 1)
}
M
proposes 'c ~ dnorm(0, 1.0E-4) (sd 100) is' 'phi ~ dunif(-1, 1)' 'theta ~ dunif(-1, 1)'
cat >m.txt <<'M' # an sd and the inverse of a scale, of what is observed
model {
  for (i in 1:6) { y[i] ~ ddexp(m, tau) }
  m ~ dnorm(100, 0.01)
  tau ~ dgamma(0.001, 0.001)
}
M
echo '{"y": [95, 99, 100, 101, 102, 107]}' >d.json
proposes 'tau ~ dgamma(1, 0.36): sds from' 'sd of y[i] 3.6'
unset data

# a curve that is not linear in a parameter, by any link: no size, and no proposal from one
"$nami" check "$here/tests/models/bugs/orange/orange.bug" --data "$here/tests/models/bugs/orange/orange-data.R" >out 2>err
ok; grep -q 'for instance mu\[k\]' err && no "a proposal for orange's mu[k]: $(grep 'for instance' err)"
ok; grep -q 'for instance tauC ~ dgamma(0.5, 16): sds from 2.8 to 91 (sd of Y\[i, j\] 57)' err || no "orange's tauC: $(cat err)"

# a narrow prior elsewhere than the data
echo '{"y": [1000, 1001, 1003]}' >d.json
data=d.json trap_is far.bug 'your data (mean 1e+03, sd 1.2) are far from all draws of y[i]' <<'M'
model { mu ~ dnorm(0, 1)
  for (i in 1:3) { y[i] ~ dnorm(mu, 1) } }
M

# one trial each: a coin, not a count at its edge; the text of a prior is not blamed if the data are as wide
printf 'model { p ~ dbeta(1, 1)\nfor (i in 1:10) { y[i] ~ dbin(p, 1) } }\n' >one.bug
echo '{"y": [1, 0, 1, 1, 0, 1, 0, 0, 1, 1]}' >d.json
ok; "$nami" check one.bug --data d.json >out 2>err && [ ! -s err ] || no "one trial: $(cat err)"
printf 'model { m ~ dnorm(0, 1.0E-4)\nfor (i in 1:4) { y[i] ~ dnorm(m, 0.001) } }\n' >wide.bug
echo '{"y": [30, 80, 120, 95]}' >d.json
ok; "$nami" check wide.bug --data d.json >out 2>err && [ ! -s err ] || no "a prior as wide as the data: $(cat err)"

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
