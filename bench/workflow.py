#!/usr/bin/python3
"""bench/workflow.py [MODEL...] [--sets N]: the posteriors of 1,000 data sets by one network, and how many can be trusted.

For each model of the amortized workflow (a Bernoulli GLM with 10 parameters and a smoothness prior, on the raw 100 spikes; a
generalized extreme value distribution with 3 parameters, on 65 independent observations) a network is trained with default
settings, data sets are drawn from the model, and `nami sample` answers all of them with default settings, on one thread. The
table has the trusted answers, the step of the ladder by which they are first trusted (weights of the network's draws; a
proposal adapted to them; Markov chains), and processor time."""
import argparse
import json
import os
import resource
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMI = os.environ.get("NAMI", os.path.join(ROOT, "build/nami"))
MODELS = {"bglm": "bglm.json", "gev": None}
SEED = 1


def nami(*arguments):
    """What it prints, and minutes of processor time; exit code 1 is an answer that is not trusted."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    p = subprocess.run([NAMI, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if p.returncode not in (0, 1):
        raise SystemExit("nami %s: %s" % (" ".join(arguments), p.stderr.strip()))
    return p.stdout, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / 60


def verdicts(net, sets, method):
    out, minutes = nami("sample", net, "--data", sets, "--json", "--quiet", "--threads", "1", *method)
    return [s["verdict"] for s in json.loads(out)["sets"]], minutes


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model", nargs="*")
    p.add_argument("--sets", type=int, default=1000)
    o = p.parse_args()
    print("| model | data sets | trusted | by weights | by an adapted proposal | by chains | with care | not trusted | training, min | "
          "answers, min |\n" + "|---" * 10 + "|")
    for name in o.model or MODELS:
        folder = os.path.join(ROOT, "bench/models")
        model, data = os.path.join(folder, name + ".nami"), MODELS[name]
        given = ["--data", os.path.join(folder, data)] if data else []
        with tempfile.TemporaryDirectory() as d:
            net, sets = os.path.join(d, "net"), os.path.join(d, "sets.json")
            training = nami("train", model, *given, "-o", net, "--quiet", "--threads", "1")[1]
            nami("simulate", model, *given, "-n", str(o.sets), "--seed", str(SEED), "--only", "y", "-o", sets)
            auto, minutes = verdicts(net, sets, [])
            weights = verdicts(net, sets, ["--method", "is"])[0]
            adapted = verdicts(net, sets, ["--method", "adaptive"])[0]
        steps = [0, 0, 0]
        for i, v in enumerate(auto):
            if v == "trusted":
                steps[0 if weights[i] == v else 1 if adapted[i] == v else 2] += 1
        count = [sum(v == x for v in auto) for x in ("trusted", "care", "no")]
        print("| %s | %d | %d | %d | %d | %d | %d | %d | %.1f | %.1f |" % (
            name, len(auto), count[0], *steps, count[1], count[2], training, minutes), flush=True)


if __name__ == "__main__":
    main()
