#!/usr/bin/python3
"""verify/answers.py [MODEL...] [--method HOW] [--limit S] [--jags] [--references]: are the answers of `nami run` right, for
models as they are written, vague priors and all?

The models are those with data of tests/models/bugs (the classic BUGS examples), examples/models, tests/models/idioms and
tests/models/censored; MODEL is a name (seeds), with its folder (examples/seeds), or a folder (examples). Each is run by
`nami run MODEL --data DATA --json` in one process, on one thread, with a limit of processor time, and its means and sds are
compared with those of JAGS: four chains on the exported model, with initial values if there are some beside it, kept in
verify/results/jags-MODEL.csv (--jags makes these anew, --references makes those that are missing, and runs nothing else). Chains of
JAGS that are too short, but quick, are made again, ten times as long. A scalar counts where JAGS's own chains agree: R-hat
below 1.02, 400 effective draws, in the tails, too; none counts if JAGS's R-hat of any scalar is above 1.1, because chains that
are stuck may agree on some.

    right     trusted, all means within 0.1 sd of JAGS's, and all sds within 10 % (beyond three Monte Carlo errors of both);
              where tails are so heavy that sds depend on a few draws, middle and width of the 90 % interval instead
    WRONG     trusted, but not right: a bug
    unsure    trusted, but JAGS has no answer, or its chains do not agree
    no        not trusted, or with care
    late      no answer within the limit
    error     no answer

Rows are kept in verify/results/answers.csv as they are made; the table of all rows is written to docs/answers.md."""
import argparse
import csv
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
import numpy as np

for folder in ("bench", "verify", os.path.join("tests", "oracle")):
    sys.path.insert(0, os.path.join(ROOT, folder))
import corpus  # noqa: E402
import jags  # noqa: E402
import jags_compare  # noqa: E402

GROUPS = {"classic": "tests/models/bugs", "examples": "examples/models", "idioms": "tests/models/idioms",
          "censored": "tests/models/censored"}
RESULTS = os.path.join(ROOT, "verify", "results")
ROWS = os.path.join(RESULTS, "answers.csv")
PAGE = os.path.join(ROOT, "docs", "answers.md")
BEGIN, END = "<!-- verify/answers.py: begin -->\n", "<!-- verify/answers.py: end -->\n"
FIELDS = ("model", "result", "method", "seconds", "jags", "mean", "sd", "scalars", "note")
ORDER = ("right", "unsure", "no", "late", "error", "WRONG")
MEAN, SD, STUCK, AGREE, ENOUGH = 0.1, 0.1, 1.1, 1.02, 400
DRAWS, THIN, BURNIN = 2500, 8, 4000
BATCHES = 5  # of each chain
HEAVY = 0.1  # relative error of an sd: then means are compared by the middle of the 90 % interval, which is
NORMAL = 3.29  # sds of a normal distribution wide
FIGURES = ("mean", "sd", "q5", "q95", "ess", "rhat", "sd_error", "width_error")
TAILS = 0.05  # relative error of the width of a 90 % interval beyond which chains are too short
QUICK = 15  # seconds of processor time: chains that took less may be run ten times as long
PATIENCE = 300


# ---- models ------------------------------------------------------------------------------------

def models():
    """{name: (model, data, initial values or None)}: classic ones by their names, others as GROUP/NAME."""
    out = {}
    for group, folder in GROUPS.items():
        folder = os.path.join(ROOT, folder)
        found = corpus.models(folder)
        found += [(f[:-5], os.path.join(folder, f), corpus.first(os.path.join(folder, f[:-5] + ".json")), None)
                  for f in sorted(os.listdir(folder)) if f.endswith(".nami")]
        for name, model, data, init in found:
            if data:
                out[name if group == "classic" else "%s/%s" % (group, name)] = (model, data, init)
    return out


def chosen(names, known):
    if not names:
        return list(known)
    out = [k for k in known if k in names or k.split("/")[0] in names or (("classic" in names) and "/" not in k)]
    if not out:
        sys.exit("answers.py: no model is called %s" % " or ".join(names))
    return out


# ---- JAGS --------------------------------------------------------------------------------------

def summary(x, index):
    """Of each scalar; ess is that of the mean or of a tail, whichever is smaller."""
    out = {}
    for k, scalar in enumerate(index):
        y = x[:, :, k]
        low, high = np.quantile(y, (0.05, 0.95))
        size, rhat = jags.ess(y) if y.std() > 0 else (y.size, 1)
        for tail in (y <= low, y >= high):
            if 0 < tail.mean() < 1:
                size = min(size, jags.ess(tail.astype(float))[0])
        out[scalar] = {"mean": y.mean(), "sd": y.std(ddof=1), "q5": low, "q95": high, "ess": size, "rhat": rhat}
        out[scalar].update(errors(y))
    return out


