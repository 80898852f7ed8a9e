#!/usr/bin/python3
"""bench/defaults.py [MODEL...] [--no-before] [--again]: what default settings give, without and with exact elimination.

For each model of the table below, `nami train` runs with default options and `nami sample` answers for the data next to
the model: k-hat and effective draws of 4,000, with exact elimination (after) and without (before: --exact none).
Posterior means, averages of ten such answers with different seeds, are compared with long runs of JAGS (`nami export`), whose
summaries are in bench/results/jags-MODEL.csv and are made if they are missing; --jags makes nothing else.
In models with exchangeable components (hmm, gmm) the components of each draw are put in the order of their means first,
and in place of the label of an observation stands the mean of its component.

Results are added to bench/results/defaults.jsonl, where a model that has been measured is not measured again (except by
--again), and the table of all of them is written to bench/results/defaults.txt. --train 'OPTIONS' adds options to
`nami train`, to see what other settings would give: such results are kept apart and printed, but not in the table.
--limit SECONDS ends a training that takes longer. --keep DIR leaves the networks there, and --resample answers with them."""
import argparse
import json
import os
import subprocess
import sys
import time

import numpy as np

import jags

RESULTS = os.path.join(jags.ROOT, "bench/results")
DRAWS, SEEDS, THREADS = 4000, 10, 1
MEAN = 0.05  # the largest difference of posterior means, in sds
SCALE, SYMMETRIC = (0.5, 50.0), (0.7, 5.0)  # the largest k-hat, the least percentage of effective draws


def reorder(draws, by, arrays, square=()):
    """Components of each draw in ascending order of `by`: of the first axis of arrays, of the first two of square."""
    order = np.argsort(by, axis=1)
    rows = np.arange(len(order))[:, None]
    out = {name: draws[name][rows, order] for name in arrays}
    out.update({name: draws[name][rows[:, :, None], order[:, :, None], order[:, None, :]] for name in square})
    return out


def hmm_numbers(draws):
    out = reorder(draws, draws["mu"], ["mu"], ["A"])
    out["sigma"] = draws["sigma"]
    out["mu[z]"] = np.take_along_axis(draws["mu"], draws["z"].astype(int) - 1, axis=1)
    return out


def gmm_numbers(draws):
    first = draws["mu"][:, :, 0]
    out = reorder(draws, first, ["phi", "mu", "Sigma"])
    out["mu[z,1]"] = np.take_along_axis(first, draws["z"].astype(int) - 1, axis=1)
    return out


class Case:
    """A model, its data, draws and thinning of JAGS's chains, and what is expected. numbers: what does not depend on labels."""
    def __init__(self, draws, thin, model=None, data=None, bars=SCALE, numbers=None, bug=None, modules=()):
        self.draws, self.thin, self.model, self.data, self.bars = draws, thin, model, data, bars
        self.numbers, self.bug, self.modules = numbers, bug, modules


def bench_model(model, data, draws, thin):
    return Case(draws, thin, "bench/models/%s.nami" % model, "bench/models/%s.json" % data, modules=["glm"])


CASES = {
    "schools": Case(20000, 10), "pumps": Case(20000, 2), "surgical": Case(20000, 10), "seeds": Case(20000, 20),
    "dyes": Case(20000, 10), "dugongs": Case(20000, 50), "rats": Case(10000, 5), "epil": Case(10000, 10),
    "lgssm": Case(20000, 5),
    "ssm50": bench_model("ssm", "ssm-50", 20000, 20), "ssm500": bench_model("ssm", "ssm-500", 5000, 40),
    "groups200": bench_model("groups", "groups-200", 10000, 2),
    "groups2000": bench_model("groups", "groups-2000", 5000, 2),
    "hlogit": Case(10000, 20, bars=SYMMETRIC),
    "hmm": Case(20000, 20, bars=SYMMETRIC, numbers=hmm_numbers),
    "gmm": Case(10000, 5, bars=SYMMETRIC, numbers=gmm_numbers, bug="tests/oracle/gmm.bug"),
}
for key, value in CASES.items():
    value.name = key
    value.model = os.path.join(jags.ROOT, value.model or "examples/models/%s.nami" % key)
    value.data = os.path.join(jags.ROOT, value.data or "examples/models/%s.json" % key)
    value.reference = os.path.join(RESULTS, "jags-%s.csv" % key)


