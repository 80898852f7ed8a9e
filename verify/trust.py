#!/usr/bin/python3
"""verify/trust.py [--count N] [--seconds S] [--seed K] [KIND...]: how often is an answer of `nami run` trusted and wrong?

Random small models whose posteriors are known, each answered with `--exact none`, so that nothing is integrated out:

    gaussian   a linear regression with 1 to 5 coefficients, correlated covariates; exact by `nami exact`
    outside    the same with data 5 to 50 sds from what the prior predicts
    bimodal    y ~ normal(theta^2, 1): two modes that are mirror images, near or far
    funnel     the log scale of 2 to 8 effects, about which data say next to nothing: its posterior is its prior
    heavy      a Cauchy prior and a normal observation; exact by numerical integration

and by four ways: chains (--method mcmc), a network of 30 training steps and one of 300 (method auto, as by default), and a network of
300 steps that was spoilt: noise was added to all its weights, from a tenth to three times as large as they are. Wrong is
a trusted answer with a mean off by more than 0.15 sd, or an sd (heavy, funnel: a width of the 90 % interval) by more than 15 %,
beyond four Monte Carlo errors. The exit code is 1 if there is one."""
import argparse
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMI = os.environ.get("NAMI", os.path.join(ROOT, "build/nami"))
sys.path.insert(0, os.path.join(ROOT, "tests"))
import network_file  # noqa: E402

WAYS = {"chains": ["--method", "mcmc"], "30 steps": ["--steps", "30"], "300 steps": ["--steps", "300"], "spoilt": ["--steps", "300"]}
NOISE = (0.1, 0.3, 1, 3)  # sds of what is added to a spoilt network's weights, relative to those of each tensor
OFF, ERRORS = 0.15, 4
Z90 = 3.2897


