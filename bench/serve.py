#!/usr/bin/env python3
"""serve.py NAMI [--soak SECONDS [RATE]]: load of `nami serve` on loopback by wrk, on the machine that also runs wrk.

Data sets of the binary tree of 5 levels (16 observed leaves, 15 latents), 100 draws for each.  Without --soak: a table of
requests per second and latencies, with and without batching.  With --soak: memory, once in a while, under full load or under about
RATE requests a second.
"""
import os, re, subprocess, sys, tempfile, time

NAMI = os.path.abspath(sys.argv[1])
SOAK = float(sys.argv[3]) if sys.argv[2:3] == ["--soak"] else 0
RATE = float(sys.argv[4]) if SOAK and len(sys.argv) > 4 else 0
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODEL, DATA = (os.path.join(ROOT, "examples/models/tree." + end) for end in ("nami", "json"))


def start(folder, *options):
    p = subprocess.Popen([NAMI, "serve", f"tree={folder}/tree.safetensors", f"learned={folder}/learned.safetensors", "--port", "0",
                          *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return p, p.stdout.readline().strip()


def memory(p):
    with open(f"/proc/{p.pid}/status") as f:
        return int(re.search(r"VmRSS:\s*(\d+)", f.read()).group(1)) / 1024


def cpu(p):
    with open(f"/proc/{p.pid}/stat") as f:
        times = f.read().rsplit(")", 1)[1].split()
    return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")


def load(url, connections, seconds, body, rate=0):
    out = subprocess.run(["wrk", "-t", "1", "-c", str(connections), "-d", str(seconds), "--timeout", "20s", "-s",
                          os.path.join(ROOT, "bench/serve.lua"), url], capture_output=True, text=True,
                         env={**os.environ, "NAMI_BODY": body, "NAMI_DELAY": str(int(1e3 * connections / rate) if rate else 0)})
    result = [line[7:] for line in out.stdout.splitlines() if line.startswith("RESULT ")]
    if not result:
        raise SystemExit(out.stdout + out.stderr)
    return result[0]


def batches(url):
    import urllib.request
    text = urllib.request.urlopen(url + "metrics").read().decode()
    queries = float(re.search(r"\nnami_batch_size_count (\S+)", text).group(1))
    return queries / max(1, float(re.search(r"\nnami_evaluations_total (\S+)", text).group(1)))


with tempfile.TemporaryDirectory() as folder:
    body = os.path.join(folder, "leaves.json")
    import json
    with open(DATA) as f, open(body, "w") as g:
        json.dump({"x": json.load(f)["x"]}, g)
    for name, options in (("tree", []), ("learned", ["--exact", "none", "--steps", "2000"])):
        subprocess.run([NAMI, "train", MODEL, "--data", DATA, "-o", f"{folder}/{name}.safetensors", "--quiet", *options], check=True)
    if SOAK:
        p, url = start(folder, "--quiet")
        begin, first, used = time.time(), None, 0.0
        while time.time() - begin < SOAK:
            part = min(60.0, max(1.0, SOAK / 10))
            said = [load(f"{url}networks/{n}/{q}", 32, max(1, int(part / 3)), body, RATE)
                    for n, q in (("tree", "summary?draws=100"), ("learned", "draws?draws=100"), ("tree", "draws?draws=200&as=csv"))]
            now = memory(p)
            first = first or now
            used, before = cpu(p), used
            print(f"{time.time() - begin:6.0f} s  {now:6.1f} MB  {100 * (used - before) / part:3.0f} % of a processor  "
                  + "  ".join(s.split("  ")[0] for s in said), flush=True)
        p.terminate()
        p.wait(30)
        grown = now - first
        print(f"memory after the first round {first:.1f} MB, at the end {now:.1f} MB; exit code {p.returncode}")
        sys.exit(grown > 16 or p.returncode != 0)
    print(f"# {os.cpu_count()} processors, load average {os.getloadavg()[0]:.1f} before the run, shared by the service and wrk; 100 draws; a log line for each request goes to /dev/null")
    for network, what in (("tree", "exact posterior"), ("learned", "network, importance sampling")):
        for options in (["--batch", "64"], ["--batch", "1"]):
            for connections in (1, 32, 128):
                p, url = start(folder, *options)
                load(url + f"networks/{network}/summary?draws=100", 4, 1, body)  # warm
                before, seconds = cpu(p), 5
                said = load(url + f"networks/{network}/summary?draws=100", connections, seconds, body)
                cost = 1e3 * (cpu(p) - before) / (float(said.split()[0]) * seconds)
                print(f"{what:30s} batch {options[1]:>2s} (mean {batches(url):4.1f})  {connections:3d} connections  {said}  "
                      f"{cost:.3f} ms of CPU each", flush=True)
                p.terminate()
                p.wait(20)
