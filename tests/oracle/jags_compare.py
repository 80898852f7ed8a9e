#!/usr/bin/env python3
"""What JAGS says about a model: log densities at points, and moments of forward draws.

    jags_compare.py logp    MODEL.bug --data D.json --at POINTS.json
    jags_compare.py moments MODEL.bug --data D.json -n 100000

Data are JSON in CmdStan's convention; --set NAME=VALUE adds constants.  POINTS.json is a data set,
or a list of them, with a value for every stochastic node.  Both commands print JSON:

    {"logp": [-12.3, ...]}
    {"n": 100000, "mean": {"x[1]": ...}, "variance": {...},
     "asinh_mean": {"x[1]": ...}, "asinh_variance": {...}}

The moments of arcsinh(x) are there for nodes whose tails are too heavy for those of x.

logp is half the deviance that JAGS monitors when every node is observed, with the other sign; all
normalising constants are in it, those of T(,) too.  JAGS prints six digits.  With --helper
jags_graph, the program built from jags_graph.cc, all digits are there.  Moments are those of
forward draws, independent of each other, since nothing is observed.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile


class JagsError(Exception):
    pass


# ---- R dumps -----------------------------------------------------------------------------------

def shape(v):
    s = []
    while isinstance(v, list):
        s.append(len(v))
        v = v[0] if v else None
    return s


def number(x):
    if x is None:
        return "NA"
    if isinstance(x, str):  # "Inf", "-Inf", "NaN"
        return {"Infinity": "Inf", "-Infinity": "-Inf"}.get(x, x)
    return repr(int(x)) if float(x).is_integer() and abs(x) < 1e15 else repr(float(x))


def column_major(v, dim):
    """The elements of a nested list, the first subscript running fastest."""
    n = 1
    for d in dim:
        n *= d
    for k in range(n):
        x = v
        for d in dim:
            x, k = x[k % d], k // d
        yield number(x)


def r_dump(data):
    out = []
    for name, v in data.items():
        dim = shape(v)
        if not dim:
            text = number(v)
        else:
            text = "c(" + ", ".join(column_major(v, dim)) + ")"
            if len(dim) > 1:
                text = "structure(%s, .Dim = c(%s))" % (text, ", ".join(map(str, dim)))
        out.append("%s <-\n%s\n" % (name, text))
    return "".join(out)


# ---- models ------------------------------------------------------------------------------------

NAME = r"([A-Za-z][A-Za-z0-9._]*)"


def without_comments(text):
    return re.sub(r"#[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def left_sides(text, arrow):
    """The names that are defined by ~, or by <-; without those of a data { } block."""
    text = re.sub(r"^\s*data\s*\{.*?\}\s*(?=model\s*\{)", "", without_comments(text), flags=re.S)
    sub = r"\s*(?:\[[^\n;{}<~]*?\])?\s*"
    start = r"(?:^|[;{}])\s*"
    names = re.findall(start + NAME + sub + arrow, text, re.M)
    if arrow != "~":  # link functions: logit(p[i]) <- ...
        names += re.findall(start + r"[a-z]+\s*\(\s*" + NAME + sub + r"\)\s*" + arrow, text, re.M)
    return list(dict.fromkeys(names))


def stochastic(text):
    return left_sides(text, "~")


def modules(text):
    """What the jags program must load for a model."""
    return "load mix\nload glm\n" if re.search(r"\bd(scaled|betabin)", text) else ""


def run(script, where):
    path = os.path.join(where, "script.cmd")
    with open(path, "w") as f:
        f.write(script)
    # JAGS takes SIGINT and the like for itself; its exit code is 1 on errors in a script
    p = subprocess.run(["jags", path], cwd=where, capture_output=True, text=True)
    if p.returncode or re.search(r"^(RUNTIME ERROR|ERROR|LOGIC ERROR|Error )", p.stdout + p.stderr, re.M):
        raise JagsError((p.stdout + p.stderr)[-2000:])


def constants(data, text):
    drop = set(stochastic(text))
    return {k: v for k, v in data.items() if k not in drop}


def logp(text, data, points, helper=None):
    keep = set(stochastic(text))
    base = constants(data, text)
    with tempfile.TemporaryDirectory() as where:
        at = lambda name: os.path.join(where, name)
        with open(at("model.bug"), "w") as f:
            f.write(text)
        for i, point in enumerate(points):
            with open(at("p%d.R" % i), "w") as f:
                f.write(r_dump({k: v for k, v in point.items() if k in keep}))
        with open(at("data.R"), "w") as f:
            f.write(r_dump(base))
        if helper:
            p = subprocess.run([helper, at("model.bug"), at("data.R"), "--logp"]
                               + [at("p%d.R" % i) for i in range(len(points))],
                               capture_output=True, text=True)
            if p.returncode:
                raise JagsError(p.stderr)
            return json.loads(p.stdout.replace("-inf", "-Infinity").replace("nan", "NaN"))["logp"]
        script = "load dic\n" + modules(text)
        for i in range(len(points)):
            script += ('model in "model.bug"\ndata in "data.R"\ndata in "p%d.R"\ncompile\n'
                       'initialize\nmonitor deviance\nupdate 1\ncoda *, stem(o%d)\n'
                       'model clear\ndata clear\n' % (i, i))
        run(script, where)
        out = []
        for i in range(len(points)):
            with open(at("o%dchain1.txt" % i)) as f:
                out.append(-float(f.read().split()[1]) / 2)
        return out


def moments(text, data, n, seed=1, names=None):
    """Mean and variance of every scalar of these arrays (default: the stochastic ones) over n
    forward draws."""
    names = names or stochastic(text)
    end = text.rindex("}")
    text = (text[:end] + "".join("  %s.asinh <- arcsinh(%s)\n" % (v, v) for v in names) + text[end:])
    with tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, "model.bug"), "w") as f:
            f.write(text)
        with open(os.path.join(where, "data.R"), "w") as f:
            f.write(r_dump(constants(data, text)))
        with open(os.path.join(where, "init.R"), "w") as f:
            f.write('.RNG.name <- "base::Mersenne-Twister"\n.RNG.seed <- %d\n' % seed)
        script = modules(text) + 'model in "model.bug"\ndata in "data.R"\ncompile\nparameters in "init.R"\ninitialize\n'
        for v in names:
            for x in v, v + ".asinh":
                script += "monitor %s, type(mean)\nmonitor %s, type(variance)\n" % (x, x)
        script += "update %d\ncoda *, stem(o)\n" % n
        run(script, where)
        out = {k: {} for k in ("mean", "variance", "asinh_mean", "asinh_variance")}
        with open(os.path.join(where, "otable1.txt")) as f:
            for line in f:  # each name twice: the mean comes first, as it was asked for first
                name, value = line.split()
                base, sub = re.match(r"([^\[]*)(.*)", name).groups()
                kind = ""
                if base.endswith(".asinh"):
                    base, kind = base[:-6], "asinh_"
                key = base + sub
                to = out[kind + ("variance" if key in out[kind + "mean"] else "mean")]
                to[key] = float(value)
        return dict(n=n, **out)


def draws(text, data, n, seed=1):
    """n forward draws of all stochastic nodes, to six digits, as data sets."""
    names = stochastic(text)
    with tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, "model.bug"), "w") as f:
            f.write(text)
        with open(os.path.join(where, "data.R"), "w") as f:
            f.write(r_dump(constants(data, text)))
        with open(os.path.join(where, "init.R"), "w") as f:
            f.write('.RNG.name <- "base::Mersenne-Twister"\n.RNG.seed <- %d\n' % seed)
        run(modules(text) + 'model in "model.bug"\ndata in "data.R"\ncompile\nparameters in "init.R"\ninitialize\n'
            + "".join("monitor %s\n" % v for v in names)
            + "update %d\ncoda *, stem(o)\n" % n, where)
        with open(os.path.join(where, "ochain1.txt")) as f:
            value = [float(line.split()[1]) for line in f]
        out = [{} for _ in range(n)]
        with open(os.path.join(where, "oindex.txt")) as f:
            index = [line.split() for line in f]
    dims = {}
    at = []
    for name, first, _ in index:
        base, sub = re.match(r"([^\[]*)(?:\[(.*)\])?$", name).groups()
        sub = [int(k) for k in sub.split(",")] if sub else []
        dims[base] = [max(p) for p in zip(dims.get(base, sub), sub)]
        at.append((base, sub, int(first) - 1))
    empty = lambda d: [empty(d[1:]) for _ in range(d[0])] if d else None
    for i, d in enumerate(out):
        for base, dim in dims.items():
            d[base] = empty(dim)
        for base, sub, k in at:
            if not sub:
                d[base] = value[k + i]
                continue
            x = d[base]
            for j in sub[:-1]:
                x = x[j - 1]
            x[sub[-1] - 1] = value[k + i]
    return out


# ---- command line ------------------------------------------------------------------------------

def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("what", choices=["logp", "moments"])
    p.add_argument("model")
    p.add_argument("--data")
    p.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    p.add_argument("--at", metavar="POINTS.json")
    p.add_argument("-n", type=int, default=100000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--helper", help="the program built from jags_graph.cc")
    a = p.parse_args()
    with open(a.model) as f:
        text = f.read()
    data = {}
    if a.data:
        with open(a.data) as f:
            data = json.load(f)
    for s in a.set:
        k, v = s.split("=")
        data[k] = float(v)
    try:
        if a.what == "logp":
            with open(a.at) as f:
                points = json.load(f)
            points = points if isinstance(points, list) else [points]
            print(json.dumps({"logp": logp(text, data, points, a.helper)}))
        else:
            print(json.dumps(moments(text, data, a.n, a.seed)))
    except JagsError as e:
        print("jags_compare: JAGS says:\n%s" % e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
