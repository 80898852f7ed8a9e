#!/usr/bin/python3
"""bench/cases.py [CASE...] [--size N] [--steps N] [--sets N] [--keep DIR] [--no-jags] [--no-mcmc]: open networks on the three case
studies of Habermann et al. 2026, with simulated data: eight schools, skin lesions (images x annotators), a bird survey
(squares in regions x years).

One network for each case is trained over ranges of sizes, with default settings but for what the table says. It answers data
sets of several sizes with 4000 draws: processor seconds, k-hat and verdict; the differences of its means and sds from those
of JAGS, in sds, and those of `nami run --method mcmc`, which needs no training. Then data sets of random designs with
known parameters: how often the 50 % and 90 % intervals contain them, and the mean and sd of (truth - mean) / sd, which are
0 and 1. --size chooses how large: 0 is the smallest of the table. --keep leaves files in DIR, and uses what it finds."""
import argparse
import itertools
import json
import os
import sys
import tempfile
import time

import numpy as np

import jags

DRAWS = 4000


def schools(rng, J):
    return {"J": J}


def lesions(rng, J, K, each):
    """Each image is outlined by a few annotators, all pairs of which are compared."""
    tool, skill = rng.random(K) < 0.5, rng.random(K) < 0.5
    pairs = [(j, a, b) for j in range(J) for a, b in itertools.combinations(sorted(rng.choice(K, each, False)), 2)]
    j, a, b = np.array(pairs).T
    return {"N": len(j), "J": J, "K": K, "image": (j + 1).tolist(), "first": (a + 1).tolist(), "second": (b + 1).tolist(),
            "c": (tool[a] == tool[b]).astype(int).tolist(), "m": (skill[a] == skill[b]).astype(int).tolist()}


def birds(rng, R, S, T):
    """45 % of the cells of squares and years are observed."""
    region = np.sort(np.r_[np.arange(R), rng.integers(0, R, S - R)]) + 1
    s, t = np.nonzero(rng.random((S, T)) < 0.45)
    return {"N": len(s), "R": R, "S": S, "T": T, "region": region.tolist(), "square": (s + 1).tolist(),
            "year": (t + 1).tolist(), "o": rng.normal(0, 0.3, len(s)).round(3).tolist()}


# Design; options of training by size; the design of training; those that are asked about; random ones; what is compared
CASES = {
    "schools": (schools, [("J=1:100", "", (8,), [(8,), (30,), (100,)], lambda r: (int(r.integers(1, 101)),))],
                ["mu", "tau"]),
    "lesions": (lesions, [
        ("N=20:90,J=8:30,K=4:6,image=1:J,first=1:K,second=1:K", "--designs 8 --batch 16 --valid 64 --steps 800",
         (20, 5, 3), [(20, 5, 3), (12, 4, 4), (30, 6, 3)],
         lambda r: (int(r.integers(8, 31)), int(r.integers(4, 7)), 3)),
        ("N=30:200,J=10:60,K=4:8,image=1:J,first=1:K,second=1:K", "--designs 16 --batch 16 --valid 128",
         (40, 6, 3), [(40, 6, 3), (20, 4, 4), (60, 8, 3)],
         lambda r: (int(r.integers(10, 61)), int(r.integers(4, 9)), 3)),
        ("N=300:2000,J=100:500,K=4:15,image=1:J,first=1:K,second=1:K", "--designs 16 --batch 8 --valid 64",
         (200, 8, 3), [(100, 5, 5), (200, 8, 3), (500, 15, 3)],
         lambda r: (int(r.integers(100, 501)), int(r.integers(4, 16)), 3)),
        ("N=2000:8000,J=600:2400,K=8:15,image=1:J,first=1:K,second=1:K", "--designs 8 --batch 8 --valid 16",
         (1000, 12, 3), [(1000, 12, 3), (2394, 15, 3)],
         lambda r: (int(r.integers(600, 2401)), int(r.integers(8, 16)), 3))],
        ["alpha", "bT", "bM", "g", "sI", "sA"]),
    "birds": (birds, [
        ("N=30:200,R=4:8,S=10:40,T=5:10,region=1:R,square=1:S,year=1:T", "--designs 16 --batch 16 --valid 128 --steps 4000",
         (5, 30, 6), [(5, 30, 6), (8, 40, 10)],
         lambda r: (int(r.integers(4, 9)), int(r.integers(10, 41)), int(r.integers(5, 11)))),
        ("N=500:4000,R=5:30,S=50:300,T=10:31,region=1:R,square=1:S,year=1:T", "--designs 16 --batch 8 --valid 32",
         (20, 200, 15), [(20, 200, 15), (30, 300, 31)],
         lambda r: (int(r.integers(5, 31)), int(r.integers(50, 301)), int(r.integers(10, 32))))],
        ["mu", "sr", "ss", "st", "kappa"]),
}


def write(path, what):
    with open(path, "w") as f:
        json.dump(what, f)
    return path


