#!/usr/bin/env python3
"""NaMI and JAGS say the same about the same models.

    tests/test_jags.py build/nami [CASE...]     compare NaMI with JAGS
    tests/test_jags.py --self [CASE...]         JAGS alone: is the oracle sound?
    NAMI_ORACLE=full tests/test_jags.py ...     with 10^5 forward draws of each on both sides
    tests/test_jags.py --counts                 write tests/models/bugs/counts.json anew, from JAGS

Four comparisons:
  graph     how many nodes are observed, how many are not, and how many edges there are: with
            tests/models/bugs/counts.json, and with JAGS itself where it is;
  logp      the log density, normalising constants included: of the classics where JAGS's sampler is
            after 20 steps, of the examples at five draws;
  moments   mean and variance of every scalar over forward draws;
  functions densities, distribution functions and quantiles of all distributions that JAGS has them for.

The models are the classic BUGS examples (tests/models/bugs) for the first two, and those of
examples/models that JAGS can express (tests/oracle/NAME.bug) for all three; tests/oracle/dists.bug
has the distributions that no example uses, for the last two.  What cannot be
done here prints SKIPPED and why; the exit code is 77 if nothing could be compared.
"""
import glob
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))
import jags_compare  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None

BUGS = os.path.join(ROOT, "tests", "models", "bugs")
COUNTS = os.path.join(BUGS, "counts.json")
KEYS = ("observed", "unobserved", "stochastic", "edges")

# Examples and the number of JAGS's draws (fewer where it is slow: all together take half a minute).
EXAMPLES = {
    "tree": 100000, "gmm": 10000, "hmm": 20000, "lgssm": 100000, "schools": 100000, "student": 100000,
    "rats": 50000, "pumps": 100000, "seeds": 100000, "dugongs": 100000, "surgical": 100000,
    "epil": 50000, "dyes": 100000, "hlogit": 10000,
}
OWN = {"dists": 100000}  # tests/oracle/NAME.bug and NAME.json, which NaMI reads too
# Where the graphs differ, and why.
KNOWN = {
    "stagnant-anywhere": ({"edges": -3}, "x.change lies in (-1.3, 1.1), so three of the x[i] are on one side of it for "
                                         "certain: NaMI sees that they cannot select the other slope"),
}
NAMI_DRAWS = 20000 if numpy else 2000
if os.environ.get("NAMI_ORACLE") == "full":  # make oracle: minutes
    EXAMPLES = dict.fromkeys(EXAMPLES, 100000)
    NAMI_DRAWS = 100000 if numpy else 2000
SIGMAS = 6.0        # some 3000 scalars are compared: 6 sigma by chance once in 100,000 runs
HEAVY = 30.0        # kurtosis above which a variance says nothing


# ---- results -----------------------------------------------------------------------------------

done = failed = 0


def result(ok, what, why=""):
    global done, failed
    done += 1
    if not ok:
        failed += 1
        print("FAILED %s: %s" % (what, why))
    else:
        print("ok     %s%s" % (what, ": " + why if why else ""))


def skipped(what, why):
    print("SKIPPED %s: %s" % (what, why))


# ---- models ------------------------------------------------------------------------------------

def slurp(*path):
    with open(os.path.join(ROOT, *path)) as f:
        return f.read()


def native_constants(text):
    """const NAME = VALUE of a .nami file, evaluated."""
    out = {}
    for name, value in re.findall(r"\bconst\s+([A-Za-z][\w.]*)\s*=\s*([^;#\n]+)", text):
        value = value.replace("^", "**").replace("%/%", "//")
        out[name] = eval(value, {"sqrt": math.sqrt}, out)  # our own files
    return out


def example(name):
    """Model text for JAGS and data, with constants, of an example."""
    if name in OWN:
        return slurp("tests", "oracle", name + ".bug"), json.loads(slurp("tests", "oracle", name + ".json"))
    data = native_constants(slurp("examples", "models", name + ".nami"))
    data.update(json.loads(slurp("examples", "models", name + ".json")))
    return slurp("tests", "oracle", name + ".bug"), data


