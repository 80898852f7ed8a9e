#!/usr/bin/python3
"""bench/train.py [NETS] [--rounds N] [--steps N]: training steps a second, NaMI and PyTorch in turn.

NETS: letters of abcde (bench_train says what they are). PyTorch runs ../shared/peers/torch_baseline.py (or
$TORCH_BASELINE), in its strongest form and as users write it; without it, or without python3-torch, NaMI
runs alone. Every figure is the median over rounds of the median step; a ratio is the median of the
rounds' ratios. `share` is the part of the machine's FMA peak (measured in the same run), counting
only products that are not masked."""
import argparse
import os
import statistics
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TORCH = os.environ.get("TORCH_BASELINE", os.path.join(ROOT, "../shared/peers/torch_baseline.py"))
USUAL = {"a": "loop", "c": "mask", "d": "mask"}
# PERF.md: must, ambitious (times the strongest); must (times the usual)
GOAL = {("a", 1): (1.9, 2.3, 3), ("b", 1): (1.9, 2.5, 0), ("c", 1): (2.1, 2.4, 2.5), ("d", 1): (3.4, 4.3, 11),
        ("e", 1): (2.0, 2.4, 0), ("a", 2): (2.5, 3.3, 6), ("b", 2): (2.4, 3.2, 0), ("c", 2): (2.6, 3.0, 3),
        ("d", 2): (5.5, 7.0, 14), ("e", 2): (2.6, 3.3, 0)}


def ask(command):
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return dict(x.split("=", 1) for x in out.split() if "=" in x)


def nami(net, threads, steps):
    return ask([os.path.join(ROOT, "build/bench/bench_train"), net, str(threads), str(steps)])


def torch(net, threads, steps, variant):
    return ask(["/usr/bin/python3", TORCH, "--net", net, "--threads", str(threads), "--steps", str(steps)]
               + (["--variant", variant] if variant else []))


def speed(runs):
    return statistics.median(float(r["p50_steps_per_s"]) for r in runs)


def ratio(ours, theirs):
    return statistics.median(float(a["p50_steps_per_s"]) / float(b["p50_steps_per_s"]) for a, b in zip(ours, theirs))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("nets", nargs="?", default="abcde")
    ap.add_argument("--rounds", type=int, default=5)
    ap.add_argument("--steps", type=int, default=300)
    ap.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    o = ap.parse_args()
    have = os.path.exists(TORCH) and subprocess.run(
        ["/usr/bin/python3", "-c", "import torch"], stderr=subprocess.DEVNULL).returncode == 0
    if not have:
        print("SKIPPED: PyTorch (python3-torch) or its baseline is not here; NaMI alone", file=sys.stderr)
    print("steps a second; ratios to PyTorch in its strongest form and as users write it, [what PERF.md asks for]")
    print("net threads     nami   torch   usual   strongest      usual       share  loss: nami   torch")
    for net in o.nets:
        for threads in o.threads:
            ours, best, usual = [], [], []
            for _ in range(o.rounds):
                ours.append(nami(net, threads, o.steps))
                if have:
                    best.append(torch(net, threads, o.steps, ""))
                if have and net in USUAL:
                    usual.append(torch(net, threads, max(60, o.steps // 4), USUAL[net]))
            goal = GOAL[net, threads] if (net, threads) in GOAL else (0, 0, 0)
            share = statistics.median(float(r["share"]) for r in ours)
            line = f"{net}   {threads}        {speed(ours):7.0f} "
            line += f"{speed(best):7.0f} " if have else "      - "
            line += f"{speed(usual):7.0f} " if usual else "      - "
            line += f" {ratio(ours, best):5.2f} [{goal[0]:.1f}] " if have else "     -       "
            line += f" {ratio(ours, usual):5.2f} [{goal[2]:4.1f}] " if usual else "      -       "
            line += f"  {100 * share:4.0f} %   {float(ours[-1]['loss']):9.3f}"
            line += f" {float(best[-1]['loss']):9.3f}" if have else ""
            print(line, flush=True)


main()
