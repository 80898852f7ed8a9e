#!/bin/bash
# Arrays of which only some elements are random, observed or defined, through every command and format; observations
# that a data block computes; queries with other constants; what is wrong is said before a network is trained.
nami=$(realpath "$1")
. "$(dirname "$0")/checks.sh"
cd "$dir" || exit 1
small=(--exact none --hidden 16 --valid 500 -q)

# ---- arrays with constants, deterministic, missing and undefined elements

cat >mix.bug <<'END_'
model {
  b[1] <- 0
  for (j in 2:3) { b[j] ~ dnorm(0, 1) }
  c[1] ~ dnorm(0, 1)
  c[2] <- 2 * c[1]
  c[4] <- 7
  m[1,1] <- 2.5
  m[1,2] ~ dnorm(0, 1)
  m[2,1] <- m[1,2] + 1
  m[2,2] ~ dnorm(0, 1)
  k[1] <- 3
  k[2] ~ dpois(2)
  for (i in 1:4) { y[i] ~ dnorm(b[g[i]] + c[1] + m[1,2], 1) }
  n ~ dpois(exp(m[2,2]))
}
END_
echo '{"g": [1, 2, 3, 2], "y": [1.5, 2, null, 3], "n": 2}' >mix.json
echo '[{"y": [1.5, 2, null, 3], "n": 2}, {"y": [-1, 2, null, 0], "n": 0}]' >two.json
grep -v 'k\[\|n ~\|m\[2,2\]' mix.bug >gauss.bug # what can be computed exactly
echo '{"g": [1, 2, 3, 2], "y": [1.5, 2, null, 3]}' >gauss.json

ok "trains" "$nami" train mix.bug --data mix.json -o mix.net --steps 300 "${small[@]}"
ok "trains the Gaussian one" "$nami" train gauss.bug --data gauss.json -o gauss.net --steps 300 "${small[@]}"
says "check" 1 'informs b\[3\]' "$nami" check mix.bug --data mix.json
ok "invert" "$nami" invert mix.bug --data mix.json
ok "evidence" "$nami" evidence mix.net -q
ok "calibrate" "$nami" calibrate gauss.net -n 40 --alpha 0.000001 -q
says "export" 0 'b\[1\] <- 0' "$nami" export mix.bug --data mix.json --to jags --data-out mix.R
says "export, data" 0 '"y" <- c\(1.5, 2, NA, 3\)' cat mix.R
ok "run" "$nami" run mix.bug --data mix.json --steps 20 -n 10 -o run.csv -q
ok "constants are not in the table" sh -c "! '$nami' sample mix.net --all | grep 'b\[1\]\|c\[4\]\|y\[1\]\|k\[1\]'"
says "draws that do not fit into memory at once" 0 '^  c\[2\] ' "$nami" sample mix.net --all -n 20000
for f in csv npz nc json; do
    ok "sample, $f" "$nami" sample mix.net --all -n 50 -q -o "s.$f"
    ok "sample of two data sets, $f" "$nami" sample mix.net --data two.json --all -n 8 -q -o "t.$f"
done
for method in direct smc; do
    ok "sample, $method" "$nami" sample mix.net --all -n 50 -q -o "$method.csv" --method $method
    ok "predictions, $method" "$nami" sample mix.net --all -n 50 -q --predict -o "$method.npz" --method $method
done
says "only" 0 '\.log_weight,lp__,lp_approx__,b\[1\],b\[2\],b\[3\]$' sh -c "'$nami' sample mix.net --only b -n 3 -q --weighted -o o.csv; head -1 o.csv"
for f in csv json npz; do
    ok "simulate, $f" "$nami" simulate mix.bug --data mix.json -n 50 --all -o "d.$f"
    ok "exact, $f" "$nami" exact gauss.bug --data gauss.json -n 50 --all -o "e.$f"
done
ok "train on draws" "$nami" train gauss.bug --data gauss.json --samples e.json --batch 5 -o x.net --steps 5 "${small[@]}"
"$nami" sample gauss.net --json >gauss.out
"$nami" sample gauss.net --json --all -n 20000 >many.out
"$nami" exact gauss.bug --data gauss.json --json >exact.out
"$nami" map gauss.net --all --json >map.out
echo '{"b": [0, 1, 1], "c": [1, 2, null, 7], "m": [[2.5, 1], [2, 1]], "k": [3, 2], "y": [1, 2, 3, 4], "n": 1}' >at.json
"$nami" logp mix.bug --data mix.json --at at.json --grad >grad.out
cat >look.py <<'END_'
import csv, json, math, struct, zipfile