def factors(case):
    out, _ = jags.run([jags.NAMI, "invert", case.model, "--data", case.data, "--json", "--quiet"])
    return json.loads(out)["factors"]


def by_array(x, index):
    """Draws (draw, scalar) of named scalars as arrays (draw, ...) by name."""
    places = {}
    for k, scalar in enumerate(index):
        name, _, rest = scalar.partition("[")
        at = tuple(int(i) - 1 for i in rest.rstrip("]").split(",")) if rest else ()
        places.setdefault(name, []).append((at, k))
    out = {}
    for name, cells in places.items():
        shape = tuple(max(at[d] for at, _ in cells) + 1 for d in range(len(cells[0][0])))
        out[name] = np.empty((len(x),) + shape)
        for at, k in cells:
            out[name][(slice(None),) + at] = x[:, k]
    return out


def by_scalar(arrays):
    """The reverse of by_array: columns of draws, and their names."""
    columns, index = [], []
    for name, a in arrays.items():
        for at in np.ndindex(a.shape[1:]):
            columns.append(a[(slice(None),) + at])
            index.append(name + ("[%s]" % ",".join(str(i + 1) for i in at) if at else ""))
    return np.stack(columns, axis=1), index


def run_jags(case):
    """Summaries of JAGS's draws, from the file if there is one."""
    if not os.path.exists(case.reference):
        monitor = list(dict.fromkeys(f["node"].split("[")[0] for f in factors(case)))
        with jags.workdir() as d:
            if case.bug:
                with open(os.path.join(jags.ROOT, case.bug)) as f, open(os.path.join(d, "model.bug"), "w") as g:
                    g.write(f.read())
                with open(case.data) as f:
                    jags.dump({"K": 3, "N": 200, **json.load(f)}, os.path.join(d, "data.R"))
            else:
                jags.export(case.model, case.data, d)
            x, index, _ = jags.sample(d, monitor, case.draws, burnin=5000, thin=case.thin, modules=case.modules)
        if case.numbers:
            chains = [by_scalar(case.numbers(by_array(c, index))) for c in x]
            x, index = np.stack([c[0] for c in chains]), chains[0][1]
        jags.summary(x, index, case.reference)
    return jags.read_summary(case.reference)


def weighted_means(case, net, seed):
    """Means of all scalars with their Monte Carlo errors, of one answer by default settings."""
    with jags.workdir() as d:
        path = os.path.join(d, "draws.npz")
        out, _ = jags.run([jags.NAMI, "sample", net, "--data", case.data, "--threads", str(THREADS), "--seed", str(seed), "--weighted",
                           "--json", "--quiet", *(["-o", path] if case.numbers else [])])
        if not case.numbers:
            variables = json.loads(out)["sets"][0]["variables"]
            return {v: (s["mean"], s["mcse"]) for v, s in variables.items()}
        with np.load(path) as f:
            draws = {name: f[name] for name in f}
    w = np.exp(draws["log_weight"] - draws["log_weight"].max())
    w /= w.sum()
    x, index = by_scalar(case.numbers(draws))
    mean = w @ x
    return {v: (mean[k], np.sqrt((w ** 2) @ (x[:, k] - mean[k]) ** 2)) for k, v in enumerate(index)}


def differences(case, net):
    """The largest difference of a mean from JAGS's in sds, its scalar, and the Monte Carlo error of that difference."""
    want, got = run_jags(case), [weighted_means(case, net, seed) for seed in range(SEEDS)]
    rows = []
    for v, j in want.items():
        if any(g[v][0] is None for g in got):
            raise ValueError("%s has no mean" % v)
        mean, error = np.mean([g[v][0] for g in got]), np.sqrt(np.mean([g[v][1] ** 2 for g in got]) / SEEDS)
        if j["sd"] > 0:
            rows.append((abs(mean - j["mean"]) / j["sd"], v, np.sqrt((error / j["sd"]) ** 2 + 1 / j["ess"])))
    return max(rows)


