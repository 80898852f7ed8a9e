#!/usr/bin/python3
"""Semi-supervised MNIST: the digit of most training images is not known (examples/models/semi.nami).

    bench/semi.py [--given 1000] [--steps 30000] [--labels 200] [--seed 1] [--threads 2]

As many labels of each digit are given, chosen by the seed; then `nami train` learns decoder, q(z|x,y) and
the classifier q(y|x) from all 60,000 images, and `nami sample` draws digits for the 10,000 test images.
The classifier's answer is the most frequent of 100 draws. Raw results: bench/results/semi.txt."""
import argparse, subprocess, time

import numpy as np

import mnist

ap = argparse.ArgumentParser()
for name, n in dict(given=1000, steps=30000, seed=1, threads=2).items():
    ap.add_argument("--" + name, type=int, default=n)
ap.add_argument("--labels", default="200")
a = ap.parse_args()
work = mnist.folder("semi")


def digits(part):
    path = f"{mnist.IMAGES}/{part}-labels-idx1-ubyte"
    return np.frombuffer(open(path, "rb").read(), np.uint8, offset=8)


train, test = digits("train"), digits("t10k")
rng = np.random.default_rng(a.seed)
y = np.full(len(train), np.nan, np.float32)
for d in range(10):
    which = rng.choice(np.flatnonzero(train == d), a.given // 10, replace=False)
    y[which] = d + 1
name = f"{work}/{a.given}-{a.steps}-{a.labels}-{a.seed}"
net = name + ".net"
np.save(name + ".npy", y)

start = time.time()
subprocess.run([mnist.NAMI, "train", mnist.ROOT + "/examples/models/semi.nami", "--data", f"x={mnist.TRAIN}",
                "--data", f"y={name}.npy", "--pixels", "binarise", "--batch", "100", "--net", "made", "--hidden", "300",
                "--labels", a.labels, "--steps", str(a.steps), "--check", "1000", "--valid", "1000", "--seed", str(a.seed),
                "--threads", str(a.threads), "--resume", "-o", net, "--log", name + ".csv", "-q"], check=True)
seconds = time.time() - start
subprocess.run([mnist.NAMI, "sample", net, "--data", mnist.TEST, "--method", "direct", "-n", "100", "--only", "y",
                "-o", name + ".npz", "--threads", str(a.threads), "-q"], check=True)
draws = np.load(name + ".npz")["y"].reshape(len(test), -1).astype(int) - 1
count = np.stack([(draws == d).sum(1) for d in range(10)], 1)
wrong = (count.argmax(1) != test).mean()
lines = [f"semi-supervised MNIST, {a.given} of {len(train)} labels, weight of labels {a.labels}, {a.steps} steps of 100, seed {a.seed}",
         f"test error {100 * wrong:.2f} % of {len(test)} images, training {seconds:.0f} s on {a.threads} threads"]
print("\n".join(lines))
with open(mnist.ROOT + "/bench/results/semi.txt", "a") as f:
    f.write("\n".join(lines) + "\n")
