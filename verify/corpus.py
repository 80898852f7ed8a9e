#!/usr/bin/env python3
"""How far NaMI gets with each JAGS model of some folders, compared with what is expected.

    verify/corpus.py build/nami                         tests/models/idioms and tests/models/bugs
    verify/corpus.py build/nami FOLDER...               models of other folders
    verify/corpus.py build/nami --quick                 read and check only: a few seconds
    verify/corpus.py build/nami --jags                  does JAGS compile each, and run 100 iterations?
    verify/corpus.py build/nami --agree                 graph and log density against JAGS's library (minutes)
    verify/corpus.py build/nami --write                 write the expectation files anew

One row for each model says how far it got, and if not to the end, the first line of the error:

    refused   the model or its data cannot be read
    read      elaborated, but `nami check` fails
    checked   drawn from, but `nami train` fails
    trained   one training step is done

A folder holds NAME.bug with NAME.json or NAME-data.R, or folders NAME with NAME.bug (or model.bug)
and NAME-data.R (or data.R).  Initial values for JAGS: NAME-init.json or NAME-init.R.

FOLDER/expect.json has the expected row of each model: {"NAME": {"result": ..., "why": ...}}.  The exit
code is 1 if a row differs (better is different, too: --write then), 2 if there is nothing to run.  Of
`why`, only the words are compared: place and quoted file are left out.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))
import jags_compare  # noqa: E402

DEFAULT = [os.path.join(ROOT, "tests", "models", d) for d in ("idioms", "bugs")]
STAGES = ("refused", "read", "checked", "trained")
SECONDS = 300
# Where NaMI has an edge more than JAGS, and why.
KNOWN_EDGES = {
    "changepoint_equals": 1,  # a subscript that depends on k, but has one value only: JAGS tries the values
}


def first(*paths):
    """The first of these files that exists, or None."""
    return next((p for p in paths if os.path.exists(p)), None)


def models(folder):
    """[(name, model, data or None, initial values or None)] of a folder."""
    out = []
    for entry in sorted(os.listdir(folder)):
        path = os.path.join(folder, entry)
        if entry.endswith(".bug"):
            base = path[:-4]
            out.append((entry[:-4], path, first(base + ".json", base + "-data.R", base + ".R"),
                        first(base + "-init.json", base + "-init.R")))
        elif os.path.isdir(path):
            base = os.path.join(path, entry)
            model = first(base + ".bug", os.path.join(path, "model.bug"))
            if model:
                out.append((entry, model, first(base + "-data.R", base + ".json", os.path.join(path, "data.R")),
                            first(base + "-init.R", base + "-init.json")))
    return out


def run(*command, cwd=None):
    """(exit code, first line that tells of an error)."""
    try:
        p = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, cwd=cwd)
    except subprocess.TimeoutExpired:
        return 124, "not done after %d s" % SECONDS
    lines = [s for s in p.stderr.splitlines() if "error" in s] or p.stderr.splitlines() or [""]
    return p.returncode, lines[0]


def words(line):
    """A message without the program, the file and the place that it begins with."""
    return re.sub(r"^.*?error: ", "", re.sub(r"^nami: ", "", line)).strip()


def nami_row(nami, model, data, quick, where):
    given = [model] + (["--data", data] if data else [])
    rc, line = run(nami, "check", *given, "-n", "200", "--quiet")
    if rc > 1:
        readable = run(nami, "export", *given, "--to", "json", "-o", os.path.join(where, "model.json"))[0] == 0
        return {"result": "read" if readable else "refused", "why": words(line)}
    if quick:
        return {"result": "checked"}
    rc, line = run(nami, "train", *given, "--steps", "1", "--batch", "50", "--valid", "50", "--threads", "1",
                   "--quiet", "-o", os.path.join(where, "model.net"))
    return {"result": "checked", "why": words(line)} if rc else {"result": "trained"}


def as_dump(path, where, name):
    """An R dump of a data file."""
    if not path.endswith(".json"):
        return path
    with open(path) as f:
        text = jags_compare.r_dump(json.load(f))
    out = os.path.join(where, name)
    with open(out, "w") as f:
        f.write(text)
    return out


def jags_row(model, data, init, where):
    script = 'model in "%s"\n' % model
    if data:
        script += 'data in "%s"\n' % as_dump(data, where, "data.R")
    script += "compile\n"
    if init:
        script += 'parameters in "%s"\n' % as_dump(init, where, "init.R")
    script += "initialize\nupdate 100\n"
    try:
        jags_compare.run(script, where)
    except jags_compare.JagsError as e:
        text = [s for s in str(e).splitlines() if s.strip() and not re.match(r"Welcome|JAGS is|Loading|Reading|Graph|Init|Compil|[ .]", s)]
        return {"result": "refused", "why": " ".join(text[:3])[:200]}
    return {"result": "runs"}


def agree_row(nami, helper, model, data, init, where):
    """Nodes, edges and the log density where JAGS's sampler is after 20 steps: by NaMI and by JAGS."""
    command = [helper, model] + ([as_dump(data, where, "data.R")] if data else [])
    command += ["--init", as_dump(init, where, "init.R")] if init else []
    given = [model] + (["--data", data] if data else [])

    def output(*c):
        p = subprocess.run(c, capture_output=True, text=True, timeout=SECONDS)
        return p.stdout if p.returncode <= 1 and p.stdout else None

    ours = output(nami, "check", *given, "-n", "2")
    theirs, state = output(*command), output(*command, "--state", "20")
    if not ours:
        return {"result": "refused"}
    if not theirs or not state:
        return {"result": "no answer", "why": "JAGS's library does not take this model apart"}
    counts = [int(x) for x in re.findall(r"(\d+) (?:node|edge|observed)", ours)]
    want = json.loads(theirs)
    want["edges"] += KNOWN_EDGES.get(os.path.splitext(os.path.basename(model))[0], 0)
    if counts != [want["stochastic"], want["edges"], want["observed"]]:
        return {"result": "differs", "why": "nodes, edges, observed: %s, JAGS %s" %
                (counts, [want["stochastic"], want["edges"], want["observed"]])}
    state, point = json.loads(state), os.path.join(where, "point.json")
    with open(point, "w") as f:
        json.dump(state["point"], f)
    logp = json.loads(output(nami, "logp", *given, "--at", point, "--json") or '{"logp": [null]}')["logp"][0]
    if logp is None or abs(logp - state["logp"]) > 1e-9 * (1 + abs(logp)):
        return {"result": "differs", "why": "log density %s, JAGS %s" % (logp, state["logp"])}
    return {"result": "agrees"}


