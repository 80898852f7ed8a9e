#!/bin/bash
# Models that are learnt, from outside: nami train --objective elbo, what it says and refuses, killed at any moment; and
# that what was learnt is what sample, evidence, simulate and logp use.
nami=$(realpath "$1")
. "$(dirname "$0")/checks.sh"
cd "$dir" || exit 1

# ---- data: 200 points of a linear Gaussian model, of which the loadings are to be learnt
cat >truth.nami <<'END'
model {
  z1 ~ normal(0, 1)
  z2 ~ normal(0, 1)
  x[1] ~ normal(1.1 * z1 + 0.4 * z2 + 1, 0.5)
  x[2] ~ normal(-0.3 * z1 + 0.9 * z2, 0.5)
  x[3] ~ normal(0.7 * z1 - 0.7 * z2 - 1, 0.5)
  x[4] ~ normal(0.2 * z1 + 1.2 * z2, 0.5)
}
END
cat >pca.nami <<'END'
network dec : real[2] -> real[4] { dense(4) }
model {
  for (k in 1:2) { z[k] ~ normal(0, 1) }
  a[1:4] <- dec(z[1:2])
  for (p in 1:4) { x[p] ~ normal(a[p], 0.5) }
}
observe x
learn dec
END
ok "data" "$nami" simulate truth.nami -n 200 --seed 5 --only x -o x.csv -o x.npz -o x.json -q
small="--hidden 16 --activation tanh --batch 50 --valid 20 --check 20 --rate 0.01 --threads 2"
train() { "$nami" train pca.nami --data x=x.csv $small "$@"; }

# ---- what it says
says "the bound" 0 '^bound +-[0-9.]+ nats: of log p\(x\) on 20 data sets, 60 steps' train --steps 60 -o a.net
says "dry run" 0 '^parameters +[0-9]+' train --dry-run
ok "a log" train --steps 60 -o l.net --log l.csv -q
says "parts of the bound" 0 'prior,data$' head -1 l.csv
for f in x.csv x.npz x=x.npz x=x.json; do
    ok "from $f" "$nami" train pca.nami --objective elbo --data $f $small --steps 60 -o f.net -q
    ok "from $f: the same" cmp a.net f.net
done
ok "from data sets" "$nami" train pca.nami --data x.json $small --steps 60 -o f.net -q
for t in 1 3; do
    ok "threads $t" train --steps 60 -o t.net --threads $t -q
    ok "threads $t: same file" cmp a.net t.net
done

# ---- its options
says "epochs" 0 ' 9 steps;' train --epochs 3 -o o.net
says "split" 0 'on 40 data sets, 30 steps' train --split 150,40 --steps 30 -o o.net
says "fractions" 0 'on 100 data sets, 30 steps' train --split 0.5,0.5 --steps 30 -o o.net
ok "warm up" train --warmup 50 --steps 60 -o w.net -q
says "makes a difference" 1 'differ' cmp a.net w.net
ok "particles" train --particles 5 --steps 60 -o p.net -q
says "make a difference" 1 'differ' cmp a.net p.net
ok "a family" train --family spline --steps 20 -o o.net -q

# ---- killed at any moment, it goes on bit for bit
ok "the whole run" train --steps 400 -o whole.net -q
for delay in 0.03 0.06 0.1 0.15 0.2; do
    "$nami" train pca.nami --data x=x.csv $small --steps 400 -o k.net --resume --save 0 -q >/dev/null 2>&1 &
    sleep $delay
    kill -9 $! 2>/dev/null
    wait 2>/dev/null
    [ ! -e k.net ] || ok "killed after $delay s: the file is whole" train -o k.net --resume --dry-run
done
ok "goes on to the end" train -o k.net --steps 400 --resume -q
ok "bit for bit" cmp whole.net k.net
says "other data" 2 '100 observations, but the network was trained on 200' \
    sh -c "head -101 x.csv >half.csv; '$nami' train pca.nami --data x=half.csv -o k.net --resume"
