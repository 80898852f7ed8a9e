#!/bin/bash
# test_exact.sh NAMI: `nami exact` as a user meets it: evidence from files and by hand, draws, JSON, and what it refuses.
set -u
nami=$(realpath "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
m=$here/examples/models
asia=$here/examples/asia.bif
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0 done=0
no() { printf 'FAIL: %s\n' "$*"; failed=$((failed + 1)); }
ok() { done=$((done + 1)); }

has() { # TEXT ARGUMENT...: prints this
    local text=$1
    shift
    ok; "$nami" exact "$@" >out 2>err || no "exact $*: $(cat err)"
    grep -qF -- "$text" out || no "exact $*: no '$text' in: $(head -20 out)"
}
bad() { # CODE TEXT ARGUMENT...: refused so
    local code=$1 text=$2
    shift 2
    ok; "$nami" exact "$@" >out 2>err; local rc=$?
    [ $rc = "$code" ] || no "exact $*: exit code $rc, not $code"
    grep -qF -- "$text" err || no "exact $*: no '$text' in: $(cat err)"
    [ -s out ] && no "exact $*: prints $(cat out)"
}

# evidence: files, --given, names and numbers say the same
echo '{"asia": "yes", "dysp": 1, "xray": null}' >e.json
"$nami" exact "$asia" --data e.json >a
"$nami" exact "$asia" --given asia=1 --given dysp=yes >b
ok; cmp -s a b || no 'a file and --given differ'
has 'bronc     yes 0.8114  no 0.1886' "$asia" --data e.json
has '"log_evidence":-5.40337237' "$asia" --data e.json --json
has '"mpe":"yes"' "$asia" --data e.json --json --mpe --only bronc
has 'log p(mpe, x)' "$m/student.nami" -d "$m/student.json" --mpe
has '8 nodes, 3 observed' "$m/student.nami" -d "$m/student.json" --given D=2
ok; grep -q '^  D ' out && no 'a given variable is shown'
has '200 numbers, 101 observed' "$m/lgssm.nami" -d "$m/lgssm.json" --given 'x[7]=-0.5'
has '200 numbers, 0 observed' "$m/lgssm.nami"
ok; grep -q 'observed variables have no value' err || no 'nothing is said of missing data'
ok; grep -q '^log p(x)          0$' out || no "the evidence of nothing is not 0: $(grep '^log' out)"
has '"numbers":31' "$m/tree.nami" -d "$m/tree.json" --json
"$nami" exact "$m/tree.nami" -d "$m/tree.json" --json >j
ok; python3 -c 'import json,sys; d=json.load(open("j")); sys.exit(len(d["variables"]) != 15)' || no 'JSON of the tree'
"$nami" exact "$asia" -d e.json --mpe --json >j
ok; python3 -c 'import json,sys; d=json.load(open("j")); sys.exit(any(abs(sum(v["p"]) - 1) > 1e-12 for v in d["variables"]))' ||
    no 'JSON of asia'

# draws: the same for any threads; what is observed stays
for t in 1 2 5; do
    "$nami" exact "$m/tree.nami" -d "$m/tree.json" -n 500 --seed 3 --threads $t -o t$t.csv -o t$t.json -o t$t.npz >out
done
ok; cmp -s t1.csv t2.csv && cmp -s t1.csv t5.csv && cmp -s t1.json t5.json || no 'draws depend on threads'
ok; [ "$(cut -d, -f16 t1.csv | sort -u | wc -l)" = 2 ] || no 'an observed variable varies'
ok; [ "$(wc -l <t1.csv)" = 501 ] || no 'not 500 draws'
"$nami" exact "$asia" -d e.json -n 20000 -o d.csv >out
ok; awk -F, 'NR > 1 { n++; b += $5 == 1; if ($1 != 1 || $8 != 1) exit 1 } END { b /= n; exit !(b > .79 && b < .83) }' d.csv ||
    no 'draws of asia'
"$nami" exact "$m/student.nami" -d "$m/student.json" -n 20000 -o s.csv >out
ok; head -1 s.csv | grep -q '^C,D,I,G,S,L,J,H$' || no "columns of student: $(head -1 s.csv)"

cat >det.nami <<'M'
model { a[1] <- 5
  a[2] ~ normal(0, 1)
  a[3] <- 2 * a[2] + a[1]
  s <- sum(a[])
  y ~ normal(s, 1) }
observe y
M
"$nami" exact det.nami --given y=3 -n 50 -o det.csv --all >out 2>err
ok; head -1 det.csv | grep -q '^a\[1\],a\[2\],a\[3\],s,y$' || no "columns: $(head -1 det.csv)"
ok; awk -F, 'NR > 1 { d = $3 - 2 * $2 - 5; e = $4 - $1 - $2 - $3; if (d * d + e * e > 1e-20 || $1 != 5) exit 1 }' det.csv ||
    no 'deterministic variables do not fit'
bad 2 'are for models; write --given' "$asia" --observe smoke

# refused
bad 2 'tau is distributed as half_normal; only linear Gaussian and discrete models' "$m/schools.nami" -d "$m/schools.json"
bad 2 "no node is called 'smok'; did you mean 'smoke'?" "$asia" --given smok=yes
bad 2 "'maybe' is no state of smoke; it has yes, no" "$asia" --given smoke=maybe
bad 2 "'3' is no state of smoke" "$asia" --given smoke=3
bad 2 'write NODE=VALUE' "$asia" --given smoke
bad 2 'the evidence has probability 0' "$asia" --given either=no --given tub=yes
bad 3 'in the largest clique: more than 10 are too many' "$asia" --limit 10
bad 2 'end it in .json, .csv or .npz' "$asia" -o x.txt
bad 2 'the most probable joint state is one of discrete models' "$m/lgssm.nami" --mpe
bad 2 "is no number for x[1]" "$m/lgssm.nami" --given 'x[1]=a'
bad 2 'has no table' "$here/examples/student.json"
cat >tiny.nami <<'END'
model { mu ~ normal(0, 10)
  for (i in 1:20) { t[i] ~ normal(mu, 1e-7)
    y[i] ~ normal(t[i], 7) } }
observe y
END
echo '{"y": [1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2, 1, 2, 3, 4]}' >tiny.json
bad 2 'too far apart for double precision' tiny.nami -d tiny.json
echo '{"smoke": [1]}' >e.json
bad 2 'e.json: smoke must be a state' "$asia" -d e.json
echo '{"smoke": 1' >e.json
bad 2 'not valid JSON' "$asia" -d e.json
sed 's/"J": 2/"J": 3/' "$m/student.json" >s.json
bad 2 'J' "$m/student.nami" -d s.json

echo "$done checks, $failed failed"
[ $failed = 0 ]
