#!/bin/bash
# nami train, sample and exact together: draws in every format, evidence against the truth, bad input.
nami=$(realpath "$1")
. "$(dirname "$0")/checks.sh"
cat >"$dir/line.nami" <<'END'
model {
  a ~ normal(0, 1)
  b ~ normal(0, 1)
  for (i in 1:6) { y[i] ~ normal(a + b * (i - 3), 1) }
  next ~ normal(a + b * 4, 1)
  twice <- 2 * a
}
observe y
END
echo '{"y": [-1, 0.5, 0.2, 1.5, 1, 2.5]}' >"$dir/y.json"
echo '{"y": [1, 0.5, 0.2, -1.5, -1, -2.5]}' >"$dir/m2.json"
"$nami" simulate "$dir/line.nami" -n 50 --only y --seed 9 -o "$dir/many.json"
ok "trains" "$nami" train "$dir/line.nami" --exact none -o "$dir/n.net" --steps 1500 --hidden 32,32 --valid 1000 -q

# ---- evidence and moments against the exact posterior
cat >"$dir/compare.py" <<'END'
import json, subprocess, sys
nami, d = sys.argv[1], sys.argv[2]
run = lambda *a: json.loads(subprocess.run([nami, *a], stdout=subprocess.PIPE, check=True).stdout)
got = run("sample", d + "/n.net", "--data", d + "/y.json", "-n", "20000", "--json", "--all")["sets"][0]
exact = run("exact", d + "/line.nami", "--data", d + "/y.json", "--json")
assert got["khat"] < 0.7 and got["ess"] > 10000, got["khat"]
assert abs(got["log_evidence"] - exact["log_evidence"]) < 5 * got["log_evidence_se"] + 0.005, (got, exact)
names = got["variables"]
for v in exact["variables"]:
    if v["name"] not in names:
        continue
    n = names[v["name"]]
    assert abs(n["mean"] - v["mean"]) < 6 * n["mcse"] + 1e-6, (n, v)
    assert abs(n["sd"] / v["sd"] - 1) < 0.06, (n, v)
assert abs(names["twice"]["mean"] - 2 * names["a"]["mean"]) < 1e-9
END
ok "the posterior is the exact one" python3 "$dir/compare.py" "$nami" "$dir"

# ---- another prior, and another likelihood, of the same network
sed 's/a ~ normal(0, 1)/a ~ normal(1, 0.5)/; s/b ~ normal(0, 1)/b ~ student_t(4, 0, 1)/' "$dir/line.nami" >"$dir/prior.nami"
sed 's/y\[i\] ~ normal(\(.*\), 1)/y[i] ~ normal(\1, 1.5)/; s/a ~ normal(0, 1)/a ~ normal(1, 0.5)/' "$dir/line.nami" >"$dir/wide.nami"
cat >"$dir/changed.py" <<'END'
import json, subprocess, sys
nami, d = sys.argv[1], sys.argv[2]
run = lambda *a: json.loads(subprocess.run([nami, *a], stdout=subprocess.PIPE, check=True).stdout)
ask = ("--data", d + "/y.json", "--json")
got = run("sample", d + "/n.net", "--model", d + "/wide.nami", "-n", "20000", "--method", "is", *ask)["sets"][0]
exact = run("exact", d + "/wide.nami", *ask)
assert got["verdict"] == "trusted" and abs(got["log_evidence"] - exact["log_evidence"]) < 5 * got["log_evidence_se"] + 0.005, (got, exact)
for v in exact["variables"]:
    n = got["variables"].get(v["name"])
    if n:
        assert abs(n["mean"] - v["mean"]) < 6 * n["mcse"] and abs(n["sd"] / v["sd"] - 1) < 0.06, (n, v)
# a prior without a closed form: numerically, on a grid
from math import exp, log
y, grid, sums = [-1, 0.5, 0.2, 1.5, 1, 2.5], [i / 50 - 5 for i in range(501)], [0, 0, 0]
for a in grid:
    for b in grid:
        w = exp(-2 * (a - 1)**2 - 2.5 * log(1 + b * b / 4) - sum((v - a - b * (i - 2))**2 for i, v in enumerate(y)) / 2)
        sums = [sums[0] + w, sums[1] + w * a, sums[2] + w * b]
