#!/bin/bash
# nami evidence, and sample --method smc: every method against the exact evidence, JSON, many data sets, bad input.
nami=$(realpath "$1")
. "$(dirname "$0")/checks.sh"
cat >"$dir/chain.nami" <<'END'
model {
  z[1] ~ normal(0, 1)
  for (t in 2:15) { z[t] ~ normal(0.9 * z[t-1], 0.6) }
  for (t in 1:15) { y[t] ~ normal(2 * z[t], 0.7) }
  next ~ normal(0.9 * z[15], 0.6)
}
observe y
END
"$nami" simulate "$dir/chain.nami" -n 1 --only y --seed 3 -o "$dir/y.json"
"$nami" simulate "$dir/chain.nami" -n 20 --only y --seed 4 -o "$dir/many.json"
ok "trains" "$nami" train "$dir/chain.nami" --exact none -o "$dir/n.net" --steps 1500 --hidden 16,16 --valid 500 -q
ok "trains another, badly" "$nami" train "$dir/chain.nami" --exact none -o "$dir/poor.net" --steps 2 --check 1 --hidden 16,16 --valid 500 -q

# ---- every method of the table against the exact answer
cat >"$dir/compare.py" <<'END'
import json, subprocess, sys
nami, d = sys.argv[1], sys.argv[2]
def run(*a):  # exit code 1: an answer is not trusted
    r = subprocess.run([nami, *a], stdout=subprocess.PIPE)
    assert r.returncode in (0, 1), a
    return json.loads(r.stdout)
exact = run("exact", d + "/chain.nami", "--data", d + "/y.json", "--json")
methods = [m["name"] for m in run("list", "evidence", "--json")]
assert methods == ["is", "smc", "adaptive", "auto", "ais"], methods
for net in ["n", "poor"]:
    for m in methods:
        got = run("evidence", d + "/" + net + ".net", "--data", d + "/y.json", "--method", m, "-n", "8000", "--chains", "64", "--json")
        assert len(got) == 1 and got[0]["set"] == 1 and got[0]["method"] == m, got
        g = got[0]
        if m == "is" and net == "poor":
            assert g["verdict"] == "no", g
            continue
        assert g["verdict"] == "trusted", g
        assert abs(g["log_evidence"] - exact["log_evidence"]) < 6 * g["log_evidence_se"] + 0.01, (net, g, exact["log_evidence"])
        assert g["log_evidence_se"] < 0.2, g
# posterior means, with standard errors from islands
got = run("sample", d + "/poor.net", "--data", d + "/y.json", "--method", "smc", "-n", "8000", "--json")["sets"][0]
assert got["khat"] is None and got["log_evidence"] is not None, got["khat"]
names = got["variables"]
for v in exact["variables"]:
    if v["name"] in names:
        n = names[v["name"]]
        assert abs(n["mean"] - v["mean"]) < 8 * n["mcse"] + 0.02 * v["sd"], (n, v)
        assert abs(n["sd"] / v["sd"] - 1) < 0.3, (n, v)
        assert n["ess"] <= 8000
# many data sets: each is there, and the same as sample says
many = run("evidence", d + "/n.net", "--data", d + "/many.json", "-n", "400", "--json")
same = run("sample", d + "/n.net", "--data", d + "/many.json", "--method", "adaptive", "-n", "400", "--json")["sets"]
assert [x["log_evidence"] for x in many] == [x["log_evidence"] for x in same] and len(many) == 20
END
ok "evidence is the exact one" python3 "$dir/compare.py" "$nami" "$dir"

