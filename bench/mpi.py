#!/usr/bin/env python3
"""nami-mpi on one machine, and what a model of its steps says of many.

    bench/mpi.py [--quick] [1 ... 5]   # these parts; prints the tables, draws docs/mpi.svg; make bench-mpi keeps them

1. Training steps: 2 processes beside 2 threads, interleaved, medians; the share of the exchange.
2. One of the processes halted for 100 ms again and again: the same file, and what it costs.
3. kill -9 of a process at random moments: the job ends, and goes on with fewer processes to the same file.
4. 10^5 data sets of the tree with d = 5 into one netCDF file, byte for byte.
5. Time of a step as computation and communication, by measured latency and bandwidth: 1 to 1,000 processes.
"""
import filecmp, math, os, random, re, signal, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMI, MPI = os.path.join(ROOT, "build/nami"), os.path.join(ROOT, "build/nami-mpi")
TREE = os.path.join(ROOT, "examples/models/tree.nami")
WEIGHTS = os.path.join(ROOT, "examples/models/tree.json")
RUN = os.environ.get("MPIRUN", "mpirun.openmpi --oversubscribe --bind-to none").split()
QUICK = "--quick" in sys.argv
wanted = {a for a in sys.argv[1:] if a in "12345"} or set("12345")
ENV = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
train = ["train", TREE, "--data", WEIGHTS, "--exact", "none", "--check", "100000", "--valid", "250"]


def launch(ranks, *args, options=()):
    return [*RUN, *options, "-n", str(ranks), MPI, *args] if ranks else [NAMI, *args]


def run(command, ok=(0,), **env):
    since = time.monotonic()
    p = subprocess.run(command, capture_output=True, text=True, env={**ENV, **env}, timeout=1800)
    if p.returncode not in ok:
        sys.exit(f"{' '.join(command)}: exit {p.returncode}\n{p.stderr}")
    return time.monotonic() - since, p.stderr