class Case:
    def __init__(self, name, size, steps, where):
        self.name, self.where = name, where
        self.design, sizes, self.globals = CASES[name]
        self.open, self.options, self.base, self.asked, self.random = sizes[min(size, len(sizes) - 1)]
        if steps:
            self.options += " --steps %d" % steps
        self.model = os.path.join(jags.ROOT, "bench/models", name + ("-open" if name == "schools" else "") + ".nami")
        self.rng = np.random.default_rng(1)

    def file(self, name):
        return os.path.join(self.where, "%s-%s" % (self.name, name))

    def train(self):
        self.net, log = self.file("net"), self.file("trained.json")
        base = write(self.file("base.json"), self.design(np.random.default_rng(0), *self.base))
        if not os.path.exists(log):
            start = time.time()
            _, cpu = jags.run([jags.NAMI, "train", self.model, "--data", base, "--open", self.open, *self.options.split(),
                               "-o", self.net, "--threads", "1", "--quiet"])
            write(log, [cpu / 60, (time.time() - start) / 60])
        with open(log) as f:
            cpu, wall = json.load(f)
        print("%s, %s: trained in %.1f min of processor time, one thread (%.0f min by the clock)%s"
              % (self.name, self.open, cpu, wall, ", " + self.options if self.options else ""), flush=True)

    def simulate(self, sizes, seed):
        """A data set, and the latents that it comes from."""
        design = self.design(self.rng, *sizes)
        path = write(self.file("design.json"), design)
        out, _ = jags.run([jags.NAMI, "simulate", self.model, "--data", path, "-n", "1", "--seed", str(seed), "-o",
                           self.file("draw.json"), "--quiet"])
        with open(self.file("draw.json")) as f:
            draw = json.load(f)
        draw = draw[0] if isinstance(draw, list) else draw
        data = dict(design, y=draw["y"], **({"s": draw["s"]} if "s" in draw else {}))
        return data, draw

    def answer(self, path, *command):
        out, cpu = jags.run([jags.NAMI, *command, "--data", path, "-n", str(DRAWS), "--threads", "1", "--json", "--quiet"])
        return json.loads(out)["sets"], cpu

    def compare(self, a, b, names):
        """The largest differences of means and sds from those of b, in its sds."""
        mean = max((abs(a[v]["mean"] - b[v]["mean"]) / b[v]["sd"], v) for v in names)
        sd = max((abs(a[v]["sd"] / b[v]["sd"] - 1), v) for v in names)
        return "mean %.3f sd (%s), sd %.0f %% (%s)" % (*mean, 100 * sd[0], sd[1])

    def ask(self, sizes, seed, with_jags, with_mcmc):
        data, _ = self.simulate(sizes, seed)
        path = write(self.file("data.json"), data)
        (a,), cpu = self.answer(path, "sample", self.net)
        what = " x ".join(str(n) for n in sizes)
        print("  %-12s %s, k-hat %.2f, %.0f effective draws, method %s: %.1f s" % (what, a["verdict"], a["khat"], a["ess"],
                                                                                 a["method"], cpu), flush=True)
        if with_mcmc:
            (m,), cpu = self.answer(path, "run", self.model, "--open", "none", "--method", "mcmc", "-o", self.file("mcmc.nc"),
                                    "--again")
            common = [v for v in a["variables"] if v in m["variables"]]
            print("    from nami run --method mcmc (%s, %.1f s): %s" % (m["verdict"], cpu,
                                                                       self.compare(a["variables"], m["variables"], common)),
                  flush=True)
        if with_jags:
            with jags.workdir() as d:
                jags.export(self.model, path, d)
                names = sorted({v.split("[")[0] for v in a["variables"]})
                x, index, cpu = jags.sample(d, names, 5000, burnin=2000, thin=4)
            least = min(jags.ess(x[:, :, k])[0] for k in range(len(index)))
            b = {v: {"mean": x[:, :, k].mean(), "sd": x[:, :, k].std()} for k, v in enumerate(index)}
            common = [v for v in a["variables"] if v in b]
            print("    from JAGS (%.0f s, at least %.0f effective draws): globals %s; all %d: %s"
                  % (cpu, least, self.compare(a["variables"], b, self.globals), len(common),
                     self.compare(a["variables"], b, common)), flush=True)

    def calibrate(self, num):
        """Data sets of random designs: intervals, standardized errors, verdicts."""
        inside, z, verdicts, seconds = {}, {}, {}, 0
        for i in range(num):
            data, truth = self.simulate(self.random(self.rng), 1000 + i)
            (a,), cpu = self.answer(write(self.file("data.json"), data), "sample", self.net, "--method", "is")
            seconds += cpu
            verdicts[a["verdict"]] = verdicts.get(a["verdict"], 0) + 1
            for v in self.globals:
                s = a["variables"][v]
                inside.setdefault(v, []).append((s["q5"] < truth[v] < s["q95"], truth[v] < s["q50"]))
                z.setdefault(v, []).append((truth[v] - s["mean"]) / s["sd"])
        if not num:
            return
        print("  %d data sets of random designs, weighted draws: %s; %.1f s each"
              % (num, ", ".join("%s %d" % x for x in sorted(verdicts.items())), seconds / num))
        for v in self.globals:
            x = np.array(inside[v])
            print("    %-6s in the 90 %% interval %3.0f %%, below the median %3.0f %%; standardized error %5.2f +- %.2f"
                  % (v, 100 * x[:, 0].mean(), 100 * x[:, 1].mean(), np.mean(z[v]), np.std(z[v])), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("case", nargs="*", default=list(CASES), help="schools, lesions, birds")
    p.add_argument("--size", type=int, default=0)
    p.add_argument("--steps", type=int)
    p.add_argument("--sets", type=int, default=100)
    p.add_argument("--keep")
    p.add_argument("--no-jags", action="store_true")
    p.add_argument("--no-mcmc", action="store_true")
    o = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="nami-cases-") as room:
        for name in o.case:
            if name not in CASES:
                sys.exit("cases.py: no case is called %s; there are %s" % (name, ", ".join(CASES)))
            case = Case(name, o.size, o.steps, o.keep or room)
            case.train()
            for i, sizes in enumerate(case.asked):
                case.ask(sizes, i + 1, jags.have() and not o.no_jags, not o.no_mcmc)
            case.calibrate(o.sets)


main()
