#!/bin/bash
# nami train from outside: what it prints, what it refuses, and that nothing is lost when it is killed.
nami=$(realpath "$1")
. "$(dirname "$0")/checks.sh"

cat >"$dir/line.nami" <<'END'
model {
  a ~ normal(0, 1)
  s ~ gamma(2, 2)
  for (i in 1:6) { y[i] ~ normal(a * i, s) }
  more ~ normal(a, s)
}
observe y
END
small="--exact none --hidden 16,16 --batch 50 --valid 200 --check 20 --threads 2"
train() { "$nami" train "$dir/line.nami" $small "$@"; }

# ---- what it says
says "dry run" 0 '^parameters +[0-9]+' train --dry-run
says "dry run as JSON" 0 '"parameters":[0-9]+' train --dry-run --json
says "barren latents need no network" 0 'factors of 2 latents' train --dry-run
ok "trains" train --steps 60 -o "$dir/a.net" --log "$dir/a.csv" --quiet
says "log" 0 '^step,rate,train_loss,valid_loss,gradient_norm,s,a$|^step,rate,train_loss,valid_loss,gradient_norm,a,s$' head -1 "$dir/a.csv"
says "JSON on stdout alone" 0 '^\{"steps":60,' sh -c "'$nami' train '$dir/line.nami' $small --steps 60 -o '$dir/j.net' --json 2>/dev/null"
ok "JSON log" train --steps 40 -o "$dir/l.net" --log "$dir/l.json" --quiet
ok "JSON log parses" python3 -c "import json; r = json.load(open('$dir/l.json')); assert len(r) == 2 and set(r[0]['parts']) == {'a', 's'}"

# ---- whitening: on with --net auto; settings of other versions
says "whitened" 0 'embed/y/0/white +1 +6 +6' train --dry-run
says "not with --net made" 0 '^0$' sh -c "'$nami' train '$dir/line.nami' --exact none --net made --dry-run | grep -c white; true"
says "not if not wanted" 0 '^0$' sh -c "'$nami' train '$dir/line.nami' --exact none --whiten no --dry-run | grep -c white; true"
ok "without" train --steps 20 --whiten no -o "$dir/old.net" -q
ok "a setting that is not known" python3 tests/network_file.py "$dir/old.net" "$dir/new.net" settings '"whiten"' '"nothin"'
says "is refused" 2 "the setting 'nothin' is not known; a newer version" "$nami" train "$dir/line.nami" -o "$dir/new.net" --resume
ok "a setting that is missing" python3 tests/network_file.py "$dir/old.net" "$dir/new.net" settings '"patience": 6, ' ''
ok "has its default" "$nami" train "$dir/line.nami" -o "$dir/new.net" --resume --steps 40 -q

# ---- the reader of docs/formats.md reads it, and sees what was damaged
for python in python3 /usr/bin/python3; do "$python" -c 'import numpy' 2>/dev/null && break; python=; done
if [ -n "$python" ]; then
    sed -n '/^```python$/,/^```$/p' docs/formats.md | grep -v '^```' >"$dir/reader.py"
    says "a reader in Python" 0 "^60 .*'embed/y/0/white.weight': \\(6, 6\\)" "$python" "$dir/reader.py" "$dir/a.net"
    ok "a byte changes" python3 -c "b = bytearray(open('$dir/a.net', 'rb').read()); b[-5] ^= 1; open('$dir/hurt.net', 'wb').write(b)"
    says "which it sees" 1 'or damaged' "$python" "$dir/reader.py" "$dir/hurt.net"
fi

# ---- the same for any number of threads
for t in 1 3; do
    ok "threads $t" train --steps 60 -o "$dir/t$t.net" --threads $t --quiet
    ok "threads $t: same file" cmp "$dir/a.net" "$dir/t$t.net"
done

# ---- killed at any moment, it goes on bit for bit
ok "the whole run" train --steps 400 -o "$dir/whole.net" --quiet
rm -f "$dir/k.net"
for delay in 0.05 0.1 0.15 0.2 0.3 0.4; do
    train --steps 400 -o "$dir/k.net" --resume --save 0 --quiet >/dev/null 2>&1 &
    sleep $delay
    pkill -9 -f "$dir/k.net" 2>/dev/null
    wait 2>/dev/null
    [ ! -e "$dir/k.net" ] || ok "killed after $delay s: the file is whole" train -o "$dir/k.net" --resume --dry-run