def npz(path):
    out = {}
    for name in zipfile.ZipFile(path).namelist():
        x = zipfile.ZipFile(path).read(name)
        n = struct.unpack("<H", x[8:10])[0]
        head = eval(x[10:10 + n])
        code = {"<f8": "d", "<i8": "q"}[head["descr"]]
        raw = x[10 + n:]
        out[name[:-4]] = head, raw, list(struct.unpack(f"<{len(raw) // 8}{code}", raw))
    return out

def column(name, rows, i):
    return [float("nan") if r[i] == "NA" else float(r[i]) for r in rows]

def same(a, b):
    return len(a) == len(b) and all(u == v or (math.isnan(u) and math.isnan(v)) for u, v in zip(a, b))

def table(path):
    rows = list(csv.reader(open(path)))
    return {name: column(name, rows[1:], i) for i, name in enumerate(rows[0])}

def check_table(path, t, observed):
    assert set(t["b[1]"]) == {0} and set(t["c[4]"]) == {7} and set(t["m[1,1]"]) == {2.5}, path
    assert all(math.isnan(x) for x in t["c[3]"]), path
    assert all(v == 2 * u for u, v in zip(t["c[1]"], t["c[2]"])), path
    assert all(v == u + 1 for u, v in zip(t["m[1,2]"], t["m[2,1]"])), path
    assert all(-6 < x < 6 for k in ("b[2]", "b[3]", "c[1]", "m[1,2]") for x in t[k]), path
    assert len(set(t["b[2]"])) > 5 and len(set(t["b[3]"])) > 5 and len(set(t["y[3]"])) > 5, path
    assert not observed or (set(t["y[1]"]), set(t["y[2]"]), set(t["y[4]"])) == ({1.5}, {2}, {3}), path

for path in ("s.csv", "direct.csv", "smc.csv", "d.csv"):
    t = table(path)
    check_table(path, t, path != "d.csv")
    assert set(t["k[1]"]) == {3} and len(set(t["k[2]"])) > 2 and all(x == int(x) for x in t["k[2]"]), path
check_table("e.csv", table("e.csv"), True)

# all formats hold the same draws
t, z = table("s.csv"), npz("s.npz")
def flat(t, names): return [x for row in zip(*(t[n] for n in names)) for x in row]
names = {"b": ["b[1]", "b[2]", "b[3]"], "c": [f"c[{i}]" for i in range(1, 5)], "k": ["k[1]", "k[2]"],
         "m": ["m[1,1]", "m[1,2]", "m[2,1]", "m[2,2]"], "y": [f"y[{i}]" for i in range(1, 5)]}
nc = open("s.nc", "rb").read()
for v in names:
    assert same(z[v][2], flat(t, names[v])), v
    assert z[v][1] in nc, v  # the numbers in a row, as HDF5 has them
assert z["k"][0]["descr"] == "<i8" and z["b"][0]["descr"] == "<f8"
assert z["m"][0]["shape"] == (50, 2, 2)
z = npz("direct.npz")
pred = z["posterior_predictive/y"][2]
assert len(pred) == 200 and all(len(set(pred[i::4])) > 40 for i in range(4))
assert same(pred[2::4], z["y"][2][2::4])  # y[3] is latent: a draw is its own prediction
assert same(z["observed_data/y"][2], [1.5, 2, math.nan, 3]) and z["observed_data/n"][2] == [2]
t, z = table("t.csv"), npz("t.npz")
assert same(z["observed_data/y"][2], [1.5, 2, math.nan, 3, -1, 2, math.nan, 0])
for v in names: assert same(z[v][2], flat(t, names[v])), v
assert t["y[1]"] == [1.5] * 8 + [-1] * 8 and set(t["b[1]"]) == {0}
for path in ("d.json", "e.json"):
    for s in json.load(open(path)):
        assert s["b"][0] == 0 and s["c"][2] is None and s["c"][3] == 7 and s["c"][1] == 2 * s["c"][0], path
z = npz("d.npz")
assert same(z["c"][2], flat(table("d.csv"), names["c"]))

# summaries
def means(path): return json.load(open(path))["sets"][0]["variables"]
exact = {v["name"]: v for v in json.load(open("exact.out"))["variables"]}
for path in ("gauss.out", "many.out"):
    got = means(path)
    assert (got["b[1]"]["mean"], got["b[1]"]["sd"]) == (0, 0), path
    assert got["c[3]"]["mean"] is None and abs(got["c[4]"]["mean"] - 7) < 1e-9, path
    for name in ("b[2]", "b[3]", "c[1]", "m[1,2]", "y[3]"):
        assert abs(got[name]["mean"] - exact[name]["mean"]) < 0.12 * exact[name]["sd"], (path, name)
        assert abs(got[name]["sd"] / exact[name]["sd"] - 1) < 0.12, (path, name)
    assert abs(got["c[2]"]["mean"] - 2 * got["c[1]"]["mean"]) < 1e-9, path
