#!/bin/bash
# nami report, nami plot, nami run --report: pages and figures hold what they should, escape what models
# and data say, fetch nothing, and are the same bytes each time.
nami=$(realpath "$1")
tests=$(realpath "$(dirname "$0")")
. "$(dirname "$0")/checks.sh"
cat >"$dir/evil.nami" <<'END1'
# </script><script>alert(1)</script> <img src=x onerror=alert(1)> & "quoted" 'too'
const J
model {
  mu ~ normal(0, 10)
  for (j in 1:J) { theta[j] ~ normal(mu, 1)  y[j] ~ normal(theta[j], 1) }
  k ~ poisson(exp(0.1 * mu))
}
observe y, k
END1
echo '{"J": 4, "y": [1, 2, 3, 4], "k": 2}' >"$dir/evil.json"
cd "$dir" || exit 1
ok "runs" "$nami" run evil.nami --data evil.json -q --steps 300 --check 100 --valid 500
ok "run writes a report" test -s evil.html
ok "none" "$nami" run evil.nami --data evil.json -q --steps 300 --check 100 --valid 500 -o d.nc --report none
ok "no report" test ! -e d.html
says "a folder that is not there" 3 'error' "$nami" run evil.nami --data evil.json -q --report no/x.html
ok "report" "$nami" report evil.safetensors -q --calibrate -o a.html --title '<b>&"title'
ok "again" "$nami" report evil.safetensors -q --calibrate -o b.html --title '<b>&"title'
ok "the same bytes" cmp a.html b.html
ok "below 1 MB" test "$(wc -c <a.html)" -lt 1000000
for page in evil.html a.html; do
    ok "$page" python3 - "$page" <<'END1'
import html.parser, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
scripts, images, links, ids, tables, headings = 0, 0, [], [], [], []
class Reader(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs):
        global scripts, images
        a = dict(attrs)
        scripts += tag == "script"
        images += tag in ("img", "iframe", "link", "object", "b" if "onerror" in a else "img")
        if tag[0] == "h" and tag[1:].isdigit(): headings.append(int(tag[1]))
        links.extend(v for k, v in attrs if k in ("href", "src", "xlink:href"))
        if "id" in a: ids.append(a["id"])
        assert not any(k.startswith("on") for k in a), a
Reader().feed(text)
assert scripts == 1 and images == 0, (scripts, images)
assert all(link.startswith("#") for link in links), links
assert not re.search(r"https?://", text), re.findall(r"https?://.{30}", text)
assert len(ids) == len(set(ids)), [i for i in ids if ids.count(i) > 1]
assert all(link[1:] in ids for link in links), links
assert all(b <= a + 1 for a, b in zip(headings, headings[1:])) and headings.count(1) == 1, headings
assert "{{" not in text.split("<script>")[0], "a placeholder is left"
assert "alert(1)&lt;/script&gt;" in text
for section in ("verdict", "posterior", "predictive", "model", "steps", "made"):
    assert f'<section id="{section}"' in text, section
assert text.count("<tr data-node=") == 5, text.count("<tr data-node=")
assert "theta[1]" in text and "exact (normal)" in text and "faithful" in text
END1
done
ok "calibration by factor" grep -q 'By factor, the worst first' a.html
ok "no calibration" "$nami" report evil.safetensors -q -o c.html
ok "is left out" test -z "$(grep 'id="calibration"' c.html)"
ok "the title is escaped" grep -q '<h1>&lt;b&gt;&amp;&quot;title</h1>' a.html

for figure in marginals forest pairs predictive prior loss ecdf ranks coverage tarp recovery; do
    ok "$figure" "$nami" plot $figure evil.safetensors -q -o $figure.svg
    ok "$figure is XML" python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' $figure.svg
done
ok "to standard output" bash -c "'$nami' plot marginals evil.safetensors --only mu | cmp - <('$nami' plot marginals evil.safetensors --only mu)"
ok "one panel" test "$("$nami" plot marginals evil.safetensors --only 'theta[2]' | grep -c '<clipPath')" = 1
ok "chains" "$nami" plot trace evil.safetensors -q --method mcmc -o trace.svg
ok "ranks of chains" "$nami" plot rank evil.safetensors -q --method mcmc -o rank.svg
for figure in marginals forest pairs trace rank predictive prior loss ecdf ranks coverage tarp recovery; do
    how= paper=ffffff
    case $figure in trace | rank) how="--method mcmc" ;; ecdf | forest) how=--dark paper=1c1c1e ;; esac
    # shellcheck disable=SC2086 # words
    ok "$figure as PNG" "$nami" plot $figure evil.safetensors -q --zoom 0.5 $how -o $figure.png
    ok "$figure is painted" python3 "$tests/figure_png.py" $figure.svg $figure.png 0.5 $paper
done
ok "zoom" "$nami" plot marginals evil.safetensors -q --only mu -o mu.png
ok "zoom of SVG" "$nami" plot marginals evil.safetensors -q --only mu -o mu.svg
ok "twice the pixels" python3 "$tests/figure_png.py" mu.svg mu.png 2 ffffff
ok "calibration as PNG" "$nami" calibrate evil.safetensors -q --sets 100 --plot ecdf -o c.png -o c.svg
ok "calibration is painted" python3 "$tests/figure_png.py" c.svg c.png 2 ffffff
mkdir none && : >none/librsvg-2.so.2
says "no librsvg for figures" 3 'Debian: librsvg2-2' env LD_LIBRARY_PATH="$dir/none" "$nami" plot marginals evil.safetensors -o y.png
ok "nothing is written" test ! -e y.png
ok "SVG needs no librsvg" env LD_LIBRARY_PATH="$dir/none" "$nami" plot marginals evil.safetensors -q -o y.svg
says "too large" 2 'between 0.1 and 20' "$nami" plot marginals evil.safetensors --zoom 50 -o y.png
says "no chains" 2 "method 'mcmc' makes chains" "$nami" plot trace evil.safetensors --method is -o x.svg
says "no such figure" 2 "did you mean 'marginals'" "$nami" plot marginal evil.safetensors
says "no such variable" 2 "did you mean 'theta'" "$nami" plot pairs evil.safetensors --only mu,teta
says "neither SVG nor PNG" 2 'end it in .svg or .png' "$nami" plot pairs evil.safetensors -o x.jpg
says "no such set" 2 'there are 1 data sets' "$nami" plot pairs evil.safetensors --which 2
says "not a network" 2 'not a trained network' "$nami" report evil.nami
summary