says "data are needed to go on" 2 'learn from' "$nami" train pca.nami -o k.net --resume

# ---- what was learnt is used: log p(x, z) and log p(x) by hand, from the weights in the file
ok "trains longer" train --steps 2000 -o long.net -q
ok "draws of what was learnt" "$nami" simulate long.net -n 50 --seed 2 -o d.json -q
ok "draws of what was not" "$nami" simulate pca.nami -n 50 --seed 2 -o d0.json -q
says "are not the same" 1 'differ' cmp d.json d0.json
ok "densities" sh -c "'$nami' logp long.net --at d.json >logp.txt"
ok "evidence" sh -c "'$nami' evidence long.net --data x=x.csv --sets 3 -n 4000 --json -q >e.json"
ok "by hand" python3 - <<'P'
import json, math, struct
b = open("long.net", "rb").read()
n, = struct.unpack("<Q", b[:8])
head = json.loads(b[8:8 + n])
def tensor(name):
    i, j = head[name]["data_offsets"]
    return struct.unpack("<%df" % ((j - i) // 4), b[8 + n + i:8 + n + j])
w, c = tensor("model/dec/0.weight"), tensor("model/dec/0.bias")
assert head["model/dec/0.weight"]["shape"] == [4, 2]
def normal(x, mu, sd): return -0.5 * ((x - mu) / sd) ** 2 - math.log(sd) - 0.5 * math.log(2 * math.pi)
for d, lp in zip(json.load(open("d.json")), open("logp.txt")):
    want = sum(normal(z, 0, 1) for z in d["z"])
    want += sum(normal(d["x"][p], c[p] + sum(w[2 * p + k] * d["z"][k] for k in range(2)), 0.5) for p in range(4))
    assert abs(want - float(lp)) < 1e-9, (want, lp)
def log_px(x): # x ~ N(c, W W' + I / 4), by its Cholesky factor
    S = [[sum(w[2 * i + k] * w[2 * j + k] for k in range(2)) + 0.25 * (i == j) for j in range(4)] for i in range(4)]
    L, y = [[0] * 4 for _ in range(4)], []
    for i in range(4):
        for j in range(i + 1):
            s = S[i][j] - sum(L[i][k] * L[j][k] for k in range(j))
            L[i][j] = math.sqrt(s) if i == j else s / L[j][j]
        y.append((x[i] - c[i] - sum(L[i][k] * y[k] for k in range(i))) / L[i][i])
    return sum(normal(v, 0, 1) for v in y) - sum(math.log(L[i][i]) for i in range(4))
data, found = json.load(open("x.json")), json.load(open("e.json"))
found = found["sets"] if isinstance(found, dict) else found
assert len(found) == 3
for d, f in zip(data, found): # 4000 draws: standard errors below 0.01
    assert abs(log_px(d["x"]) - f["log_evidence"]) < 0.06, (log_px(d["x"]), f)
P
says "posteriors" 0 'data sets +4, 100 draws each' "$nami" sample long.net --data x=x.csv --sets 4 -n 100
says "a network has its constants" 2 'for models' "$nami" simulate long.net --set a=1
says "and its data" 2 'for models' "$nami" logp long.net --data d.json

# ---- labels, of one point in ten: they say which state is which
cat >semi.nami <<'END'
network dec : real[2] -> real[4] { dense(4) }
model {
  y ~ categorical(rep(0.5, 2))
  for (k in 1:2) { e[k] <- equals(y, k) }
  a[1:4] <- dec(e[1:2])
  for (p in 1:4) { x[p] ~ normal(a[p], 1) }
}
observe x
learn dec
END
awk 'BEGIN { srand(3); print "y,x[1],x[2],x[3],x[4]"
    for (i = 0; i < 200; i++) { y = i % 2; s = i % 20 < 2 ? y + 1 : ""
        for (p = 0; p < 4; p++) s = s "," (y ? 1 : -1) + rand() * 2 - 1
        print s } }' >s.csv
awk -F, -v OFS=, 'NR > 1 && $1 != "" { $1 = 3 - $1 } { print }' s.csv >flip.csv
semi="--hidden 8 --batch 50 --valid 20 --check 50 --rate 0.02 --steps 300 --threads 2"
for f in s flip; do
    ok "labels of $f" "$nami" train semi.nami --data x=$f.csv --data y=$f.csv $semi --labels 20 -o $f.net -q
    ok "are learnt" sh -c "'$nami' sample $f.net --data x=$f.csv --sets 20 -n 100 --method direct --json -q >$f.json"
done
ok "and say which is which" python3 - <<'P'
import json
for f, first in (("s", 1), ("flip", 2)):
    y = [s["variables"]["y"]["mean"] for s in json.load(open(f + ".json"))["sets"]]
    assert all(abs(m - (first if i % 2 == 0 else 3 - first)) < 0.1 for i, m in enumerate(y)), (f, y)
P
says "weight of labels" 1 'differ' sh -c "'$nami' train semi.nami --data x=s.csv --data y=s.csv $semi --labels 1 -o o.net -q && cmp s.net o.net"
ok "no labels at all" "$nami" train semi.nami --data x=s.csv $semi -o o.net -q

# ---- brightness; images as pictures
cat >dots.nami <<'END'
network dec : real[1] -> real[8] { dense(8) }
model {
  z ~ normal(0, 1)
  a[1:8] <- dec(c(z))
  x[1] <- 0
  for (p in 2:9) { x[p] ~ bernoulli_logit(a[p - 1]) }
}
observe x
learn dec
END
awk 'BEGIN { print "x[1],x[2],x[3],x[4],x[5],x[6],x[7],x[8],x[9]"
    for (i = 0; i < 100; i++) { s = "0"; for (p = 2; p < 10; p++) s = s "," ((i + p) % 3 ? 255 : 20); print s } }' >dots.csv
