#!/usr/bin/python3
"""bench/amortise.py [CASE...] [--sets N] [--jags N]: posteriors of many data sets, NaMI and JAGS.

For each case the model draws 1,000 data sets. NaMI trains one network (once), then answers all of them with as
many weighted draws as should make 1,000 effective ones in half of the sets, by a try with 1,000 draws; its time is scaled
by what they did make. JAGS runs the same model on the first 20 sets,
one process each as its users do: compilation, adaptation and 1,000 steps of burn-in, and then as many steps as
1,000 effective draws take; the other sets are taken to need the same. Seconds are of one processor, on one thread; no
draws are written to files while the clock runs.

Effective draws are (sum w)^2 / sum w^2 of the weights for NaMI. For JAGS they are counted from autocorrelations
(Stan's rule, two chains): of the median latent, and of the worst one. In the mixture, where labels may switch, they are
counted for numbers that do not depend on labels: the mean of the mixture, sum phi^2, and which pairs of
neighbouring points share a component."""
import argparse
import json
import os
import shutil
import statistics
import sys

import numpy as np

import jags

WANT, BURNIN, CHAINS, PROBE = 1000, 1000, 2, 4000


def examples(name):
    return os.path.join(jags.ROOT, "examples/models", name)


def mixture_numbers(x, index):
    """(chain, draw, number) that do not depend on labels, of phi, mu and z."""
    at = {v: k for k, v in enumerate(index)}
    K = sum(v.startswith("phi[") for v in index)
    N = sum(v.startswith("z[") for v in index)
    phi = x[:, :, [at["phi[%d]" % (k + 1)] for k in range(K)]]
    out = [(phi ** 2).sum(axis=2)]
    for d in (1, 2):
        mu = x[:, :, [at["mu[%d,%d]" % (k + 1, d)] for k in range(K)]]
        out.append((phi * mu).sum(axis=2))
    z = x[:, :, [at["z[%d]" % (i + 1)] for i in range(N)]]
    out += [(z[:, :, i] == z[:, :, i + 1]).astype(float) for i in range(0, N - 1, 2)]
    return np.stack(out, axis=2)


class Case:
    def __init__(self, what, model, constants, observed, monitor, train, lines="", bug=None, numbers=None):
        self.what, self.model, self.constants, self.observed = what, model, constants, observed
        self.monitor, self.train, self.lines, self.bug, self.numbers = monitor, train, lines, bug, numbers


CASES = {
    "tree": Case("binary tree of 5 levels: 15 latents", "tree", [], "x", ["x"], "--steps 10000"),
    "gmm": Case("mixture of 2 Gaussians in the plane, 10 points: 15 latents", "gmm", ["K=2", "N=10"], "y",
                ["phi", "mu", "z"], "--exact none --steps 15000 --family mixture", bug="gmm.bug", numbers=mixture_numbers,
                lines="embed y : real[N, 1, 2] { conv(64, 1, relu); conv(32, 1, relu); dense(128, relu); dense(64, relu) }"),
    "lgssm": Case("linear state space, 100 times: 100 latents", "lgssm", [], "y", ["x"], ""),
}


def constants(case):
    out = []
    for c in case.constants:
        out += ["--set", c]
    path = examples(case.model + ".json")
    return out if case.constants else ["--data", path] + out


def simulate(case, n, where):
    """n data sets: a file for NaMI, and a list."""
    path = os.path.join(where, "draws.json")
    jags.run([jags.NAMI, "simulate", examples(case.model + ".nami"), *constants(case), "-n", str(n), "--seed", "2024",
              "--only", case.observed, "--quiet", "-o", path])
    with open(path) as f:
        sets = json.load(f)
    if case.model == "tree":  # the inside of it is what is asked for
        for s in sets:
            s["x"][:15] = [None] * 15
    path = os.path.join(where, "sets.json")
    with open(path, "w") as f:
        json.dump(sets, f)
    return path, sets


def nami_sample(net, sets, draws):
    out, seconds = jags.run([jags.NAMI, "sample", net, "--data", sets, "--method", "is", "-n", str(draws), "--threads",
                             "1", "--quiet", "--json"])
    answers = json.loads(out)["sets"]
    return seconds, [a["ess"] for a in answers], [a["khat"] for a in answers]


