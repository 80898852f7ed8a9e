#!/usr/bin/python3
"""bench/soak.py [STEPS]: trains a network of the d = 5 tree for 10^5 steps and watches the memory of the
process: what it holds after a tenth of the time must be what it holds at the end. Then 10^7 weighted draws
from the network, to a file: 8 bytes each for the weights, and 256 MB at most."""
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
steps = sys.argv[1] if len(sys.argv) > 1 else "100000"


def rss(pid):
    with open(f"/proc/{pid}/status") as f:
        return {k: int(v.split()[0]) for k, v in (x.split(":", 1) for x in f) if k in ("VmRSS", "VmHWM")}


with tempfile.TemporaryDirectory() as d:
    p = subprocess.Popen([ROOT + "/build/nami", "train", ROOT + "/examples/models/tree.nami", "--data",
                          ROOT + "/examples/models/tree.json", "-o", d + "/t.net", "--steps", steps, "--patience",
                          "1000000", "--hidden", "128,128", "--quiet"])
    seen = []
    while p.poll() is None:
        try:
            seen.append(rss(p.pid))
        except (OSError, ValueError):
            break
        time.sleep(0.5)
    if p.wait() or len(seen) < 20:
        sys.exit("training failed, or was too short to watch")
    p = os.spawnv(os.P_NOWAIT, ROOT + "/build/nami", ["nami", "sample", d + "/t.net", "--data",
                  ROOT + "/examples/models/tree.json", "-n", "10000000", "--quiet", "-o", d + "/x.json"])
    _, failed, usage = os.wait4(p, 0)
    if failed:
        sys.exit("nami sample failed")
early, late = seen[len(seen) // 10]["VmRSS"], seen[-2]["VmRSS"]
print(f"{steps} steps: {early} KB after a tenth of the time, {late} KB at the end, "
      f"{max(x.get('VmHWM', 0) for x in seen)} KB at most")
print(f"10^7 draws: {usage.ru_maxrss} KB at most")
sys.exit(late > 1.02 * early + 512 or usage.ru_maxrss > 256 << 10)
