#!/usr/bin/python3
"""bench/mcmc.py [MODEL...]: effective draws a second of Markov chains, beside JAGS.

Each classic model of tests/models/bugs is answered by `nami run MODEL --data DATA --method mcmc --threads 1`, and by JAGS on the
exported model, four chains of 5,000 iterations after 1,000, alternately, three times (--repeat). Seconds are processor time
of the whole command, compilation and adaptation included. Effective draws are those of the mean of the scalar that
has fewest, among the latents that both know; the ratio is that of effective draws a second, the median of the
repetitions. JAGS's chains may be too short to be trusted: R-hat is its largest."""
import argparse
import json
import os
import statistics
import sys

import jags

sys.path.insert(0, os.path.join(jags.ROOT, "verify"))
import corpus  # noqa: E402

MODELS = ["beetles-probit", "dyes", "equiv", "jaw", "line", "pump", "rats", "salm", "stacks", "surgical"]
DRAWS, BURNIN = 5000, 1000


def ours(model, data, seed):
    """{scalar: effective draws}, seconds, verdict."""
    with jags.workdir() as d:
        text, seconds = jags.run([jags.NAMI, "run", model, "--data", data, "--method", "mcmc", "--threads", "1", "--seed",
                                  str(seed), "--json", "--quiet", "--report", "none", "-o", os.path.join(d, "x.nc")])
    answer = json.loads(text)["sets"][0]
    return {k: v["ess"] for k, v in answer["variables"].items()}, seconds, answer["verdict"]


def theirs(model, data, names, seed):
    """The same of JAGS, and its largest R-hat."""
    with jags.workdir() as d:
        jags.export(model, data, d)
        x, index, seconds = jags.sample(d, names, DRAWS, burnin=BURNIN, seed=seed)
    found = {k: jags.ess(x[:, :, i]) for i, k in enumerate(index) if x[:, :, i].std() > 0}
    return {k: e for k, (e, _) in found.items()}, seconds, max(r for _, r in found.values())


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model", nargs="*")
    p.add_argument("--repeat", type=int, default=3)
    o = p.parse_args()
    known = {name: files for name, *files in corpus.models(os.path.join(jags.ROOT, "tests", "models", "bugs"))}
    print("%-16s %-8s %8s %8s %9s  %8s %8s %9s %6s  %6s" % ("model", "verdict", "seconds", "draws", "a second", "JAGS: s", "draws",
                                                        "a second", "R-hat", "ratio"))
    ratios = []
    for name in o.model or MODELS:
        model, data, _ = known[name]
        rows = []
        for k in range(o.repeat):
            n, seconds, verdict = ours(model, data, k)
            j, clock, rhat = theirs(model, data, sorted({v.split("[")[0] for v in n}), k + 1)
            both = [v for v in n if v in j and n[v]]
            least, their_least = min(n[v] for v in both), min(j[v] for v in both)
            rows.append((least / seconds / (their_least / clock), verdict, seconds, least, clock, their_least, rhat))
        rows.sort()
        ratio, verdict, seconds, least, clock, their_least, rhat = rows[len(rows) // 2]
        ratios.append(ratio)
        print("%-16s %-8s %8.2f %8.0f %9.0f  %8.2f %8.0f %9.0f %6.3f  %6.2f" % (
            name, verdict, seconds, least, least / seconds, clock, their_least, their_least / clock, rhat, ratio), flush=True)
    print("median ratio of %d models: %.2f" % (len(ratios), statistics.median(ratios)))


if __name__ == "__main__":
    main()