# ---- what is printed; threads
says "one data set" 0 'log p\(x\) = -[0-9.]+ \+- 0\.[0-9]+' "$nami" evidence "$dir/n.net" --data "$dir/y.json"
says "islands" 0 'resampled in 16 islands' "$nami" evidence "$dir/poor.net" --data "$dir/y.json" --method smc
says "the default is adaptive" 0 '^verdict +trusted' "$nami" evidence "$dir/poor.net" --data "$dir/y.json"
ok "as of nami sample" sh -c "'$nami' evidence '$dir/poor.net' --data '$dir/y.json' | grep ^evid >'$dir/e'; '$nami' sample '$dir/poor.net' --data '$dir/y.json' | grep ^evid | diff - '$dir/e'"
says "a warning" 1 '^verdict +not trusted: k-hat of the importance weights is ' "$nami" evidence "$dir/poor.net" --data "$dir/y.json" --method is
says "too few" 1 '^verdict +not trusted: .* islands disagree, or are too few' "$nami" evidence "$dir/poor.net" --data "$dir/y.json" --method smc -n 20
says "many data sets" 0 'log p of all 20 data sets' "$nami" evidence "$dir/n.net" --data "$dir/many.json" --method smc -n 300
says "chains" 0 'chains +16, through 1000 temperatures, [0-9.]+ effective' "$nami" evidence "$dir/n.net" --data "$dir/y.json" --method ais
says "too few temperatures" 1 '^verdict +not trusted: .* chains disagree' "$nami" evidence "$dir/poor.net" --data "$dir/y.json" --method ais --temps 3
says "a table by smc" 0 'resampled in 16 islands' "$nami" sample "$dir/poor.net" --data "$dir/y.json" --method smc
says "many by smc" 0 'or islands agree for [0-9]+ of 20' "$nami" sample "$dir/n.net" --data "$dir/many.json" --method smc -n 300
for m in is smc adaptive "ais --temps 20 --chains 4" "ais --temps 20 --start prior"; do
    "$nami" evidence "$dir/poor.net" --data "$dir/many.json" --method $m -n 100 --threads 1 --json >"$dir/1.json"
    "$nami" evidence "$dir/poor.net" --data "$dir/many.json" --method $m -n 100 --threads 3 --json >"$dir/3.json"
    ok "$m: the same for any number of threads" cmp "$dir/1.json" "$dir/3.json"
    ok "$m: quiet is two numbers a line" sh -c "'$nami' evidence '$dir/n.net' --data '$dir/many.json' --method $m -n 100 -q | awk 'NF != 2 {bad = 1} END {exit bad || NR != 20}'"
done
sample() { "$nami" sample "$dir/poor.net" --data "$dir/many.json" --method smc -n 50 -q "$@"; test $? -le 1; } # trusted or not
for f in csv 'npz --predict' 'nc --predict' json; do
    set -- $f; f=$1; shift
    ok "smc: $f" sample -o "$dir/x.$f" "$@"
    ok "smc: $f, one thread" sample -o "$dir/z.$f" "$@" --threads 1
    ok "smc: $f: same bytes" cmp "$dir/x.$f" "$dir/z.$f"
done

# ---- bad input
says "no data" 2 'give --data' "$nami" evidence "$dir/n.net"
says "no draws" 2 'at least 1' "$nami" evidence "$dir/n.net" --data "$dir/y.json" -n 0
says "no temperatures" 2 '--temps must be at least 1' "$nami" evidence "$dir/n.net" --data "$dir/y.json" --method ais --temps 0
says "too many temperatures" 2 '1 to 32767 temperatures' "$nami" evidence "$dir/n.net" --data "$dir/y.json" --method ais --temps 40000
says "no chains" 2 'at least 1' "$nami" evidence "$dir/n.net" --data "$dir/y.json" --method ais --chains 0
says "unknown start" 2 'prior' "$nami" evidence "$dir/n.net" --data "$dir/y.json" --method ais --start foo
echo 'model { k ~ bernoulli(0.3)
  y ~ normal(k, 1) }
observe y' >"$dir/coin.nami"
echo '{"y": 0.5}' >"$dir/coin.json"
ok "trains a coin" "$nami" train "$dir/coin.nami" --exact none -o "$dir/coin.net" --steps 2 --check 1 --hidden 8,8 --valid 100 -q
says "discrete" 2 'k is discrete' "$nami" evidence "$dir/coin.net" --data "$dir/coin.json" --method ais
says "unknown method" 2 'smc' "$nami" evidence "$dir/n.net" --data "$dir/y.json" --method foo
says "not a network" 2 'error' "$nami" evidence "$dir/y.json" --data "$dir/y.json"
sed 's/^observe y/observe y\ninfer z[1]/' "$dir/chain.nami" >"$dir/part.nami"
ok "trains a part" "$nami" train "$dir/part.nami" -o "$dir/part.net" --steps 2 --check 1 --hidden 8,8 --valid 100 -q
says "nuisances" 2 "not in 'infer'" "$nami" evidence "$dir/part.net" --data "$dir/y.json"
summary
