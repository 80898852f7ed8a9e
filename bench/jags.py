"""jags.py: JAGS from Python, for benchmarks: runs, effective sample sizes, summaries."""
import csv
import os
import resource
import shutil
import subprocess
import tempfile

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
MCSE = 0.02
NAMI = os.environ.get("NAMI", os.path.join(ROOT, "build/nami"))


def have():
    return shutil.which("jags") is not None


def run(command, cwd=None, limit=None):
    """Its output, and its seconds of processor time, at most `limit`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    p = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, text=True, preexec_fn=None if limit is None else
                       lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)))
    if p.returncode not in (0, 1):  # 1: an answer is not trusted
        raise subprocess.CalledProcessError(p.returncode, command)
    out = p.stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def export(model, data, to):
    """A model of ours for JAGS: to/model.bug and to/data.R."""
    run([NAMI, "export", model, "--data", data, "--to", "jags", "-o", os.path.join(to, "model.bug"),
         "--data-out", os.path.join(to, "data.R"), "--quiet"])


def dump(values, path):
    """Numbers and arrays as an R dump."""
    with open(path, "w") as f:
        for name, v in values.items():
            y = np.asarray(v)
            text = ", ".join("%.17g" % e for e in y.T.flatten())
            f.write("%s <- %s\n" % (name, "structure(c(%s), .Dim = c(%s))" % (text, ", ".join("%d" % d for d in y.shape))
                                    if y.ndim else text))


def sample(where, monitor, draws, chains=4, burnin=1000, thin=1, seed=1, inits=lambda f: None, modules=(), limit=None):
    """Draws (chain, draw, scalar) of where/model.bug with where/data.R; the scalars' names; seconds.
    inits writes initial values to a file."""
    script = ["load %s" % m for m in modules]
    script += ['model in "model.bug"', 'data in "data.R"', "compile, nchains(%d)" % chains]
    for c in range(1, chains + 1):
        with open(os.path.join(where, "inits%d.R" % c), "w") as f:
            f.write('".RNG.name" <- "base::Mersenne-Twister"\n".RNG.seed" <- %d\n' % (1000 * seed + c))
            inits(f)
        script.append('parameters in "inits%d.R", chain(%d)' % (c, c))
    script += ["initialize", "update %d" % burnin]
    script += ["monitor %s, thin(%d)" % (m, thin) for m in monitor]
    script += ["update %d" % (draws * thin), 'coda *, stem("out")']
    with open(os.path.join(where, "script"), "w") as f:
        f.write("\n".join(script) + "\n")
    text, seconds = run(["jags", "script"], cwd=where, limit=limit)
    index = []
    if os.path.exists(os.path.join(where, "outindex.txt")):
        with open(os.path.join(where, "outindex.txt")) as f:
            index = [line.split()[0] for line in f]
    if not index:
        raise RuntimeError("JAGS says:\n" + text)
    x = np.empty((chains, draws, len(index)))
    for c in range(chains):
        with open(os.path.join(where, "outchain%d.txt" % (c + 1))) as f:
            y = np.fromstring(f.read(), sep=" ").reshape(len(index), draws, 2)
        x[c] = y[:, :, 1].T
    return x, index, seconds


def ess(x):
    """Effective draws of x (chain, draw) for its mean, as Stan counts them: split chains, Geyer's initial
    monotone sequence of autocovariances (Vehtari et al. 2021). Also R-hat."""
    half = x.shape[1] // 2
    x = np.concatenate([x[:, :half], x[:, -half:]])
    m, n = x.shape
    centred = x - x.mean(axis=1, keepdims=True)
    size = 1 << (2 * n - 1).bit_length()
    f = np.fft.rfft(centred, size, axis=1)
    cov = np.fft.irfft(f * np.conj(f), size, axis=1)[:, :n] / n
    within = cov[:, 0].mean() * n / (n - 1)
    var = within * (n - 1) / n + x.mean(axis=1).var(ddof=1)
    rho = 1 - (within - cov.mean(axis=0) * n / (n - 1)) / var
    rho[0] = 1
    pair = rho[0:n - n % 2:2] + rho[1:n:2]
    stop = np.argmax(pair < 0) if (pair < 0).any() else len(pair)
    tau = -1 + 2 * np.minimum.accumulate(pair[:stop]).sum()
    return min(m * n / tau, m * n * np.log10(m * n)), float(np.sqrt(var / within))


def summary(x, index, path):
    """Means, sds and effective draws of x (chain, draw, scalar), also written to a CSV file. Warns of chains that are too
    short: a mean should have a Monte Carlo error of at most MCSE sds."""
    rows = []
    for k, scalar in enumerate(index):
        size, rhat = ess(x[:, :, k])
        rows.append((scalar, x[:, :, k].mean(), x[:, :, k].std(ddof=1), size, rhat))
    with open(path, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["variable", "mean", "sd", "ess", "rhat"])
        for r in rows:
            out.writerow([r[0], "%.6g" % r[1], "%.6g" % r[2], "%.0f" % r[3], "%.4f" % r[4]])
    worst = min(r[3] for r in rows)
    print("jags %-18s %d scalars, %d chains of %d draws: at least %.0f effective draws, R-hat at most %.4f%s"
          % (os.path.basename(path), len(rows), x.shape[0], x.shape[1], worst, max(r[4] for r in rows),
             "" if worst >= MCSE ** -2 else ": longer chains are needed"), flush=True)
    return worst >= MCSE ** -2


def read_summary(path):
    with open(path) as f:
        return {r["variable"]: {k: float(v) for k, v in r.items() if k != "variable"} for r in csv.DictReader(f)}


def workdir():
    return tempfile.TemporaryDirectory(prefix="nami-jags-")
