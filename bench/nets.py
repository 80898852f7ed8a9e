#!/usr/bin/env python3
"""Architectures side by side at equal training time: the loss of messages, made, mlp and auto, everything learnt.

    bench/nets.py [--seconds 60] [MODEL...]      # prints the table; make bench-nets keeps it

Each network is timed first, then trained for as many steps as fit in the given processor time of one thread. Losses are of 4,096
draws, the same for all networks of a model."""
import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMI = os.environ.get("NAMI", os.path.join(ROOT, "build/nami"))
CASES = {  # model: options
    "tree": ["--data", "tree.json"],
    "schools": ["--data", "schools.json"],
    "rats": ["--data", "rats.json"],
    "surgical": ["--data", "surgical.json"],
    "lgssm": ["--set", "T=100"],
}
NETS = ["messages", "made", "mlp", "auto"]


def nami(*args):
    """Output and processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    p = subprocess.run([NAMI, *map(str, args)], capture_output=True, text=True, cwd=os.path.join(ROOT, "examples/models"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if p.returncode > 1:
        sys.exit(f"nami {' '.join(map(str, args))}: {p.stderr}")
    return p.stdout + p.stderr, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def train(model, net, steps, valid, room, *more):
    file = os.path.join(room, "x.net")
    check = max(steps // 10, 1)
    text, time = nami("train", model + ".nami", *CASES[model], "--exact", "none", "--net", net, "--steps", steps, "--check", check,
                      "--valid", valid, "--threads", 1, "--seed", 1, "-o", file, *more)
    found = re.search(r"^loss +(-?[\d.]+) nats", text, re.M)
    os.unlink(file)
    return float(found.group(1)), time


def parameters(model, net):
    text, _ = nami("train", model + ".nami", *CASES[model], "--exact", "none", "--net", net, "--dry-run", "--json", "-q")
    return json.loads(text)["parameters"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="*", default=list(CASES))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--nets", default=",".join(NETS))
    parser.add_argument("--train", default="", help="options for all trainings")
    given = parser.parse_args()
    more = given.train.split()
    print(f"loss in nats after {given.seconds:g} s of processor time, one thread, --exact none {given.train}")
    print(f"{'model':10} {'network':9} {'parameters':>10} {'steps':>7} {'seconds':>8} {'loss':>9}")
    with tempfile.TemporaryDirectory() as room:
        for model in given.models:
            for net in given.nets.split(","):
                few, many = (train(model, net, n, 64, room, *more)[1] for n in (10, 60))
                start = train(model, net, 1, 4096, room, *more)[1]  # with its share of validations: 10 of them follow
                steps = max(int((given.seconds - start) / max((many - few) / 50, 1e-5)), 100)
                loss, time = train(model, net, steps, 4096, room, *more)
                print(f"{model:10} {net:9} {parameters(model, net):10} {steps:7} {time:8.1f} {loss:9.4f}", flush=True)


main()