got = run("sample", d + "/n.net", "--model", d + "/prior.nami", "-n", "20000", *ask)["sets"][0]
assert got["verdict"] == "trusted"
for name, s in (("a", sums[1]), ("b", sums[2])):
    n = got["variables"][name]
    assert abs(n["mean"] - s / sums[0]) < 6 * n["mcse"], (n, s / sums[0])
END
ok "a changed model: the exact posterior" python3 "$dir/changed.py" "$nami" "$dir"
changed() { sed "$1" "$dir/line.nami" >"$dir/c.nami"; "$nami" sample "$dir/n.net" --data "$dir/y.json" --model "$dir/c.nami"; }
says "evidence" 0 '^evidence' "$nami" evidence "$dir/n.net" --data "$dir/y.json" --model "$dir/prior.nami"
says "a latent is gone" 2 'b, latent for the network, is not in the changed model' changed '/b ~/d; s/b \*/0 */; s/b \*/0 */'
says "a latent is new" 2 'c, latent in the changed model, is not in the network' changed 's/twice.*/c ~ normal(a, 1)/'
says "observed" 2 'b is latent for the network, and observed in the changed model' changed 's/observe y/observe y, b/'
says "another support" 2 'b is between -inf and inf|b is between' sh -c "sed 's/b ~ normal(0, 1)/b ~ gamma(2, 1)/' '$dir/line.nami' >'$dir/g.nami'; '$nami' train '$dir/g.nami' --exact none -o '$dir/g.net' --steps 20 --hidden 8 --valid 500 -q; '$nami' sample '$dir/g.net' --data '$dir/y.json' --model '$dir/line.nami'"
says "what had no influence" 2 'data depend on latents that they did not depend on before' changed 's/next ~.*/next ~ normal(0, 1)/; s/b \* (i - 3)/b * (i - 3) + next/'
says "a broken model" 2 'c.nami:.*error' changed 's/}/} }/'
says "no such model" 2 'error' "$nami" sample "$dir/n.net" --data "$dir/y.json" --model "$dir/none.nami"

# ---- files, threads, many data sets
for f in csv npz nc json; do
    ok "$f" "$nami" sample "$dir/n.net" --data "$dir/y.json" -n 100 -q -o "$dir/x.$f"
    ok "$f is there" test -s "$dir/x.$f"
    ok "$f again, one thread" "$nami" sample "$dir/n.net" --data "$dir/y.json" -n 100 -q --threads 1 -o "$dir/z.$f"
    ok "$f: same bytes" cmp "$dir/x.$f" "$dir/z.$f"
done
says "csv has a header" 0 '^.chain,.iteration,.draw,lp__' head -1 "$dir/x.csv"
ok "csv, weighted" "$nami" sample "$dir/n.net" --data "$dir/y.json" -n 100 -q --weighted -o "$dir/w.csv"
says "csv has weights" 0 '\.log_weight' head -1 "$dir/w.csv"
says "many data sets" 0 'for [0-9]+ of 50' "$nami" sample "$dir/n.net" --data "$dir/many.json" -n 200
ok "many, to a file" sh -c "'$nami' sample '$dir/n.net' --data '$dir/many.json' -n 33 -q -o '$dir/many.npz' --predict; test \$? -le 1" # some may not be trusted
says "a table" 0 'k-hat -?[0-9.]+' "$nami" sample "$dir/n.net" --data "$dir/y.json"
says "direct" 0 'not weighted' "$nami" sample "$dir/n.net" --data "$dir/y.json" --method direct

# ---- more draws than are in memory at once: two passes, the same bytes for any number of threads; memory grows by 8
# bytes a draw, for the weights (all rows of the model would take 80)
for t in 1 2; do ok "pieces, $t threads" "$nami" sample "$dir/n.net" --data "$dir/y.json" --method is -n 500003 -q --threads $t -o "$dir/p$t.npz" -o "$dir/p$t.json"; done
ok "pieces: same bytes" cmp "$dir/p1.npz" "$dir/p2.npz"
ok "pieces: same summary" cmp "$dir/p1.json" "$dir/p2.json"
cat >"$dir/memory.py" <<'END2'
import os, sys
os.environ["ASAN_OPTIONS"] = "quarantine_size_mb=1"  # a sanitizer keeps what was freed
def peak(draws):  # bytes
    pid = os.fork()
    if pid == 0:
        os.execv(sys.argv[1], [sys.argv[1], "sample", sys.argv[2] + "/n.net", "--data", sys.argv[2] + "/y.json", "-q", "--method", "is",
                               "-n", str(draws), "-o", sys.argv[2] + "/big.npz"])
    _, status, usage = os.wait4(pid, 0)
    assert status == 0, status
    return usage.ru_maxrss * 1024
