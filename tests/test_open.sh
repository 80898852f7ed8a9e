#!/bin/bash
# Open networks: one network for other sizes, constants and missing observations; what it refuses; resumed training.
nami=$(realpath "$1")
root=$(realpath "$(dirname "$0")/..")
. "$(dirname "$0")/checks.sh"
cat >"$dir/groups.nami" <<'END'
const J in 2:12
const s[J]
model {
  mu ~ normal(0, 5)
  tau ~ half_normal(3)
  for (j in 1:J) {
    theta[j] ~ normal(mu, tau)
    y[j] ~ normal(theta[j], s[j])
  }
}
observe y
END
echo '{"J": 4, "s": [1, 2, 1, 2], "y": [3, 1, 4, -2]}' >"$dir/four.json"
echo '{"J": 7, "s": [2, 1, 1, 2, 2, 1, 1], "y": [3, 1, 4, 1, 5, -9, 2]}' >"$dir/seven.json"
echo '{"J": 7, "s": [2, 1, 1, 2, 2, 1, 1], "y": [3, null, 4, 1, null, -9, 2]}' >"$dir/gaps.json"
echo '{"J": 30, "s": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],
 "y": [1,2,3,1,2,3,1,2,3,1,2,3,1,2,3,1,2,3,1,2,3,1,2,3,1,2,3,1,2,3]}' >"$dir/large.json"
echo '{"J": 7, "s": [2, 1, 1, 2, 2, 1, 1], "y": [null, null, null, null, null, null, null]}' >"$dir/nothing.json"
train=("$nami" train "$dir/groups.nami" --data "$dir/four.json" --valid 500 --batch 64 --check 100 --designs 12 -q)

# ---- everything is learned: the weighted posterior is the exact one, for sizes and patterns that were not in training
ok "trains" "${train[@]}" --exact none --missing 0.4 --steps 800 -o "$dir/n.net"
cat >"$dir/compare.py" <<'END'
import json, subprocess, sys
nami, d = sys.argv[1], sys.argv[2]
def run(*a):
    r = subprocess.run([nami, *a, "--json", "-q"], stdout=subprocess.PIPE)
    assert r.returncode in (0, 1), (a, r.returncode)
    return json.loads(r.stdout)["sets"][0]
for name in ["four", "seven", "gaps"]:
    data = json.load(open(d + "/" + name + ".json"))
    keep = [j for j in range(data["J"]) if data["y"][j] is not None]   # a group without an observation says nothing
    data = {"J": len(keep), "s": [data["s"][j] for j in keep], "y": [data["y"][j] for j in keep]}
    json.dump(data, open(d + "/kept.json", "w"))
    exact = run("run", d + "/groups.nami", "--open", "none", "--data", d + "/kept.json", "--exact", "all",
                "-o", d + "/exact.nc", "--again")
    got = run("sample", d + "/n.net", "--data", d + "/" + name + ".json", "--method", "is", "-n", "40000")
    # 6 standard errors: below 1e-6 for each of 9 comparisons
    assert abs(got["log_evidence"] - exact["log_evidence"]) < 6 * got["log_evidence_se"] + 1e-3, (name, got["log_evidence"], exact["log_evidence"])
    for v in ["mu", "tau"]:
        a, b = got["variables"][v], exact["variables"][v]
        error = (a["sd"]**2 / got["ess"] + b["sd"]**2 / 4000) ** 0.5
        assert abs(a["mean"] - b["mean"]) < 6 * error + 0.01 * b["sd"], (name, v, a, b)
    assert ("y[2]" in got["variables"]) == (name == "gaps"), got["variables"].keys()
END
ok "exact posteriors" python3 "$dir/compare.py" "$nami" "$dir"
echo "[$(cat "$dir/four.json"), $(cat "$dir/gaps.json")]" >"$dir/both.json"
says "different sizes in one call" 0 'data set 2 of 2' "$nami" sample "$dir/n.net" --data "$dir/both.json" --method is
says "and as JSON" 0 '"set":2' "$nami" sample "$dir/n.net" --data "$dir/both.json" --method is --json
says "not in one file" 2 'different sizes' "$nami" sample "$dir/n.net" --data "$dir/both.json" -o "$dir/x.nc"
says "larger than in training" 0 'J is 30 in these data; the network was trained for 2 to 12' \
    "$nami" sample "$dir/n.net" --data "$dir/large.json" --method direct -n 200
says "nothing observed" 2 'no value of any observed variable' "$nami" sample "$dir/n.net" --data "$dir/nothing.json"
says "calibrated for another design" 0 'theta\[7\]' "$nami" calibrate "$dir/n.net" --data "$dir/gaps.json" -n 64 --draws 64 --method direct --json

# ---- exact latents
ok "trains what is left" "${train[@]}" --steps 100 -o "$dir/left.net"
says "no missing values in training" 2 '2 of 7 observations are missing, and the network was trained for data without' \
    "$nami" sample "$dir/left.net" --data "$dir/gaps.json"
ok "evidence of another size" "$nami" evidence "$dir/left.net" --data "$dir/seven.json"
ok "modes of another size" "$nami" map "$dir/left.net" --data "$dir/seven.json"