def train(case, exact, options, limit, net):
    """What `nami train` says, seconds by the clock and of the processor."""
    command = [jags.NAMI, "train", case.model, "--data", case.data, "-o", net, "--threads", str(THREADS), "--quiet", "--json"]
    command += (["--exact", "none"] if not exact else []) + options.split()
    start = time.time()
    out, seconds = jags.run(["timeout", str(limit)] + command)
    return json.loads(out) if out.strip() else {}, time.time() - start, seconds


def answer(case, net, *options):
    """What `nami sample` says of the data, and seconds by the clock."""
    start = time.time()
    out, _ = jags.run([jags.NAMI, "sample", net, "--data", case.data, "--threads", str(THREADS), "--json", "--quiet", *options])
    got = json.loads(out)["sets"][0]
    return {k: got.get(k) for k in ("method", "verdict", "reason", "khat", "ess", "draws", "log_evidence")}, time.time() - start


def learn(case, exact, options, limit, net):
    """The training's part of a record."""
    found = factors(case)
    record = {"model": case.name, "exact": exact, "options": options, "version": version(), "latents": len(found),
              "eliminated": sum(f.get("kind") == "exact" for f in found) if exact else 0}
    try:
        said, record["wall"], record["seconds"] = train(case, exact, options, limit, net)
        record["parameters"], record["steps"] = said.get("parameters", 0), said.get("steps", 0)
    except subprocess.CalledProcessError as e:
        record["failed"] = "training took more than %d s" % limit if e.returncode == 124 else "training failed"
    return record


def query(case, record, net):
    """The answer's part of a record: by default settings, and by importance sampling with the network alone."""
    try:
        default, record["sampling"] = answer(case, net)
        record.update(default, answered=version())
        record["network"], _ = answer(case, net, "--method", "is")
        record["off"], record["off_at"], record["off_error"] = differences(case, net)
        record["answers"] = SEEDS
    except subprocess.CalledProcessError:
        record["failed"] = "sampling failed"
    except ValueError as e:
        record["failed"] = str(e)


def measure(case, exact, o):
    with jags.workdir() as d:
        net = os.path.join(o.keep or d, "%s-%s%s.net" % (case.name, "exact" if exact else "none", o.train.replace(" ", "")))
        known = results().get((case.name, exact, o.train))
        record = known if o.resample and known and os.path.exists(net) else learn(case, exact, o.train, o.limit, net)
        if "seconds" in record:
            record.pop("failed", None)
            query(case, record, net)
    return record


def version():
    p = subprocess.run(["git", "-C", jags.ROOT, "describe", "--always", "--dirty"], stdout=subprocess.PIPE, text=True)
    return p.stdout.strip()


def results():
    """The latest record of each model, elimination and options."""
    out, path = {}, os.path.join(RESULTS, "defaults.jsonl")
    if os.path.exists(path):
        with open(path) as f:
            for line in f:
                r = json.loads(line)
                out[r["model"], r["exact"], r["options"]] = r
    return out


def weights(r):
    """k-hat and effective draws as two columns."""
    if r is None or r.get("ess") is None:
        return "%6s %6s" % ("-", "-")
    return "%6s %4.0f %%" % ("-" if r["khat"] is None else "%.2f" % r["khat"], 100 * r["ess"] / r["draws"])


def reached(r, bars):
    """Which expectations a record does not meet."""
    if "failed" in r:
        return r["failed"]
    missed = []
    if r["khat"] is not None and not r["khat"] < bars[0] or r["khat"] is None and r["ess"] < r["draws"]:
        missed.append("k-hat")
    if 100 * r["ess"] / r["draws"] < bars[1]:
        missed.append("ess")
    if not r["off"] < MEAN:
        missed.append("means (%s)" % r["off_at"])
    return "no: " + ", ".join(missed) if missed else "yes"


