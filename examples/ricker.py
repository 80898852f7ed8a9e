#!/usr/bin/env python3
"""A simulator as a program: the Ricker model of a population that is counted (Wood 2010).

    log_r ~ uniform(3, 5)   sigma ~ uniform(0.1, 0.6)   phi ~ uniform(5, 15)
    N[t+1] = exp(log_r) N[t] exp(-N[t] + sigma e[t]),   y[t] ~ poisson(phi N[t]),   t = 1..T

Reads {"n": N, "seed": S} and writes N rows with log_r, sigma, phi and y[T]: as JSON Lines, or
with --npy as NumPy arrays, a hundred rows at a time.  ricker.py [--npy] [T] (50 if not given)."""
import io
import json
import math
import random
import sys


def poisson(rng, mean):
    """Knuth's method on pieces of at most 30, below which exp(-mean) is safe."""
    count = 0
    while mean > 0:
        piece = min(mean, 30.0)
        mean -= piece
        limit, product = math.exp(-piece), rng.random()
        while product > limit:
            count += 1
            product *= rng.random()
    return count


def simulate(rng, steps):
    log_r, sigma, phi = rng.uniform(3, 5), rng.uniform(0.1, 0.6), rng.uniform(5, 15)
    size, y = 1.0, []
    for _ in range(steps):
        size = size * math.exp(log_r - size + sigma * rng.gauss(0, 1))
        y.append(poisson(rng, phi * size))
    return {"log_r": log_r, "sigma": sigma, "phi": phi, "y": y}


def write_npy(rows):
    import numpy
    for name in ("log_r", "sigma", "phi", "y"):
        array = io.BytesIO()
        numpy.save(array, numpy.array([row[name] for row in rows]))
        sys.stdout.buffer.write(array.getvalue())


def main():
    args = [a for a in sys.argv[1:] if a != "--npy"]
    steps = int(args[0]) if args else 50
    request = json.loads(sys.stdin.readline())
    rng = random.Random(request["seed"])
    rows = (simulate(rng, steps) for _ in range(request["n"]))
    if "--npy" not in sys.argv:
        for row in rows:
            print(json.dumps(row))
        return
    batch = []
    for row in rows:
        batch.append(row)
        if len(batch) == 100:
            write_npy(batch)
            batch = []
    if batch:
        write_npy(batch)


main()