def inverse2(S):
    (a, b), (c, d) = S
    det = a * d - b * c
    return [[d / det, -b / det], [-c / det, a / det]], math.log(det)


def jags_point(name, point):
    """A point of NaMI's model as one of JAGS's, and what to add to JAGS's log density."""
    if name == "dists":
        # JAGS 4.3.1 adds log Gamma_p((df+p-1)/2) to the density of dscaled.wishart where it should subtract it
        # (its draws are right, and by quadrature so is our density): df = 3.5, p = 2
        return point, -2 * (math.log(math.pi) / 2 + math.lgamma(2.25) + math.lgamma(1.75))
    if name != "gmm":
        return point, 0
    # Sigma ~ inv_wishart is Omega = Sigma^-1 ~ dwish; |dOmega / dSigma| = |Sigma|^-3 for 2 x 2
    point = dict(point)
    pairs = [inverse2(S) for S in point.pop("Sigma")]
    point["Omega"] = [p[0] for p in pairs]
    return point, -3 * sum(p[1] for p in pairs)


def jags_names(name, text):
    names = jags_compare.stochastic(text)
    return [{"Omega": "Sigma"}.get(v, v) for v in names] if name == "gmm" else names


def classics():
    return sorted(os.path.basename(d[:-1]) for d in glob.glob(os.path.join(BUGS, "*", "")))


# ---- what JAGS says of graphs ------------------------------------------------------------------

def build_helper(where):
    """The program of jags_graph.cc, or None and the reason."""
    cxx = shutil.which(os.environ.get("CXX", "g++"))
    if not cxx:
        return None, "there is no C++ compiler"
    out = os.path.join(where, "jags_graph")
    include = os.environ.get("JAGS_INCLUDE", "/usr/include/JAGS")
    cmd = [cxx, "-O1", "-I" + include]
    modules = [d for p in ("/usr/lib/*", "/usr/lib*", "/usr/local/lib*") for d in glob.glob(p + "/JAGS/modules-4")]
    if modules:
        cmd.append('-DJAGS_MODULES="%s"' % modules[0])
    p = subprocess.run(cmd + [os.path.join(ROOT, "tests/oracle/jags_graph.cc"), "-o", out, "-ljags", "-ldl"],
                       capture_output=True, text=True)
    return (out, None) if p.returncode == 0 else (None, "jags_graph.cc does not build: are JAGS's headers there?")


def jags_counts(helper, name, where):
    """name: a classic, or examples/NAME."""
    if name.startswith("examples/"):
        text, data = example(name[9:])
        files = [os.path.join(where, "m.bug"), os.path.join(where, "d.R")]
        with open(files[0], "w") as f:
            f.write(text)
        with open(files[1], "w") as f:
            f.write(jags_compare.r_dump(data))
    else:
        base = os.path.join(BUGS, name, name)
        files = [base + ".bug", base + "-data.R"]
        if os.path.exists(base + "-init.R"):
            files += ["--init", base + "-init.R"]
    p = subprocess.run([helper] + files, capture_output=True, text=True)
    if p.returncode:
        raise jags_compare.JagsError(p.stderr)
    return json.loads(p.stdout)


def all_names():
    return classics() + ["examples/" + n for n in EXAMPLES]


def write_counts(helper, where):
    lines = ['  "%s": %s' % (n, json.dumps(jags_counts(helper, n, where))) for n in all_names()]
    with open(COUNTS, "w") as f:
        f.write("{\n%s\n}\n" % ",\n".join(lines))
    print("wrote %s: %d models" % (COUNTS, len(lines)))


# ---- what NaMI says ----------------------------------------------------------------------------

class Nami:
    def __init__(self, path):
        self.path = os.path.abspath(path)

    def can(self, command):
        p = subprocess.run([self.path, command, "--help"], capture_output=True)
        return p.returncode == 0

    def run(self, *args, ok=(0,)):
        p = subprocess.run([self.path] + list(args), capture_output=True, text=True)
        if p.returncode not in ok:
            raise RuntimeError("nami %s: exit %d\n%s" % (" ".join(args), p.returncode, p.stderr.strip()))
        return p.stdout


