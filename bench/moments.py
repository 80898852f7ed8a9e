#!/usr/bin/python3
"""bench/moments.py NET DATA [--seeds N]: what conditional moments of exact latents are worth.

Answers of `nami sample` with different seeds: the posterior means that it prints (of exact latents from conditional means) beside
the weighted means of the draws that it writes. Monte Carlo error: the standard deviation of a mean over the seeds, in posterior sds,
root mean square over the variables whose means differ. reported: the same of the mcse that it prints. A last column: the largest
difference of the two means, averaged over the seeds, in its standard errors (of many variables; about 3 is expected)."""
import argparse
import json
import os
import sys
import time

import numpy as np

import jags


def answer(net, data, seed, options):
    """Names, means and errors as printed, means of the draws, sds; seconds."""
    with jags.workdir() as d:
        path = os.path.join(d, "draws.npz")
        out, seconds = jags.run([jags.NAMI, "sample", net, "--data", data, "--seed", str(seed), "--threads", "1", "--json",
                                 "--quiet", "-o", path, *options])
        with np.load(path) as f:
            draws = {name: f[name] for name in f}
    w = np.exp(draws["log_weight"] - draws["log_weight"].max())
    w /= w.sum()
    rows = []
    for name, s in json.loads(out)["sets"][0]["variables"].items():
        array, _, rest = name.partition("[")
        at = tuple(int(i) - 1 for i in rest.rstrip("]").split(",")) if rest else ()
        rows.append((s["mean"], s["mcse"], s["sd"], w @ draws[array][(slice(None),) + at]))
    return np.array(rows), seconds


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("net")
    ap.add_argument("data")
    ap.add_argument("--seeds", type=int, default=20)
    o, options = ap.parse_known_args()
    x, seconds = zip(*[answer(o.net, o.data, seed, options) for seed in range(o.seeds)])
    x = np.stack(x)  # seed, variable, (mean, mcse, sd, mean of draws)
    x = x[:, np.any(x[:, :, 0] - x[:, :, 3] > 1e-9 * x[:, :, 2], axis=0)]
    sd = x[:, :, 2].mean(axis=0)
    rms = lambda a: np.sqrt(np.mean(a ** 2))
    apart = x[:, :, 3] - x[:, :, 0]
    print("%-28s %4d variables  error of draws %.5f  of moments %.5f  reported %.5f  ratio of variances %.1f  bias %.1f  %.2f s an answer"
          % (os.path.basename(o.net), x.shape[1], rms(x[:, :, 3].std(axis=0, ddof=1) / sd), rms(x[:, :, 0].std(axis=0, ddof=1) / sd),
             rms(x[:, :, 1] / sd), np.mean((x[:, :, 3].std(axis=0) / sd) ** 2) / max(np.mean((x[:, :, 0].std(axis=0) / sd) ** 2), 1e-30),
             np.max(np.abs(apart.mean(axis=0)) / (apart.std(axis=0, ddof=1) / np.sqrt(o.seeds))), np.mean(seconds)))


if __name__ == "__main__":
    sys.exit(main())
