#!/usr/bin/env python3
"""Cost of networks by the size of the data: parameters, seconds a training step and a draw, for
messages and for explicit inputs (made or mlp, as before messages), with the fitted exponent.

    bench/messages.py [--quick]        # prints the table; make bench-messages keeps it
"""
import json, math, os, re, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMI = os.environ.get("NAMI", os.path.join(ROOT, "build/nami"))
BATCH, STEPS = 8, 20
CASES = [  # name, model, constant, sizes, the largest for explicit inputs, other options
    ("mixture", "gmm", "N", [200, 2000, 20000], 2000, []),
    ("hidden Markov", "hmm", "T", [100, 1000, 10000], 1000, ["--exact", "none"]),
    ("state space", "lgssm", "T", [100, 1000, 10000], 1000, ["--exact", "none"]),
]


def nami(*args):
    p = subprocess.run([NAMI, *args], capture_output=True, text=True)
    if p.returncode > 1:
        sys.exit(f"nami {' '.join(args)}: {p.stderr}")
    return p.stdout, p.stderr


def measure(model, constant, size, net, options, room):
    path = os.path.join(ROOT, "examples/models", model + ".nami")
    common = [path, "--set", f"{constant}={size}", *options]
    train = ["train", *common, "--net", net, "--batch", str(BATCH), "--valid", str(BATCH), "--threads", "1"]
    parameters = json.loads(nami(*train, "--dry-run", "--json")[0])["parameters"]
    file, data = os.path.join(room, "x.net"), os.path.join(room, "x.json")
    rates = []
    for _ in range(3):
        _, log = nami(*train, "--steps", str(STEPS), "-o", file)
        rates.append(float(re.findall(r"([\d.e+]+) steps/s", log)[-1]))
    nami("simulate", path, "--set", f"{constant}={size}", "-n", "1", "-o", data)

    def sample(n):
        before = os.times()
        nami("sample", file, "--data", data, "--method", "direct", "--threads", "1", "-n", str(n))
        now = os.times()
        return now.children_user + now.children_system - before.children_user - before.children_system

    draws = 250 if size > 2000 else 1000
    draw = (sample(5 * draws) - sample(draws)) / (4 * draws)
    return parameters, 1 / sorted(rates)[1], max(draw, 1e-7)


def exponent(points):
    x = [math.log(p[0]) for p in points]
    y = [math.log(p[1]) for p in points]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def main():
    quick = "--quick" in sys.argv
    print(f"CPU of one thread; steps of {BATCH} data sets, medians of 3 runs of {STEPS} steps; ms a draw of one data set")
    print(f"{'model':15} {'network':9} {'size':>6} {'parameters':>10} {'ms/step':>9} {'ms/draw':>9}")
    with tempfile.TemporaryDirectory() as room:
        for name, model, constant, sizes, most, options in CASES:
            for net in ["messages", "made"]:
                rows = []
                for size in sizes[:2] if quick else sizes:
                    if net != "messages" and size > most:
                        continue
                    parameters, step, draw = measure(model, constant, size, net, options, room)
                    rows.append((size, step, draw))
                    print(f"{name:15} {net:9} {size:6} {parameters:10} {1e3 * step:9.3f} {1e3 * draw:9.4f}", flush=True)
                if len(rows) > 1:
                    print(f"{'':15} exponent of size: step {exponent([r[:2] for r in rows]):.2f}, "
                          f"draw {exponent([(r[0], r[2]) for r in rows]):.2f}", flush=True)


main()
