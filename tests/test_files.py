"""test_files.py NAMI: what other programs compute from the files of `nami sample` is what it prints.

Means, standard deviations and quantiles by xarray without weights; probabilities of states; Markov
chains; leave-one-out cross-validation by an implementation of its own from the group
log_likelihood, and by the exact leave-one-out densities of a conjugate model; predictive checks
and comparisons of models.  Exit status 77: a module is missing.
"""
import json, math, os, subprocess, sys, tempfile

try:
    import netCDF4
    import numpy as np
    import xarray as xr
except ImportError as e:
    print(f"SKIPPED: {e} (scripts/setup.sh test installs it)")
    sys.exit(77)

NAMI = os.path.abspath(sys.argv[1])
MODEL = """const s
model {
  mu ~ normal(0, 5)
  for (j in 1:4) { theta[j] ~ normal(mu, 1); for (i in 1:3) { y[j, i] ~ normal(theta[j], s) } }
  k ~ bernoulli(0.3)
  n ~ poisson(ifelse(k == 1, 4, 1))
  tau <- 1 / (s * s)
  gap <- theta[1] - theta[2]
  bigger <- step(gap)
  inside[1] <- mu + 1
  w ~ normal(inside[1], 1)
}
observe y, n, w
"""
CONJUGATE = """model {
  mu ~ normal(0, 10)
  for (i in 1:20) { y[i] ~ normal(mu, 2) }
}
observe y
"""
failures = 0


def check(what, ok, *values):
    global failures
    if not ok:
        failures += 1
        print("FAIL:", what, *values)


def nami(*args, code=0):
    run = subprocess.run([NAMI, *args], capture_output=True, text=True)
    assert run.returncode == code, (args, run.returncode, run.stderr, run.stdout)
    return run.stdout if code == 0 else run.stderr


def near(a, b, tol):
    return abs(a - b) <= tol * (1 + abs(b))


# ---- PSIS-LOO, as its paper has it ------------------------------------------------------------

def gpd(x):
    """Zhang and Stephens 2009, with the weak prior of PSIS."""
    n, x = len(x), np.sort(x)
    m = 30 + int(math.sqrt(n))
    b = 1 / x[-1] + (1 - np.sqrt(m / (np.arange(1, m + 1) - 0.5))) / (3 * x[int(n / 4 + 0.5) - 1])
    k = np.log1p(-b[:, None] * x).mean(1)
    length = n * (np.log(-b / k) - k - 1)
    weight = 1 / np.exp(length - length[:, None]).sum(1)
    b = (b * weight).sum() / weight.sum()
    k = np.log1p(-b * x).mean()
    return (n * k + 5) / (n + 10), -k / b


def psis_loo(loglik):
    """elpd and k-hat of one observation from equally weighted draws."""
    lw = -loglik - (-loglik).max()
    n = len(lw)
    tail = math.ceil(min(0.2 * n, 3 * math.sqrt(n)))
    order = np.argsort(lw, kind="stable")
    cut = lw[order[-tail - 1]]
    above = order[lw[order] > cut]
    k = -1.0  # no tail
    if lw.max() >= np.log(np.mean(np.exp(lw))) + math.log(2):
        k, sigma = gpd(np.exp(lw[above]) - math.exp(cut))
        p = (np.arange(len(above)) + 0.5) / len(above)
        lw[above] = np.minimum(np.log(math.exp(cut) + sigma * np.expm1(-k * np.log1p(-p)) / k), 0)
    lw -= np.log(np.exp(lw).sum())
    return np.log(np.exp(lw + loglik).sum()), k


def groups(path):
    return {g: xr.open_dataset(path, group=g) for g in netCDF4.Dataset(path).groups}


