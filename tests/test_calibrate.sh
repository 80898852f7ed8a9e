#!/bin/bash
# nami calibrate: a network that is right passes, the same with a fault fails and is told which.
nami=$(realpath "$1")
. "$(dirname "$0")/checks.sh"
cat >"$dir/line.nami" <<'END1'
model {
  for (i in 1:2) { b[i] ~ normal(0, 1) }
  for (i in 1:6) { y[i] ~ normal(b[1] + b[2] * (i - 3), 1) }
  next ~ normal(b[1] + b[2] * 4, 1)
  twice <- 2 * b[1]
}
observe y
END1
ok "trains" "$nami" train "$dir/line.nami" -o "$dir/n.net" --steps 3000 --hidden 32,32 --valid 1000 \
    --exact none --net mlp --seed 1 -q

# ---- faults: outputs of the match family's heads are a mean and a log sd, of each factor
cat >"$dir/spoil.py" <<'END1'
import struct, sys
import network_file
source, to, which, by = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
head, b = network_file.read(source)
last = {}  # the last layer of each network
for name, t in head.items():
    if name.endswith(".bias") and t["shape"] == [2]:
        at = t["data_offsets"][0] + 4 * which
        b[at:at + 4] = struct.pack("<f", struct.unpack("<f", b[at:at + 4])[0] + by)
        last[name] = 1
assert last, list(head)
network_file.write(to, head, b)
END1
export PYTHONPATH=$PWD/tests PYTHONDONTWRITEBYTECODE=1
spoil() { ok "spoil $1" python3 "$dir/spoil.py" "$dir/n.net" "$dir/$1.net" "$2" "$3"; }
spoil narrow 1 -0.5; spoil wide 1 0.5; spoil high 0 0.3; spoil broken 0 nan

says "passes" 0 '^calibration  ok: ranks of all 2 scalars are uniform \(alpha 0.01\)' "$nami" calibrate "$dir/n.net"
says "its table" 0 '^  b\[2\] +ok +[0-9.]+ +0\.[45]' "$nami" calibrate "$dir/n.net"
says "too narrow" 1 'too narrow .*: b\[1\], b\[2\]' "$nami" calibrate "$dir/narrow.net"
says "too wide" 1 'too wide .*: b\[1\], b\[2\]' "$nami" calibrate "$dir/wide.net"
says "too high" 1 'too high .*: b\[' "$nami" calibrate "$dir/high.net"
says "advice" 1 "^advice .*method 'is'" "$nami" calibrate "$dir/narrow.net"
says "tarp sees it" 1 '^tarp +not ok: .*too seldom' "$nami" calibrate "$dir/narrow.net"
says "the joint region, too" 1 '^jointly +too narrow' "$nami" calibrate "$dir/narrow.net"
says "not a number" 2 'the network is damaged: number 1 of b\[1\]/2.bias is NaN' "$nami" calibrate "$dir/broken.net"
says "weights mend it" 0 '^calibration  ok' "$nami" calibrate "$dir/wide.net" --method is
says "weights are told" 0 '^weights +k-hat is good for' "$nami" calibrate "$dir/wide.net" --method is
says "few effective draws" 1 'weights cannot be trusted' "$nami" calibrate "$dir/n.net" --method is --draws 16
says "quiet says nothing" 0 '^0$' sh -c "'$nami' calibrate '$dir/n.net' -q 2>&1 | wc -c"
says "quiet still judges" 1 '' sh -c "'$nami' calibrate '$dir/narrow.net' -q; rc=\$?; echo; exit \$rc"
says "one scalar set" 0 '^  b\[1\]' "$nami" calibrate "$dir/n.net" --only b -n 100
says "rounded" 0 'groups of 8: 104 for each data set' "$nami" calibrate "$dir/n.net" --draws 101

# ---- numbers and pictures
cat >"$dir/look.py" <<'END1'
import json, sys
good, bad, one = (json.load(open(f)) for f in sys.argv[1:])
assert good["calibrated"] and not bad["calibrated"]
assert [s["name"] for s in good["scalars"]] == ["b[1]", "b[2]"]
for s, t in zip(good["scalars"], bad["scalars"]):
    assert s["inside"] and s["verdict"] == "ok" and s["p"] > 0.01, s
    assert not t["inside"] and t["verdict"] == "too narrow" and t["p"] < 0.01, t
    assert sum(s["ranks"]) == 500 and abs(s["z_sd"] - 1) < 0.1 and 1.4 < t["z_sd"] < 1.9
    assert abs(s["coverage90"] - 0.9) < 0.05 and t["coverage90"] < 0.75
    assert s["corr"] > 0.9 and s["contraction"] > 0.8
assert good["joint"]["inside"] and not bad["joint"]["inside"] and bad["tarp"]["atc"] < 0
assert one == good
END1
"$nami" calibrate "$dir/n.net" --json >"$dir/n.json"
"$nami" calibrate "$dir/narrow.net" --json >"$dir/narrow.json"
"$nami" calibrate "$dir/n.net" -q --threads 1 -o "$dir/one.json"
ok "the numbers" python3 "$dir/look.py" "$dir/n.json" "$dir/narrow.json" "$dir/one.json"
ok "any number of threads" cmp "$dir/n.json" "$dir/one.json"
for p in ecdf ranks coverage tarp recovery; do
    ok "$p" "$nami" calibrate "$dir/n.net" -q -n 50 --plot $p -o "$dir/$p.svg"
    ok "$p is XML" python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$dir/$p.svg"
done

# ---- bad input
says "too few sets" 2 'too few to judge .*ask for 20' "$nami" calibrate "$dir/n.net" -n 19
says "no draws" 2 'at least 1' "$nami" calibrate "$dir/n.net" --draws 0
says "alpha" 2 'between 0 and 1' "$nami" calibrate "$dir/n.net" --alpha 1
says "unknown name" 2 'no variable called' "$nami" calibrate "$dir/n.net" --only zz
says "observed" 2 'does not infer y' "$nami" calibrate "$dir/n.net" --only b,y
says "barren" 2 'does not infer next' "$nami" calibrate "$dir/n.net" --only next
says "computed" 2 'does not infer twice' "$nami" calibrate "$dir/n.net" --only twice
says "too much" 2 'are too many' "$nami" calibrate "$dir/n.net" -n 1000000 --draws 10000
says "unknown ending" 2 'end it in' "$nami" calibrate "$dir/n.net" -o "$dir/x.foo"
says "no such folder" 3 'error' "$nami" calibrate "$dir/n.net" -n 20 -o "$dir/no/x.svg"
says "not a network" 2 'error' "$nami" calibrate "$dir/line.nami"
summary
