#!/usr/bin/python3
"""A relaxed-Bernoulli VAE on MNIST, mean-field against faithful, at equal numbers of parameters:

    bench/vae.py [--epochs 100] [--seeds 3] [--images 500] [--temps 1000] [--chains 5] [--hidden 200] [--masked 120]
                 [--only nami|mean-field]

Both see the image through two layers of tanh units, as autoencoders do; behind them is a masked layer of 120
(--masked) units, and each factor is linear in it, in what the two layers give and, if it is faithful, in the latents
before it. Mean field gets as many more units in the two layers as make up for that.
For each seed and inverse: trains on 50,000 binarised images (batch 100, Adam, 1e-3), then estimates on
images of the test set minus the ELBO (16 draws an image), minus log p(x) by importance sampling (the same
with 1000 draws) and by AIS from the prior.  Nothing is done twice: networks and results stay in
build/vae.  Raw results: bench/results/vae.txt."""
import argparse, json, math, os, subprocess, time

import mnist

ap = argparse.ArgumentParser()
ap.add_argument("--only")
for name, n in dict(epochs=100, seeds=3, images=500, temps=1000, chains=5, hidden=200, masked=120, threads=2).items():
    ap.add_argument("--" + name, type=int, default=n)
a = ap.parse_args()
work = mnist.folder("vae")


def model(units):
    """the example's, with an encoder of two layers"""
    path = f"{work}/vae{units}.nami"
    text = open(mnist.ROOT + "/examples/models/vae.nami").read()
    open(path, "w").write(text + f"embed x {{ dense({units}, tanh); dense({units}, tanh) }}\n")
    return path


def run(args):
    return subprocess.run([mnist.NAMI, *args], check=True, capture_output=True, text=True).stdout


def shape(method, units):
    return [model(units), "--pixels", "binarise", "--method", method, "--net", "made", "--hidden", str(a.masked), "--activation", "tanh",
            "--skip", "yes"]


def parameters(method, units):
    """of the inference network"""
    args = ["train", *shape(method, units), "--data", f"x={mnist.TEST}", "--dry-run", "--json"]
    return json.loads(run(args))["parameters"]


def units_for(method, want):
    """the least that have as many parameters"""
    units = a.hidden
    while parameters(method, units) < want:
        units += 1
    return units


def mean_se(x):
    m = sum(x) / len(x)
    return m, math.sqrt(sum((v - m) ** 2 for v in x) / (len(x) - 1) / len(x))


def one(method, hidden, seed):
    net, out = f"{work}/{method}-{a.masked}-{seed}.net", f"{work}/{method}-{a.masked}-{seed}-{a.epochs}.json"
    if os.path.exists(out):
        return json.load(open(out))
    start = time.time()
    got = json.loads(run(["train", *shape(method, hidden), "-o", net, "--resume", "--data", f"x={mnist.TRAIN}",
                          "--split", "50000,10000", "--batch", "100", "--epochs", str(a.epochs), "--check", "2500",
                          "--seed", str(seed), "--threads", str(a.threads), "--json", "--log", net + ".csv"]))
    r = dict(method=method, seed=seed, hidden=hidden, parameters=got["parameters"], seconds=time.time() - start)
    test = ["--data", mnist.TEST, "--sets", str(a.images), "--json", "--threads", str(a.threads)]
    for name, args in dict(is1=["--method", "is", "-n", "1"], is1000=["--method", "is", "-n", "1000"],
                           ais=["--method", "ais", "--start", "prior", "--chains", str(a.chains), "--temps", str(a.temps),
                                "--leapfrog", "5"]).items():
        if name == "is1":  # the ELBO: the mean of log weights, one draw each
            x = []
            for s in range(16):
                x += [d["log_evidence"] for d in json.loads(run(["evidence", net, *test, *args, "--seed", str(s)]))]
        else:
            x = [d["log_evidence"] for d in json.loads(run(["evidence", net, *test, *args]))]
        r[name], r[name + "_se"] = mean_se([-v for v in x])
    json.dump(r, open(out, "w"))
    return r


size = {"nami": a.hidden, "mean-field": units_for("mean-field", parameters("nami", a.hidden))}
lines = [f"relaxed-Bernoulli VAE, MNIST, {a.epochs} epochs; test: {a.images} images; AIS: {a.chains} chains, {a.temps} temperatures, from the prior",
         f"{'inverse':<12}{'seed':>5}{'units':>8}{'parameters':>12}{'-ELBO':>9}{'+-':>6}{'-IS1000':>9}{'-AIS':>9}{'+-':>6}{'gap':>7}{'seconds':>9}"]
print("\n".join(lines), flush=True)
for seed in range(1, a.seeds + 1):
    for method in [a.only] if a.only else size:
        r = one(method, size[method], seed)
        lines.append(f"{method:<12}{seed:>5}{r['hidden']:>8}{r['parameters']:>12,}{r['is1']:>9.2f}{r['is1_se']:>6.2f}{r['is1000']:>9.2f}"
                     f"{r['ais']:>9.2f}{r['ais_se']:>6.2f}{r['is1'] - r['ais']:>7.2f}{r['seconds']:>9.0f}")
        print(lines[-1], flush=True)
open(mnist.ROOT + "/bench/results/vae.txt", "w").write("\n".join(lines) + "\n")