dots="--data x=dots.csv --hidden 8 --batch 20 --check 20 --steps 20 --threads 2"
says "0 .. 255 is not 0 or 1" 2 'x\[2\] is 255 in observation 1; it must be' "$nami" train dots.nami $dots -o d.net
says "nor is 20 / 255" 2 'x\[.\] is 0.07[0-9]* in observation 1; it must be' "$nami" train dots.nami $dots --pixels scale -o d.net
for how in threshold binarise; do
    ok "pixels: $how" "$nami" train dots.nami $dots --pixels $how -o d.net -q
    ok "and so for queries" "$nami" sample d.net --data x=dots.csv --sets 12 -n 20 --method direct -q
done
sed 's/\[8\]/[9]/; s/dense(8)/dense(9)/; s/1:8/1:9/; /<- 0/d; s/2:9/1:9/; s/p - 1/p/' dots.nami >nine.nami
ok "an image" "$nami" train nine.nami $dots --pixels threshold -o nine.net -q
says "and its prediction" 0 'PNG' sh -c "'$nami' sample nine.net --data x=dots.csv --sets 12 -n 20 --method direct -o q.png -q && head -c 8 q.png | tail -c 7"
says "that cannot be written" 3 'cannot create' "$nami" sample nine.net --data x=dots.csv --sets 12 -n 20 -o none/q.png
says "a picture of draws" 0 'PNG' sh -c "'$nami' simulate d.net -n 9 -o p.png -q && head -c 8 p.png | tail -c 7"
says "of a model" 0 'PNG' sh -c "'$nami' simulate dots.nami -n 9 -o m.png -q && head -c 8 m.png | tail -c 7"
says "no image of draws" 2 'no image to draw' "$nami" simulate truth.nami -n 4 --only z1 -o none.png