s = json.load(open("s.json"))["variables"]
assert s["b"]["mean"][0] == 0 and s["c"]["mean"][2] is None and abs(s["c"]["mean"][3] - 7) < 1e-9, s["c"]
assert abs(s["b"]["mean"][1]) < 3 and s["b"]["sd"][1] > 0.1
modes = {v["name"]: v["mode"] for v in json.load(open("map.out"))[0]["variables"]}
assert abs(modes["c[2]"] - 2 * exact["c[1]"]["mean"]) < 1e-5 and "b[1]" not in modes and "c[4]" not in modes
g = json.load(open("grad.out"))["grad"][0]
assert g["b"][0] == 0 and g["c"][1:] == [0, None, 0] and g["m"][0] == [0, -2.0] and g["k"][0] == 0, g
END_
ok "all formats" python3 look.py

printf 'model {\n u ~ dnorm(0, 1)\n for (i in 1:3) { x[i] ~ dnorm(u, 1) }\n x[4] <- 0\n}\n' >pixels.bug
ok "an image with a constant pixel" "$nami" train pixels.bug --data <(echo '{"x": [1, 0, 1, null]}') -o pixels.net --steps 5 "${small[@]}"
ok "its picture" "$nami" simulate pixels.net -n 4 -o pixels.png
says "of what is observed as a whole" 2 'no image' "$nami" sample pixels.net -n 8 -o pixels.png

# ---- observations that a data block computes

cat >block.bug <<'END_'
data {
  for (i in 1:N) { y[i] <- log(z[i]) / half }
  half <- 2
  for (i in 1:N) { xc[i] <- x[i] - mean(x[]) }
}
model {
  mu ~ dnorm(0, 1)
  for (i in 1:N) { y[i] ~ dnorm(mu + xc[i], 1) }
}
END_
echo '{"N": 3, "x": [1, 2, 3], "z": [1, 20, 30]}' >one.json
echo '{"z": [100, 200, 300], "x": [1, 2, 3]}' >other.json
echo '[{"N": 3, "x": [1, 2, 3], "z": [1, 20, 30]}, {"N": 3, "x": [1, 2, 3], "z": [100, 200, 300]}]' >both.json
ok "trains" "$nami" train block.bug --data one.json -o block.net --steps 300 "${small[@]}"
says "exact: normal(sum(y - xc) / 4, 1 / 4)" 0 '^  mu +0\.7996 +0\.5 ' "$nami" exact block.bug --data one.json
says "sample, its own data" 0 '^  mu +0\.(7[6-9]|8[0-4])' "$nami" sample block.net
says "sample, computed anew" 0 '^  mu +1\.9[0-9]? ' "$nami" sample block.net --data other.json
says "many" 0 'data sets +2,' "$nami" sample block.net --data both.json -n 100
says "map" 0 '^  mu +1\.95091' "$nami" map block.net --data other.json
says "evidence" 0 'log p\(x\) = -6\.5[0-3]' "$nami" evidence block.net --data other.json
says "logp" 0 '^-5\.3007541328' "$nami" logp block.bug --data one.json --at <(echo '{"mu": 1, "z": [2.718281828459045, 54.598150033144236, 403.428793492735]}')
says "logp of data sets that share constants" 0 '^-8\.549' "$nami" logp block.bug --data both.json --at <(echo '{"mu": 1, "z": [100, 200, 300]}')
says "draws have y itself" 0 '^-4\.17575413281' "$nami" logp block.bug --data one.json --at <(echo '{"mu": 1, "y": [0, 1, 2]}')
says "run" 0 '^  mu ' "$nami" run block.bug --data one.json --steps 100 -o block.csv
echo '{"N": 3, "x": [1, 2, 3], "z": [100, 200, 300]}' >third.json
says "run, other data of the same network" 0 '^  mu +1\.[89]' "$nami" run block.bug --data third.json --steps 100 -o block.csv
says "without what it computes from" 2 'no value for z, from which' "$nami" sample block.net --data <(echo '{"x": [1, 2, 3]}')
says "a missing value" 2 'z\[2\] is missing' "$nami" sample block.net --data <(echo '{"z": [1, null, 3], "x": [1, 2, 3]}')
says "a computed constant" 2 'xc\[1\] is -1 in this network and -10 ' "$nami" sample block.net --data <(echo '{"z": [1, 2, 3], "x": [10, 20, 30]}')
says "its data go to JAGS" 0 '"z" <- c\(1, 20, 30\)' sh -c "'$nami' export block.bug --data one.json --to jags --data-out z.R && cat z.R"