def table_equals_file(method, weighted):
    out = json.loads(nami("sample", "m.net", "--method", method, "--json", "--loo", "--ppc", "--predict", "--prior",
                          "300", "-n", "1600", "-o", "m.nc", *["--weighted"] * weighted))["sets"][0]
    f = groups("m.nc")
    want = {"posterior", "sample_stats", "posterior_predictive", "log_likelihood", "prior", "prior_predictive",
            "observed_data", "constant_data"}
    check("groups", set(f) == want, sorted(f))
    chains = 16 if method == "mcmc" else 1
    post, stats = f["posterior"], f["sample_stats"]
    check("derived quantities are there", {"mu", "theta", "k", "gap", "bigger"} == set(post), list(post))
    for g in want - {"observed_data", "constant_data"}:
        size = dict(f[g].sizes)
        n = (1, 300) if "prior" in g else (chains, 1600 // chains)
        check("dimensions", (size["chain"], size["draw"]) == n, method, g, size)
    w = np.exp(stats["log_weight"]) if weighted else 1 / 1600
    for name, of in out["variables"].items():
        base, _, sub = name.partition("[")
        x = post[base] if not sub else post[base][:, :, int(sub[:-1]) - 1]
        mean = float((w * x).sum())
        check("mean", near(mean, of["mean"], 1e-9), method, weighted, name, mean, of["mean"])
        if weighted:
            continue
        check("sd", near(float(x.std(ddof=1)), of["sd"], 1e-9), method, name)
        for q in 5, 25, 50, 75, 95:
            check("quantile", near(float(x.quantile(q / 100)), of[f"q{q}"], 1e-9), method, name, q)
    for state, p in out["variables"]["k"]["states"].items():
        check("states", near(float((w * (post["k"] == float(state))).sum()), p, 1e-9), method, state, p)
    check("no states of a real", "states" not in out["variables"]["mu"])
    check("shapes", f["log_likelihood"]["y"].shape[2:] == (4, 3) and f["log_likelihood"]["n"].ndim == 2)
    theta, y = post["theta"].values[..., None], f["observed_data"]["y"].values
    exact = -0.5 * math.log(2 * math.pi * 0.49) - (y - theta) ** 2 / 2 / 0.49
    check("log likelihood", np.allclose(f["log_likelihood"]["y"].values, exact, atol=1e-9))
    check("constants", float(f["constant_data"]["s"]) == 0.7)
    check("the prior", abs(float(f["prior"]["mu"].std()) - 5) < 1, float(f["prior"]["mu"].std()))
    check("prior predictions", 4.5 < float(f["prior_predictive"]["y"].std()) < 6)
    loo = out["loo"]
    check("observations", loo["observations"] == 14)
    if not weighted:
        both = [psis_loo(f["log_likelihood"]["y"].values.reshape(1600, 12)[:, i]) for i in range(12)]
        for i, (elpd, k) in enumerate(both):
            mine = loo["pointwise"][f"y[{i // 3 + 1},{i % 3 + 1}]"]
            check("loo from the file", near(elpd, mine["elpd"], 1e-9) and near(k, mine["khat"], 1e-6), i, elpd, k, mine)
        parts = [p["elpd"] for p in loo["pointwise"].values()]
        check("sum", near(sum(parts), loo["elpd"], 1e-9))
        check("se", near(math.sqrt(14 * np.var(parts, ddof=1)), loo["se"], 1e-9))
    rep = f["posterior_predictive"]["y"].values.reshape(1600, 12)
    w = np.asarray(w).ravel() if weighted else np.full(1600, 1 / 1600)
    for c in out["checks"]:
        if c["variable"] != "y" or c["statistic"] not in ("mean", "sd", "min", "max"):
            continue
        stat = {"mean": np.mean, "sd": lambda v, **o: np.std(v, ddof=1, **o), "min": np.min, "max": np.max}[c["statistic"]]
        above = stat(rep, axis=1) - stat(y.ravel())
        p = float((w * ((above > 0) + 0.5 * (above == 0))).sum())
        check("checks", near(p, c["p"], 1e-9) and near(stat(y.ravel()), c["observed"], 1e-9), c, p)
    check("five statistics, of y; two of scalars", [c["variable"] for c in out["checks"]] == ["y"] * 4 + ["n", "w"],
          out["checks"])


def loo_is_exact():
    """y_i given the others: normal with the posterior of mu without y_i."""
    y = np.random.default_rng(3).normal(1, 2, 20)
    y[7] = 5.5
    json.dump({"y": list(y)}, open("c.json", "w"))
    open("c.nami", "w").write(CONJUGATE)
    nami("train", "c.nami", "--data", "c.json", "-o", "c.net", "-q")
    loo = json.loads(nami("sample", "c.net", "--json", "--loo", "-n", "20000"))["sets"][0]["loo"]
    total = full = 0
    for i in range(20):
        var = 1 / (1 / 100 + 5) + 4
        mean = y.sum() / 4 * (var - 4)
        full += -0.5 * math.log(2 * math.pi * var) - (y[i] - mean) ** 2 / 2 / var
        precision = 1 / 100 + 19 / 4
        mean = (y.sum() - y[i]) / 4 / precision
        var = 1 / precision + 4
        exact = -0.5 * math.log(2 * math.pi * var) - (y[i] - mean) ** 2 / 2 / var
        mine = loo["pointwise"][f"y[{i + 1}]"]
        check("exact leave-one-out density", abs(mine["elpd"] - exact) < 0.01, i, mine, exact)
        check("k-hat", mine["khat"] < 0.7, mine)
        total += exact
    check("elpd", abs(loo["elpd"] - total) < 0.03, loo["elpd"], total)
    check("effective parameters", abs(loo["p_loo"] - (full - total)) < 0.03, loo["p_loo"], full - total)


def log_normal(y, mean, cov):
    d = y - mean
    return float(-0.5 * (len(y) * math.log(2 * math.pi) + np.linalg.slogdet(cov)[1] + d @ np.linalg.solve(cov, d)))


def comparisons():
    """A mean against a line, both linear and Gaussian: exact evidence and leave-one-out densities."""
    rng = np.random.default_rng(5)
    x, n = np.arange(12) / 4, 12
    y = 1 + 0.8 * x + rng.normal(0, 1, n)
    json.dump({"x": list(x), "y": list(y)}, open("x.json", "w"))
    open("one.nami", "w").write("model { a ~ normal(0, 5)\n for (i in 1:12) { y[i] ~ normal(a, 1) } }\nobserve y\n")
    open("two.nami", "w").write("const x[12]\nmodel { a ~ normal(0, 5)\n b ~ normal(0, 1)\n"
                                "for (i in 1:12) { y[i] ~ normal(a + b * x[i], 1) } }\nobserve y\n")
    for name in "one", "two":
        nami("train", f"{name}.nami", "--data", "x.json", "-o", f"{name}.net", "-q")
    out = json.loads(nami("compare", "one.net", "two.net", "--data", "x.json", "--json", "-n", "20000"))["models"]
    cov = [25 * np.ones((n, n)) + np.eye(n)]
    cov.append(cov[0] + np.outer(x, x))
    evidence = [log_normal(y, 0 * y, c) for c in cov]
    loo = np.array([[evidence[k] - log_normal(np.delete(y, i), np.zeros(n - 1), np.delete(np.delete(c, i, 0), i, 1))
                     for i in range(n)] for k, c in enumerate(cov)])
    share = np.exp(np.array(evidence) - max(evidence))
    best = int(loo.sum(1).argmax())
    weights = np.linspace(0, 1, 10001)[:, None]
    stack = weights[np.log(weights * np.exp(loo[0]) + (1 - weights) * np.exp(loo[1])).sum(1).argmax(), 0]
    for k, m in enumerate(out):
        check("evidence", abs(m["log_evidence"] - evidence[k]) < 0.02, m, evidence[k])
        check("probability", abs(m["probability"] - share[k] / share.sum()) < 0.01, m, share)
        check("elpd", abs(m["elpd"] - loo[k].sum()) < 0.03, m, loo[k].sum())
        apart = loo[k] - loo[best]
        check("difference", abs(m["difference"] - apart.sum()) < 0.05 and
              abs(m["difference_se"] - math.sqrt(n * apart.var(ddof=1))) < 0.05, m, apart)
        check("stacking", abs(m["stacking"] - (stack if k == 0 else 1 - stack)) < 0.05, m, stack)
    check("other data", "cannot be compared" in nami("compare", "one.net", "c.net", code=2))


def blame_and_samples():
    """The latent whose factor is wrong is named; a network is judged by draws from a file."""
    open("b.nami", "w").write("model { a ~ normal(0, 1)\n b ~ normal(0, 1)\n c ~ gamma(2, 1)\n for (i in 1:4) {"
                              " y[i] ~ normal(a, 1); v[i] ~ normal(b, 1); w[i] ~ student_t(3, c, 0.1) } }\n"
                              "observe y, v, w\n")
    data = {"y": [0.1, 0.3, -0.2, 0.4], "v": [0.5, 0.1, -0.3, 1], "w": [11, 11.1, 10.9, 11.02]}
    json.dump(data, open("b.json", "w"))
    nami("train", "b.nami", "--exact", "none", "-o", "b.net", "--steps", "300", "--hidden", "16", "-q")
    run = subprocess.run([NAMI, "sample", "b.net", "--data", "b.json", "--method", "is", "--json"], capture_output=True)
    set_ = json.loads(run.stdout)["sets"][0]
    check("not trusted", run.returncode == 1 and set_["verdict"] == "no", set_["verdict"])
    check("blame", next(iter(set_["blame"])) == "c" and set_["blame"]["c"] > 0.5, set_.get("blame"))
    nami("simulate", "b.nami", "-n", "200", "--seed", "9", "-o", "b.npz", "-q")
    run = subprocess.run([NAMI, "calibrate", "b.net", "--samples", "b.npz", "--json"], capture_output=True)
    check("calibration from a file", json.loads(run.stdout)["sets"] == 200, run.stdout[:300])
    draws = dict(np.load("b.npz"))
    draws["a"] = draws["a"] + 3  # these are not the network's
    np.savez("c.npz", **draws)
    out = subprocess.run([NAMI, "calibrate", "b.net", "--samples", "c.npz"], capture_output=True, text=True).stdout
    check("wrong samples fail", "a         too low" in out, out)


with tempfile.TemporaryDirectory() as tmp:
    os.chdir(tmp)
    open("m.nami", "w").write(MODEL)
    data = {"y": [[0.1, 1.2, 0.4], [2.2, 1.8, 3.1], [0, -0.5, 0.3], [1.1, 1.0, 1.9]], "n": 3, "w": 2.2, "s": 0.7}
    json.dump(data, open("m.json", "w"))
    nami("train", "m.nami", "--data", "m.json", "-o", "m.net", "-q", "--exact", "k", "--steps", "600", "--hidden", "32")
    table_equals_file("is", False)
    table_equals_file("is", True)
    table_equals_file("mcmc", False)
    loo_is_exact()
    comparisons()
    blame_and_samples()
    print("failed" if failures else "files say what the table says")
sys.exit(failures > 0)