def median(x):
    return sorted(x)[len(x) // 2]


def ms_a_step(ranks, batch, *options, steps=400):
    """Milliseconds of a step, by the clock and of all processors: a long run less a short one; and the share of the
    exchange in the long run."""
    out = []
    for n in (steps // 8, steps):
        args = [*train, "--batch", str(batch), "--steps", str(n), "-q", "-o", os.path.join(room, "s.net"), *options]
        before = os.times()
        seconds, log = run(launch(ranks, *args), NAMI_MPI_TIMES="1")
        now = os.times()
        spent = re.search(r"exchange ([\d.]+) s of ([\d.]+) s", log)
        out.append((n, seconds, now.children_user + now.children_system - before.children_user - before.children_system,
                    float(spent[1]) / float(spent[2]) if spent else 0))
    (n0, s0, c0, _), (n1, s1, c1, share) = out
    return 1e3 * (s1 - s0) / (n1 - n0), 1e3 * (c1 - c0) / (n1 - n0), share


def steps():
    rounds = 2 if QUICK else 5
    names = ["1 thread", "2 threads", "1 thread, 8 parts", "1 process", "2 processes"]
    ways = [(0, ["--threads", "1"]), (0, ["--threads", "2"]), (0, ["--threads", "1", "--parts", "8"]),
            (1, ["--threads", "1"]), (2, ["--threads", "1"])]
    print(f"1. A step of training, d = 5 tree, 76,770 weights: ms by the clock and of all processors, medians of {rounds}\n"
          f"   interleaved rounds; load of the machine: {os.getloadavg()[0]:.1f}")
    found, cpu = {}, {}
    for batch in (256, 2048):
        n = (800 if batch < 1000 else 160) // (4 if QUICK else 1)
        got = [[] for _ in ways]
        for _ in range(rounds):
            for k, (ranks, options) in enumerate(ways):
                got[k].append(ms_a_step(ranks, batch, *options, steps=n))
        found[batch] = [median([g[0] for g in x]) for x in got]
        cpu[batch] = [median([g[1] for g in x]) for x in got]
        print(f"   batch {batch}")
        for k, name in enumerate(names):
            print(f"     {name:18} {found[batch][k]:8.2f} ms {cpu[batch][k]:8.2f} ms of processors")
        print(f"     exchange of 2 processes: {100 * median([g[2] for g in got[4]]):.1f} % of the time, with waiting for the other")
        print(f"     processor time of the sum and its waiting: {100 * (cpu[batch][4] / cpu[batch][3] - 1):.1f} % of a step")
    print()
    return found, cpu


def pids(word):
    p = subprocess.run(["pgrep", "-f", f"^{MPI} .*{word}"], capture_output=True, text=True)
    return [int(x) for x in p.stdout.split()]


def delays():
    args = [*train, "--steps", "300", "-q"]
    one, late = os.path.join(room, "one.net"), os.path.join(room, "late.net")
    plain, _ = run(launch(3, *args, "-o", one))
    since = time.monotonic()
    p = subprocess.Popen(launch(3, *args, "-o", late), env=ENV, stderr=subprocess.DEVNULL)
    halts = 0
    while p.poll() is None:
        time.sleep(0.1)
        found = pids("late.net")
        if len(found) == 3:
            try:
                os.kill(found[1], signal.SIGSTOP)
                time.sleep(0.1)
                os.kill(found[1], signal.SIGCONT)
                halts += 1
            except ProcessLookupError:
                pass
    seconds = time.monotonic() - since
    same = filecmp.cmp(one, late, shallow=False)
    print(f"2. One of 3 processes halted for 100 ms, {halts} times: {seconds:.1f} s instead of {plain:.1f} s; "
          f"file {'the same' if same else 'DIFFERENT'}\n")


def kills():
    n, rng = (5 if QUICK else 30), random.Random(1)
    args = [*train, "--steps", "200", "--save", "0", "-q"]
    args[args.index("--check") + 1] = "100"
    one, net = os.path.join(room, "one.net"), os.path.join(room, "killed.net")
    run(launch(0, *args, "--parts", "8", "-o", one))
    ends, bad, without, again = [], 0, 0, 0
    end = time.monotonic() + float(os.environ.get("SECONDS_OF_KILLS", "3600"))
    for k in range(n):
        if time.monotonic() > end:
            n = k
            break
        if os.path.exists(net):
            os.unlink(net)
        p = subprocess.Popen(launch(3, *args, "-o", net), env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while k % 4 and not os.path.exists(net) and p.poll() is None:  # three of four after the first checkpoint
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 1.5))
        found = pids("killed.net")
        since = time.monotonic()
        if found:
            os.kill(rng.choice(found), signal.SIGKILL)
        try:
            p.wait(20)
        except subprocess.TimeoutExpired:
            p.kill()
            bad += 1
        ends.append(time.monotonic() - since)
        without += not os.path.exists(net)
        again += p.returncode != 0
        run(launch(2, *args, "-o", net, "--resume"))
        bad += not filecmp.cmp(one, net, shallow=False)
    print(f"3. kill -9 of one of 3 processes at {n} random moments: {again} jobs ended by it, {without} before the first checkpoint, "
          f"the others had finished; within {max(ends):.1f} s (median {median(ends):.2f} s); resumed with 2 processes, "
          f"{n - bad} of {n} files the same\n")


def answers():
    sets = 10000 if QUICK else 100000
    net, data = os.path.join(room, "tree.net"), os.path.join(room, "sets.json")
    run(launch(0, *train, "--steps", "2000", "--parts", "8", "-q", "-o", net))
    run(launch(0, "simulate", TREE, "--data", WEIGHTS, "-n", str(sets), "--seed", "3", "-o", data, "-q"))
    ask = ["sample", net, "--data", data, "-n", "16", "--method", "is", "-q"]
    one, two = os.path.join(room, "one.nc"), os.path.join(room, "two.nc")
    t = [run(launch(0, *ask, "--threads", str(k), "-o", one), ok=(0, 1))[0] for k in (1, 2)]
    seconds, _ = run(launch(2, *ask, "--threads", "1", "-o", two), ok=(0, 1))
    same = filecmp.cmp(one, two, shallow=False)
    print(f"4. {sets} data sets of the d = 5 tree, 16 weighted draws each, {os.path.getsize(one) / 1e6:.0f} MB of netCDF: 1 thread {t[0]:.1f} s, "
          f"2 threads {t[1]:.1f} s, 2 processes {seconds:.1f} s; file {'the same' if same else 'DIFFERENT'}\n")


# ---- the model ------------------------------------------------------------------------------------


def network(options):
    p = subprocess.run([*RUN, *options, "-n", "2", os.path.join(ROOT, "build/bench/mpi_latency")], capture_output=True, text=True, env=ENV)
    latency, rate = p.stdout.split()
    return float(latency), float(rate)


def predict(ranks, batch, parts, point, fixed, weights, latency, rate):
    """Seconds of a step: the largest share of points, the work that each process repeats (norm, Adam), and the sum."""
    groups = math.ceil(math.ceil(batch / 8) / parts) * 8  # points of a part
    mine = math.ceil(parts / ranks) * groups
    levels = math.ceil(math.log2(ranks)) if ranks > 1 else 0
    segments = min(16, 2 ** levels) if 4 * weights > 65536 else 1
    size = 4 * weights
    # up and down: at each level a process passes on half of what it holds, at least one segment
    moved = sum(max(size / 2 ** (k + 1), size / segments) for k in range(levels))
    return mine * point + fixed + 2 * (levels * latency + moved / rate)


def draw(curves, path):
    w, h, pad = 300, 220, 46
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * (w + pad) + 30}" height="{h + 2 * pad + 40}" font-family="sans-serif" font-size="11">',
           '<rect width="100%" height="100%" fill="white"/>']
    color = ["#1b6ca8", "#c0504d", "#4f8f4f"]
    for panel, (title, lines) in enumerate(curves):
        x0, y0 = pad + panel * (w + pad + 10), pad
        out.append(f'<text x="{x0}" y="{y0 - 14}" font-size="13">{title}</text>')
        out.append(f'<rect x="{x0}" y="{y0}" width="{w}" height="{h}" fill="none" stroke="#888"/>')
        for e in range(0, 101, 25):
            y = y0 + h * (1 - e / 100)
            out.append(f'<line x1="{x0}" x2="{x0 + w}" y1="{y}" y2="{y}" stroke="#ddd"/><text x="{x0 - 5}" y="{y + 4}" text-anchor="end">{e} %</text>')
        for r in (1, 10, 100, 1000):
            x = x0 + w * math.log10(r) / 3
            out.append(f'<text x="{x}" y="{y0 + h + 15}" text-anchor="middle">{r}</text>')
        out.append(f'<text x="{x0 + w / 2}" y="{y0 + h + 31}" text-anchor="middle">processes</text>')
        for k, (name, points) in enumerate(lines):
            at = " ".join(f"{x0 + w * math.log10(r) / 3:.1f},{y0 + h * (1 - e):.1f}" for r, e in points)
            out.append(f'<polyline points="{at}" fill="none" stroke="{color[k]}" stroke-width="2"/>')
            if not panel:
                out.append(f'<text x="{x0 + 10 + k * 210}" y="{y0 + h + 56}" fill="{color[k]}">{name}</text>')
    out.append("</svg>\n")
    with open(path, "w") as f:
        f.write("\n".join(out))


