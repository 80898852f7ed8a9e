#!/usr/bin/env python3
"""Missing data: is one network calibrated for random patterns, and does it agree with networks for one pattern alone?

    verify/missing.py [--seconds 40] [--sets 200] [--exact auto,none] [MODEL...]     # make missing keeps the result

For a state-space model with unknown parameters and a hierarchical normal model, with exact elimination and without: a network is
trained with `--missing 0.6`, and calibrated for the complete design, for patterns with 20 % and with 60 % missing
(`nami calibrate --data`: the network's own draws, and importance-weighted ones).  A pattern fails if any scalar has a p-value below
0.01 after correction for their number, so about 1 of 100 fails by chance.  Then a network is trained for one pattern alone (the missing
observations are latents: --observe), and weighted posterior means are compared, in standard errors of their difference.
--seconds is the processor time of each training."""
import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMI = os.environ.get("NAMI", os.path.join(ROOT, "build/nami"))
MODELS = os.path.join(ROOT, "bench/models")
CASES = [  # name, constants, latents to compare
    ("ssm", {"T": 20}, ["a", "q", "r", "x[10]"]),
    ("groups", {"G": 8, "n": 4}, ["mu", "tau", "s", "theta[1]"]),
]
PATTERNS = [(0.0, 1), (0.2, 3), (0.6, 3)]
LARGEST = 5.0  # standard errors, of 16 comparisons: by chance in 1 run of 100,000


def nami(*args, ok=(0,)):
    """Standard output and processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    p = subprocess.run([NAMI, *map(str, args)], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if p.returncode not in ok:
        sys.exit(f"nami {' '.join(map(str, args))}: {p.stderr}")
    return p, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def flat(y):
    """[(subscripts, value)] of an array."""
    if isinstance(y[0], list):
        return [(f"{i + 1},{j + 1}", v) for i, row in enumerate(y) for j, v in enumerate(row)]
    return [(f"{i + 1}", v) for i, v in enumerate(y)]


def with_gaps(y, gone):
    if isinstance(y[0], list):
        width = len(y[0])
        return [[None if i * width + j in gone else v for j, v in enumerate(row)] for i, row in enumerate(y)]
    return [None if i in gone else v for i, v in enumerate(y)]


def write(room, name, value):
    path = os.path.join(room, name)
    with open(path, "w") as f:
        json.dump(value, f)
    return path


class Bench:
    def __init__(self, name, constants, exact, given, room):
        self.model, self.exact, self.given, self.room = os.path.join(MODELS, name + ".nami"), exact, given, room
        settings = [x for k, v in constants.items() for x in ("--set", f"{k}={v}")]
        drawn = os.path.join(room, "drawn.json")
        nami("simulate", self.model, *settings, "-n", 1, "--seed", 5, "-o", drawn)
        with open(drawn) as f:
            self.data = {**constants, "y": json.load(f)[0]["y"]}
        self.full = write(room, "full.json", self.data)

    def train(self, out, *more):
        """As many steps as fit in the time."""
        common = ["train", self.model, "--data", self.full, "--exact", self.exact, "--net", "messages", "--batch", 64, "--threads", 1,
                  "--seed", 1, "-q", "-o", out, "--valid", 512, *more]
        (_, few), (_, many) = (nami(*common, "--steps", n, "--check", 1000) for n in (20, 120))
        os.unlink(out)
        steps = max(int((self.given.seconds - few) / max((many - few) / 100, 1e-5)), 200)
        _, time = nami(*common, "--steps", steps, "--check", max(steps // 10, 1))
        return steps, time

    def calibrate(self, net, data, method):
        p, _ = nami("calibrate", net, "--data", data, "--sets", self.given.sets, "--method", method, "--threads", 1, "--json", "-q",
                    ok=(0, 1))
        return p.returncode == 0, json.loads(p.stdout)

    def sample(self, net, data):
        p, _ = nami("sample", net, "--data", data, "--method", "is", "--draws", 8000, "--threads", 1, "--json", "-q", ok=(0, 1))
        return json.loads(p.stdout)["sets"][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="*", default=[c[0] for c in CASES])
    parser.add_argument("--exact", default="auto,none")
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--sets", type=int, default=200)
    given = parser.parse_args()
    bad = 0
    print(f"trained for {given.seconds:g} s of processor time each, batches of 64, one thread; {given.sets} data sets for each pattern")
    for name, constants, compare in CASES:
        for exact in given.exact.split(",") if name in given.models else []:
            with tempfile.TemporaryDirectory() as room:
                b = Bench(name, constants, exact, given, room)
                net, alone = os.path.join(room, "open.net"), os.path.join(room, "alone.net")
                steps, time = b.train(net, "--missing", 0.6)
                size = ", ".join(f"{k} = {v}" for k, v in constants.items())
                print(f"\n{name} ({size}), --exact {exact}: {steps} steps, {time:.0f} s", flush=True)
                n, chance = len(flat(b.data["y"])), random.Random(1)
                for share, times in PATTERNS:
                    passed = {"direct": 0, "is": 0}
                    for _ in range(times):
                        gone = set(chance.sample(range(n), round(share * n)))
                        data = write(room, "gaps.json", {**b.data, "y": with_gaps(b.data["y"], gone)})
                        for method in passed:
                            passed[method] += b.calibrate(net, data, method)[0]
                    bad += sum(times - k for k in passed.values())
                    print(f"  {share:4.0%} missing: calibrated for {passed['direct']} of {times} patterns, with weights "
                          f"{passed['is']} of {times}", flush=True)
                kept = [at for i, (at, _) in enumerate(flat(b.data["y"])) if i not in gone]
                steps, time = b.train(alone, "--observe", ",".join(f"y[{at}]" for at in kept))
                one, two = b.sample(net, data), b.sample(alone, data)
                print(f"  a network for the last pattern alone ({steps} steps, {time:.0f} s): effective draws of 8000 "
                      f"{one['ess']:.0f} (open), {two['ess']:.0f} (alone)")
                for v in compare:
                    x, y = one["variables"][v], two["variables"][v]
                    error = (x["sd"] ** 2 / x["ess"] + y["sd"] ** 2 / y["ess"]) ** 0.5
                    off = (x["mean"] - y["mean"]) / error
                    bad += abs(off) > LARGEST
                    print(f"    {v:9} mean {x['mean']:8.4f} and {y['mean']:8.4f}, sd {x['sd']:.4f} and {y['sd']:.4f}: "
                          f"{off:+.1f} standard errors", flush=True)
    print(f"\n{bad} of the checks above failed")
    return bad > 0


sys.exit(main())
