#!/bin/bash
# test_mpi.sh NAMI NAMI_MPI MPIRUN...: several processes give the files of one, byte for byte, for any number of them; a
# process that dies or fails ends all, and training goes on from the checkpoint with another number of processes.
nami=$(realpath "$1") program=$(realpath "$2")
shift 2
mpirun=("$@")
. "$(dirname "$0")/checks.sh"
cd "$dir" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpi() { # N COMMAND...
    local n=$1; shift
    timeout 60 "${mpirun[@]}" -n "$n" "$program" "$@"
}

# ---- training: two latents with a posterior that is not normal; an uneven batch
cat >ic.nami <<'END'
model {
  m ~ normal(0, 1)
  s ~ gamma(2, 1)
  for (i in 1:4) { y[i] ~ student_t(3, m, s) }
}
observe y
END
cat >elbo.nami <<'END'
network dec : real[2] -> real[4] { dense(4) }
model {
  for (k in 1:2) { z[k] ~ normal(0, 1) }
  b ~ bernoulli(0.4)
  a[1:4] <- dec(z[1:2])
  for (p in 1:4) { x[p] ~ normal(a[p] + b, 0.5) }
}
observe x
learn dec
END
ok "data" "$nami" simulate ic.nami -n 60 --only y -o y.json -q
ok "data to learn from" "$nami" simulate ic.nami -n 500 --only y -o y.csv -q
sed -i 's/y/x/g' y.csv && mv y.csv x.csv
small="--hidden 16 --batch 101 --valid 150 --check 15 -q"
ic="ic.nami $small --steps 40" elbo="elbo.nami --data x=x.csv $small --steps 40"
for how in ic elbo; do
    ok "$how by one" "$nami" train ${!how} --parts 8 -o one.net
    [ $how = ic ] && cp one.net ic.net
    for n in 1 2 3 4 7; do
        ok "$how by $n" mpi $n train ${!how} -o many.net
        ok "$how by $n: the same file" cmp one.net many.net
    done
done
ok "particles by one" "$nami" train $elbo --particles 3 --parts 5 -o one.net
ok "particles by 3" mpi 3 train $elbo --particles 3 --parts 5 -o many.net
ok "particles: the same file" cmp one.net many.net
says "too many processes" 2 '3 processes are too many for a batch of 2 parts' mpi 3 train ic.nami $small -n 5 --parts 2 -o x.net

# ---- a simulator runs for the parts of each process alone
cat >sim.sh <<'END'
#!/bin/sh
# from {"n": N, "seed": S}: N rows that depend on S; how many were asked for
read -r line
set -- $(echo "$line" | tr -c '0-9\n' ' ')
echo "$1" >>rows
awk -v n="$1" -v seed="$2" 'BEGIN { srand(seed % 2147483647)
    for (i = 0; i < n; i++) { m = rand(); printf "{\"m\": %.17g, \"y\": %.17g}\n", m, m + rand() } }'
END
chmod +x sim.sh
cat >sim.nami <<'END'
simulator "./sim.sh"
model {
  m ~ uniform(0, 1)
  y ~ simulated(m)
}
observe y
END
rows() { awk '{ n += $1 } END { print n }' rows; rm rows; }
ok "simulator by one" "$nami" train sim.nami $small --steps 20 --parts 4 -o one.net
one=$(rows)
ok "simulator by 4" mpi 4 train sim.nami $small --steps 20 --parts 4 -o many.net
many=$(rows)
ok "simulator: the same file" cmp one.net many.net
# each process draws 4,096 rows of its own, to standardize by
ok "simulator: $many rows by 4, $one by one" [ "$many" = $((one + 3 * 4096)) ]

# ---- queries
ask="sample ic.net --data y.json -n 64 --method is"
"$nami" $ask -o one.nc -o one.npz -o one.csv -o one.json >one.txt 2>/dev/null; code=$?
for n in 2 3; do
    checks=$((checks + 1))
    mpi $n $ask -o many.nc -o many.npz -o many.csv -o many.json >many.txt 2>/dev/null
    [ $? = $code ] || { failed=$((failed + 1)); echo "FAILED: sample by $n: exit code"; }
    for f in nc npz csv json; do ok "sample by $n: .$f" cmp one.$f many.$f; done
    ok "sample by $n: the table" diff <(sed 's/one/many/' one.txt) many.txt