def model_files(name):
    if name.startswith("examples/") and name[9:] in OWN:
        base = os.path.join(ROOT, "tests", "oracle", name[9:])
        return base + ".bug", base + ".json"
    if name.startswith("examples/"):
        base = os.path.join(ROOT, "examples", "models", name[9:])
        return base + ".nami", base + ".json"
    base = os.path.join(BUGS, name, name)
    return base + ".bug", base + "-data.R"


def nami_counts(nami, name):
    """From the first line of `nami check`: its exit code is 1 where a prior is too vague."""
    model, data = model_files(name)
    out = nami.run("check", model, "--data", data, "-n", "2", ok=(0, 1))
    m = re.match(r"(\d+) nodes, (\d+) edges, (\d+) observed", out)
    if not m:
        raise RuntimeError("nami check %s does not begin with its counts: %s" % (model, out[:100]))
    n, edges, seen = map(int, m.groups())
    return {"observed": seen, "unobserved": n - seen, "stochastic": n, "edges": edges}


def nami_moments(nami, name, where, n):
    """{scalar: (mean, variance, variance of the mean, of the variance, kurtosis)} of x and of arcsinh x."""
    model, data = model_files("examples/" + name)
    columns = {}
    if numpy:
        out = os.path.join(where, "draws.npz")
        nami.run("simulate", model, "--data", data, "-n", str(n), "--seed", "7", "-o", out)
        with numpy.load(out) as z:
            for v in z.files:
                a = z[v].reshape(n, -1)
                dim = z[v].shape[1:]
                for k in range(a.shape[1]):
                    at = [int(i) + 1 for i in numpy.unravel_index(k, dim)] if dim else []
                    columns[v + ("[%s]" % ",".join(map(str, at)) if at else "")] = a[:, k].astype(float)
    else:
        out = os.path.join(where, "draws.csv")
        nami.run("simulate", model, "--data", data, "-n", str(n), "--seed", "7", "-o", out)
        import csv
        with open(out) as f:
            rows = list(csv.reader(f))
        for k, v in enumerate(rows[0]):
            columns[v] = [float(r[k]) for r in rows[1:]]
    return {v: (summary(x), summary(asinh(x))) for v, x in columns.items()}


def asinh(x):
    return numpy.arcsinh(x) if numpy else [math.asinh(v) for v in x]


def summary(x):
    n = len(x)
    if numpy:
        m = x.mean()
        d = x - m
        v, m4 = (d * d).mean(), (d ** 4).mean()
    else:
        m = sum(x) / n
        v, m4 = sum((a - m) ** 2 for a in x) / n, sum((a - m) ** 4 for a in x) / n
    return m, v, v / n, max(m4 - v * v, 0) / n, m4 / (v * v) if v > 0 else 1


# ---- the comparisons ---------------------------------------------------------------------------

def compare_graphs(nami, names, helper, where):
    with open(COUNTS) as f:
        golden = json.load(f)
    for name in names:
        want = golden[name]
        if helper:
            live = jags_counts(helper, name, where)
            if live != want:
                result(False, "graph " + name, "JAGS now says %s, counts.json says %s" % (live, want))
                continue
        if nami:
            try:
                got = nami_counts(nami, name)
            except RuntimeError as e:
                result(False, "graph " + name, str(e))
                continue
            bad = ["%s %d, JAGS %d" % (k, got[k], want[k]) for k in KEYS if got[k] != want[k]]
            known = KNOWN.get(name)
            if known and {k: got[k] - want[k] for k in KEYS if got[k] != want[k]} == known[0]:
                result(True, "graph " + name, "; ".join(bad) + " (" + known[1] + ")")
            else:
                result(not bad, "graph " + name, "; ".join(bad))
        elif helper:
            result(True, "graph " + name, "JAGS agrees with counts.json")


