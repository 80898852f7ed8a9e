#!/usr/bin/python3
"""bench/models/simulate.py: writes the data sets of this directory, which are simulated from fixed parameters and seeds."""
import json
import os

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def write(name, constants, y):
    """One row of y to a line."""
    y = np.round(y, 3)
    rows = y if y.ndim == 2 else [y[i:i + 10] for i in range(0, len(y), 10)]
    lines = [", ".join("%g" % v for v in row) for row in rows]
    if y.ndim == 2:
        lines = ["[%s]" % line for line in lines]
    with open(os.path.join(HERE, name), "w") as f:
        f.write("{\n")
        f.write("".join("  %s: %d,\n" % (json.dumps(k), v) for k, v in constants.items()))
        f.write('  "y": [\n    %s\n  ]\n}\n' % ",\n    ".join(lines))


def ssm(T, a=0.9, q=0.5, r=1.0):
    rng = np.random.default_rng(T)
    x = np.empty(T)
    x[0] = rng.normal(0, q / np.sqrt(1 - a ** 2))
    for t in range(1, T):
        x[t] = rng.normal(a * x[t - 1], q)
    write("ssm-%d.json" % T, {"T": T}, rng.normal(x, r))


def groups(G, n=10, mu=3.0, tau=0.8, s=1.2):
    rng = np.random.default_rng(G)
    theta = rng.normal(mu, tau, G)
    write("groups-%d.json" % G, {"G": G, "n": n}, rng.normal(theta[:, None], s, (G, n)))


if __name__ == "__main__":
    for T in (50, 500):
        ssm(T)
    for G in (200, 2000):
        groups(G)