# ---- a network belongs to its constants

cat >line.nami <<'END_'
const N
const x[N]
const scale = 2
model {
  a ~ normal(0, 1)
  t ~ normal(0, 1)
  for (i in 1:N) { y[i] ~ normal(a * x[i] + t, scale) }
}
observe y
END_
echo '{"N": 3, "x": [1, 2, 2.5], "y": [1, 2, 3.5]}' >line.json
echo '{"x": [1, 2, 25], "y": [1, 2, 3.5]}' >tens.json
says "a constant element" 2 'x\[4\] is 0 in this network and 5 ' "$nami" sample pixels.net --data <(echo '{"x": [1, 0, 1, 5]}')
ok "trains" "$nami" train line.nami --data line.json -o line.net --steps 100 "${small[@]}"
for command in sample evidence map; do
    says "$command: other constants" 2 'tens.json: error: x\[3\] is 2.5 in this network and 25 in these data; .*train again' \
        "$nami" $command line.net --data tens.json
    says "$command: a constant of the model's text" 2 'scale is 2 in this network and 3 in' \
        "$nami" $command line.net --data <(echo '{"y": [1, 2, 3], "scale": 3}')
    says "$command: another size" 2 'N is 3 in this network and 4 in' "$nami" $command line.net --data <(echo '{"N": 4, "x": [1, 2, 3, 4], "y": [1, 2, 3, 4]}')
    says "$command: a latent's value" 0 'note: .*values of a, which the network infers: they are not used' \
        "$nami" $command line.net --data <(echo '{"y": [1, 2, 3], "a": 7}')
    says "$command: a name that it does not know" 0 'warning: the data give Y, which' "$nami" $command line.net --data <(echo '{"y": [1, 2, 3], "Y": 7}') -q
    ok "$command: the same constants" "$nami" $command line.net --data line.json -q
done
ok "once for many data sets" test 1 = "$("$nami" sample line.net --data <(echo '[{"y": [1, 2, 3], "a": 7}, {"y": [1, 2, 3], "a": 7}]') 2>&1 | grep -c 'of a,')"
says "exact: a latent's value" 0 'note: .*values of a, which the model infers' "$nami" exact line.nami --data <(echo '{"N": 1, "x": [1], "y": [2], "a": 7}')
says "logp: other constants" 2 'x\[3\] is 2.5 in the model and 25 in' "$nami" logp line.nami --data line.json --at <(echo '{"x": [1, 2, 25], "y": [1, 2, 3], "a": 1, "t": 1}')
says "logp: a name that it does not know" 0 'the data give Y' "$nami" logp line.nami --data line.json --at <(echo '{"Y": 1, "y": [1, 2, 3], "a": 1, "t": 1}')
ok "a constant that was set" "$nami" train line.nami --data line.json --data <(echo '{"scale": 4}') --set scale=3 -o set.net --steps 5 "${small[@]}"
ok "the file has its own value still" "$nami" sample set.net --data line.json --data <(echo '{"scale": 4}') -q
says "another one" 2 'scale is 3 in this network and 5' "$nami" sample set.net --data line.json --data <(echo '{"scale": 5}') -q
says "files that repeat no name go together" 0 '^  a ' "$nami" sample line.net --data <(echo '{"y": [1, 2, 3.5]}') --data <(echo '{"N": 3, "x": [1, 2, 2.5]}')
says "others are more data sets" 0 'data sets +2,' "$nami" sample line.net --data line.json --data line.json
says "a network that is there already" 2 'other values of x; .*--again' "$nami" train line.nami --data <(echo '{"N": 3, "x": [1, 2, 25]}') -o line.net --resume

# ---- shapes and files

says "transposed" 2 'm has the shape 3 x 2 in the data, but 2 x 3 in the model' sh -c "
    printf 'model {\n u ~ normal(0, 1)\n for (i in 1:2) { for (j in 1:3) { m[i, j] ~ normal(u, 1) } }\n}\nobserve m\n' >m.nami
    '$nami' train m.nami -o m.net --steps 5 --hidden 8 --valid 50 -q && echo '{\"m\": [[1, 2], [3, 4], [5, 6]]}' >m.json
    '$nami' sample m.net --data m.json"