def compare_logp(nami, name, helper, where):
    model, data_file = model_files("examples/" + name)
    text, data = example(name)
    points_file = os.path.join(where, "points.json")
    nami.run("simulate", model, "--data", data_file, "-n", "5", "--seed", "3", "-o", points_file)
    ours = json.loads(nami.run("logp", model, "--data", data_file, "--at", points_file, "--json"))["logp"]
    with open(points_file) as f:
        points = [jags_point(name, p) for p in json.load(f)]
    theirs = jags_compare.logp(text, data, [p[0] for p in points], helper)
    tolerance = 1e-9 if helper else 1e-5  # the jags program prints six digits
    worst = 0
    for a, b, (_, add) in zip(ours, theirs, points):
        worst = max(worst, abs(a - (b + add)) / (1 + abs(b)))
    result(worst <= tolerance and len(ours) == len(theirs), "logp " + name,
           "relative difference %.1e" % worst)


def compare_logp_classic(nami, name, helper, where):
    model, data_file = model_files(name)
    cmd = [helper, model, data_file, "--state", "20"]
    init = data_file.replace("-data.R", "-init.R")
    if os.path.exists(init):
        cmd += ["--init", init]
    p = subprocess.run(cmd, capture_output=True, text=True)
    if p.returncode:
        raise jags_compare.JagsError(p.stderr)
    theirs = json.loads(p.stdout)
    point = os.path.join(where, "point.json")
    with open(point, "w") as f:
        json.dump(theirs["point"], f)
    ours = json.loads(nami.run("logp", model, "--data", data_file, "--at", point, "--json"))["logp"][0]
    worst = abs(ours - theirs["logp"]) / (1 + abs(ours))
    result(worst <= 1e-9, "logp " + name, "relative difference %.1e" % worst)


def off(mean, var, n, s):
    """How many standard errors apart: means, variances (None if the tails are too heavy)."""
    m, v, vm, vv, kurtosis = s
    scale = 1 + NAMI_DRAWS / n  # both sides vary; how much is estimated on ours
    eps = 2e-6  # JAGS prints six digits
    a = abs(m - mean) / (math.sqrt(vm * scale) + eps * abs(mean) + 1e-12)
    if kurtosis > HEAVY:
        return a, None
    # vm * scale, of second order, is all there is where vv is 0: a coin's variance at p = 1/2
    return a, abs(v - var) / (math.sqrt(vv * scale) + vm * scale + eps * abs(var) + 1e-12)


def compare_moments(nami, name, where):
    text, data = example(name)
    n = dict(EXAMPLES, **OWN)[name]
    theirs = jags_compare.moments(text, data, n, names=jags_names(name, text))
    ours = nami_moments(nami, name, where, NAMI_DRAWS)
    missing = set(theirs["mean"]) ^ set(ours)
    worst, at, heavy = 0, "", 0
    for x in set(theirs["mean"]) & set(ours):
        raw, bent = ours[x]
        if raw[4] <= HEAVY:
            tests = off(theirs["mean"][x], theirs["variance"][x], n, raw)
        else:
            heavy += 1
            tests = off(theirs["asinh_mean"][x], theirs["asinh_variance"][x], n, bent)
        z = max(t for t in tests if t is not None)
        if z > worst:
            worst, at = z, x
    why = "%d scalars, worst %.1f standard errors (%s)" % (len(ours), worst, at)
    if heavy:
        why += ", %d with heavy tails: arcsinh only" % heavy
    if missing:
        why += "; not in both: " + ", ".join(sorted(missing)[:5])
    result(worst < SIGMAS and not missing, "moments " + name, why)