done
ok "goes on to the end" train -o "$dir/k.net" --steps 400 --resume --quiet
ok "bit for bit" cmp "$dir/whole.net" "$dir/k.net"
ok "Ctrl-C saves" sh -c "env --default-signal=INT '$nami' train '$dir/line.nami' $small --steps 1000000 --patience 100000 -o '$dir/c.net' --quiet & p=\$!; sleep 0.5; kill -INT \$p; wait \$p; test \$? = 3 && test -s '$dir/c.net'"

# ---- it ends by itself, at the same step if it was killed; or when its time is over
fast="--rate 0.01 --valid 1000 --check 10"
ok "until it has converged" train $fast -o "$dir/auto.net" --quiet
says "which it says" 0 'the loss has converged' sh -c "'$nami' train '$dir/line.nami' $small $fast -o '$dir/auto.net' --resume"
"$nami" train "$dir/line.nami" $small $fast -o "$dir/k2.net" --save 0 --quiet >/dev/null 2>&1 &
sleep 0.15
kill -9 $! 2>/dev/null
wait 2>/dev/null
ok "killed, it goes on" train $fast -o "$dir/k2.net" --resume --quiet
ok "to the same bits" cmp "$dir/auto.net" "$dir/k2.net"
says "a time" 0 'the time is over' train --minutes 0.005 --check 1000000 -o "$dir/time.net"
says "more time" 0 'the time is over' train --minutes 0.005 --check 1000000 --resume -o "$dir/time.net"
says "more steps" 0 ' 10 steps; all steps were made|the time is over' train --steps 10 --minutes 5 -o "$dir/time2.net"
says "no time at all" 2 'minutes' train --minutes -1 -o "$dir/x.net"

# ---- what it refuses
sed 's/gamma(2, 2)/gamma(2, 3)/' "$dir/line.nami" >"$dir/other.nami"
says "another model" 2 'was trained for another model' "$nami" train "$dir/other.nami" -o "$dir/a.net" --resume
printf 'const w\nmodel { a ~ normal(w, 1)\n y ~ normal(a, 1) }\nobserve y\n' >"$dir/w.nami"
ok "with a constant" "$nami" train "$dir/w.nami" --set w=1 $small --steps 20 -o "$dir/w.net" -q
says "another constant" 2 'other values of w' "$nami" train "$dir/w.nami" --set w=2 -o "$dir/w.net" --resume
says "no output" 2 'give -o NET' train --steps 10
says "no such family" 2 'did you mean' train --family splin -o "$dir/x.net"
says "hidden" 2 'hidden must be up to 8 numbers of units' train --hidden 10,x -o "$dir/x.net"
says "no factors" 2 'nothing to learn' train --observe a,s,y -o "$dir/x.net"
printf 'model { p[1:3] ~ ddirch(c(1, 0, 2))\n y ~ dcat(p[1:3]) }' >"$dir/zero.bug"
says "a structural zero" 2 'an element of p is 0 in all draws' "$nami" train "$dir/zero.bug" --observe y -o "$dir/x.net"
head -c 300 "$dir/a.net" >"$dir/cut.net"
says "a cut file" 2 'error' train -o "$dir/cut.net" --resume
says "not a network" 2 'error' sh -c "echo hello >'$dir/no.net'; '$nami' train '$dir/line.nami' -o '$dir/no.net' --resume"
for f in "-o $dir/none/x.net" "-o $dir" "-o $dir/x.net --log $dir/none/x.csv"; do # at once, not when it is trained
    says "cannot be written: $f" 3 'error: cannot (create|write)' timeout 30 "$nami" train "$dir/line.nami" --steps 100000000 $f
done
says "missing constants" 2 'has no value' sh -c "printf 'const w\nmodel { a ~ normal(w, 1)\n y ~ normal(a, 1) }\nobserve y\n' >'$dir/w.nami'; '$nami' train '$dir/w.nami' -o '$dir/x.net'"
[ ! -e "$dir/x.net" ] || { failed=$((failed + 1)); echo "FAILED: a refused run left a file"; }

summary