# ---- crossed effects, all learned: any numbers on both sides
cat >"$dir/crossed.nami" <<'END'
const I in 3:6
const K in 3:5
model {
  for (i in 1:I) { a[i] ~ normal(0, 2) }
  for (k in 1:K) { b[k] ~ normal(0, 1) }
  for (i in 1:I) { for (k in 1:K) { y[i,k] ~ normal(a[i] + b[k], 1) } }
}
observe y
END
echo '{"I": 6, "K": 4, "y": [[1,2,0,3],[-1,1,0,0],[4,3,2,5],[0,0,-2,1],[2,1,1,1],[-3,-2,-4,-1]]}' >"$dir/six.json"
echo '{"I": 7, "K": 6, "y": [[1,2,0,3,1,1],[-1,1,0,0,0,1],[4,3,2,5,4,4],[0,0,-2,1,2,0],[2,1,1,1,1,3],[-3,-2,-4,-1,-2,-2],[1,1,0,1,2,1]]}' \
    >"$dir/larger.json"
ok "trains crossed effects" "$nami" train "$dir/crossed.nami" --data "$dir/six.json" --exact none --valid 128 --batch 16 \
    --hidden 16 --message 8 --designs 6 --steps 500 -q -o "$dir/crossed.net"
cat >"$dir/crossed.py" <<'END'
import json, subprocess, sys
nami, d = sys.argv[1], sys.argv[2]
def run(*a):
    r = subprocess.run([nami, *a, "--json", "-q"], stdout=subprocess.PIPE)
    assert r.returncode in (0, 1), (a, r.returncode)
    return json.loads(r.stdout)["sets"][0]
for name in ["six", "larger"]:
    data = d + "/" + name + ".json"
    exact = run("run", d + "/crossed.nami", "--open", "none", "--data", data, "--exact", "all", "-o", d + "/exact.nc", "--again")
    got = run("sample", d + "/crossed.net", "--data", data, "--method", "is", "-n", "20000")
    assert got["ess"] > 1000, (name, got["ess"])
    assert abs(got["log_evidence"] - exact["log_evidence"]) < 6 * got["log_evidence_se"] + 1e-3, (name, got["log_evidence"], exact["log_evidence"])
    for v in exact["variables"]:
        a, b = got["variables"][v], exact["variables"][v]
        error = (a["sd"]**2 / got["ess"] + b["sd"]**2 / 4000) ** 0.5
        assert abs(a["mean"] - b["mean"]) < 6 * error + 0.02 * b["sd"], (name, v, a, b)
END
ok "exact posteriors of crossed effects" python3 "$dir/crossed.py" "$nami" "$dir"

# ---- resumed training is bit-identical; threads do not matter
ok "half" "${train[@]}" --steps 60 --cooldown 0 --missing 0.2 -o "$dir/half.net"
ok "goes on" "${train[@]}" --resume --steps 120 -o "$dir/half.net"
ok "all at once" "${train[@]}" --steps 120 --cooldown 0 --missing 0.2 --threads 1 -o "$dir/all.net"
cat >"$dir/same.py" <<'END'
import json, struct, sys
def read(path):
    b = open(path, "rb").read()
    n = struct.unpack("<Q", b[:8])[0]
    h = json.loads(b[8:8 + n])
    h.pop("__metadata__")
    return {k: b[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]] for k, v in h.items()}
a, b = read(sys.argv[1]), read(sys.argv[2])
assert a.keys() == b.keys() and len(a) > 10
assert a["nami.now"] == b["nami.now"] and a["nami.adam_v"] == b["nami.adam_v"]
END
ok "the same weights" python3 "$dir/same.py" "$dir/half.net" "$dir/all.net"
ok "one thread" "${train[@]}" --steps 60 --missing 0.2 --threads 1 -o "$dir/one.net"
ok "two threads" "${train[@]}" --steps 60 --missing 0.2 --threads 2 -o "$dir/two.net"
ok "the same bytes" cmp "$dir/one.net" "$dir/two.net"

# ---- the order of elimination in which factors of a large design read few latents
says "latents alone count" 0 'theta\[j\] .8. +normal' "$nami" train "$root/bench/models/schools-open.nami" --set J=8 --designs 3 \
    --dry-run -o "$dir/x.net"

# ---- refused
says "no range" 2 "'J=1-5' is no range" "${train[@]}" --open J=1-5 -o "$dir/x.net"
says "another architecture" 2 'not for this network architecture' "${train[@]}" --net made -o "$dir/x.net"
says "all missing" 2 'missing must be a fraction below 1' "${train[@]}" --missing 1 -o "$dir/x.net"
says "nothing to learn" 2 'integrated out exactly, for data of any size' "${train[@]}" --exact all -o "$dir/x.net"
sed 's/2:12/12/' "$dir/groups.nami" >"$dir/bad.nami"
says "a range in the text" 2 'write const J in 1:100' "$nami" check "$dir/bad.nami" --data "$dir/four.json"
sed 's/y\[j\] ~ normal(theta\[j\], s\[j\])/y[j] ~ normal(theta[j], s[j]); w[j] ~ normal(y[j], 1)/; s/observe y/observe y, w/' \
    "$dir/groups.nami" >"$dir/inner.nami"
echo '{"J": 4, "s": [1, 2, 1, 2], "y": [3, null, 4, -2], "w": [3, 1, 4, -2]}' >"$dir/inner.json"
ok "observed variables that others depend on" "$nami" train "$dir/inner.nami" --data "$dir/four.json" --missing 0.2 \
    --valid 200 --batch 32 --designs 4 --steps 20 -q -o "$dir/inner.net"
says "cannot be missing" 2 'y\[2\] is missing, but others depend on it' "$nami" sample "$dir/inner.net" --data "$dir/inner.json"
summary
