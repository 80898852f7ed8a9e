#!/usr/bin/env python3
"""Cost of networks by the size of the data: parameters, seconds a training step and a draw, for
messages and for explicit inputs (made), with the fitted exponent.

    bench/messages.py [--quick] [MODEL...]     # prints the table; make bench-messages keeps it

Processor time of one thread.  A step is the difference of a run of many steps and one of few, a draw that of queries with many
draws and with few: what is done once does not count.  --quick: the smaller sizes, without the largest.
"""
import json, math, os, random, resource, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMI = os.environ.get("NAMI", os.path.join(ROOT, "build/nami"))
BATCH, FEW, MANY = 8, 4, 24
CASES = {  # name: model, constant, sizes, the largest for explicit inputs, other options
    "mixture": ("gmm", "N", [200, 2000, 20000], 2000, []),
    "hmm": ("hmm", "T", [100, 1000, 10000], 1000, ["--exact", "none"]),
    "lgssm": ("lgssm", "T", [100, 1000, 10000], 1000, ["--exact", "none"]),
    "tree": ("tree", "d", [5, 8, 10, 12], 10, ["--exact", "none"]),  # levels; the size is the number of nodes
}


def nami(*args):
    """Standard output and processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    p = subprocess.run([NAMI, *map(str, args)], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if p.returncode > 1:
        sys.exit(f"nami {' '.join(map(str, args))}: {p.stderr}")
    return p.stdout, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def settings(model, constant, size, room):
    """The options that set the size."""
    if model != "tree":
        return ["--set", f"{constant}={size}"]
    chance, path = random.Random(size), os.path.join(room, "tree.json")
    with open(path, "w") as f:
        json.dump({"d": size, "w": [round(chance.uniform(0.5, 1.5), 3) for _ in range(2**size - 1)]}, f)
    return ["--data", path]


def measure(model, constant, size, net, options, room):
    path = os.path.join(ROOT, "examples/models", model + ".nami")
    sized = settings(model, constant, size, room)
    train = ["train", path, *sized, *options, "--net", net, "--batch", BATCH, "--valid", BATCH, "--check", 1000, "--threads", 1, "-q"]
    parameters = json.loads(nami(*train, "--dry-run", "--json")[0])["parameters"]
    file, data = os.path.join(room, "x.net"), os.path.join(room, "x.json")
    few, many = (nami(*train, "--steps", n, "-o", file)[1] for n in (FEW, MANY))
    nami("simulate", path, *sized, "-n", 1, "-o", data)
    draws = 50 if size > 2000 else 400
    one, five = (nami("sample", file, "--data", data, "--method", "direct", "--threads", 1, "-n", n)[1] for n in (draws, 5 * draws))
    return parameters, max(many - few, 1e-6) / (MANY - FEW), max(five - one, 1e-6) / (4 * draws)


def exponent(points):
    x = [math.log(p[0]) for p in points]
    y = [math.log(p[1]) for p in points]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def main():
    quick = "--quick" in sys.argv
    names = [a for a in sys.argv[1:] if a in CASES] or list(CASES)
    print(f"steps of {BATCH} data sets, differences of runs of {MANY} and {FEW} steps; draws of one data set")
    print(f"{'model':8} {'network':9} {'size':>6} {'parameters':>10} {'ms/step':>9} {'ms/draw':>9}")
    with tempfile.TemporaryDirectory() as room:
        for name in names:
            model, constant, sizes, most, options = CASES[name]
            for net in ["messages", "made"]:
                rows = []
                for size in sizes[:-1] if quick else sizes:
                    if net != "messages" and size > most:
                        continue
                    parameters, step, draw = measure(model, constant, size, net, options, room)
                    size = 2**size - 1 if model == "tree" else size
                    rows.append((size, step, draw))
                    print(f"{name:8} {net:9} {size:6} {parameters:10} {1e3 * step:9.3f} {1e3 * draw:9.4f}", flush=True)
                if len(rows) > 1:
                    print(f"{'':8} exponent of size: step {exponent([r[:2] for r in rows]):.2f}, "
                          f"draw {exponent([(r[0], r[2]) for r in rows]):.2f}", flush=True)


main()
