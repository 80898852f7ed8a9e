#!/bin/bash
# nami reproduce from outside: what it writes, that it goes on when it was killed, what it refuses.
nami=$(realpath "$1")
. "$(dirname "$0")/checks.sh"
tiny="--quick --runs 2 --set steps=2 --set judge=64 --set draws=8 --set batch=16"
skip() { "$nami" reproduce skip $tiny "$@"; }

says "prints its summary" 0 '^\| forward \| forward inverse: minimal \| 2 \| 77021 \| 35 \|' skip --set epochs=2 -o "$dir/a" --threads 1
for f in settings.json epochs.csv ends.csv summary.md nll.svg test.svg runs/skip-16-02.json; do
    ok "writes $f" test -s "$dir/a/$f"
done
ok "one row for each run, variant and epoch" test "$(wc -l <"$dir/a/epochs.csv")" = 21
ok "settings are JSON" python3 -c "import json; s = json.load(open('$dir/a/settings.json')); assert s['epochs'] == 2 and len(s['variants']) == 5"
ok "two threads" skip --set epochs=2 -o "$dir/b" --threads 2 --quiet
ok "the same files" diff -r "$dir/a" "$dir/b"
says "nothing is left to do" 0 "^2 runs.*: \*\*quick\*\* settings but for steps=2, judge=64, draws=8, batch=16, epochs=2\.$" skip --set epochs=2 -o "$dir/b"

says "some variants" 0 '^\| skip-12 \| [^|]* \| 0 \|' skip --set epochs=2 -o "$dir/o" --only forward,full
says "then the others" 0 '^\| skip-12 \| [^|]* \| 2 \|' skip --set epochs=2 -o "$dir/o"
ok "the same as all at once" diff -r "$dir/a" "$dir/o"
says "no such variant" 2 'the variants of skip are forward, skip-12' skip --set epochs=2 -o "$dir/o" --only forward,sideways

# ---- killed at any moment
ok "the whole run" skip --set epochs=20 -o "$dir/whole" --threads 2 --quiet
for delay in 0.2 0.4 0.6; do
    "$nami" reproduce skip $tiny --set epochs=20 -o "$dir/k" --threads 2 --quiet >/dev/null 2>&1 &
    p=$!
    sleep $delay
    kill -9 $p 2>/dev/null
    wait $p 2>/dev/null
done
ok "goes on to the end" skip --set epochs=20 -o "$dir/k" --threads 1 --quiet
ok "the same results" cmp "$dir/whole/ends.csv" "$dir/k/ends.csv"
ok "and figures" cmp "$dir/whole/test.svg" "$dir/k/test.svg"
ok "Ctrl-C ends it" sh -c "env --default-signal=INT '$nami' reproduce skip $tiny --set epochs=100000 -o '$dir/c' & p=\$!; sleep 0.5; kill -INT \$p; wait \$p; test \$? = 3 && test -s '$dir/c/summary.md'"

# ---- what it refuses
says "which experiment" 2 "did you mean 'tree'" "$nami" reproduce tre -o "$dir/x"
says "no folder" 2 'give -o DIR' "$nami" reproduce tree
says "both" 2 'not both' "$nami" reproduce tree --quick --full -o "$dir/x"
says "other settings" 2 'holds results of other settings' skip --set epochs=3 -o "$dir/a"
says "no such setting" 2 "there is no setting 'epoch'" skip --set epoch=3 -o "$dir/x"
says "no images" 2 'it learns from MNIST' "$nami" reproduce vae --runs 1 -o "$dir/v"
says "no such folder" 3 'nowhere/train-images-idx3-ubyte: cannot open' "$nami" reproduce vae --runs 1 --data nowhere -o "$dir/v"
says "no folder to be made" 3 'cannot make the folder' skip -o "$dir/no/where"
summary