few, many = peak(1200000), peak(2400000)
print("peak memory", few, many)
assert many - few < 24 * 1200000, (few, many)
END2
ok "memory" python3 "$dir/memory.py" "$nami" "$dir"

# ---- data that are unlike the model's: p is uniform for those that are not, and small for those that are
cat >"$dir/unlike.py" <<'END2'
import json, subprocess, sys
nami, d = sys.argv[1], sys.argv[2]
def ask(data):
    r = subprocess.run([nami, "sample", d + "/n.net", "--data", data, "-n", "8", "--json"], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, check=True, text=True)
    return [v["ood_p"] for v in json.loads(r.stdout)["sets"]], r.stderr
subprocess.run([nami, "simulate", d + "/line.nami", "-n", "4000", "--only", "y", "--seed", "77", "-o", d + "/m.json"], check=True)
p, said = ask(d + "/m.json")
share = lambda t: sum(x < t for x in p) / len(p)
assert 0.06 < share(0.1) < 0.14 and 0.4 < share(0.5) < 0.6 and share(0.001) < 0.01, [share(t) for t in (0.001, 0.1, 0.5)]
sets = json.load(open(d + "/m.json"))[:40]
sets[6]["y"][2] = 250
json.dump(sets, open(d + "/one.json", "w"))
p, said = ask(d + "/one.json")
assert p[6] < 0.001 and "1 of 40 data sets are unlike" in said and "number 7, where y[3] = 250 lies" in said, (p, said)
END2
ok "p of data from the model, and of others" python3 "$dir/unlike.py" "$nami" "$dir"
echo '{"y": [100, 0.5, 0.2, 1.5, 1, 2.5]}' >"$dir/far.json"
echo '{"y": [-3, 3, -3, 3, -3, 3]}' >"$dir/odd.json"
says "far outside: Markov chains answer" 0 'warning: these data are unlike .*p < 0.001.: y\[1\] = 100 lies [34][0-9] sd from its median' "$nami" sample "$dir/n.net" --data "$dir/far.json" -q
says "a relation is broken" 0 'warning: these data are unlike .*from what the others suggest' "$nami" sample "$dir/n.net" --data "$dir/odd.json"
ok "inside" sh -c "! '$nami' sample '$dir/n.net' --data '$dir/y.json' 2>&1 | grep unlike"
ok "p in the summary" grep -q '"ood_p": 0\.[0-9]' "$dir/x.json"

# ---- the whole job
cd "$dir"
says "run" 0 'written +line.nc' "$nami" run line.nami --data y.json --steps 300
says "run again: another data set, the same network" 0 'written +out.csv' "$nami" run line.nami --data m2.json -o out.csv --steps 300
ok "its files" test -s line.nc -a -s line.safetensors -a -s out.csv -a -s out.safetensors
says "run, no ending" 2 'cannot tell what to write' "$nami" run line.nami --data y.json -o out
says "run, broken model" 2 'error' sh -c "echo 'model { a ~ normal(0 }' >bad.nami; '$nami' run bad.nami --data y.json"
cd - >/dev/null

# ---- bad input
says "missing data" 2 'give no value for y' sh -c "echo '{\"y\": [1, 2, 3, 4, 5, null]}' >'$dir/m.json'; '$nami' sample '$dir/n.net' --data '$dir/m.json'"
says "wrong shape" 2 'has 2 elements in the data, but 6' sh -c "echo '{\"y\": [1, 2]}' >'$dir/w.json'; '$nami' sample '$dir/n.net' --data '$dir/w.json'"
says "no data" 2 'give --data' "$nami" sample "$dir/n.net"
says "not a network" 2 'error' "$nami" sample "$dir/y.json" --data "$dir/y.json"
says "unknown ending" 2 'error' "$nami" sample "$dir/n.net" --data "$dir/y.json" -o "$dir/x.foo"
says "unknown name" 2 'no variable called' "$nami" sample "$dir/n.net" --data "$dir/y.json" --only zz
says "no such folder" 3 'error' "$nami" sample "$dir/n.net" --data "$dir/y.json" -o "$dir/no/x.csv"
summary