def errors(y):
    """Relative Monte Carlo errors of the sd and of the width of the 90 % interval, by batches of the chains: where tails are
    heavy, they are larger than the effective sample size of the mean suggests."""
    parts = np.concatenate([np.array_split(chain, BATCHES) for chain in y])
    sd = np.array([p.std() for p in parts])
    width = np.array([np.subtract(*np.quantile(p, (0.95, 0.05))) for p in parts])
    relative = lambda v: v.std(ddof=1) / v.mean() / math.sqrt(len(v)) if v.mean() > 0 else 0.0
    return {"sd_error": relative(sd), "width_error": relative(width)}


def is_good(theirs):
    return all(j["rhat"] < AGREE and j["ess"] > ENOUGH and j["width_error"] < TAILS for j in theirs.values())


def is_stuck(theirs):
    return any(j["rhat"] > STUCK for j in theirs.values())


def initial(path):
    """A function that writes the initial values of a model to an R dump."""
    if not path:
        return lambda f: None
    with open(path) as f:
        text = f.read()
    return lambda f: f.write(jags_compare.r_dump(json.loads(text)) if path.endswith(".json") else text)


def run_jags(files, monitor, thin):
    model, data, init = files
    with jags.workdir() as d:
        jags.export(model, data, d)
        x, index, seconds = jags.sample(d, monitor, DRAWS, burnin=BURNIN * thin // THIN, thin=thin, inits=initial(init),
                                        limit=PATIENCE)
    return summary(x, index), seconds


def make_reference(files, monitor):
    try:
        theirs, seconds = run_jags(files, monitor, THIN)
        if not is_good(theirs) and not is_stuck(theirs) and seconds < QUICK:
            theirs, seconds = run_jags(files, monitor, 10 * THIN)
    except (RuntimeError, ValueError, OSError, subprocess.SubprocessError) as e:
        return None, str(e).strip().split("\n")[-1]
    return theirs, seconds


def reference(name, files, monitor, again):
    """Summaries of JAGS by scalar, and its seconds of processor time; None if it has none."""
    base = os.path.join(RESULTS, "jags-" + name.replace("/", "-"))
    if again or not os.path.exists(base + ".csv"):
        os.makedirs(RESULTS, exist_ok=True)
        theirs, seconds = make_reference(files, monitor)
        if not theirs:
            return None, seconds
        with open(base + ".csv", "w", newline="") as f:
            out = csv.writer(f, lineterminator="\n")
            out.writerow(("variable",) + FIGURES)
            for scalar, j in theirs.items():
                out.writerow([scalar] + ["%.6g" % j[k] for k in FIGURES])
        with open(base + ".seconds", "w") as f:
            f.write("%.1f\n" % seconds)
    with open(base + ".seconds") as f:
        return jags.read_summary(base + ".csv"), float(f.read())


def latents(files):
    """The names of the latents of a model, without brackets."""
    text, _ = jags.run([jags.NAMI, "invert", files[0], "--data", files[1], "--json", "--quiet"])
    return sorted({f["node"].split("[")[0] for f in json.loads(text)["factors"]})


# ---- answers -----------------------------------------------------------------------------------

