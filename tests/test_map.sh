#!/bin/bash
# nami map: modes that are known, as text and JSON, of one data set and many; no maximum; bad input.
nami=$(realpath "$1")
. "$(dirname "$0")/checks.sh"
cat >"$dir/rate.nami" <<'END'
model {
  r ~ gamma(3, 2)
  m ~ normal(0, 1)
  for (i in 1:2) { c[i] ~ poisson(r) }
  y ~ normal(m, 1)
  next ~ poisson(r)
  half <- r / 2
}
observe c, y
END
echo '{"c": [4, 7], "y": 3}' >"$dir/one.json"
echo '[{"c": [4, 7], "y": 3}, {"c": [0, 0], "y": 0}]' >"$dir/two.json"
ok "trains" "$nami" train "$dir/rate.nami" --exact none -o "$dir/n.net" --steps 20 --hidden 8 --valid 100 -q
net=("$nami" map "$dir/n.net")
says "gamma(14, 4)" 0 '^  r +3\.25( |$)' "${net[@]}" --data "$dir/one.json"
says "on the unconstrained scale" 0 '^  r +3\.5( |$)' "${net[@]}" --data "$dir/one.json" --unconstrained
says "its sd: sqrt(13) / 4" 0 '^  r +3\.25 +0\.901$' "${net[@]}" --data "$dir/one.json" --sd
says "a normal" 0 '^  m +1\.5 +0\.707$' "${net[@]}" --data "$dir/one.json" --sd
says "all agree" 0 '8 of 8 ended there' "${net[@]}" --data "$dir/one.json"
says "what is computed" 0 '^  half +1\.625' "${net[@]}" --data "$dir/one.json" --all
ok "not what no data depend on" sh -c "! '$nami' map '$dir/n.net' --data '$dir/one.json' | grep -q next"
says "many" 0 '^ +2 .*maximum' "${net[@]}" --data "$dir/two.json"
says "few searches" 0 '3 of 3' "${net[@]}" --data "$dir/one.json" -n 3
ok "quiet" test -z "$("${net[@]}" --data "$dir/one.json" -q)"
cat >"$dir/look.py" <<'END'
import json, sys
x = json.load(open(sys.argv[1]))
assert [s["set"] for s in x] == [1, 2] and all(s["state"] == "maximum" and s["agree"] == 8 for s in x)
v = [{v["name"]: v for v in s["variables"]} for s in x]
assert set(v[0]) == {"r", "m"}
assert abs(v[0]["r"]["mode"] - 3.25) < 1e-8 and abs(v[1]["r"]["mode"] - 0.5) < 1e-8
assert abs(v[0]["m"]["mode"] - 1.5) < 1e-8 and abs(v[0]["m"]["sd"] - 0.5 ** 0.5) < 1e-6
END
"${net[@]}" --data "$dir/two.json" --json --sd >"$dir/two.out"
ok "JSON" python3 "$dir/look.py" "$dir/two.out"
"${net[@]}" --data "$dir/two.json" --json --sd --threads 1 >"$dir/two.one"
ok "any number of threads" cmp "$dir/two.out" "$dir/two.one"

# ---- latents that are integrated out: their means, given the mode of the others
ok "trains" "$nami" train "$dir/rate.nami" -o "$dir/x.net" -q
says "the mean of gamma(14, 4)" 0 '^  r +3\.5 +- +exact: its mean' "$nami" map "$dir/x.net" --data "$dir/one.json" --sd
says "of a normal" 0 '^  m +1\.5 +exact: its mean' "$nami" map "$dir/x.net" --data "$dir/one.json"
says "as JSON" 0 '"name":"r","mean":3\.5' "$nami" map "$dir/x.net" --data "$dir/one.json" --json
ok "trains" "$nami" train "$dir/rate.nami" --exact m -o "$dir/x.net" --steps 20 --hidden 8 --valid 100 -q
says "the others have modes" 0 '^  r +3\.25 +0\.901$' "$nami" map "$dir/x.net" --data "$dir/one.json" --sd
says "and a density of their own" 0 'without exact latents' "$nami" map "$dir/x.net" --data "$dir/one.json"

cat >"$dir/edge.nami" <<'END'
model {
  s ~ exponential(1)
  y ~ poisson(s + 1)
}
observe y
END
echo '{"y": 0}' >"$dir/y.json"
ok "trains" "$nami" train "$dir/edge.nami" -o "$dir/e.net" --steps 20 --hidden 8 --valid 100 -q
says "at the edge" 1 'edge of the support.*--unconstrained' "$nami" map "$dir/e.net" --data "$dir/y.json"
says "inside" 0 '^  s +0\.5( |$)' "$nami" map "$dir/e.net" --data "$dir/y.json" --unconstrained
cat >"$dir/coin.nami" <<'END'
model {
  k ~ bernoulli(0.3)
  y ~ normal(k, 1)
}
observe y
END
ok "trains" "$nami" train "$dir/coin.nami" --exact none -o "$dir/c.net" --steps 20 --hidden 8 --valid 100 -q
says "discrete" 2 'k is discrete' "$nami" map "$dir/c.net" --data "$dir/y.json"
says "no data" 2 'what was observed' "${net[@]}"
says "no searches" 2 'at least 1' "${net[@]}" --data "$dir/one.json" -n 0
summary
