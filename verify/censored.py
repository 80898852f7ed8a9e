#!/usr/bin/python3
"""verify/censored.py [MODEL...]: are posteriors of models with censored data those of JAGS?

Each model of tests/models/censored is trained and asked with default settings, and run by JAGS in four long chains.
It passes if k-hat is below 0.7 and all parameters (not the censored values themselves) have a mean within 0.1
posterior sd of JAGS's and an sd within 10 %."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench"))
import jags

HERE = os.path.join(jags.ROOT, "tests/models/censored")
# data; parameters; initial values of what is censored, in R's terms of the data
MODELS = {
    "mice": ("mice-data.R", ["r", "beta", "median"], "t", lambda d: d["last.t"] + 1),
    "kidney": ("kidney-data.R", ["alpha", "beta.age", "beta.sex", "beta.dis", "r", "sigma"], "t",
               lambda d: d["t.cen"] + 1),
    "tobit": ("tobit.json", ["a", "b", "s"], "y",
              lambda d: jags.np.where(d["k"] == 0, d["lo"] - 1, d["hi"] + 1)),
}


def read_data(path):
    """Arrays of a data file: through our own reader, as JSON."""
    if path.endswith(".json"):
        with open(path) as f:
            d = json.load(f)
    else:
        d = read_r(path)
    return {k: jags.np.array(v, dtype=float) for k, v in d.items()}


def read_r(path):
    """Dumps of plain vectors, c(...), and matrices, structure(c(...), .Dim = ...)."""
    import re
    with open(path) as f:
        text = f.read()
    out = {}
    for name, body in re.findall(r'"([\w.]+)" *<-\s*(.*?)(?="[\w.]+" *<-|\Z)', text, re.S):
        dims = re.search(r"\.Dim = (?:as\.integer\()?c\(([^)]*)\)", body)
        values = re.search(r"c\(([^)]*)\)", body)
        one = values.group(1) if values else body
        x = jags.np.array([float("nan") if v.strip() == "NA" else float(v) for v in one.split(",") if v.strip()])
        if dims:
            x = x.reshape([int(v.strip(" L")) for v in dims.group(1).split(",")], order="F")
        out[name] = x if values else x[0]
    return out


def put_r(f, name, x):
    x = jags.np.asarray(x, dtype=float)
    text = ",".join("NA" if v != v else repr(float(v)) for v in x.flatten(order="F"))
    if x.ndim > 1:
        text = "structure(c(%s), .Dim = c(%s))" % (text, ",".join("%d" % n for n in x.shape))
    elif x.ndim:
        text = "c(%s)" % text
    f.write('"%s" <- %s\n' % (name, text))


def run_jags(name, data, monitor, censored, start):
    with jags.workdir() as d:
        with open(os.path.join(HERE, name + ".bug")) as f, open(os.path.join(d, "model.bug"), "w") as g:
            g.write(f.read())
        with open(os.path.join(d, "data.R"), "w") as f:
            for k, v in data.items():
                put_r(f, k, v)
        inits = jags.np.where(jags.np.isnan(data[censored]), start(data), float("nan"))
        x, index, seconds = jags.sample(d, monitor, 20000, burnin=5000, thin=5,
                                        inits=lambda f: put_r(f, censored, inits))
    return {s: (x[:, :, k].mean(), x[:, :, k].std(ddof=1), jags.ess(x[:, :, k])[0]) for k, s in enumerate(index)
            }, seconds


def check(name):
    file, monitor, censored, start = MODELS[name]
    path = os.path.join(HERE, file)
    want, seconds = run_jags(name, read_data(path), monitor, censored, start)
    with jags.workdir() as d:
        net = os.path.join(d, "net")
        _, trained = jags.run([jags.NAMI, "train", os.path.join(HERE, name + ".bug"), "--data", path, "-o", net,
                               "--quiet"])
        out = subprocess.run([jags.NAMI, "sample", net, "--data", path, "-n", "100000", "--json", "--all"],
                             stdout=subprocess.PIPE, text=True).stdout
    got = json.loads(out)["sets"][0]
    rows = got["variables"]
    worst = (0, ""), (0, "")
    for s, (mean, sd, n) in want.items():
        if s not in rows or sd == 0:
            continue
        shift, ratio = abs(rows[s]["mean"] - mean) / sd, abs(rows[s]["sd"] / sd - 1)
        worst = max(worst[0], (shift, s)), max(worst[1], (ratio, s))
    khat = got["khat"]
    ok = khat is not None and khat < 0.7 and worst[0][0] < 0.1 and worst[1][0] < 0.1
    print("%-7s k-hat %.2f, %6.0f effective draws; mean off by %.3f sd (%s), sd by %.1f %% (%s); training %.0f s, "
          "JAGS %.0f s: %s" % (name, khat, got["ess"], *worst[0], 100 * worst[1][0], worst[1][1], trained, seconds,
                               "ok" if ok else "FAILED"), flush=True)
    return ok


if __name__ == "__main__":
    if not jags.have():
        sys.exit("SKIPPED: there is no JAGS")
    sys.exit(0 if all([check(name) for name in sys.argv[1:] or MODELS]) else 1)
