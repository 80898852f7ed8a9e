#!/bin/bash
# Files from strangers and machines that fail: memory limits, compressed data, settings that ask for hours of work, signals,
# private files, two trainings of one file, pictures.
nami=$(realpath "$1")
edit="python3 $PWD/tests/network_file.py"
. "$(dirname "$0")/checks.sh"
cd "$dir" || exit 1
cat >line.nami <<'END'
model {
  a ~ normal(0, 1)
  s ~ gamma(2, 1)
  for (i in 1:4) { y[i] ~ normal(a, s) }
}
observe y
END
echo '{"y": [-1, 0.5, 0.2, 1.5]}' >y.json
small="--exact none --hidden 8 --valid 500"
ok "trains" "$nami" train line.nami $small -o n.net --steps 100 -q
limited() { ( ulimit -v "$1"; shift; exec timeout 20 "$@" ); }
sanitized=$(grep -c __asan_init "$nami")

# ---- input without an end
if [ "$sanitized" = 0 ]; then # a sanitizer reserves terabytes
    says "memory ends: a structure" 3 'out of memory' limited 600000 "$nami" invert /dev/zero
    says "memory ends: a model" 3 'out of memory' limited 600000 "$nami" train /dev/zero -o x.net
    says "memory ends: a network" 3 'out of memory' limited 600000 "$nami" sample /dev/zero
    says "memory ends: data" 3 'out of memory' limited 600000 "$nami" sample n.net --data /dev/zero
    truncate -s 100G sparse.json
    says "a file larger than the memory" 3 'out of memory' limited 600000 "$nami" sample n.net --data sparse.json
fi

# ---- compressed data that would fill the memory
cat >bomb.py <<'END'
import gzip, struct, zipfile
zeros = bytes(1 << 20)
with gzip.open("bomb.gz", "wb", 9) as f:
    f.write(struct.pack(">BBBBII", 0, 0, 8, 2, 1 << 20, 256))
    for i in range(256): f.write(zeros)
head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (8388608, 4), }"
head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head
with zipfile.ZipFile("bomb.npz", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("y.npy", head + bytes(8 * 4 * 8388608))
END
ok "compressed data" python3 bomb.py
for file in bomb.gz bomb.npz; do
    says "$file" 3 'become more than [0-9]+ MiB.*if you trust it, decompress it first' "$nami" train line.nami --objective elbo --data y=$file -o x.net
done

# ---- settings that ask for hours of work
ok "restarts" $edit n.net x.net settings '"restarts": 0' '"restarts": 1048576'
ok "the stored inverse is used" timeout 10 "$nami" sample x.net --data y.json -n 100 -q

# ---- signals
ok "SIGTERM in training saves" sh -c "'$nami' train line.nami $small --steps 10000000 --patience 1000000 -o t.net -q & p=\$!; sleep 0.7; kill \$p; wait \$p; test \$? = 3 && test -s t.net"
ok "and it goes on" "$nami" train line.nami -o t.net --resume --steps 1 -q
for file in draws.csv draws.npz draws.nc; do
    ok "$file: SIGTERM ends sample with 3" sh -c "'$nami' sample n.net --data y.json -n 20000000 -o $file -q & p=\$!; sleep 0.7; kill \$p; wait \$p; test \$? = 3"
    ok "$file: nothing is left" sh -c "! ls $file* 2>/dev/null"
done
for file in draws.csv draws.npz; do
    sh -c "'$nami' sample n.net --data y.json -n 20000000 -o $file -q & p=\$!; sleep 0.7; kill -9 \$p; wait \$p" 2>/dev/null
    ok "$file: nor after kill -9" sh -c "! ls $file* 2>/dev/null"
done

# ---- other kernels
ok "portable kernels" env NAMI_KERNEL=any "$nami" train line.nami $small --steps 20 -o any.net -q
ok "are in the file" grep -q '"kernel": *"any"' any.net
ok "the same ones: nothing to say" sh -c "! env NAMI_KERNEL=any '$nami' train line.nami -o any.net --resume --steps 30 2>&1 | grep -i kernel"
[ "$sanitized" != 0 ] || ! grep -q avx2 /proc/cpuinfo ||
    says "others: a warning" 0 "trained with the kernels 'any', and goes on with 'avx" "$nami" train line.nami -o any.net --resume --steps 40
says "kernels that there are not" 0 "no kernels 'abacus'" env NAMI_KERNEL=abacus "$nami" train line.nami -o any.net --resume --steps 50

# ---- a private file stays private
chmod 600 n.net
ok "resumes" "$nami" train line.nami -o n.net --resume --steps 120 -q
ok "mode 600" test "$(stat -c %a n.net)" = 600

# ---- one training at a time writes a file
"$nami" train line.nami $small --steps 10000000 --patience 1000000 -o two.net -q & first=$!
sleep 0.7
says "a second training" 3 'two.net: error: another training is writing this network' "$nami" train line.nami $small --steps 10 -o two.net -q
says "a second one that resumes" 3 'another training is writing' "$nami" train line.nami -o two.net --resume -q
ok "another file" "$nami" train line.nami $small --steps 10 -o three.net -q
kill $first
wait $first
ok "its lock is gone" test ! -e two.net.lock
ok "then the next may" "$nami" train line.nami -o two.net --resume --steps 1 -q
touch three.net.lock # of a training that was killed
ok "a lock that nobody holds" "$nami" train line.nami $small --steps 10 -o three.net -q
ok "is removed" test ! -e three.net.lock
# ---- Graphviz crashes or exits when memory runs out: in a process of its own
cat >limits.sh <<'END'
for k in $(seq 53); do
    rm -f x.svg
    (ulimit -c 0; ulimit -v $((70000 + 2500 * k)); exec timeout 120 "$1" invert line.nami --exact none -o x.svg) >out 2>&1; rc=$?
    case $rc in
    0) grep -q '</svg>' x.svg || { echo "$k: no picture"; exit 1; } ;;
    3) test ! -e x.svg && grep -q 'error: ' out || { echo "$k:"; cat out; exit 1; } ;;
    127) ;; # the libraries of the program itself do not fit
    *) echo "limit $k: exit $rc"; cat out; exit 1 ;;
    esac
done
END
[ "$sanitized" != 0 ] || ok "53 memory limits: a picture, or a message" bash limits.sh "$nami"
sed 's/seq 53/seq 3 3 60/; s/x\.svg/x.png/g; s/invert line.nami --exact none/plot loss n.net -q/; s/70000/80000/; s/.<\/svg>./IEND/' limits.sh >png.sh
[ "$sanitized" != 0 ] || ok "20 memory limits: a PNG, or a message" bash png.sh "$nami"
summary