def scaling(found, cpu):
    weights, small, large = 76770, 256, 2048
    # one process computes all parts: a point costs the slope over batch sizes, the rest is fixed
    # (processor time, which other programs of the machine do not change much)
    point = (cpu[large][3] - cpu[small][3]) * 1e-3 / (large - small)
    fixed = max(cpu[small][3] * 1e-3 - small * point, 2e-5)
    print(f"5. A step of one process: {1e6 * point:.2f} us a point + {1e6 * fixed:.0f} us; {weights} weights")
    nets = [("shared memory", network([])), ("TCP, loopback", network(["--mca", "btl", "tcp,self", "--mca", "pml", "ob1"]))]
    nets.append(("assumed: 20 us, 1.25 GB/s (10 Gbit/s)", (20e-6, 1.25e9)))
    ranks = [1, 2, 4, 8, 10, 16, 32, 64, 100, 128, 256, 512, 1000]
    curves = [("Strong scaling: batch 65,536, 1,024 parts", []), ("Weak scaling: 64 points, 1 part a process", [])]
    for name, (latency, rate) in nets:
        print(f"   {name}: latency {1e6 * latency:.1f} us, {rate / 1e9:.2f} GB/s")
        how = (point, fixed, weights, latency, rate)
        one = predict(1, 65536, 1024, *how)
        strong = [(r, one / r / predict(r, 65536, 1024, *how)) for r in ranks]
        weak = [(r, predict(1, 64, 1, *how) / predict(r, 64 * r, r, *how)) for r in ranks]
        curves[0][1].append((name, strong))
        curves[1][1].append((name, weak))
        for what, line in (("strong", strong), ("weak", weak)):
            print(f"     {what:6} efficiency: " + ", ".join(f"{r}: {100 * e:.0f} %" for r, e in line if r in (2, 10, 100, 1000)))
        for what, line in (("strong", strong), ("weak", weak)):
            low = [r for r, e in line if e < 0.5]
            print(f"     {what}: below one half " + (f"from {low[0]} processes" if low else "nowhere up to 1,000"))
    measured = found[large][3] / 2 / found[large][4]
    latency, rate = nets[0][1]
    guess = predict(1, large, 8, point, fixed, weights, latency, rate) / 2 / predict(2, large, 8, point, fixed, weights, latency, rate)
    print(f"   check: batch {large}, 2 processes: measured efficiency {100 * measured:.0f} %, the model says {100 * guess:.0f} %")
    draw(curves, os.path.join(ROOT, "docs/mpi.svg"))


with tempfile.TemporaryDirectory() as room:
    print(f"{os.cpu_count()} processors; {' '.join(RUN)}\n")
    found, cpu = steps() if wanted & {"1", "5"} else (None, None)
    for number, section in ("2", delays), ("3", kills), ("4", answers):
        if number in wanted:
            section()
            sys.stdout.flush()
    if "5" in wanted:
        scaling(found, cpu)