def call(arguments):
    p = subprocess.run([NAMI] + arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if p.returncode not in (0, 1):
        raise RuntimeError("nami %s: %s" % (" ".join(arguments), p.stderr.strip()))
    return json.loads(p.stdout)


def write(folder, text, data):
    model, values = os.path.join(folder, "m.nami"), os.path.join(folder, "d.json")
    with open(model, "w") as f:
        f.write(text)
    with open(values, "w") as f:
        json.dump(data, f)
    return model, values


def regression(r, far):
    """A model, its data, and None: `nami exact` knows the answer."""
    k, n = r.randint(1, 5), r.randint(3, 20)
    mixed = r.random() * 0.95
    x = []
    for _ in range(n):
        common = r.gauss(0, 1)
        x.append([mixed * common + math.sqrt(1 - mixed * mixed) * r.gauss(0, 1) for _ in range(k)])
    b = [r.gauss(0, 1) for _ in range(k)]
    noise = math.exp(r.uniform(-2, 1))
    shift = r.choice((-1, 1)) * r.uniform(5, 50) * (noise + 1) if far else 0
    y = [sum(u * v for u, v in zip(row, b)) + r.gauss(0, noise) + shift for row in x]
    text = "model {\n  for (j in 1:%d) { b[j] ~ normal(0, 1) }\n  for (i in 1:%d) { y[i] ~ normal(%s, %g) }\n}\n" % (
        k, n, " + ".join("b[%d] * x[i,%d]" % (j + 1, j + 1) for j in range(k)), noise)
    return text, {"x": x, "y": y}, None


def bimodal(r):
    s, y = math.exp(r.uniform(-1.5, 0.5)), r.uniform(0.5, 6)
    grid = [i / 500 - 8 for i in range(8001)]
    w = [math.exp(-t * t / 8 - ((y - t * t) / s) ** 2 / 2) for t in grid]
    sd = math.sqrt(sum(a * t * t for a, t in zip(w, grid)) / sum(w))
    return "model {\n  theta ~ normal(0, 2)\n  y ~ normal(theta^2, %g)\n}\n" % s, {"y": y}, {"theta": (0, sd, sd)}


def funnel(r):
    n, width = r.randint(2, 8), r.uniform(1, 3)
    text = ("model {\n  v ~ normal(0, %g)\n  for (i in 1:%d) { x[i] ~ normal(0, exp(v / 2))\n    y[i] ~ normal(0.0001 * x[i], 100) }"
            "\n}\n" % (width, n))
    return text, {"y": [r.gauss(0, 100) for _ in range(n)]}, {"v": (0, width, width)}


def heavy(r):
    s, y = math.exp(r.uniform(-1, 2)), r.uniform(0, 10)
    grid = [y + s * (i / 400 - 10) for i in range(8001)]
    w = [math.exp(-((t - y) / s) ** 2 / 2) / (1 + t * t) for t in grid]
    total = sum(w)
    mean = sum(a * t for a, t in zip(w, grid)) / total
    sd = math.sqrt(sum(a * (t - mean) ** 2 for a, t in zip(w, grid)) / total)
    part, quantile = 0, {}
    for a, t in zip(w, grid):
        part += a / total
        for p in (0.05, 0.95):
            if part >= p and p not in quantile:
                quantile[p] = t
    width = (quantile[0.95] - quantile[0.05]) / Z90
    return "model {\n  theta ~ cauchy(0, 1)\n  y ~ normal(theta, %g)\n}\n" % s, {"y": y}, {"theta": (mean, sd, width)}


KINDS = {"gaussian": lambda r: regression(r, False), "outside": lambda r: regression(r, True), "bimodal": bimodal,
         "funnel": funnel, "heavy": heavy}


def known(model, values):
    """Means and sds by `nami exact`."""
    v = call(["exact", model, "--data", values, "--json", "--quiet"])["variables"]
    return {x["name"]: (x["mean"], x["sd"], x["sd"]) for x in v}


def spoil(path, noise, r):
    """Adds noise to all weights of a network, in place, with the digest that belongs to them."""
    head, numbers = network_file.read(path)
    for name, t in head.items():
        if name == "__metadata__" or t["dtype"] != "F32" or name.startswith("nami."):
            continue
        begin, end = t["data_offsets"]
        w = struct.unpack("<%df" % ((end - begin) // 4), numbers[begin:end])
        size = math.sqrt(sum(x * x for x in w) / max(len(w), 1)) or 0.1
        numbers[begin:end] = struct.pack("<%df" % len(w), *(x + r.gauss(0, noise * size) for x in w))
    network_file.write(path, head, numbers)


def answer(model, values, way, seed, folder, r):
    """What NaMI says of the data, as JSON."""
    common = ["--json", "--quiet", "--seed", str(seed), "--threads", "1"]
    if way != "spoilt":
        return call(["run", model, "--data", values, "--exact", "none", "-o", os.path.join(folder, "x.npz")] + common + WAYS[way])
    net = os.path.join(folder, "x.safetensors")
    call(["train", model, "--data", values, "--exact", "none", "-o", net] + common + WAYS[way])
    spoil(net, r.choice(NOISE), r)
    return call(["sample", net, "--data", values] + common)


def worst(ours, truth):
    """The largest error of a mean (in sds) or width (relative), beyond Monte Carlo errors."""
    off = 0
    for name, (mean, sd, width) in truth.items():
        n = ours[name]
        error = ERRORS / math.sqrt(max(n["ess"] or 1, 1))
        found = n["sd"] / sd - 1 if width == sd else (n["q95"] - n["q5"]) / Z90 / width - 1
        off = max(off, abs(n["mean"] - mean) / sd - error, abs(found) - 1.5 * error)
    return off


def ask(kinds, o, count):
    """The answers, counted, each of a random model."""
    start, r = time.time(), random.Random(o.seed)
    for i in range(o.count):
        kind, way = kinds[i % len(kinds)], list(WAYS)[i // len(kinds) % len(WAYS)]
        if time.time() - start > o.seconds:
            break
        text, data, truth = KINDS[kind](r)
        with tempfile.TemporaryDirectory() as d:
            model, values = write(d, text, data)
            truth = truth or known(model, values)
            a = answer(model, values, way, i, d, r)["sets"][0]
        c = count[kind, way]
        c[0] += 1
        if a["verdict"] != "trusted":
            continue
        c[1] += 1
        off = worst(a["variables"], truth)
        if off > OFF:
            c[2] += 1
            print("WRONG: %s, %s, number %d: off by %.2f (%s)\n%s%s" % (kind, way, i, off, a["reason"], text, json.dumps(data)),
                  flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("kind", nargs="*", choices=list(KINDS) + [[]])
    p.add_argument("--count", type=int, default=1000, help="answers")
    p.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    p.add_argument("--seed", type=int, default=1)
    o = p.parse_args()
    kinds = o.kind or list(KINDS)
    count = {(k, w): [0, 0, 0] for k in kinds for w in WAYS}  # answers, trusted, wrong
    try:
        ask(kinds, o, count)
    except KeyboardInterrupt:  # what there is so far
        pass
    print("%-10s %-10s %8s %8s %8s" % ("kind", "way", "answers", "trusted", "wrong"))
    for (kind, way), c in count.items():
        print("%-10s %-10s %8d %8d %8d" % (kind, way, *c))
    all_ = [sum(c[k] for c in count.values()) for k in range(3)]
    print("%-10s %-10s %8d %8d %8d" % ("all", "", *all_))
    sys.exit(1 if all_[2] else 0)


if __name__ == "__main__":
    main()