def expected(want, quick):
    """What to expect of a row; a quick run goes no further than the check."""
    if quick and want and want["result"] in ("checked", "trained"):
        return {"result": "checked"}
    return want


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("nami", help="the program")
    p.add_argument("folder", nargs="*", help="folders of models (tests/models/idioms, tests/models/bugs)")
    p.add_argument("--quick", action="store_true", help="read and check; no training step")
    p.add_argument("--jags", action="store_true", help="run JAGS instead: each model must compile and run")
    p.add_argument("--agree", action="store_true", help="compare graphs and log densities with JAGS's library")
    p.add_argument("--json", action="store_true", help="print JSON")
    p.add_argument("--write", action="store_true", help="write FOLDER/expect.json from the results")
    p.add_argument("--only", metavar="REGEX", default="", help="only models whose name matches")
    p.add_argument("-j", "--jobs", type=int, default=2, help="models at a time [2]")
    o = p.parse_intermixed_args()
    if o.write and (o.quick or o.jags or o.agree or o.only):
        p.error("--write needs all models and all stages")
    if (o.jags or o.agree) and not shutil.which("jags"):
        print("SKIPPED: there is no program jags")
        return 77

    nami, rows, bad = os.path.abspath(o.nami), [], 0
    helper = None
    with tempfile.TemporaryDirectory() as tmp, concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        def one(job):
            where = tempfile.mkdtemp(dir=tmp)
            _, (_, model, data, init) = job
            if o.agree:
                return agree_row(nami, helper, model, data, init, where)
            return jags_row(model, data, init, where) if o.jags else nami_row(nami, model, data, o.quick, where)

        if o.agree:
            sys.path.insert(0, os.path.join(ROOT, "tests"))
            import test_jags
            helper, why = test_jags.build_helper(tmp)
            if not helper:
                print("SKIPPED: " + why)
                return 77
        folders = [os.path.abspath(d) for d in o.folder or DEFAULT]
        jobs = [(d, m) for d in folders for m in models(d) if re.search(o.only, m[0])]
        for (folder, (name, _, _, _)), row in zip(jobs, pool.map(one, jobs)):
            rows.append(dict(folder=os.path.relpath(folder, ROOT), name=name, **row))

    for folder in folders:
        here = [r for r in rows if r["folder"] == os.path.relpath(folder, ROOT)]
        path = os.path.join(folder, "expect.json")
        if o.write:
            lines = ["  %s: %s" % (json.dumps(r["name"]), json.dumps({k: r[k] for k in ("result", "why") if k in r}))
                     for r in here]
            with open(path, "w") as f:
                f.write("{\n%s\n}\n" % ",\n".join(lines))
            continue
        wanted = {}
        if os.path.exists(path) and not o.jags and not o.agree:
            with open(path) as f:
                wanted = json.load(f)
        for r in here:
            want = {"result": "runs"} if o.jags else None if o.agree and r["result"] != "differs" else \
                {"result": "agrees"} if o.agree else expected(wanted.get(r["name"]), o.quick)
            r["ok"] = want is None or {k: r.get(k) for k in ("result", "why")} == \
                {k: want.get(k) for k in ("result", "why")}
            if not r["ok"]:
                r["expected"] = want
                bad += 1
        for name in sorted(set(wanted) - {r["name"] for r in here}):
            if re.search(o.only, name):
                rows.append({"folder": os.path.relpath(folder, ROOT), "name": name, "result": "missing",
                             "ok": False, "expected": wanted[name]})
                bad += 1

    count = {}
    for r in rows:
        count[r["result"]] = count.get(r["result"], 0) + 1
    if o.json:
        print(json.dumps({"models": len(rows), "count": count, "differ": bad, "rows": rows}, indent=1))
    else:
        for r in rows:
            print("%-8s %-34s %s" % (r["result"], os.path.basename(r["folder"]) + "/" + r["name"], r.get("why", "")))
            if not r.get("ok", True):
                print("DIFFERS  expected: %s %s" % (r["expected"]["result"], r["expected"].get("why", "")))
        print("%d models: %s%s" % (len(rows), ", ".join("%d %s" % (count[k], k) for k in
                                   STAGES[::-1] + ("runs", "agrees", "differs", "no answer", "missing") if k in count),
                                   "; %d differ from what is expected" % bad if bad else ""))
        if bad and not o.jags and not o.agree:
            print("if they are right now: verify/corpus.py %s --write" % o.nami)
    return 2 if not rows else 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
