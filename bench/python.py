#!/usr/bin/env python3
"""bench/python.py [BUILD]: what the Python package costs: the wheel's size, a fresh virtual environment with five lines
in it, import, and a query beside the command.  Times are medians; processor time, unless it says otherwise."""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()
PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
FIVE = """
import nami
model = nami.Model.read("examples/models/schools.nami")
net = model.train("examples/models/schools.json", seed=0, steps=500, progress=False)
post = net.sample("examples/models/schools.json")
print(post["theta"].mean(axis=0))
"""
QUERY = """
import sys, time, nami
net = nami.Network.load(sys.argv[1])
data = {"y": [28, 8, -3, 7, -1, 1, 18, 12]}
net.sample(data, draws=4000, threads=1)
times = []
for i in range(int(sys.argv[2])):
    start = time.process_time()
    net.sample(data, draws=int(sys.argv[3]), seed=i, threads=1)
    times.append(time.process_time() - start)
print(sorted(times)[len(times) // 2])
"""


def timed(command, **options):
    """Elapsed and processor seconds of a command that must succeed."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def medians(n, *commands):
    """Medians of elapsed and processor time of commands, side by side in turns."""
    runs = [[timed(c) for c in commands] for _ in range(n)]
    return [tuple(statistics.median(r[k][j] for r in runs) for j in (0, 1)) for k in range(len(commands))]


os.environ.pop("PYTHONPATH", None)
with tempfile.TemporaryDirectory() as tmp:
    tmp = Path(tmp)
    subprocess.run([ROOT / "scripts/wheel.sh", BUILD, tmp], check=True, stdout=subprocess.DEVNULL)
    wheel = next(tmp.glob("*.whl"))
    print(f"wheel                         {wheel.stat().st_size / 1e6:.1f} MB")
    venv = timed([PYTHON, "-m", "venv", "--system-site-packages", tmp / "venv"])
    pip = timed([tmp / "venv/bin/pip", "install", "-q", "--no-index", "--no-deps", wheel])
    python = tmp / "venv/bin/python"
    five = timed([python, "-c", FIVE])
    for what, (elapsed, cpu) in (("virtual environment", venv), ("pip install", pip), ("five lines, 500 steps", five)):
        print(f"{what:29} {elapsed:.1f} s, {cpu:.1f} s of processor time")
    none, numpy, nami = medians(9, [python, "-c", "pass"], [python, "-c", "import numpy"], [python, "-c", "import nami"])
    print(f"python -c 'import nami'       {nami[1] - none[1]:.3f} s more than 'pass' (elapsed: {nami[0] - none[0]:.3f} s); "
          f"NumPy, imported with the first array: {numpy[1] - none[1]:.3f} s ({numpy[0] - none[0]:.3f} s)")

    net = tmp / "schools.safetensors"
    timed([BUILD / "nami", "train", "examples/models/schools.nami", "--data", "examples/models/schools.json", "-o", net,
           "--steps", "500", "-q"])
    data = tmp / "y.json"
    data.write_text(json.dumps({"y": [28, 8, -3, 7, -1, 1, 18, 12]}))
    for draws in (100, 4000):
        command = [BUILD / "nami", "sample", net, "--data", data, "-q", "--threads", "1", "-n", str(draws),
                   "-o", tmp / "x.npz"]
        shell = medians(9, command)[0]
        inside = float(subprocess.run([python, "-c", QUERY, net, "51", str(draws)], check=True, capture_output=True,
                                      cwd=ROOT, text=True).stdout)
        process = medians(9, [python, "-c", QUERY, net, "1", str(draws)])[0]
        print(f"query, {draws:4} draws             {1e3 * inside:.1f} ms by net.sample(), {1e3 * shell[1]:.1f} ms by the "
              f"command with an .npz file; {1e3 * process[1]:.0f} ms by a Python process that loads the network")
