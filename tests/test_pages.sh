#!/bin/bash
# test_pages.sh NAMI [FOLDER]: the pages of the service, and reports, in headless Chromium (tests/pages.mjs); screenshots go to FOLDER.
# Not part of `make test`: Chromium is large.  `make test-pages` installs what is missing.
set -eu
nami=$(realpath "$1")
out=$(realpath -m "${2:-build/pages}")
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
served=
trap '[ -z "$served" ] || kill "$served" 2>/dev/null; rm -rf "$tmp"' EXIT
for m in schools tree; do
    "$nami" train examples/models/$m.nami --data examples/models/$m.json -o "$tmp/$m.safetensors" --steps 300 --quiet >/dev/null
done
for m in schools tree; do "$nami" report "$tmp/$m.safetensors" --calibrate -o "$tmp/$m.html" >/dev/null || [ $? = 1 ]; done
"$nami" serve "$tmp"/*.safetensors --port 0 --quiet >"$tmp/address" &
served=$!
for _ in $(seq 100); do [ -s "$tmp/address" ] && break; sleep 0.1; done
url=$(cat "$tmp/address")
cat >"$tmp/steps.json" <<STEPS
[{"name": "index", "url": "${url}", "steps": [
   {"wait": "#networks li a"}, {"has": ["#networks", "schools"]}, {"axe": true}, {"shot": "index"},
   {"theme": "dark"}, {"axe": true}, {"shot": "index-dark"}]},
 {"name": "network", "expected": ["status of 422"], "url": "${url}networks/schools", "steps": [
   {"wait": "#forest svg"}, {"has": ["#verdict", "rusted"]}, {"axe": true}, {"shot": "network"},
   {"remember": ["begin", "#forest svg"]}, {"remember": ["table", "#table"]},
   {"type": ["#value-0", "-40"]}, {"changed": ["begin", "#forest svg"]}, {"has": ["#json", ""]}, {"shot": "network-typed"},
   {"remember": ["typed", "#marginal svg"]}, {"set": ["#values .value:nth-child(2) input[type=range]", "45"]},
   {"changed": ["typed", "#marginal svg"]},
   {"click": "#reset"}, {"same": ["begin", "#forest svg"]}, {"same": ["table", "#table"]},
   {"remember": ["before keys", "#forest svg"]},
   {"evaluate": "document.querySelector('#values input[type=range]').focus(), true"}, {"press": "ArrowLeft"}, {"press": "ArrowLeft"},
   {"changed": ["before keys", "#forest svg"]},
   {"click": "form details summary"}, {"set": ["#json", "{\"y\": [1, 2]}"]}, {"wait": "#status.error"},
   {"click": "#reset"}, {"has": ["#status", ""]},
   {"click": "#theme"}, {"evaluate": "document.documentElement.dataset.theme === 'dark'"},
   {"evaluate": "getComputedStyle(document.body).backgroundColor === 'rgb(15, 19, 24)'"}, {"axe": true}, {"shot": "network-dark"},
   {"size": [390, 800]}, {"axe": true}, {"shot": "network-phone"},
   {"evaluate": "document.documentElement.scrollWidth <= 390"}]},
 {"name": "tree", "url": "${url}networks/tree", "steps": [{"wait": "#forest svg"}, {"axe": true}, {"shot": "tree"}, {"pdf": "tree"}]},
 {"name": "served report", "url": "${url}networks/schools/report", "steps": [{"wait": "#stepper .next"}, {"axe": true}]},
 {"name": "report", "url": "file://$tmp/schools.html", "steps": [
   {"has": ["#verdict", "rusted"]}, {"axe": true}, {"shot": "report"},
   {"remember": ["begin", "#stepper"]}, {"remember": ["graph", "#graph"]},
   {"click": "#stepper .next"}, {"changed": ["begin", "#stepper"]}, {"changed": ["graph", "#graph"]}, {"has": ["#stepper .count", "Step 1"]},
   {"press": "ArrowRight"}, {"has": ["#stepper .count", "Step 2"]}, {"press": "End"}, {"shot": "report-end"}, {"axe": true},
   {"evaluate": "document.querySelectorAll('#graph .gone').length > 0"},
   {"press": "Home"}, {"evaluate": "!document.querySelector('#graph .gone, #graph .now')"}, {"press": "ArrowRight"}, {"has": ["#stepper .count", "Step 1"]},
   {"theme": "dark"}, {"axe": true}, {"shot": "report-dark"}, {"theme": "light"}, {"click": "#theme"}, {"click": "#theme"},
   {"evaluate": "document.documentElement.dataset.theme === 'dark'"}, {"axe": true}, {"click": "#theme"},
   {"size": [390, 800]}, {"axe": true}, {"shot": "report-phone"}, {"evaluate": "document.documentElement.scrollWidth <= 390"},
   {"pdf": "report"}]},
 {"name": "report of a tree", "url": "file://$tmp/tree.html", "steps": [{"axe": true}, {"shot": "report-tree"},
   {"size": [390, 800]}, {"evaluate": "document.documentElement.scrollWidth <= 390"}]}]
STEPS
sed -i 's/{"set": \["#json", "{"y": \[1, 2\]}"\]}/{"set": ["#json", "{\\"y\\": [1, 2]}"]}/' "$tmp/steps.json"
node tests/pages.mjs "$out" "$tmp/steps.json"
