#!/bin/bash
# What is printed must be true, and nothing runs or is opened unasked: damaged networks, weights that say nothing,
# files of the wrong kind, simulators that come with a network, signals, quiet runs.
nami=$(realpath "$1")
export PYTHONPATH=$PWD/tests PYTHONDONTWRITEBYTECODE=1 # network_file.py
edit="python3 $PWD/tests/network_file.py"
. "$(dirname "$0")/checks.sh"
cd "$dir" || exit 1
cat >line.nami <<'EOF'
model {
  a ~ normal(0, 1)
  s ~ gamma(2, 1)
  for (i in 1:4) { y[i] ~ normal(a, s) }
}
observe y
EOF
echo '{"y": [-1, 0.5, 0.2, 1.5]}' >y.json
echo '{"a": 0.1, "s": 1, "y": [-1, 0.5, 0.2, 1.5]}' >at.json
ok "trains" "$nami" train line.nami --exact none -o n.net --steps 300 --hidden 8 --valid 500 -q

# ---- a damaged network is refused by every command that asks it
cat >hurt.py <<'EOF'
# hurt.py IN OUT WHAT VALUE INDEX: a number of the first tensor whose name ends in WHAT; INDEX -1: all of its numbers.
import struct, sys
import network_file
src, dst, what, value, index = sys.argv[1:]
head, b = network_file.read(src)
t = next(v for k, v in head.items() if k.endswith(what))
kind = "<f" if t["dtype"] == "F32" else "<d"
size, (lo, hi) = struct.calcsize(kind), t["data_offsets"]
for k in range((hi - lo) // size) if int(index) < 0 else [int(index)]:
    struct.pack_into(kind, b, lo + size * k, float(value))
network_file.write(dst, head, b)
EOF
for hurt in "white.weight 1e30 0" "white.weight nan 0" ".bias nan 0" ".bias -inf 0" "out/a.weight 1e30 -1"; do
    ok "$hurt" python3 hurt.py n.net x.net $hurt
    for command in "sample --data y.json" "sample --method direct --data y.json" "sample --method smc --data y.json" \
        "evidence --data y.json" "map --data y.json" calibrate simulate "logp --at at.json"; do
        set -- $command
        says "$hurt: $command" 2 'the network is damaged: number [0-9]+ of ' timeout 20 "$nami" "$1" x.net "${@:2}"
    done
    says "$hurt: train --resume" 2 'the network is damaged' "$nami" train line.nami -o x.net --resume --steps 310 -q
done
ok "weights of the last step" python3 hurt.py n.net x.net nami.now nan 3
says "these are wanted by --resume" 2 'the network is damaged: number 4 of nami.now' "$nami" train line.nami -o x.net --resume --steps 310 -q

# ---- a byte that changed on its way
for at in 9 200 -1000 -1; do
    ok "byte $at" python3 -c "b = bytearray(open('n.net', 'rb').read()); b[$at] ^= 4; open('x.net', 'wb').write(b)"
    says "byte $at: refused" 2 'x.net: error: ' "$nami" sample x.net --data y.json
done
says "a weight that changed" 2 'its bytes do not match their checksum; take the file' "$nami" sample x.net --data y.json
ok "as if of an earlier version" $edit n.net x.net nami 2 1
says "format 1" 2 'earlier version of NaMI \(format 1\).* train it again: nami train' "$nami" sample x.net --data y.json
ok "as if of a later version" $edit n.net x.net nami 2 3
says "format 3" 2 'has format 3, and this version of NaMI \([0-9.]+\) reads format 2' "$nami" sample x.net --data y.json

# ---- weights that are all the same because nothing is left of them: a failure, not perfection
ok "weights that a network might have" python3 hurt.py n.net x.net white.bias 1e11 -1
for command in "sample -n 200 --method is" "sample -n 200 --method smc" "evidence -n 200 --method is"; do
    says "far off: $command" 1 '^weights +all 0' "$nami" $command x.net --data y.json
    says "far off, warned: $command" 1 '^verdict +not trusted' "$nami" $command x.net --data y.json
done
says "NaN is shown as such" 1 '^ +a +NaN +NaN' "$nami" sample x.net --data y.json -n 200 --method is
says "and not trusted" 1 '"verdict":"no"' "$nami" sample x.net --data y.json -n 200 --json --method is
says "Markov chains need no network" 0 '"verdict":"trusted".*"method":"mcmc"' "$nami" sample x.net --data y.json --json --method mcmc
cat >modes.py <<'EOF'
import json, subprocess, sys
got = [json.loads(subprocess.run([sys.argv[1], "evidence", net, "--data", "y.json", "--json"], stdout=subprocess.PIPE).stdout)[0]
       for net in ["n.net", "x.net"]]
assert got[1]["verdict"] == "trusted", got
assert abs(got[0]["log_evidence"] - got[1]["log_evidence"]) < 6 * (got[0]["log_evidence_se"] + got[1]["log_evidence_se"]), got
EOF
ok "a search for modes does not, either: the same evidence" python3 modes.py "$nami"
# ---- one data set: chains first, then a network where the posterior is
says "chains answer first" 0 '^verdict +trusted: R-hat' "$nami" run line.nami --data y.json -o first.csv --exact none
ok "and nothing is trained" test ! -e first.safetensors
says "--focus none trains" 0 '^network +none.safetensors' "$nami" run line.nami --data y.json -o none.csv --exact none --focus none --steps 20 -n 100
says "--focus of another kind" 2 "focus" "$nami" run line.nami --data y.json --focus far
printf 'model {\n  theta ~ normal(0, 1000)\n  y ~ normal(theta^2, 0.1)\n}\n' >modes.nami
echo '{"y": 9}' >modes.json
says "two modes, a vague prior: trained around the data" 0 'trained around your data: theta ~ normal\(' "$nami" run modes.nami --data modes.json -o modes.csv
says "both modes, trusted; the network is used again" 0 '^  theta +-?0\.[0-9]+ +3 +-3\.0' "$nami" run modes.nami --data modes.json -o modes.csv
# covariates so large that random starting points have no density: chains that are stuck move
printf 'model {\n  for (i in 1:4) { y[i] ~ poisson(exp(a + b * x[i])) }\n  a ~ normal(0, 1000)\n  b ~ normal(0, 1000)\n}\n' >far.nami
echo '{"x": [0, 300, 600, 1000], "y": [4, 9, 11, 30]}' >far.json
says "far from the start" 0 '^verdict +trusted' "$nami" run far.nami --data far.json -o far.csv --exact none

says "log p outside of the support of a parameter" 0 "^nan$" sh -c "echo '{\"a\": 1, \"s\": -1, \"y\": [1, 2, 3, 4]}' >out.json; '$nami' logp line.nami --at out.json"
says "a good one is" 0 '"verdict":"trusted"' "$nami" sample n.net --data y.json -n 2000 --json
cat >ess.py <<'EOF'
import json, subprocess, sys
for net in ["n.net", "x.net", "y.net"]:
    for n in ["1", "2", "30", "200"]:
        for method in ["is", "smc"]:
            r = subprocess.run([sys.argv[1], "sample", net, "--data", "y.json", "-n", n, "--method", method],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            assert r.returncode in (0, 1), r.stderr  # 1: not trusted
            assert "-nan" not in r.stdout and "inf)" not in r.stdout and "k-hat inf" not in r.stdout, r.stdout
            r = subprocess.run([sys.argv[1], "sample", net, "--data", "y.json", "-n", n, "--method", method, "--json"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            d = json.loads(r.stdout)["sets"][0]
            for v in d["variables"].values():
                assert v["ess"] is None or 1 <= v["ess"] <= max(1, d["ess"]) * (1 + 1e-9), (net, n, d["ess"], v)
EOF
ok "one draw has all the weight" python3 hurt.py n.net y.net out/a.bias 40 -1
ok "no variable has more effective draws than the weights" python3 ess.py "$nami"
says "no table without rows" 0 'all of these are observed' "$nami" sample n.net --data y.json -n 200 --only y
says "too few draws for k-hat" 0 'verdict +with care: too few draws to tell: k-hat needs 21' "$nami" sample n.net --data y.json -n 5

says "an exact answer needs no k-hat: train" 0 'none is needed' "$nami" train line.nami --exact all -o e.net
for method in is adaptive smc; do
    for n in 1 2 5; do
        says "exact: $method, $n draws" 0 '^verdict +trusted: all importance weights are equal: the answer is exact' "$nami" sample e.net --data y.json -n $n --method $method
        says "its evidence: $method, $n draws" 0 'log p\(x\) = -[0-9.]+ \+- 0.000$' "$nami" evidence e.net --data y.json -n $n --method $method
    done
done
ok "several data sets" sh -c "echo '[{\"y\": [1, 2, 3, 4]}, {\"y\": [0, 1, 0, 1]}]' >two.json; '$nami' sample e.net --data two.json -n 3 | grep -q 'trusted: 2 of 2'"

cat >each.py <<'EOF'
import json, subprocess, sys
def evidence(data, n):
    out = subprocess.check_output([sys.argv[1], "evidence", "e.net", "--data", data, "-n", n, "--json"])
    return [s["log_evidence"] for s in json.loads(out)]
for k, y in enumerate(json.load(open("two.json"))):
    json.dump(y, open("one.json", "w"))
    assert evidence("two.json", "3")[k] == evidence("two.json", "100")[k] == evidence("one.json", "1")[0], k
EOF
ok "p(x) of each set" python3 each.py "$nami"

# ---- advice: more draws first, then chains
ok "a poor network" "$nami" train line.nami --exact none -o p.net --steps 1 --hidden 8 --valid 500 -q
echo '{"y": [2.1, 2.11, 2.12, 2.09]}' >far.json
says "more draws" 1 "ask for more draws \(100000\), or for Markov chains" "$nami" sample p.net --data far.json --method is -n 200

# ---- files of the wrong kind
for command in check invert "train -o z.net" "export --to json" exact convert "run --data y.json"; do
    says "$command of a network" 2 "n.net: error: this is a trained network.*'nami sample'" "$nami" $command n.net
done
says "compare a network and a model" 2 'this is a trained network' "$nami" compare n.net line.nami
for command in "sample --data y.json" "evidence --data y.json" "map --data y.json" calibrate; do
    says "$command of a model" 2 "line.nami: error: this is not a trained network; 'nami train" "$nami" $command line.nami
done
says "letters that changed places" 2 "did you mean 'train'" "$nami" trian
says "another program's word" 2 "did you mean 'nami sample'" "$nami" infer

# ---- a network's file runs nothing and opens nothing
cat >sim.sh <<'EOF'
touch ran
awk -F'[:,]' '{ srand($4); for (i = 0; i < $2; i++) { a = rand() + rand() - 1; print "{\"a\":" a ",\"y\":" a + rand() "}" } }'
EOF
printf 'simulator "sh ./sim.sh"\nmodel { a ~ normal(0, 1)\n y ~ simulated(a) }\nobserve y\n' >sim.nami
echo '{"y": 1}' >sim.json
says "check says what runs" 0 "note: this runs the simulator 'sh ./sim.sh' \(/.*/sh, in $(realpath .)\)" "$nami" check sim.nami
says "train says what runs" 0 "note: this runs the simulator 'sh ./sim.sh'" "$nami" train sim.nami -o sim.net --steps 20 --valid 100 --hidden 4
says "--resume is of the model file" 0 "this runs the simulator" "$nami" train sim.nami -o sim.net --steps 30 --resume
ok "run says it once" sh -c "test \$('$nami' run sim.nami --data sim.json --steps 20 2>&1 | grep -c 'this runs') = 1"
ok "quiet" sh -c "! '$nami' check sim.nami -q 2>&1 | grep 'this runs'"
rm -f ran
for command in simulate calibrate; do
    says "$command asks" 2 "--allow-simulator: it is the simulator 'sh ./sim.sh' \(/.*/sh, in $(realpath .)\)" "$nami" $command sim.net -n 20
done
ok "sample needs no simulator" "$nami" sample sim.net --data sim.json -n 50 -q
ok "nothing ran" test ! -e ran
says "simulate, allowed" 0 'this runs the simulator' "$nami" simulate sim.net -n 8 --allow-simulator
ok "it ran" test -e ran
ok "calibrate, allowed" sh -c "'$nami' calibrate sim.net -n 20 --draws 8 --allow-simulator | grep -q ^calibration"
mkdir -p there elsewhere
cp sim.nami sim.sh there
ok "a model in another directory" "$nami" train there/sim.nami -o there.net --steps 5 --valid 50 --hidden 4 -q
says "its simulator is found from anywhere" 0 "in $(realpath there)\)" sh -c "cd elsewhere; '$nami' simulate ../there.net -n 2 --allow-simulator"
mv there gone
says "or the message says what is missing" 3 "runs in the directory of its model, $(realpath .)/there/, which is not there" "$nami" simulate there.net -n 2 --allow-simulator
if command -v strace >/dev/null && strace -o trace true 2>/dev/null && ! grep -q __asan_init "$nami"; then
    strace -f -e trace=openat,open,execve,creat -o trace "$nami" sample sim.net --data sim.json -n 50 -o opened.csv -q
    # besides libraries and what the system tells of itself: no file but these, no program
    grep -E 'O_|execve' trace | grep -v ENOENT | grep -oE '"[^"]*"' | tr -d '"' |
        grep -vE '^(/lib|/usr/lib|/etc/ld.so|/etc/localtime|/proc/|/sys/|/dev/|/usr/share/)' | sort -u >opened
    ok "sample opens its files only" sh -c "! grep -vxE '$nami|sample|sim.net|sim.json|opened.csv.*|\.|--data|-n|50|-o|-q' opened"
fi
ok "names of a file" sh -c "echo y >names; '$nami' train line.nami --observe @names -o o.net --steps 5 --hidden 4 -q; rm names"
ok "are in the network" "$nami" sample o.net --data y.json -n 50 -q
ok "a path in the settings" $edit o.net x.net settings 'y[1],' '@/etc/passwd,'
says "is not opened" 2 'may not; train it again' "$nami" sample x.net --data y.json -n 50

# ---- training: what is printed belongs together; signals; quiet runs
cat >parts.py <<'EOF'
import json, subprocess, sys
r = subprocess.run([sys.argv[1], "train", "line.nami", "-o", "r.net", "--steps", "60", "--check", "3", "--rate", "0.2",
                    "--valid", "200", "--hidden", "8", "--json", "-q", "--log", "r.json"], stdout=subprocess.PIPE, check=True)
d, log = json.loads(r.stdout), json.load(open("r.json"))
best = min(log, key=lambda x: x["valid_loss"])
assert best is not log[-1], "the last validation is the best: the test says nothing"
assert abs(d["loss"] - best["valid_loss"]) < 1e-9 and abs(sum(d["parts"].values()) - d["loss"]) < 1e-6, d
assert log[-1]["rate"] < 0.1 * log[0]["rate"], log[-1]
EOF
ok "parts are those of the loss; the rate falls" python3 parts.py "$nami"
ok "run -q prints nothing" sh -c "test \$('$nami' run line.nami --data y.json --steps 20 -q 2>&1 | wc -c) = 0"
ok "an ignored SIGINT stays ignored" sh -c "env --ignore-signal=INT '$nami' train line.nami -o i.net --steps 5000 --patience 1000 --hidden 8 --valid 500 -q & p=\$!; sleep 0.3; kill -INT \$p; wait \$p"
summary
