#!/usr/bin/python3
"""bench/rules.py [MODEL...] [--rules A,B] [--seconds S] [--again]: which rules of training give the lowest loss in the same time?

Each model is trained by each rule (options of `nami train`) on one thread, with the same seed, so that the validation draws are the
same. Rules with a fixed number of steps get as many as take S seconds of processor time, by the speed of two short runs; the others
take what they take, which is reported. Numbers are validation losses, E[-log q(z|x)] in nats:
differences from the first rule of the table, negative is better.

Results are added to bench/results/rules.jsonl, where what has been measured is not measured again (except by --again); the
table of all is printed."""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMI = os.environ.get("NAMI", os.path.join(ROOT, "build/nami"))
RESULTS = os.path.join(ROOT, "bench/results/rules.jsonl")

WIDE = ["--hidden", "256,256"]
RULES = {
    "0.001, decay 30 %": ["--rate", "0.001", "--cooldown", "0.3"],
    "0.001, decay 100 %": ["--rate", "0.001", "--cooldown", "1"],
    "0.003, decay 30 %": ["--rate", "0.003", "--cooldown", "0.3"],
    "0.003, decay 100 %": ["--rate", "0.003", "--cooldown", "1"],
    "0.003, 100 %, wide": ["--rate", "0.003", "--cooldown", "1"] + WIDE,
    "20,000 steps": ["--rate", "0.001", "--cooldown", "0.3", "--steps", "20000"],
    "until converged, 0.001": ["--rate", "0.001"],
    "until converged, 0.003": ["--rate", "0.003"],
}
FREE = ("20,000 steps", "until converged, 0.001", "until converged, 0.003")  # they take what they take
BUGS, IDIOMS = "tests/models/bugs/%s/%s.bug", "tests/models/idioms/%s.bug"
MODELS = {
    "two_moons": ("bench/models/two_moons.nami", None),
    "slcp": ("bench/models/slcp.nami", None),
    "lotka": ("bench/models/lotka.nami", None),
    "bglm": ("bench/models/bglm.nami", "bench/models/bglm.json"),
    "gev": ("bench/models/gev.nami", None),
}
for name in ("schools", "pumps", "dugongs", "dyes", "seeds", "surgical", "gmm", "hmm", "rats"):
    MODELS[name] = ("examples/models/%s.nami" % name, "examples/models/%s.json" % name)
for name in ("air", "hearts", "jaw", "beetles"):
    MODELS[name] = (BUGS % (name, name), "tests/models/bugs/%s/%s-data.R" % (name, name))
for name in ("bivariate_rho", "broken_stick"):
    MODELS[name] = (IDIOMS % name, "tests/models/idioms/%s.json" % name)


def train(model, options):
    """Loss, steps and seconds of processor time."""
    path, data = MODELS[model]
    with tempfile.TemporaryDirectory() as d:
        command = [NAMI, "train", os.path.join(ROOT, path), "-o", os.path.join(d, "net"), "--threads", "1", "--json", "--quiet"] + options
        if data:
            command += ["--data", os.path.join(ROOT, data)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if p.returncode:
        raise RuntimeError("%s: %s" % (model, p.stderr.strip()))
    r = json.loads(p.stdout)
    return r["loss"], r["steps"], after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def steps_in(model, options, seconds):
    few, many = 100, 600
    begin = train(model, options + ["--steps", str(few)])[2]
    each = (train(model, options + ["--steps", str(many)])[2] - begin) / (many - few)
    return max(1000, int(seconds / max(each, 1e-5)))


def measure(model, rule, seconds):
    options = RULES[rule]
    if rule not in FREE:
        options = options + ["--steps", str(steps_in(model, options, seconds))]
    loss, steps, took = train(model, options)
    return {"model": model, "rule": rule, "seconds": seconds, "loss": loss, "steps": steps, "took": round(took, 1)}


def show(found, models, rules):
    first = rules[0]
    print("| model | loss, " + first + " | " + " | ".join(rules[1:]) + " |")
    print("|---" * (len(rules) + 1) + "|")
    sums = {r: [] for r in rules}
    for m in models:
        base = found.get((m, first))
        if not base:
            continue
        cells = []
        for r in rules:
            x = found.get((m, r))
            if not x:
                cells.append("-")
                continue
            sums[r].append(x["loss"] - base["loss"])
            cell = "%.3f" % x["loss"] if r == first else "%+.3f" % (x["loss"] - base["loss"])
            cells.append(cell + (" (%d s)" % round(x["took"]) if r in FREE else ""))
        print("| %s | %s |" % (m, " | ".join(cells)))
    print("| mean, median | | " + " | ".join("%+.3f, %+.3f" % (sum(sums[r]) / len(sums[r]), sorted(sums[r])[len(sums[r]) // 2])
                                           if sums[r] else "-" for r in rules[1:]) + " |")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model", nargs="*")
    p.add_argument("--rules", default=";".join(RULES), help="separated by ';'")
    p.add_argument("--seconds", type=float, default=8)
    p.add_argument("--again", action="store_true")
    o = p.parse_args()
    rules, models, found = o.rules.split(";"), o.model or list(MODELS), {}
    if os.path.exists(RESULTS):
        for line in open(RESULTS):
            r = json.loads(line)
            if r["seconds"] == o.seconds or r["rule"] in FREE:
                found[r["model"], r["rule"]] = r
    for m in models:
        for r in rules:
            if (m, r) in found and not o.again:
                continue
            try:
                x = measure(m, r, o.seconds)
            except RuntimeError as e:
                print(e, file=sys.stderr)
                break
            found[m, r] = x
            print(json.dumps(x), file=sys.stderr, flush=True)
            with open(RESULTS, "a") as f:
                f.write(json.dumps(x) + "\n")
    show(found, models, rules)


if __name__ == "__main__":
    main()
