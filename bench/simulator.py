#!/usr/bin/python3
"""bench/simulator.py [BUILD]: what the Python package costs.

1. Training on a simulator in NumPy, beside the simulator alone (the same calls) plus the engine alone (the same
   training, whose plug-in in C copies draws that were made before): processor time of the process, one thread.
2. Two Python threads that sample one network, beside one that samples as often: elapsed time.
3. Import time, and a call beside the command.

Medians of RUNS runs that take turns."""
import ctypes, os, resource, statistics, subprocess, sys, tempfile, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build"))
os.environ["NAMI_LIBRARY"] = os.path.join(BUILD, "libnami.so")
sys.path.insert(0, os.path.join(ROOT, "python"))
import numpy as np
import nami

RUNS = int(os.environ.get("RUNS", 9))
OPTIONS = dict(steps=800, check=250, threads=1, progress=False, seed=1)

# Writes draws 0, 1, ... of a table again and again: rows are those of the variables, one behind the other.
REPLAY = r"""
#include <string.h>
#include "nami_plugin.h"
const double *table;
size_t rows;
int nami_plugin_abi(void) { return NAMI_PLUGIN_ABI; }
int nami_plugin_simulate(uint64_t seed, uint64_t first, size_t n, const nami_plugin_var *var, int nvar,
                         double *const *out, char *err, size_t errlen)
{
    const double *at = table;
    (void)seed, (void)err, (void)errlen;
    for (int v = 0; v < nvar; at += rows * var[v++].size)
        for (size_t i = 0; i < n; i++)
            memcpy(out[v] + i * var[v].size, at + (first + i) % rows * var[v].size, sizeof(double) * var[v].size);
    return 0;
}
"""
ORDER = ("rate", "shift", "y")


def simulate(rng, n):
    """A birth process with noise: cheap for what it is."""
    rate, shift = rng.gamma(2, 1, size=n), rng.normal(size=n)
    return {"rate": rate, "shift": shift,
            "y": shift[:, None] + rng.poisson(rate[:, None], size=(n, 20)).cumsum(axis=1) + rng.normal(size=(n, 20))}


STRUCTURE = "model { rate ~ gamma(2, 1); shift ~ normal(0, 1); y[1:20] ~ simulated(rate, shift) }\n"


def timed(work, clock=time.process_time):
    start = clock()
    work()
    return clock() - start


def simulators(folder):
    calls = []

    def counted(rng, n):
        calls.append(n)
        return simulate(rng, n)

    source, plugin = os.path.join(folder, "replay.c"), os.path.join(folder, "replay.so")
    with open(source, "w") as file:
        file.write(REPLAY)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I", os.path.join(ROOT, "include"), source, "-o", plugin], check=True)
    rows = 1 << 14
    drawn = simulate(np.random.default_rng(0), rows)
    table = np.concatenate([np.asarray(drawn[name], dtype=float).ravel() for name in ORDER])
    library = ctypes.CDLL(plugin)
    ctypes.c_void_p.in_dll(library, "table").value = table.ctypes.data
    ctypes.c_size_t.in_dll(library, "rows").value = rows
    python = nami.Model(STRUCTURE + "observe y", simulator=simulate)
    engine = nami.Model(STRUCTURE + f'observe y\nsimulator "{plugin}"\n')
    nami.Model(STRUCTURE + "observe y", simulator=counted).train(**OPTIONS)

    def alone():
        for n in calls:
            simulate(np.random.default_rng([1, n]), n)

    kinds = {"both": lambda: python.train(**OPTIONS), "simulator": alone, "engine": lambda: engine.train(**OPTIONS)}
    found = {name: [] for name in kinds}
    for _ in range(RUNS):
        for name, work in kinds.items():
            found[name].append(timed(work))
    median = {name: statistics.median(values) for name, values in found.items()}
    print(f"simulator in NumPy, {OPTIONS['steps']} steps, {sum(calls)} draws in {len(calls)} calls; processor seconds:")
    print(f"  simulator alone {median['simulator']:.2f}, engine alone {median['engine']:.2f}, training {median['both']:.2f}: "
          f"{median['both'] / (median['simulator'] + median['engine']):.3f} of their sum")


LINE = """
model {
  a ~ normal(0, 1)
  b ~ normal(0, 1)
  for (i in 1:20) { y[i] ~ normal(a + b * (i - 10) / 10, 1) }
}
observe y
"""


def released(work):
    """The share of its processor time that a thread is in the library."""
    from nami._lib import fn
    inside = [0.0]

    def timing(function):
        def call(*args):
            start = time.thread_time()
            try:
                return function(*args)
            finally:
                inside[0] += time.thread_time() - start
        return call

    kept = dict(vars(fn))
    for name, function in kept.items():
        setattr(fn, name, timing(function))
    whole = timed(work, time.thread_time)
    for name, function in kept.items():
        setattr(fn, name, function)
    return inside[0] / whole


def threads():
    net = nami.Model(LINE).train(exact="none", steps=200, check=100, progress=False)
    data = {"y": np.linspace(-1, 1, 20)}
    times = 40

    def work(count):
        for _ in range(count):
            net.sample(data, draws=20000, threads=1)

    def together():
        both = [threading.Thread(target=work, args=(times // 2,)) for _ in range(2)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()

    work(4)
    print(f"the interpreter lock is released for {100 * released(lambda: work(10)):.0f} % of the processor time of a query")
    found = {"one": [], "two": []}
    for _ in range(RUNS):
        found["one"].append(timed(lambda: work(times), time.monotonic))
        found["two"].append(timed(together, time.monotonic))
    one, two = (statistics.median(found[name]) for name in ("one", "two"))
    print(f"{times} queries of 20,000 draws of one network: one thread {one:.2f} s, two threads {two:.2f} s "
          f"(elapsed): {one / two:.2f} times as fast")


def children(work):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def calls(folder):
    path, data = os.path.join(folder, "net.safetensors"), os.path.join(folder, "data.json")
    nami.Model(LINE).train(exact="none", steps=200, check=100, progress=False).save(path)
    with open(data, "w") as file:
        file.write('{"y": [' + ", ".join(["0"] * 20) + "]}")

    def python(code):
        return lambda: subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL,
                                      env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")})

    kinds = {"numpy": python("import numpy"), "nami": python("import nami"),
             "command": lambda: subprocess.run([os.path.join(BUILD, "nami"), "sample", path, "--data", data, "--threads", "1"],
                                               check=True, stdout=subprocess.DEVNULL)}
    found = {name: [] for name in (*kinds, "call")}
    net = nami.Network.load(path)
    for _ in range(3 * RUNS):
        for name, work in kinds.items():
            found[name].append(children(work))
        found["call"].append(timed(lambda: repr(net.sample(data, threads=1))))
    median = {name: statistics.median(values) for name, values in found.items()}
    print(f"processor time with that of the interpreter: import nami {median['nami']:.3f} s, import numpy {median['numpy']:.3f} s")
    print(f"4,000 draws: a call {1e3 * median['call']:.1f} ms, the command, which reads the network too, {1e3 * median['command']:.1f} ms")


with tempfile.TemporaryDirectory() as folder:
    simulators(folder)
    threads()
    calls(folder)