HEAD = """Default settings, without (before: --exact none, importance sampling) and with exact elimination (after). Written by
bench/defaults.py. Training on one thread, in seconds of processor time (other programs ran on the same machine); k-hat and
effective draws of %d draws: by importance sampling with the network alone (--method is), and of the answer that
`nami sample` gives by default. Latents: variables as the model draws them (a vector is one); exact: how many of them are
integrated out. k-hat -1: weights without a tail. Mean off by: the largest difference from JAGS of a posterior mean, over
all scalars, in posterior sds, averaged over %d such answers, and (+-) its Monte Carlo error. For hmm and gmm the components are in
order of their means; see bench/defaults.py. *: not by this rule, but from one answer of 100,000 draws by importance sampling.
Rows are of the version at their end, which trained the network; a dash has not been measured.
Expected: k-hat below 0.5 and more than 50 %%; hlogit, hmm and gmm: 0.7 and 5 %%; means within %.2f sd.

                           |       before          |  after: network alone            |    default
model      latents  exact  |  k-hat    ess seconds |  k-hat    ess seconds parameters |  k-hat    ess     mean off by  reached
""" % (DRAWS, SEEDS, MEAN)


def seconds_of(r):
    return "%7s" % ("%.0f" % r["seconds"] if r and "seconds" in r else "-")


def row(case, before, after):
    text = "%-10s %7s %6s  | %s %s |" % (case.name, after["latents"], after["eliminated"],
                                         weights(before and before.get("network")), seconds_of(before))
    text += " %s %s %10s |" % (weights(after.get("network")), seconds_of(after), after.get("parameters", "-"))
    off = "%.3f +- %.3f%s" % (after["off"], after["off_error"], " " if "answers" in after else "*") if "off" in after else "- "
    return text + " %s  %16s  %s  [%s]" % (weights(after), off, reached(after, case.bars), after["version"])


def table():
    known = results()
    rows = [row(c, known.get((n, False, "")), known[n, True, ""]) for n, c in CASES.items() if (n, True, "") in known]
    return HEAD + "\n".join(rows) + "\n"


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("models", nargs="*", metavar="MODEL", help="of: " + " ".join(CASES))
    ap.add_argument("--no-before", action="store_true", help="not without elimination")
    ap.add_argument("--no-after", action="store_true", help="not with elimination")
    ap.add_argument("--again", action="store_true", help="measure what has been measured")
    ap.add_argument("--resample", action="store_true", help="answer again with the networks of --keep")
    ap.add_argument("--jags", action="store_true", help="only the runs of JAGS that are missing")
    ap.add_argument("--train", default="", metavar="OPTIONS", help="more options of nami train")
    ap.add_argument("--limit", type=int, default=7200, metavar="SECONDS", help="longest training [7200]")
    ap.add_argument("--keep", metavar="DIR", help="leave the networks there")
    o = ap.parse_args()
    unknown = [m for m in o.models if m not in CASES]
    if unknown:
        ap.error("no model %s; there are: %s" % (unknown[0], " ".join(CASES)))
    for name in o.models or CASES:
        case = CASES[name]
        run_jags(case)
        for exact in [] if o.jags else [e for e, left_out in ((True, o.no_after), (False, o.no_before)) if not left_out]:
            if (name, exact, o.train) in results() and not o.again and not o.resample:
                continue
            record = measure(case, exact, o)
            with open(os.path.join(RESULTS, "defaults.jsonl"), "a") as f:
                f.write(json.dumps(record) + "\n")
            print(json.dumps(record) if o.train else row(case, None, record), flush=True)
    if not o.jags and not o.train:
        with open(os.path.join(RESULTS, "defaults.txt"), "w") as f:
            f.write(table())


if __name__ == "__main__":
    sys.exit(main())