def jags_timed(where, monitor, steps):
    """Seconds of a run that writes nothing."""
    lines = ['model in "model.bug"', 'data in "data.R"', "compile", "initialize", "update %d" % BURNIN]
    lines += ["monitor %s" % m for m in monitor] + (["update %d" % steps] if steps else [])
    with open(os.path.join(where, "timed"), "w") as f:
        f.write("\n".join(lines) + "\n")
    return jags.run(["jags", "timed"], cwd=where)[1]


def jags_set(case, data, where):
    """Seconds for one data set until the median latent, and the worst one, have WANT effective draws."""
    if case.bug:
        shutil.copy(os.path.join(jags.ROOT, "tests/oracle", case.bug), os.path.join(where, "model.bug"))
        values = {case.observed: data[case.observed], **{k: int(v) for k, v in (c.split("=") for c in case.constants)}}
        jags.dump(values, os.path.join(where, "data.R"))
    else:
        path = os.path.join(where, "one.json")
        with open(examples(case.model + ".json")) as f, open(path, "w") as g:
            json.dump({**json.load(f), **data}, g)
        jags.export(examples(case.model + ".nami"), path, where)
    x, index, _ = jags.sample(where, case.monitor, PROBE, chains=CHAINS, burnin=BURNIN)
    x = case.numbers(x, index) if case.numbers else x
    ess = [jags.ess(x[:, :, k])[0] for k in range(x.shape[2]) if np.ptp(x[:, :, k]) > 0]  # the others are observed
    fixed = jags_timed(where, case.monitor, 0)
    step = max(0.0, jags_timed(where, case.monitor, PROBE) - fixed) / PROBE
    need = [WANT * CHAINS * PROBE / e for e in (statistics.median(ess), min(ess))]
    return fixed, step, [fixed + step * n for n in need], need


def compare(name, case, o):
    with jags.workdir() as d:
        path, sets = simulate(case, o.sets, d)
        net = os.path.join(d, "net")
        model = os.path.join(d, case.model + ".nami")
        with open(examples(case.model + ".nami")) as f, open(model, "w") as g:
            g.write(f.read() + case.lines + "\n")
        training = jags.run([jags.NAMI, "train", model, *constants(case), "-o", net, "--threads", "1", "--quiet",
                             *case.train.split()])[1]
        ess = nami_sample(net, path, 1000)[1]
        draws = int(np.ceil(WANT * 1000 / statistics.median(ess)))
        seconds, ess, khat = nami_sample(net, path, draws)
        theirs = [jags_set(case, sets[i], d) for i in range(o.jags)]
        khat = [k for k in khat if k is not None]
    per_set = seconds / o.sets * WANT / statistics.median(ess)
    print("%s (%s)" % (name, case.what))
    print("  nami train %s%s" % (case.train or "(default settings)", ", with " + case.lines if case.lines else ""))
    print("  NaMI   %d sets x %d draws: %.1f s; effective draws of a set: median %.0f, 5 %% have less than %.0f; "
          "k-hat above 0.7 in %.1f %%" % (o.sets, draws, seconds, statistics.median(ess), np.quantile(ess, 0.05),
                                        100 * sum(k > 0.7 for k in khat) / o.sets))
    print("         %.2g s a set for %d effective draws, %.0f effective draws a second" % (per_set, WANT, WANT / per_set))
    for k, which in enumerate(["median", "worst"]):
        t = statistics.mean(x[2][k] for x in theirs)
        print("  JAGS   %-6s latent: %.2g s a set (%.2g until the end of burn-in, then %.0f steps), %.0f effective draws "
              "a second" % (which, t, statistics.mean(x[0] for x in theirs), statistics.mean(x[3][k] for x in theirs), WANT / t))
        gain = t - per_set
        print("         NaMI is %.1f times as fast; %s"
              % (t / per_set, "its training, %.0f s, is repaid after %.0f data sets" % (training, training / gain)
                 if gain > 0 else "its training is never repaid"))
    sys.stdout.flush()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("cases", nargs="*", default=list(CASES))
    ap.add_argument("--sets", type=int, default=1000)
    ap.add_argument("--jags", type=int, default=20)
    o = ap.parse_args()
    if not jags.have():
        print("SKIPPED amortise: jags is not installed", file=sys.stderr)
        return 0
    print("%d data sets, %d of them by JAGS; seconds of one processor for %d effective draws a set" % (o.sets, o.jags, WANT))
    for name in o.cases:
        compare(name, CASES[name], o)
    return 0


if __name__ == "__main__":
    sys.exit(main())
