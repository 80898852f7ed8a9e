#!/usr/bin/python3
"""verify/answers.py [MODEL...] [--method HOW] [--limit S] [--jags] [--table FILE]: are the answers of `nami run` right, for
the classic BUGS models as they are written, vague priors and all?

Each model of tests/models/bugs is run by `nami run MODEL --data DATA --json` in one process with a limit of processor time, and its
means and sds are compared with those of JAGS (four chains on the exported model, kept in verify/results/jags-MODEL.csv;
--jags makes these anew). A scalar counts where JAGS's own chains agree: R-hat below 1.02, 400 effective draws; none counts if
JAGS's R-hat of any scalar is above 1.1, because chains that are stuck may agree on some.

    right     trusted, all means within 0.1 sd of JAGS's, and all sds, or widths of 90 % intervals where tails are so heavy
              that sds depend on a few draws, within 10 % (beyond three Monte Carlo errors of both)
    WRONG     trusted, but not right: a bug
    unsure    trusted, but JAGS's chains do not agree on any scalar
    no        not trusted, or with care
    late      no answer within the limit
    error     no answer

The rows go to standard output, and with --table as a Markdown table to a file."""
import argparse
import csv
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
import numpy as np

sys.path.insert(0, os.path.join(ROOT, "bench"))
import jags  # noqa: E402

MODELS = os.path.join(ROOT, "tests", "models", "bugs")
RESULTS = os.path.join(ROOT, "verify", "results")
MEAN, SD, STUCK = 0.1, 0.1, 1.1
DRAWS, THIN, BURNIN = 2500, 8, 4000


def files(name):
    folder = os.path.join(MODELS, name)
    bug = [f for f in sorted(os.listdir(folder)) if f.endswith(".bug")][0]
    data = [f for f in sorted(os.listdir(folder)) if f.endswith("data.R") or (f.endswith(".json") and "init" not in f)][0]
    return os.path.join(folder, bug), os.path.join(folder, data)


def summary(x, index, path):
    with open(path, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["variable", "mean", "sd", "q5", "q95", "ess", "rhat"])
        for k, scalar in enumerate(index):
            y = x[:, :, k]
            size, rhat = jags.ess(y) if y.std() > 0 else (y.size, 1)
            out.writerow([scalar] + ["%.6g" % v for v in (y.mean(), y.std(ddof=1), *np.quantile(y, (0.05, 0.95)), size, rhat)])


def reference(name, monitor, limit, again):
    """Summaries of JAGS by scalar, and its seconds; None if it has none within the limit."""
    path, clock = (os.path.join(RESULTS, "jags-%s%s" % (name, e)) for e in (".csv", ".seconds"))
    if again or not os.path.exists(path):
        model, data = files(name)
        os.makedirs(RESULTS, exist_ok=True)
        with jags.workdir() as d:
            jags.export(model, data, d)
            start = time.time()
            try:
                x, index, _ = jags.sample(d, monitor, DRAWS, burnin=BURNIN, thin=THIN)
            except (RuntimeError, subprocess.SubprocessError):
                return None, None
            with open(clock, "w") as f:
                f.write("%.1f\n" % (time.time() - start))
        summary(x, index, path)
    with open(clock) as f:
        return jags.read_summary(path), float(f.read())


def answer(name, options, limit):
    """What `nami run` prints as JSON, or None; its seconds of processor time; a word on what happened."""
    model, data = files(name)
    with tempfile.TemporaryDirectory() as d:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        p = subprocess.run([jags.NAMI, "run", model, "--data", data, "--json", "--quiet", "-o", os.path.join(d, "x.nc")]
                           + options, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit))))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if p.returncode < 0:
        return None, seconds, "late"
    if p.returncode not in (0, 1):
        return None, seconds, "error: " + p.stderr.strip().split("\n")[-1]
    return json.loads(p.stdout)["sets"][0], seconds, ""