# Arguments behind the value, and values; JAGS has dNAME, pNAME, qNAME and logdensity.NAME for those with
# SCALAR, and logdensity.NAME for the others.  betabin is in JAGS's module mix.
SCALAR = {
    "norm": (("0.3, 2.1", "-4, 0.013"), (-1.7, 0.4, 2.9)),
    "t": (("0.3, 2.1, 3.7", "1, 0.3, 1.2"), (-1.7, 0.4, 2.9)),
    "dexp": (("0.3, 2.1", "1, 0.2"), (-1.7, 0.4, 2.9)),
    "logis": (("0.3, 2.1", "1, 0.2"), (-1.7, 0.4, 2.9)),
    "lnorm": (("0.3, 2.1", "1, 0.2"), (0.05, 0.4, 2.9)),
    "exp": (("2.1", "0.03"), (0.05, 0.4, 2.9)),
    "gamma": (("0.3, 2.1", "3.7, 1.2"), (0.05, 0.4, 2.9)),
    "weib": (("0.3, 2.1", "3.7, 1.2"), (0.05, 0.4, 2.9)),
    "chisqr": (("2.1", "7.3"), (0.05, 0.4, 2.9)),
    "par": (("1.3, 0.04", "3.2, 0.01"), (0.05, 0.4, 2.9)),
    "f": (("1.3, 2.1", "7.3, 4.2"), (0.05, 0.4, 2.9)),
    "gen.gamma": (("1.3, 2.1, 0.7", "2.2, 0.8, 1.9"), (0.05, 0.4, 2.9)),
    "beta": (("1.3, 2.1", "0.4, 3.2"), (0.05, 0.4, 0.93)),
    "bin": (("0.3, 4", "0.8, 9"), (0, 1, 4)),
    "hyper": (("4, 5, 3, 1.5", "13, 8, 10, 0.4"), (2, 3)),
    "pois": (("2.1", "9.4"), (0, 1, 7)),
    "negbin": (("0.3, 2.1", "0.8, 4.4"), (0, 1, 7)),
    "betabin": (("0.3, 1.2, 4", "2.7, 1.1, 9"), (0, 1, 4)),
}
LOG_ONLY = {
    "unif": (("-1, 3", "0.2, 2"), ("0.4", "1.7")),
    "bern": (("0.3", "0.9"), ("0", "1")),
    "cat": (("c(0.3, 0.7, 0.1)",), ("2", "3")),
    "multi": (("c(0.3, 0.7, 0.1), 6",), ("c(1, 3, 2)",)),
    "dirch": (("c(0.3, 1.7, 2.1)",), ("c(0.3, 0.6, 0.1)",)),
    "mnorm": (("c(0.3, 1.7), A",), ("c(0.3, 0.6)",)),
    "mnorm.vcov": (("c(0.3, 1.7), A",), ("c(0.3, 0.6)",)),
    "wish": (("A, 3.5",), ("A",)),
}


def functions():
    """Calls as text: with %s behind the value, for what makes it random."""
    out = []
    for name, (args, values) in SCALAR.items():
        for a in args:
            for before in ("d", "p", "logdensity."):
                out += ["%s%s(%r%%s, %s)" % (before, name, x, a) for x in values]
            out += ["q%s(%r%%s, %s)" % (name, u, a) for u in (0.013, 0.37, 0.5, 0.94)]
    for name, (args, values) in LOG_ONLY.items():
        out += ["logdensity.%s(%s%%s, %s)" % (name, x, a) for a in args for x in values]
    return out


def compare_functions(nami, where):
    """JAGS is given our values, and says how far its own are from them: it prints six digits."""
    calls = functions()
    matrix = "A[1,1] <- 1.5; A[1,2] <- 0.2; A[2,1] <- 0.2; A[2,2] <- 0.9\n"
    model, ours_file, check, out = (os.path.join(where, f) for f in ("f.bug", "f.R", "check.bug", "out.R"))
    with open(model, "w") as f:  # half of them constants, half random
        lines = ["v[%d] <- %s" % (i + 1, c % (" + 0 * z" if i % 2 else "")) for i, c in enumerate(calls)]
        f.write("model {\n%sz ~ dnorm(0, 1)\n%s\nw <- v[] + 0 * z\n}\n" % (matrix, "\n".join(lines)))
    ours = json.loads(nami.run("simulate", model, "-n", "1", "--only", "w", "--json"))[0]["w"]
    with open(ours_file, "w") as f:
        f.write(jags_compare.r_dump({"ours": ours}))
    with open(check, "w") as f:
        lines = ["e[%d] <- %s - ours[%d]" % (i + 1, c % "", i + 1) for i, c in enumerate(calls)]
        f.write("data {\n%s%s\n}\nmodel { z ~ dnorm(sum(e), 1) }\n" % (matrix, "\n".join(lines)))
    jags_compare.run('load mix\nmodel in "check.bug"\ndata in "f.R"\ncompile\ninitialize\n'
                     'data to "out.R"\nexit\n', where)
    with open(out) as f:
        text = re.search(r"""["`]e["`]\s*<-\s*(?:structure\()?c\(([^)]*)\)""", f.read()).group(1)
    apart = [float(x) for x in text.split(",")]
    worst, at = max((abs(e) / abs(v) if e else 0, c % "") for e, v, c in zip(apart, ours, calls))
    result(worst <= 1e-9 and len(apart) == len(ours) == len(calls), "functions",
           "%d values, relative difference %.1e (%s)" % (len(calls), worst, at))