ok "a column for a vector" "$nami" sample line.net --data <(echo '{"y": [[1], [2], [3]]}') -q
says "a list of lists" 2 'y has 2 dimensions \(1 x 3\) in the data, but 1 subscript' "$nami" check line.nami --data <(echo '{"N": 3, "x": [1, 2, 3], "y": [[1, 2, 3]]}')
says "advice" 2 'x as one list of 3 numbers, not as a list of lists' "$nami" check line.nami --data <(echo '{"N": 3, "x": [[1, 2, 3]], "y": [1, 2, 3]}')
printf 'x,y\n1,1\n2,2\n2.5,3.5\n' >table.csv
for command in check exact run simulate invert logp; do
    says "$command: CSV" 2 'table.csv: error: this is a .*table.*; data files are JSON or R dumps; write each column' "$nami" $command line.nami --data table.csv
done
says "train: CSV" 2 'constants are read from JSON files or R dumps' "$nami" train line.nami --data table.csv -o x.net
"$nami" sample line.net --data line.json --json >a.out
"$nami" sample line.net --data y=table.csv --json >b.out
ok "a table with as many lines as an observation has numbers is one" cmp a.out b.out
sed 's/2\.5/25/' table.csv >tens.csv
says "a table with other constants" 2 'x\[3\] is 2.5 in this network and 25 in' "$nami" sample line.net --data tens.csv
ok "with the same ones" "$nami" sample line.net --data table.csv -q
head -3 table.csv >short.csv
says "a table with fewer" 2 'an observation of .y. has the shape a single number, .* the file has 2 observations$' "$nami" sample line.net --data short.csv

# ---- before the first step

rm -f run.safetensors
early() { # WHAT PATTERN OPTION...: `nami run` refuses, and has trained nothing
    local what=$1 pattern=$2; shift 2
    "$nami" run "$@" --steps 50 >early.log 2>&1
    local rc=$?
    ok "run: $what" test $rc != 0
    ok "run: $what: '$pattern'" grep -qE -- "$pattern" early.log
    ok "run: $what: no training" sh -c '! test -e run.safetensors && ! grep -q steps early.log'
}
{ cat line.nami; echo 'infer a'; } >nuisance.nami
echo '{"N": 3, "x": [1, 2, 2.5], "y": [1, null, 3.5]}' >missing.json
echo '{"N": 3, "x": [1, 2, 2.5]}' >none.json
echo '{"N": 3, "x": [1, 2, 2.5], "y": [1, 2]}' >few.json
mkdir folder.npz
sed 's/\bt\b/draw/' line.nami >names.nami
early "a missing value" 'no value for y\[2\].*can be inferred' line.nami --data missing.json -o run.npz
early "no observations" 'no value for y\[1\]' line.nami --data none.json -o run.npz
early "no data" 'what was observed' m.nami -o run.npz
early "too few" 'out of range' line.nami --data few.json -o run.npz
early "a format" "cannot tell what to write to 'run.xyz'; end it in .nc" line.nami --data line.json -o run.xyz
early "a folder that is not there" 'cannot create' line.nami --data line.json -o nowhere/run.npz
early "a folder" 'Is a directory' line.nami --data line.json -o folder.npz
early "names" "a 'draw' of its own" names.nami --data line.json -o run.nc
early "a method" "no method is called 'iss'" line.nami --data line.json -o run.npz --method iss
early "weights that cannot be" "not in 'infer'" nuisance.nami --data line.json -o run.npz --method is
early "draws" '--draws must be at least 1' line.nami --data line.json -o run.npz -n 0
early "a number" "--draws must be a whole number" line.nami --data line.json -o run.npz -n many
says "nuisances: draws as they are" 0 'not weighted' "$nami" run nuisance.nami --data line.json -o run.npz --steps 20 -n 10
says "train: a folder that is not there" 3 'cannot create' "$nami" train line.nami --data line.json -o nowhere/x.net
says "train: a format of logs" 2 'a .csv or a .json file' "$nami" train line.nami --data line.json -o x.net --log x.xyz
says "train: data that are no query" 0 'note: y\[2\] is observed, but has no value' "$nami" train line.nami --data missing.json -o x.net --steps 5 --hidden 8 --valid 50
says "sample: a format" 2 "cannot tell what to write to 'x.xyz'" "$nami" sample line.net -o x.xyz
says "sample: a folder that is not there" 3 'cannot create' "$nami" sample line.net -o nowhere/x.npz
summary