def differences(ours, theirs):
    """The largest difference of means (in sds) and of sds (relative), beyond three standard errors; scalars compared."""
    mean = sd = 0.0
    count = 0
    if any(j["rhat"] > STUCK for j in theirs.values()):
        return 0, 0, 0
    for scalar, j in theirs.items():
        n = ours.get(scalar)
        if not n or not (j["rhat"] < 1.02 and j["ess"] > 400 and j["sd"] > 0) or n["mean"] is None:
            continue
        error = 3 * math.hypot(1 / math.sqrt(j["ess"]), 1 / math.sqrt(n["ess"] or 1))
        count += 1
        mean = max(mean, abs(n["mean"] - j["mean"]) / j["sd"] - error)
        width = (n["q95"] - n["q5"]) / (j["q95"] - j["q5"]) if j["q95"] > j["q5"] else 1
        sd = max(sd, min(abs(n["sd"] / j["sd"] - 1), abs(width - 1)) - error)
    return max(mean, 0), max(sd, 0), count


def judge(name, o):
    a, seconds, what = answer(name, o.options, o.limit)
    row = {"model": name, "seconds": seconds, "result": what.split(":")[0], "note": what[7:], "method": ""}
    if not a:
        return row
    row["method"] = a["method"]
    theirs, row["jags"] = reference(name, sorted({v.split("[")[0] for v in a["variables"]}), o.limit, o.jags)
    mean, sd, count = differences(a["variables"], theirs) if theirs else (0, 0, 0)
    row.update(mean=mean, sd=sd, scalars=count)
    if a["verdict"] != "trusted":
        row.update(result="no", note=a["reason"])
    else:
        row["result"] = "unsure" if not count else "right" if mean <= MEAN and sd <= SD else "WRONG"
    return row


def show(row):
    jags_time = "%8.1f" % row["jags"] if row.get("jags") else "       -"
    diff = "%6.3f %6.3f %5d" % (row["mean"], row["sd"], row["scalars"]) if "mean" in row else " " * 19
    return "%-18s %-7s %-9s %7.1f %s  %s  %s" % (row["model"], row["result"], row["method"], row["seconds"], jags_time, diff,
                                               row["note"])


def table(rows, path):
    with open(path, "w") as f:
        f.write("| model | result | method | seconds | JAGS | means (sd) | sds | scalars |\n|---|---|---|---|---|---|---|---|\n")
        for r in rows:
            f.write("| %s | %s | %s | %.1f | %s | %s | %s | %s |\n" % (
                r["model"], r["result"], r["method"], r["seconds"], "%.1f" % r["jags"] if r.get("jags") else "",
                "%.3f" % r["mean"] if "mean" in r else "", "%.3f" % r["sd"] if "sd" in r else "", r.get("scalars", "")))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model", nargs="*")
    p.add_argument("--method")
    p.add_argument("--limit", type=float, default=600, help="seconds of processor time for an answer")
    p.add_argument("--jags", action="store_true", help="run JAGS again")
    p.add_argument("--table", help="Markdown file")
    o = p.parse_args()
    o.options = ["--method", o.method] if o.method else []
    names = o.model or sorted(n for n in os.listdir(MODELS) if os.path.isdir(os.path.join(MODELS, n)))
    print("%-18s %-7s %-9s %7s %8s  %6s %6s %5s" % ("model", "result", "method", "seconds", "JAGS", "mean", "sd", "count"))
    rows = []
    for name in names:
        rows.append(judge(name, o))
        print(show(rows[-1]), flush=True)
    if o.table:
        table(rows, o.table)
    count = {r: sum(x["result"] == r for x in rows) for r in ("right", "WRONG", "unsure", "no", "late", "error")}
    print("%d models: " % len(rows) + ", ".join("%d %s" % (n, r) for r, n in count.items()))
    sys.exit(1 if count["WRONG"] else 0)


if __name__ == "__main__":
    main()
