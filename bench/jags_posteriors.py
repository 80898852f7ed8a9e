#!/usr/bin/python3
"""bench/jags_posteriors.py [MODEL...] [--jags] [--keep DIR]: are the posteriors those of JAGS?

Each model of examples/models in the table below is trained with the settings there, on draws of the model
alone, and then asked for the posterior of its data by importance sampling. JAGS ran the same model (`nami
export`) in four long chains: its summaries are in bench/results/jags-MODEL.csv, and --jags makes them anew. (Without
its module glm: its sampler for Poisson regression is approximate, and moves means of random effects in epil by more
than is allowed here.)
A model passes if all its scalars have a mean within 0.1 posterior sd of JAGS's and an sd within 10 %,
and k-hat is below 0.7. --keep leaves the networks in DIR, and uses those that it finds there."""
import argparse
import json
import os
import sys
import tempfile

import jags

# What is added to the model; options of `nami train`; JAGS's draws a chain, and thinning.
MODELS = {
    "schools": ("", "--family spline --steps 40000", 20000, 10),
    "pumps": ("", "", 20000, 2),
    "surgical": ("", "", 20000, 10),
    "dugongs": ("", "", 20000, 50),
    "rats": ("", "--steps 10000", 10000, 5),
    "epil": ("embed y : real[N, 1, T] { whiten(); conv(32, 1, relu); conv(16, 1, relu); dense(64, relu); dense(32, relu) }",
             "--net mlp --whiten yes --steps 15000 --cooldown 0.5", 10000, 10),
}
DRAWS = 100000
MEAN, SD, KHAT = 0.1, 0.1, 0.7


def example(name, ending):
    return os.path.join(jags.ROOT, "examples/models", name + ending)


def reference(name):
    return os.path.join(jags.ROOT, "bench/results/jags-%s.csv" % name)


def latents(name):
    """The arrays that are neither observed nor computed."""
    out, _ = jags.run([jags.NAMI, "invert", example(name, ".nami"), "--data", example(name, ".json"), "--json",
                       "--quiet"])
    return list(dict.fromkeys(f["node"].split("[")[0] for f in json.loads(out)["factors"]))


def run_jags(name, draws, thin):
    with jags.workdir() as d:
        jags.export(example(name, ".nami"), example(name, ".json"), d)
        x, index, _ = jags.sample(d, latents(name), draws, burnin=5000, thin=thin)
    if not jags.summary(x, index, reference(name)):
        sys.exit("jags_posteriors.py: %s needs longer chains" % name)


def train(name, lines, options, where):
    """The network's file, and the seconds it took, by the processor's clock."""
    net, clock = os.path.join(where, name + ".net"), os.path.join(where, name + ".seconds")
    if not os.path.exists(clock):
        model = os.path.join(where, name + ".nami")
        with open(example(name, ".nami")) as f, open(model, "w") as g:
            g.write(f.read() + lines + "\n")
        seconds = jags.run([jags.NAMI, "train", model, "--data", example(name, ".json"), "-o", net, "--threads", "1",
                            "--quiet", *options.split()])[1]
        with open(clock, "w") as f:
            f.write("%.1f\n" % seconds)
    with open(clock) as f:
        return net, float(f.read())


def compare(name, lines, options, where):
    net, seconds = train(name, lines, options, where)
    out, _ = jags.run([jags.NAMI, "sample", net, "--data", example(name, ".json"), "--method", "is", "-n", str(DRAWS),
                       "--threads", "1", "--json", "--quiet"])
    got, want = json.loads(out)["sets"][0], jags.read_summary(reference(name))
    ours = got["variables"]
    missing = sorted(set(want) - set(ours))
    if missing:
        sys.exit("jags_posteriors.py: %s: no %s in the answer" % (name, ", ".join(missing)))
    rows = []
    for v, j in want.items():
        o = ours[v]
        rows.append((abs(o["mean"] - j["mean"]) / j["sd"], abs(o["sd"] / j["sd"] - 1), v, o, j))
    mean, sd, khat = max(r[0] for r in rows), max(r[1] for r in rows), got["khat"]
    if khat is None:
        khat = float("inf")
    ok = mean < MEAN and sd < SD and khat < KHAT
    print("\n%s: nami train %s" % (name, options or "(as it is)"))
    if lines:
        print("  with  " + lines)
    print("  variable         mean      sd   |   JAGS: mean      sd   | mean off by  sd off by")
    for m, s, v, o, j in rows:
        print("  %-11s %9.4g %7.3g   | %12.4g %7.3g   |    %5.3f sd     %5.1f %%%s"
              % (v, o["mean"], o["sd"], j["mean"], j["sd"], m, 100 * s, "" if m < MEAN and s < SD else "  *"))
    print("  k-hat %.2f, %.0f effective draws of %d, trained in %.0f s" % (khat, got["ess"], DRAWS, seconds), flush=True)
    return name, len(rows), mean, sd, khat, got["ess"], seconds, ok


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("models", nargs="*", default=list(MODELS))
    ap.add_argument("--jags", action="store_true")
    ap.add_argument("--keep")
    o = ap.parse_args()
    if o.jags:
        for name in o.models:
            run_jags(name, *MODELS[name][2:])
    with tempfile.TemporaryDirectory() as d:
        rows = [compare(name, *MODELS[name][:2], o.keep or d) for name in o.models]
    print("\nmodel     scalars  mean off by  sd off by  k-hat  effective of %d  training" % DRAWS)
    for name, n, mean, sd, khat, ess, seconds, ok in rows:
        print("%-9s %7d     %5.3f sd     %4.1f %%  %5.2f  %19.0f  %6.0f s  %s"
              % (name, n, mean, 100 * sd, khat, ess, seconds, "ok" if ok else "FAILED"))
    return 0 if all(r[-1] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
