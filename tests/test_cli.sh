#!/bin/bash
# test_cli.sh NAMI INVERT SIMULATE TRAIN POSTERIOR: the command line as a user meets it.
set -u
nami=$(realpath "$1") example=$(realpath "$2") simulate=$(realpath "$3") train=$(realpath "$4") posterior=$(realpath "$5")
here=$(cd "$(dirname "$0")/.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0 done=0
python=$(command -v python3 || true)

no() { printf 'FAIL: %s\n' "$*"; failed=$((failed + 1)); }
ok() { done=$((done + 1)); }

# run CODE ARG...: runs nami; output is in ./out, messages in ./err
run() {
    local want=$1 got; shift
    "$nami" "$@" >out 2>err </dev/null; got=$?
    ok
    [ "$got" = "$want" ] || no "nami $*: exit $got, not $want: $(head -c 300 err)"
}
# has FILE TEXT
has() { ok; grep -qF -- "$2" "$1" || no "no '$2' in $1: $(head -c 600 "$1")"; }
is() { ok; [ "$1" = "$2" ] || no "'$1' is not '$2'"; }
# bad CODE TEXT ARG...: fails with one line that says TEXT, and prints nothing
bad() {
    local want=$1 text=$2; shift 2
    run "$want" "$@"
    has err "$text"
    is "$(wc -l <err)" 1
    ok; [ -s out ] && no "nami $* failed but printed: $(head -c 200 out)"
    ok; grep -q '^nami: .*error: ' err || no "not an error message: $(cat err)"
}
# key FILE EXPRESSION: a value of a JSON file, where python can say
json() { [ -z "$python" ] || "$python" -c 'import json,sys; x=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }
json_is() { [ -z "$python" ] || is "$(json "$1" "$2" 2>&1 | tail -1)" "$3"; }

ex=$here/examples

# ---- the student network ------------------------------------------------------
run 0 invert "$ex/student.json" --mode forward
has out 'student.json: 7 nodes, 8 edges; 2 observed, 5 to infer'
has out 'q(z|x) = q(L|'
has out 'order        D I S G L'
has out '✓  faithful  yes'
has out '<- this one'
run 0 invert "$ex/student.json" --mode=forward --json
json_is out '" ".join(x["order"])' 'D I S G L'
json_is out '{f["node"]: "".join(sorted(f["parents"])) for f in x["factors"]}' \
    "{'D': 'GI', 'I': 'GS', 'S': 'GJL', 'G': 'HJL', 'L': 'HJ'}"
json_is out 'x["edges"], x["width"], x["mode"], x["method"], x["barren"]' "(12, 3, 'forward', 'nami', [])"
json_is out '[x["certificate"][k] for k in ("faithful","minimal","natural","witness")]' '[True, True, True, None]'
cp out full.json
run 0 invert "$ex/student.json" --mode forward --json --compact
cp out runs.json
if [ -n "$python" ]; then
    "$python" - <<'P' || no "the compact form says something else"
import json
a, b = json.load(open('full.json')), json.load(open('runs.json'))
assert b['form'] == 'runs' and b['perm'][:b['latents']] == b['order'] == a['order']
for f, g in zip(a['factors'], b['factors']):
    p = [v for s, n in g['runs'] for v in b['perm'][s:s + n]]
    assert f['node'] == g['node'] and sorted(p) == sorted(f['parents'])
P
fi

"$nami" invert - --mode forward --json <"$ex/student.json" >out 2>err
is "$?" 0
ok; cmp -s out full.json || no 'standard input gives something else'

# ---- trace and phases ----------------------------------------------------------
run 0 invert "$ex/student.json" --mode forward --trace
has out 'frontier:fill'
ok; grep -Eq '^ +1 +D:0 I:2 +D +0 +- +I,G -> D$' out || no "trace: $(cat out)"
ok; grep -Eq '^ +2 +I:1 +I +1 +G-S +G,S -> I$' out || no "trace: $(cat out)"
run 0 invert "$ex/student.json" --mode forward --trace --json
json_is out 'len(x["trace"]), x["trace"][1]["added"]' "(5, [['G', 'S']])"
run 0 invert "$ex/student.json" --mode forward --show moral,induced,cliques,order,inverse,certificate
has out 'moral        11 edges: '
has out 'induced      13 edges: '
has out 'cliques      1  D I G'
run 0 invert "$ex/student.json" --quiet
is "$(cat out err)" ''

# ---- certificates that say no ----------------------------------------------------
printf '{"nodes":["A","B","C","D"],"edges":[["A","B"],["A","C"],["B","D"],["C","D"]],"observed":["D"]}' >diamond.json
run 1 invert diamond.json --method reverse-edges
has out '✗  faithful  no: '
has out 'active trail '
run 1 invert diamond.json --method reverse-edges --json
json_is out 'x["certificate"]["faithful"], x["certificate"]["witness"]["property"]' "(False, 'faithful')"
json_is out 'len(x["certificate"]["witness"]["trail"]) > 1' True
printf '{"nodes":["A","B","C"],"edges":[["A","C"],["B","C"]],"observed":[]}' >barren.json
run 1 invert barren.json --method paper --barren keep --mode reverse --json
json_is out 'x["certificate"]["minimal"], x["certificate"]["witness"]["property"], len(x["certificate"]["witness"]["edge"])' \
    "(False, 'minimal', 2)"
run 0 invert barren.json --mode reverse
has err 'note: nothing is observed'
has err '--observe sinks'
has out 'p(C|A,B)'
run 0 invert barren.json --mode reverse -q
is "$(cat err)" ''
run 0 invert barren.json --observe none
is "$(cat err)" ''
run 0 invert "$ex/tree4.json" --mode free
run 0 invert "$ex/student.json" --verify none --json
json_is out 'x["certificate"]["faithful"], x["certificate"]["checked"]' '(None, 0)'

# ---- options that change the question -------------------------------------------
run 0 invert "$ex/tree4.json" --mode forward --json; json_is out 'x["edges"]' 35
run 0 invert "$ex/tree4.json" --mode reverse --json; json_is out 'x["edges"]' 30
run 0 invert "$ex/tree4.json" --json; json_is out 'x["mode"]' reverse
run 0 invert "$ex/tree4.json" --observe sinks --json --mode reverse; json_is out 'x["edges"]' 30
run 0 invert "$ex/mixture.json" --observe 'x[1:3]' --mode reverse --json
json_is out 'len(x["factors"]), x["certificate"]["minimal"]' '(5, True)'
run 0 invert "$ex/student.json" --infer D,I --json
json_is out 'sorted(x["nuisance"]), sorted(x["order"])' "(['G', 'L', 'S'], ['D', 'I'])"
run 0 invert "$ex/student.json" --stages 'L;D,I,S,G' --mode free --json
json_is out 'x["order"][0]' L
printf 'H\nJ\nS\n' >names
run 0 invert "$ex/student.json" --observe @names --json; json_is out 'len(x["order"])' 4
run 0 invert "$ex/student.json" --observe D,I,G,S,L,J,H
has out 'every node is observed'
run 0 invert "$ex/student.json" --observe D,I,G,S,L,J,H --json; json_is out 'x["factors"], x["edges"]' '([], 0)'
run 0 invert "$ex/student.json" --restarts 3 --seed 18446744073709551615 --threads 2 --json
json_is out 'x["seed"]' 18446744073709551615
run 0 invert "$ex/hmm.dot" --mode forward --json; json_is out 'len(x["order"])' 5

# ---- names ------------------------------------------------------------------------
printf '{"nodes":["a \\"b\\"","ü,x","z\\\\"],"edges":[["a \\"b\\"","z\\\\"],["ü,x","z\\\\"]],"observed":["z\\\\"]}' >names.json
run 0 invert names.json -o names.svg,names.dot,names.png
run 0 invert names.json --json
json_is out 'sorted(f["node"] for f in x["factors"])' "['a \"b\"', 'ü,x']"
has names.svg 'a &quot;b&quot;'

# ---- files ------------------------------------------------------------------------
mkdir d
run 0 invert "$ex/student.json" --mode forward -o d/a.json -o d/b.svg,d/c.png,d/e.dot
is "$(ls d | tr '\n' ' ')" 'a.json b.svg c.png e.dot '
ok; cmp -s d/a.json full.json || no '-o x.json and --json differ'
has d/b.svg '</svg>'
has d/e.dot 'digraph'
is "$(head -c 4 d/c.png | tail -c 3)" PNG
run 0 invert "$ex/mixture.json" -q -od/m.svg
has d/m.svg 'i = 1'
bad 3 'cannot create' invert "$ex/student.json" -o nowhere/a.json
bad 2 'end it in .json' invert "$ex/student.json" -o a.pdf
is "$(ls d | wc -l)" 5
if [ -e /dev/full ]; then
    "$nami" list formats >/dev/full 2>err; is $? 3
    has err 'standard output'
fi
for i in $(seq 900); do echo "a b$i"; done >star.edges
bad 3 'too large to draw' invert star.edges --observe sinks -o star.svg
ok; [ -e star.svg ] && no 'a picture was left'
ls -a . d | grep -E '\.[A-Za-z0-9]{6}$' | grep -v -E '\.(edges|modelstring)$' && no 'temporary files were left'

# ---- a long chain ----------------------------------------------------------------------
{ for i in $(seq 20000); do echo "z$i z$((i + 1))"; echo "z$i x$i"; done; } >chain.edges
bad 3 '--compact' invert chain.edges --observe sinks --mode forward --verify sample --json
run 0 invert chain.edges --observe sinks --mode forward --verify sample --json --compact
json_is out 'len(x["perm"]) == x["latents"] + 20001 and x["edges"] > 10**8' True
run 0 invert chain.edges --observe sinks --mode forward --verify sample
has out ' more; the JSON form has all'
has out 'not compared'
ok; [ "$(wc -l <out)" -lt 100 ] || no 'a long output is not cut'

# ---- bad input ------------------------------------------------------------------------
bad 2 "did you mean 'theta'" invert "$ex/mixture.json" --observe thetta
bad 2 'Q7' invert "$ex/student.json" --observe H,Q7
bad 2 'nosuch.json: error: cannot open' invert nosuch.json
printf 'H\nQ7\n' >names2
bad 2 "nosuch" invert "$ex/student.json" --observe @nosuch
bad 2 "line 2 of 'names2'" invert "$ex/student.json" --observe @names2
printf '{"nodes":["A","B"],"edges":[["A","B"],["B","A"]]}' >cycle.json
bad 2 'cycle' invert cycle.json
printf '{"nodes":["A",\n' >cut.json
bad 2 'cut.json:' invert cut.json
: >empty.json
bad 2 'empty' invert empty.json
"$nami" invert - <cut.json >out 2>err; is $? 2
has err 'nami: <stdin>:'

# ---- bad usage ------------------------------------------------------------------------
bad 2 'which command?'
bad 2 "did you mean 'invert'" inver
bad 2 'no command is called' frobnicate
bad 2 'did you mean --observe' invert "$ex/student.json" --observ H
bad 2 '--help lists' invert "$ex/student.json" --zzz
bad 2 'unknown option -z' invert "$ex/student.json" -z
bad 2 "did you mean 'forward'" invert "$ex/student.json" --mode forwrd
bad 2 'choose from nami, paper' invert "$ex/student.json" --method xyzzy
bad 2 'needs a value' invert "$ex/student.json" --mode
bad 2 '--restarts must be a whole number' invert "$ex/student.json" --restarts -1
bad 2 'whole number' invert "$ex/student.json" --seed 1e3
bad 2 'takes no value' invert "$ex/student.json" --json=1
bad 2 'an argument is missing' invert
bad 2 'too many arguments' invert a b
bad 2 'nosuch' invert "$ex/student.json" --show nosuch
bad 2 'cannot open' invert -- --json
bad 2 'choose from dists, functions, formats' list xyzzy

# ---- list, compare, convert --------------------------------------------------------------
for topic in dists functions formats methods modes criteria; do
    run 0 list $topic
    is "$(wc -c <out | awk '{print ($1 > 20)}')" 1
    run 0 list $topic --json
    json_is out 'all(r["name"] and r["what"] for r in x)' True
done
run 0 list; has out methods
run 0 list dists --json
json_is out '[(r["arguments"], r["value"], r["standard"]) for r in x if r["name"] == "normal"]' \
    "[('mu real, sigma positive', 'real', 'Stan')]"
json_is out '[r["what"] for r in x if r["name"] == "dnorm"]' "['normal(mu, 1 / sqrt(tau))', 'normal(mu, sd)']"
json_is out '[r["arguments"] for r in x if r["name"] == "dcat"]' "['pi weights']"
run 0 list functions --json
json_is out '{"+", "exp", "length", "dim", "rep", "pow"} <= {r["name"] for r in x}' True
json_is out 'all(r["arguments"] for r in x)' True
printf 'A B\nB C\n' >ab.edges
printf 'B A\nB C\n' >ba.edges
printf 'A B\nC B\n' >v.edges
run 0 compare ab.edges ba.edges; has out yes
run 1 compare ab.edges v.edges; has out 'no: '
run 1 compare ab.edges v.edges --json; json_is out 'x["equivalent"]' False
run 1 compare -q ab.edges v.edges; is "$(cat out)" ''
run 0 convert "$ex/student.json" s.dot
run 0 convert s.dot s2.json
run 0 compare "$ex/student.json" s2.json
run 0 convert "$ex/student.json" --to bnlearn
has out '[G|'
bad 2 '--to' convert "$ex/student.json"
bad 2 'ending' convert "$ex/student.json" s.zzz
bad 3 'cannot create' convert "$ex/student.json" nowhere/s.dot

# ---- help, manual, completion ----------------------------------------------------------------
run 0 --version; has out 'nami '
run 0 --help; has out 'commands:'
run 0 help
for c in $("$nami" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    run 0 help "$c"; has out "usage: nami $c"
    cp out help1
    run 0 "$c" --help; ok; cmp -s out help1 || no "two helps of $c"
    run 0 "$c" --version; has out 'nami '
    run 0 help --man "$c"; has out '.SH OPTIONS'
    if command -v groff >/dev/null; then
        groff -ww -man -Tutf8 <out >page 2>warn; ok
        [ -s page ] && [ ! -s warn ] || no "manual page of $c: $(cat warn)"
    fi
done
run 0 help invert; has out '[best]'; has out '[min-fill]'
run 0 help --man invert; has out '\fB\-\-criterion\fR \fINAME'
bad 2 'did you mean' help inver
run 0 completion bash
cp out nami.bash
ok; bash -n nami.bash || no 'bash completion does not parse'
complete_as() { # LINE: what bash would offer
    bash -c 'source ./nami.bash; read -ra COMP_WORDS <<<"$1"; [[ $1 == *" " ]] && COMP_WORDS+=("")
             COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _nami; echo "${COMPREPLY[*]}"' _ "$1"
}
is "$(complete_as 'nami inv')" invert
is "$(complete_as 'nami invert --mode ')" 'forward reverse best free'
is "$(complete_as 'nami invert --mode = fr')" free
is "$(complete_as 'nami invert --obs')" --observe
is "$(complete_as 'nami invert --verify ')" 'auto full sample none'
is "$(complete_as 'nami invert --crit')" --criterion
is "$(complete_as 'nami list me')" methods
is "$(complete_as 'nami list d')" dists
is "$(complete_as 'nami completion z')" zsh
is "$(complete_as 'nami invert -o ')" ''
run 0 completion zsh
has out '#compdef nami'
if command -v zsh >/dev/null; then
    cp out nami.zsh
    ok; zsh -n nami.zsh || no 'zsh completion does not parse'
fi
bad 2 'choose from bash, zsh' completion fish

# ---- the example programs ---------------------------------------------------------------------
"$example" "$ex/student.json" >out 2>err; is $? 0
has out 'faithful'
is "$(grep -c '^q(' out)" 5
"$example" cycle.json >out 2>err; is $? 2
has err cycle
"$simulate" "$ex/models/schools.nami" "$ex/models/schools.json" >out 2>err; is $? 0
has out 'theta[8]'
is "$(wc -l <out)" 19
"$simulate" "$ex/models/schools.nami" >out 2>err; is $? 2
has err 'J has no value'
"$simulate" none.nami >out 2>err; is $? 2
has err 'none.nami: cannot open'
"$train" tree.net "$ex/models/tree.nami" "$ex/models/tree.json" >out 2>err; is $? 0
cp tree.net api.net
is "$(grep -c '^step' out)" 6
has out 'x[15]'
run 0 train "$ex/models/tree.nami" -o tree.net --resume -n 600 --check 100 --valid 1000
has out '600 steps'
"$train" nowhere/tree.net "$ex/models/tree.nami" "$ex/models/tree.json" >out 2>err; is $? 2
has err 'cannot create'
"$train" tree.net none.nami >out 2>err; is $? 2
has err 'none.nami: cannot open'
"$posterior" >out 2>err; is $? 0
has out 'theta[1]'
ok; grep -q '^trusted: ' out || no "not trusted: $(tail -1 out)"
has err 'step 1500 of 1500'
bad 2 'none.json: error: cannot open' check "$ex/models/schools.nami" --data none.json

# ---- exact factors ----------------------------------------------------------------------------
schools="$ex/models/schools.nami --data $ex/models/schools.json"
run 0 invert $schools
has out '10 to infer (9 exactly)'
has out 'p(theta[8]|mu,tau,y[8])'
has out 'theta[j] (8)  normal'
is "$(grep -c '^exact ' out)" 1
run 0 invert $schools --json
json_is out "sorted((f['kind'], f.get('exact')) for f in x['factors'])[0]" "('exact', 'normal')"
json_is out "[f['node'] for f in x['factors'] if f['kind'] == 'network']" "['tau']"
run 0 invert $schools --exact none --json
json_is out "{f['kind'] for f in x['factors']}" "{'network'}"
run 0 invert $schools --exact theta
has out '(8 exactly)'
has out 'is not among those that --exact names'
bad 2 "nu" invert $schools --exact nu

# ---- training on draws of a file -------------------------------------------------------------
tree="$ex/models/tree.nami --data $ex/models/tree.json"
run 0 simulate $tree -n 2000 -o draws.npz -o draws.json
for f in npz json; do
    run 0 train $tree --exact none --samples draws.$f -o $f.net -n 30 --check 10 --batch 50 --hidden 8 -q
done
ok; cmp -s npz.net json.net || no 'draws of .npz and .json train to different networks'
run 0 train $tree --exact none --samples draws.npz -o half.net -n 20 --check 10 --batch 50 --hidden 8 -q --cooldown 0
run 0 train $tree --exact none --samples draws.npz -o whole.net -n 30 --check 10 --batch 50 --hidden 8 --cooldown 0
has out 'on 200 draws, 30 steps'
bad 2 'trained on 2000 draws of a file; give it again' train $tree -o half.net --resume -n 30
run 0 simulate $tree -n 1000 -o few.npz
bad 2 'few.npz: there are 1000 draws, but the network was trained on 2000' \
    train $tree -o half.net --resume -n 30 --samples few.npz
run 0 train $tree -o half.net --resume -n 30 --samples draws.json -q
ok; cmp -s half.net whole.net || no 'a run on samples that stopped goes on differently'
run 0 train $tree --exact none -o own.net -n 2 --check 1 --valid 50 --batch 50 --hidden 8 -q
if [ -n "$python" ]; then # of the options that neither names, program and library think the same
    "$python" - <<'P' || no "nami_train_options and 'nami train' have different defaults"
import json
def settings(path):
    with open(path, 'rb') as f:
        return json.loads(json.loads(f.read(int.from_bytes(f.read(8), 'little')))['__metadata__']['settings'])
a, b = settings('api.net'), settings('own.net')
named = 'hidden steps batch check valid seed'.split() # by one of them
for group in ['invert', 'train']:
    for k in a[group]:
        assert k in named or a[group][k] == b[group][k], (k, a[group][k], b[group][k])
P
    ok
fi
bad 2 'trained on draws of the model' train $tree -o own.net --resume -n 3 --samples draws.npz
bad 2 "few.npz: there is no array 'A'" \
    train "$ex/models/hmm.nami" --samples few.npz -o x.net --set T=2 --set K=2
bad 2 'none.npz: cannot open' train $tree --samples none.npz -o x.net
head -c 5000 draws.npz >cut.npz
bad 2 'cut.npz: this is no whole .npz archive' train $tree --samples cut.npz -o x.net
head -c 5000 draws.json >cut.json
bad 2 'cut.json:' train $tree --samples cut.json -o x.net
bad 2 'too few for batches of 600' train $tree --samples few.npz -o x.net --batch 600
is "$(ls x.net 2>&1 | grep -c 'No such file')" 1
printf 'model {\n  a ~ normal(0, 1)\n  y ~ simulated(a)\n}\nobserve y\n' >gone.nami
for i in $(seq 40); do echo "{\"a\": $i, \"y\": $((i + i % 3))}"; done >gone.json
bad 2 'the model names no simulator' train gone.nami -o x.net
run 0 train gone.nami -o gone.net --samples gone.json --batch 10 -n 20 # a simulator that is elsewhere
has out 'on 10 draws, 20 steps'
run 0 sample gone.net --data gone.json -n 10
has err "the data are not compared with the model's draws: they come from a simulator"

# ---- simulators --------------------------------------------------------------------------------
cat >sim.nami <<'M'
simulator "echo '{\"a\": 40, \"y\": [41, 42]}'"
model {
  a ~ normal(0, 1)
  y[1:2] ~ simulated(a)
}
observe y
M
run 0 simulate sim.nami -n 1 -o sim.json
is "$(tr -d ' \n' <sim.json)" '[{"a":40,"y":[41,42]}]'
bad 2 'y comes from a simulator: its density is not known' logp sim.nami --at sim.json
run 0 invert sim.nami
has out 'q(z|x) = q(a|y)'

echo "$done checks, $failed failed"
[ "$failed" = 0 ]