def self_check(names, helper):
    """JAGS against itself: both ways to the log density, moments against independent draws."""
    for name in names:
        text, data = example(name)
        start = time.time()
        points = jags_compare.draws(text, data, 3, seed=5)
        batch = jags_compare.logp(text, data, points)
        took = [time.time() - start]
        worst = 0
        if helper:
            exact = jags_compare.logp(text, data, points, helper)
            worst = max(abs(a - b) / (1 + abs(b)) for a, b in zip(batch, exact))
        start = time.time()
        one = jags_compare.moments(text, data, EXAMPLES[name], 1, jags_names(name, text))
        took.append(time.time() - start)
        two = jags_compare.moments(text, data, EXAMPLES[name] // 5, 2, jags_names(name, text))
        z = max(abs(one["asinh_mean"][x] - two["asinh_mean"][x])
                / math.sqrt(one["asinh_variance"][x] * 6 / EXAMPLES[name] + 1e-12) for x in one["mean"])
        result(worst < 1e-5 and z < SIGMAS, "self " + name,
               "logp %.6g, batch and helper differ by %.0e (%.1f s); %d scalars x %d draws (%.1f s), worst %.1f "
               "standard errors" % (batch[0], worst, took[0], len(one["mean"]), EXAMPLES[name], took[1], z))


def main():
    args = sys.argv[1:]
    if not args or args[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if args else 2
    mode, only = args[0], args[1:]
    examples = [n for n in EXAMPLES if not only or n in only]
    names = [n for n in all_names() if not only or n in only or n.replace("examples/", "") in only]
    jags = shutil.which("jags")
    with tempfile.TemporaryDirectory() as where:
        helper, why = build_helper(where) if jags else (None, "jags is not installed")
        if not helper:
            skipped("live counts and exact log densities", why)
        if mode == "--counts":
            if not helper:
                return 1
            write_counts(helper, where)
            return 0
        if mode == "--self":
            if not jags:
                return 77
            compare_graphs(None, names, helper, where)
            self_check(examples, helper)
        else:
            nami = Nami(mode)
            if nami.can("check"):
                compare_graphs(nami, names, helper, where)
            else:
                skipped("graph", "this nami has no command check")
            examples += [n for n in OWN if not only or n in only]
            mine = [n for n in names if not n.startswith("examples/")]
            for what, need, cases, compare in (
                    ("logp", ("logp",), mine, lambda n: compare_logp_classic(nami, n, helper, where)),
                    ("logp", ("simulate", "logp"), examples, lambda n: compare_logp(nami, n, helper, where)),
                    ("moments", ("simulate",), examples, lambda n: compare_moments(nami, n, where)),
                    ("functions", ("simulate",), [] if only and "functions" not in only else ["functions"],
                     lambda n: compare_functions(nami, where))):
                lacks = [c for c in need if not nami.can(c)]
                if lacks:
                    skipped(what, "this nami has no command " + lacks[0])
                elif not jags:
                    skipped(what, "jags is not installed")
                elif cases is mine and not helper:
                    skipped(what + " of the classics", why)
                else:
                    for n in cases:
                        try:
                            compare(n)
                        except (RuntimeError, jags_compare.JagsError) as e:
                            result(False, "%s %s" % (what, n), str(e))
    print("%d comparisons, %d failed" % (done, failed))
    return 1 if failed else 0 if done else 77


if __name__ == "__main__":
    sys.exit(main())