# ---- what it refuses
says "no data" 2 'what should it learn from' "$nami" train pca.nami -o x.net
says "data to learn from are for elbo" 2 "for the objective 'elbo'" train --objective ic -o x.net
says "no such array" 2 "the model has no 'v'" "$nami" train pca.nami --data v=x.csv -o x.net
says "labels alone" 2 'x is observed, but no data are given' "$nami" train semi.nami --data y=s.csv -o x.net
cut -d, -f1-3 x.csv >narrow.csv
says "wrong shape" 2 'x. has the shape .*3.* but the model' "$nami" train pca.nami --data x=narrow.csv -o x.net
sed '7s/,[^,]*$/,/' x.csv >hole.csv
says "missing numbers" 2 'observation 6 of x has missing numbers' "$nami" train pca.nami --data x=hole.csv -o x.net
head -31 x.csv >few.csv
says "too few" 2 '27 observations to train on are too few for batches of 50' "$nami" train pca.nami --data x=few.csv $small -o x.net
head -2 x.csv >one.csv
says "one" 2 'error' "$nami" train pca.nami --data x=one.csv $small -o x.net
says "more than there are" 2 'error: .*200' train --split 300,20 -o x.net
sed '3s/^[^,]*/nine/' x.csv >word.csv
says "no number" 2 'word.csv:3' "$nami" train pca.nami --data x=word.csv -o x.net
printf 'z[1],z[2]\n' >z.csv; for i in $(seq 200); do echo "0,$i"; done >>z.csv
says "a continuous latent" 2 "'z' is a latent that is not discrete" train --data z=z.csv -o x.net
sed 's/^1,/3,/' s.csv >three.csv
says "no such state" 2 'y is 3 in observation 1; it must be one of 1 .. 2' "$nami" train semi.nami --data x=three.csv --data y=three.csv $semi -o x.net
head -100 s.csv >short.csv
says "fewer labels" 2 "'y' has 99 observations, but 'x' has 200" "$nami" train semi.nami --data x=s.csv --data y=short.csv -o x.net
cat >two.nami <<'END'
model { for (i in 1:2) { y[i] ~ bernoulli(0.5)
  x[i] ~ normal(4 * y[i], 1) } }
observe x
END
{ echo 'y[1],y[2],x[1],x[2]'; for i in $(seq 100); do echo "1,$((i % 2)),4,$((i % 2 * 4))"; done; } >two.csv
sed '5s/^1,[01]/1,/' two.csv >part.csv
sed '5s/^1,[01]/,/' two.csv >none.csv
two="--objective elbo --hidden 8 --batch 20 --check 20 --steps 20"
says "some of several discrete latents" 2 'observation 4 gives 1 of 2 discrete latents' "$nami" train two.nami --data x=part.csv --data y=part.csv $two -o x.net
says "labels of what is integrated out" 2 "give the latent 'y' do not go with" "$nami" train two.nami --data x=two.csv --data y=two.csv $two --exact y -o x.net
says "labeled latents are learned" 0 '^bound .*20 steps' "$nami" train two.nami --data x=two.csv --data y=two.csv $two -o o.net
says "without labels, the bound is exact" 0 'none is needed' "$nami" train two.nami --data x=two.csv $two -o o.net
ok "none of them" "$nami" train two.nami --data x=none.csv --data y=none.csv $two -o o.net -q
says "no image" 2 'no image to draw' "$nami" sample o.net --data x=none.csv --sets 2 -n 10 -o none.png
printf 'simulator "cat"\nmodel { z ~ normal(0, 1)\n x ~ simulated(z) }\nobserve x\n' >sim.nami
printf 'x\n1\n2\n3\n' >sim.csv
says "no density" 2 'error: .*densit' "$nami" train sim.nami --objective elbo --data x=sim.csv -o x.net
printf 'model { n[1:3] ~ multinomial(c(0.2, 0.3, 0.5), 5)\n for (i in 1:3) { x[i] ~ normal(n[i], 1) } }\nobserve x\n' >multi.nami
printf 'x[1],x[2],x[3]\n1,2,2\n1,2,2\n' >multi.csv
says "a discrete vector" 2 'error' "$nami" train multi.nami --objective elbo --data x=multi.csv --batch 1 -o x.net
[ ! -e x.net ] || { failed=$((failed + 1)); echo "FAILED: a refused run left a file"; }

summary