def answer(files, options, limit):
    """What `nami run` prints as JSON, or None; its seconds of processor time; a word on what happened."""
    with tempfile.TemporaryDirectory() as d:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        p = subprocess.run([jags.NAMI, "run", files[0], "--data", files[1], "--json", "--quiet", "--threads", "1", "-o",
                            os.path.join(d, "x.nc")] + options, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
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
    if is_stuck(theirs):
        return 0, 0, 0
    for scalar, j in theirs.items():
        n = ours.get(scalar)
        if not n or not (j["rhat"] < AGREE and j["ess"] > ENOUGH and j["sd"] > 1e-12 * abs(j["mean"])) or n["mean"] is None:
            continue
        both = math.hypot(1, math.sqrt(j["ess"] / (n["ess"] or 1)))  # errors of the difference, in those of JAGS
        error = 3 * both / math.sqrt(j["ess"])
        count += 1
        wide = j["q95"] - j["q5"]
        if j.get("sd_error", 0) > HEAVY and wide > 0:  # the mean depends on a few draws, or does not exist
            off = abs(n["q5"] + n["q95"] - j["q5"] - j["q95"]) / 2 / wide * NORMAL - 3 * both * j["width_error"]
        else:
            off = abs(n["mean"] - j["mean"]) / j["sd"] - error
        mean = max(mean, off)
        width = (n["q95"] - n["q5"]) / wide if wide > 0 else 1
        sd = max(sd, min(abs(n["sd"] / j["sd"] - 1) - max(error, 3 * both * j.get("sd_error", 0)),
                         abs(width - 1) - max(error, 3 * both * j.get("width_error", 0))))
    return max(mean, 0), max(sd, 0), count


def judge(name, files, o):
    a, seconds, what = answer(files, o.options, o.limit)
    row = dict.fromkeys(FIELDS, "")
    row.update(model=name, seconds="%.1f" % seconds, result=what.split(":")[0], note=what[7:])
    theirs, clock = reference(name, files, sorted({v.split("[")[0] for v in a["variables"]}) if a else latents(files), o.jags)
    if theirs:
        row["jags"] = "%.1f" % clock
    if not a:
        return row
    mean, sd, count = differences(a["variables"], theirs) if theirs else (0, 0, 0)
    row["method"] = a["method"]
    if theirs:
        row.update(mean="%.3f" % mean, sd="%.3f" % sd, scalars="%d" % count)
    if a["verdict"] != "trusted":
        row.update(result="no", note=a["reason"])
    elif count:
        row["result"] = "right" if mean <= MEAN and sd <= SD else "WRONG"
    else:
        row.update(result="unsure", note="R-hat of JAGS is %.2f" % max(j["rhat"] for j in theirs.values()) if theirs
                   else "JAGS: " + clock)
    return row


# ---- tables ------------------------------------------------------------------------------------

def read_rows():
    if not os.path.exists(ROWS):
        return {}
    with open(ROWS) as f:
        return {r["model"]: r for r in csv.DictReader(f)}


def write_rows(rows, known):
    os.makedirs(RESULTS, exist_ok=True)
    with open(ROWS, "w", newline="") as f:
        out = csv.DictWriter(f, FIELDS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows[k] for k in known if k in rows)


def share(rows):
    """One line on these rows."""
    count = {r: sum(x["result"] == r for x in rows) for r in ORDER}
    times = [float(x["seconds"]) for x in rows if x["result"] in ("right", "unsure", "WRONG")]
    both = [(float(x["seconds"]), float(x["jags"])) for x in rows if x["result"] == "right" and x["jags"]]
    text = "%d models: %s; trusted and right: %.0f %%" % (
        len(rows), ", ".join("%d %s" % (n, r) for r, n in count.items()), 100 * count["right"] / max(len(rows), 1))
    if times:
        text += "; a trusted answer takes %.1f s (median), %.1f s at most" % (statistics.median(times), max(times))
    if both:
        text += "; where right, JAGS's chains took %.1f s (median), %.1f s at most" % (
            statistics.median(t for _, t in both), max(t for _, t in both))
    return text


def table(rows):
    out = "| model | result | method | seconds | JAGS, seconds | means (sd) | sds | scalars | |\n|---|---|---|---|---|---|---|---|---|\n"
    for r in rows:
        out += "| " + " | ".join(r[k].replace("|", " ") for k in FIELDS) + " |\n"
    return out


def write_page(rows):
    with open(PAGE) as f:
        text = f.read()
    if BEGIN not in text:
        return
    head, tail = text.split(BEGIN)[0], text.split(END)[1]
    body = "All: " + share(rows) + ".\n"
    for group in GROUPS:
        of = [r for r in rows if (r["model"].split("/")[0] if "/" in r["model"] else "classic") == group]
        if of:
            body += "\n### %s\n\n%s.\n\n%s" % (GROUPS[group], share(of), table(of))
    with open(PAGE, "w") as f:
        f.write(head + BEGIN + body + END + tail)


def show(row):
    print("%-32s %-7s %-9s %7s %8s  %6s %6s %5s  %s" % tuple(row[k] for k in FIELDS), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model", nargs="*")
    p.add_argument("--method")
    p.add_argument("--limit", type=float, default=120, help="seconds of processor time for an answer")
    p.add_argument("--jags", action="store_true", help="run JAGS again")
    p.add_argument("--references", action="store_true", help="run JAGS only, where it has not been run")
    p.add_argument("--missing", action="store_true", help="only models that have no row yet")
    o = p.parse_args()
    o.options = ["--method", o.method] if o.method else []
    known, rows = models(), read_rows()
    rows = {k: r for k, r in rows.items() if k in known}
    names = [k for k in chosen(o.model, known) if not (o.missing and k in rows)]
    if o.references:
        for name in names:
            theirs, clock = reference(name, known[name], latents(known[name]), o.jags)
            print("%-32s %s" % (name, "%.1f s" % clock if theirs else clock), flush=True)
        return
    show({k: k for k in FIELDS})
    for name in names:
        row = judge(name, known[name], o)
        if not o.method:
            rows = read_rows()  # another run may add some
        rows[name] = row
        show(row)
        if not o.method:
            write_rows(rows, known)
    print(share([rows[k] for k in names if k in rows]))
    if not o.method:
        write_page([rows[k] for k in known if k in rows])
    sys.exit(1 if any(rows[k]["result"] == "WRONG" for k in names) else 0)


if __name__ == "__main__":
    main()
