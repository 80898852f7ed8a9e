#!/usr/bin/env python3
"""Forward sampling in NumPy, as fast as NumPy goes: vectorised over draws, into arrays allocated once.

    simulate_numpy.py tree|gmm|lgssm [--processes P] [--repeats R] [--seconds S]

prints the median over R repeats of the seconds per draw, with P processes at once:

    numpy-2 tree 1.234e-05

tree: d = 10 levels (1023 normals); gmm: K = 3, N = 200 points in the plane; lgssm: T = 1000 steps.
Double precision, the SFC64 generator (NumPy's fastest).  The number of draws at once is the best of a few,
so that arrays stay in cache.
"""
import argparse
import multiprocessing
import statistics
import time

import numpy as np


def tree(rng, B, d=10):
    """x[i] ~ normal(w[i] x[i / 2], 1)"""
    n = 2**d - 1
    w = np.random.default_rng(1).uniform(0.5, 1.5, n)
    x = np.empty((n, B))
    tmp = np.empty((2 ** (d - 1), B))

    def draw():
        rng.standard_normal(out=x)
        for k in range(1, d):
            lo, half = 2**k - 1, 2 ** (k - 1)
            parent = x[half - 1:lo]
            child = x[lo:2 * lo + 1].reshape(half, 2, B)
            t = tmp[:2 * half].reshape(half, 2, B)
            np.multiply(w[lo:2 * lo + 1].reshape(half, 2, 1), parent[:, None, :], out=t)
            child += t
        return x
    return draw


def lgssm(rng, B, T=1000, a=0.9, q=0.5, r=1.0):
    x, y = np.empty((T, B)), np.empty((T, B))
    tmp = np.empty(B)

    def draw():
        rng.standard_normal(out=x)
        rng.standard_normal(out=y)
        np.multiply(x, q, out=x)
        x[0] *= 1 / np.sqrt(1 - a * a)
        for t in range(1, T):
            np.multiply(x[t - 1], a, out=tmp)
            x[t] += tmp
        if r != 1:
            np.multiply(y, r, out=y)
        np.add(y, x, out=y)
        return y
    return draw


def gmm(rng, B, K=3, N=200):
    """phi ~ dirichlet(1), mu ~ N(0, 25 I), Sigma ~ inv_wishart(6, 3 I), z ~ phi, y ~ N(mu[z], Sigma[z])"""
    e, u = np.empty((N, B, 2)), np.empty((N, B))
    y, t = np.empty((N, B, 2)), np.empty((N, B, 2))
    base = K * np.arange(B)

    def draw():
        phi = rng.standard_exponential((B, K))
        phi /= phi.sum(1, keepdims=True)
        cut = phi.cumsum(1)
        mu = 5 * rng.standard_normal((B * K, 2))
        # Bartlett: Omega = A A' / 3, A lower triangular; Sigma = R R' with R = sqrt(3) inverse(A)'
        a11 = np.sqrt(rng.chisquare(6, B * K))
        a22 = np.sqrt(rng.chisquare(5, B * K))
        a21 = rng.standard_normal(B * K)
        s3 = np.sqrt(3.0)
        r11, r22 = s3 / a11, s3 / a22
        r12 = -s3 * a21 / (a11 * a22)
        Sigma = np.empty((B * K, 2, 2))
        Sigma[:, 0, 0] = r11 * r11 + r12 * r12
        Sigma[:, 0, 1] = Sigma[:, 1, 0] = r12 * r22
        Sigma[:, 1, 1] = r22 * r22
        rng.random(out=u)
        z = (u > cut[:, 0]).astype(np.int64)
        for k in range(1, K - 1):
            z += u > cut[:, k]
        k = z + base
        rng.standard_normal(out=e)
        y[..., 0] = mu[:, 0].take(k) + r11.take(k) * e[..., 0] + r12.take(k) * e[..., 1]
        y[..., 1] = mu[:, 1].take(k) + r22.take(k) * e[..., 1]
        return phi, mu, Sigma, z, y
    return draw


MODELS = {"tree": tree, "gmm": gmm, "lgssm": lgssm}


def per_draw(model, seed, B, seconds):
    draw = MODELS[model](np.random.Generator(np.random.SFC64(seed)), B)
    draw()
    n, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        draw()
        n += B
    return (time.perf_counter() - start) / n


def worker(args):
    return per_draw(*args)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("model", choices=MODELS)
    p.add_argument("--processes", type=int, default=1)
    p.add_argument("--repeats", type=int, default=5)
    p.add_argument("--seconds", type=float, default=1.0)
    a = p.parse_args()
    best = min((16, 64, 256, 1024, 4096), key=lambda B: per_draw(a.model, 0, B, a.seconds / 10))
    times = []
    with multiprocessing.Pool(a.processes) as pool:
        for i in range(a.repeats):
            jobs = [(a.model, 1 + i * a.processes + k, best, a.seconds) for k in range(a.processes)]
            # P processes at once make P times as many draws: rates add up
            rate = sum(1 / t for t in pool.map(worker, jobs, chunksize=1))
            times.append(1 / rate)
    print("numpy-%d %s %.4g" % (a.processes, a.model, statistics.median(times)))


if __name__ == "__main__":
    main()