done
ok "predictions by one" "$nami" sample ic.net --data y.json -n 64 --method direct --predict -o one.nc -q
ok "predictions by 3" mpi 3 sample ic.net --data y.json -n 64 --method direct --predict -o many.nc -q
ok "predictions: the same file" cmp one.nc many.nc
"$nami" calibrate ic.net -n 60 --draws 40 --json >one.txt 2>/dev/null
mpi 3 calibrate ic.net -n 60 --draws 40 --json >many.txt 2>/dev/null
ok "calibrate by 3" cmp one.txt many.txt
ok "simulate by one" "$nami" simulate ic.nami -n 1003 -o one.npz
ok "simulate by 4" mpi 4 simulate ic.nami -n 1003 -o many.npz
ok "simulate by 4: the same file" cmp one.npz many.npz

# ---- a study
study="reproduce tree --quick --runs 1 --set epochs=1 --set steps=2 --only full,forward -q"
ok "study by one" "$nami" $study -o one.study
ok "study by 2" mpi 2 $study -o many.study
ok "study by 2: the same files" diff -r one.study many.study

# ---- what ends
long="ic.nami --hidden 16 --batch 101 --valid 150 --check 50 --steps 600 --save 0 -q"
ok "600 steps by one" "$nami" train $long --parts 8 -o one.net
kill_one() { # SIGNAL: one of three processes, when there is a checkpoint
    local pids i
    rm -f k.net
    mpi 3 train $long -o k.net >k.log 2>&1 &
    for i in $(seq 500); do [ -s k.net ] && break; sleep 0.02; done
    pids=($(pgrep -f "^$program train $long -o k.net"))
    kill -"$1" "${pids[$((RANDOM % ${#pids[@]}))]}"
    wait $!
}
for n in 1 2; do
    SECONDS=0
    kill_one KILL; code=$?
    ok "killed: the job ends, exit code $code" [ $code != 0 -a $code != 124 -a $SECONDS -lt 15 ]
    ok "killed: goes on by 2" mpi 2 train $long -o k.net --resume
    ok "killed: the same file" cmp one.net k.net
done
kill_one TERM
ok "stopped: says so" grep -q 'stopped after [0-9]* steps; --resume continues' k.log
ok "stopped: goes on by 4" mpi 4 train $long -o k.net --resume
ok "stopped: the same file" cmp one.net k.net
# SIGUSR1 to all processes, as Slurm and mpirun send it, once they catch it, until there is a checkpoint, which nothing else writes;
# again if the end was earlier
for try in 1 2 3 4 5; do
    rm -f k.net
    mpi 3 train ${long/--save 0/--save 1000} -o k.net >k.log 2>&1 &
    for i in $(seq 500); do
        all=$(pgrep -f "^$program train .* -o k.net") ready=0
        for one in $all; do
            caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$one/status" 2>/dev/null)
            [ $((0x${caught:-0} >> 9 & 1)) = 0 ] || ready=$((ready + 1))
        done
        [ $ready != 3 ] || kill -USR1 $all 2>/dev/null
        [ -s k.net ] && break
        sleep 0.02
    done
    cp k.net first.net
    wait $!; code=$?
    cmp -s one.net first.net || break
done
ok "SIGUSR1: a checkpoint before the end" test -s first.net -a $try -lt 5
ok "SIGUSR1: training goes on, exit code $code" test $code = 0
ok "SIGUSR1: the same file" cmp one.net k.net
says "a full disk" 3 'No space left' mpi 2 train $ic -o /dev/full
says "no such file" 2 'nothing.nami: error: cannot open' mpi 2 train nothing.nami -o x.net
says "for one process" 2 "'invert' is a command for one process" mpi 2 invert ic.nami
says "standard input" 2 'cannot read standard input' mpi 2 train - -o x.net
says "help" 0 'train an inference network' mpi 2 --help
summary
