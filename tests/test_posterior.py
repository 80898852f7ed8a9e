"""test_posterior.py TEST_POSTERIOR: do other people's tools read what NaMI writes?

xarray and netCDF4 (.nc), NumPy (.npz), csv, json, and R's posterior, where it is.  The numbers
are those of tests/posterior_at.h.  Exit status 77: a module is missing.
"""
import csv, json, math, os, shutil, subprocess, sys, tempfile, zipfile

try:
    import netCDF4
    import numpy as np
    import xarray as xr
except ImportError as e:
    print(f"SKIPPED: {e} (scripts/setup.sh test installs it)")
    sys.exit(77)

N = 203
PARTS = ["posterior", "posterior_predictive", "prior"]
VARS = {  # shape, is it an integer, first element
    "a": ((), False, 0),
    "y": ((3,), False, 1),
    "m": ((2, 3), False, 4),
    "k": ((2,), True, 10),
    "u": ((), True, 12),
    "e": ((2, 0), False, 13),
    "t.x": ((2, 1, 2), False, 13),
}
OF_PART = [list(VARS), ["y", "m"], ["a", "y", "m", "k"]]


def values(part, name, sets):
    """(set, draw, ...), with NaN for what is missing."""
    shape, integer, base = VARS[name]
    n = N // 2 + 1 if part == 2 else N
    i = np.arange(n * sets)[:, None]
    j = base + np.arange(math.prod(shape))[None, :]
    x = (1000.0 * j - i if integer else j + i / 8) + 100 * part
    x[(j == 12) & (i == 5)] = np.nan
    x[(j == 1) & (i == 0)] = np.inf
    x[(j == 2) & (i == 1)] = -np.inf
    x[(j == 3) & (i == 2)] = np.nan
    x[(j == 4) & (i == 3)] = np.nan
    return x.reshape((sets, n) + shape)


def stats(sets):
    i = np.arange(N * sets, dtype=float).reshape(sets, N)
    return {"log_weight": -i / 16, "log_p": -1 - i, "log_q": -1 - i + i / 16}


def observed(sets):
    s = np.arange(sets)
    return {
        "z": np.arange(4)[None, :] + 0.5 + s[:, None],
        "n": 40 + s,
        "holes": np.stack([50.0 + s, np.full(sets, np.nan)], 1),
    }


def same(a, b, what):
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape, (what, a.shape, b.shape)
    np.testing.assert_array_equal(a.astype(float), b.astype(float), err_msg=str(what))


def netcdf(path, sets):
    first = ["set"] if sets > 1 else []

    def fold(x, chain=True):  # to the file's axes
        x = x[:, None] if chain else x
        return x if sets > 1 else x[0]

    for part, group in enumerate(PARTS):
        ds = xr.open_dataset(path, group=group)
        s = 1 if group == "prior" else sets
        lead = (["set"] if s > 1 else []) + ["chain", "draw"]
        assert sorted(ds.data_vars) == sorted(OF_PART[part]), (group, ds.data_vars)
        assert ds.attrs["inference_library"] == "nami", ds.attrs
        assert ds.attrs["inference_library_version"][0].isdigit()
        assert ds.attrs["model"] == 'eight "schools".nami' and ds.attrs["seed"] == 17
        assert ("comment" in ds.attrs) == (group == "posterior")
        for name in ds.data_vars:
            shape, integer, base = VARS[name]
            want = values(part, name, s)
            dims = lead + [f"{name}_dim_{k}" for k in range(len(shape))]
            assert list(ds[name].dims) == dims, (name, ds[name].dims)
            same(ds[name].values, want[:, None] if s > 1 else want, (group, name))
            whole = integer and name != "u"  # u has a missing element: masked
            assert ds[name].dtype == (np.int64 if whole else np.float64), (name, ds[name].dtype)
            for d, n in zip(dims, ds[name].shape):
                if n:
                    assert ds.coords[d].dtype == np.int64
                    same(ds.coords[d].values, np.arange(n), d)
        ds.close()
    ds = xr.open_dataset(path, group="sample_stats")
    for ours, theirs in {"log_weight": "log_weight", "log_p": "lp", "log_q": "log_q"}.items():
        assert list(ds[theirs].dims) == first + ["chain", "draw"]
        same(ds[theirs].values, fold(stats(sets)[ours]), theirs)
    for name, value in {"khat": 0.25, "ess": 100, "log_evidence": -3.5, "ood_p": 0.5}.items():
        step = {"khat": 1, "ess": 0, "log_evidence": -1, "ood_p": 0}[name]
        assert list(ds[name].dims) == first
        same(ds[name].values, fold(value + step * np.arange(sets), False), name)
    assert "log_evidence_se" not in ds
    ds.close()
    ds = xr.open_dataset(path, group="observed_data")
    assert sorted(ds.data_vars) == ["holes", "n", "z"]
    for name, want in observed(sets).items():
        same(ds[name].values, fold(want, False), name)
    assert ds["n"].dtype == np.int64 and list(ds["z"].dims) == first + ["z_dim_0"]
    ds.close()

    nc = netCDF4.Dataset(path)  # what it looks like from below
    assert sorted(nc.groups) == sorted(PARTS + ["sample_stats", "observed_data"])
    assert not nc.variables and nc.inference_library == "nami" and "created_at" not in nc.ncattrs()
    u = nc["posterior/u"]
    assert u.dtype == np.int64 and u.missing_value == -(2**63) and u.chunking() == "contiguous"
    assert np.ma.getmaskarray(u[:]).sum() == 1
    assert "missing_value" not in nc["posterior/k"].ncattrs()
    nc.close()


def npz(path, sets):
    assert zipfile.ZipFile(path).testzip() is None
    z = np.load(path)
    want = {}
    for part, names in enumerate(OF_PART):
        for name in names:
            x = values(part, name, 1 if part == 2 else sets)
            want[("", "posterior_predictive/", "prior/")[part] + name] = x if len(x) > 1 else x[0]
    for group, arrays in [("", stats(sets)), ("observed_data/", observed(sets))]:
        want.update({group + k: x if sets > 1 else x[0] for k, x in arrays.items()})
    assert sorted(z.files) == sorted(want), z.files
    for name, x in want.items():
        same(z[name], x, name)
        integer = name in ("k", "prior/k", "observed_data/n")
        assert z[name].dtype == (np.int64 if integer else np.float64), (name, z[name].dtype)


def number(s):
    return {"NA": math.nan, "NaN": math.nan, "Inf": math.inf, "-Inf": -math.inf}.get(s) or float(s)


def table(path, sets):
    rows = list(csv.reader(open(path, newline="")))
    head, body = rows[0], rows[1:]
    assert len(body) == N * sets
    col = {h: [r[i] for r in body] for i, h in enumerate(head)}
    draw = [str(i % N + 1) for i in range(N * sets)]
    assert col[".chain"] == ["1"] * (N * sets) and col[".iteration"] == col[".draw"] == draw
    assert (".set" in col) == (sets > 1)
    if sets > 1:
        assert col[".set"] == [str(i // N + 1) for i in range(N * sets)]
    names = [".chain", ".iteration", ".draw"] + [".set"] * (sets > 1)
    names += [".log_weight", "lp__", "lp_approx__"]
    for theirs, x in zip([".log_weight", "lp__", "lp_approx__"], stats(sets).values()):
        same([number(s) for s in col[theirs]], x.ravel(), theirs)
    for name, (shape, integer, base) in VARS.items():
        want = values(0, name, sets).reshape((N * sets, -1))
        for e, sub in enumerate(np.ndindex(*shape)):
            h = name + (f"[{','.join(str(s + 1) for s in sub)}]" if shape else "")
            names.append(h)
            same([number(s) for s in col[h]], want[:, e], h)
            assert not integer or all("." not in s for s in col[h])
    assert head == names, head
    assert col["u"][5] == "NA" and col["y[3]"][2] == "NaN"


def summary(path, sets):
    s = json.load(open(path))
    assert s["draws"] == N and s.get("sets", 1) == sets
    assert s["settings"] == {"model": 'eight "schools".nami', "seed": 17}
    same(s["khat"], 0.25 + np.arange(sets) if sets > 1 else 0.25, "khat")
    assert "log_evidence_se" not in s
    assert list(s["variables"]) == list(VARS)
    for name, (shape, integer, base) in VARS.items():
        m = base + np.arange(math.prod(shape)).reshape(shape)
        if sets > 1:
            m = np.stack([m + 10 * k for k in range(sets)])
        v = s["variables"][name]
        for key, x in {"mean": m, "q5": m - 2, "q75": m + 1, "sd": m * 0 + 1}.items():
            same(v[key], x, (name, key))


R = """
if (!requireNamespace("posterior", quietly = TRUE)) quit(status = 77)
d <- posterior::as_draws_df(read.csv(commandArgs(TRUE)[1], check.names = FALSE))
stopifnot(posterior::ndraws(d) == 203, posterior::nchains(d) == 1)
stopifnot("m[2,3]" %in% posterior::variables(d), all(stats::weights(d, log = TRUE) <= 0))
stopifnot(dim(posterior::as_draws_rvars(d)$m) == c(2, 3))
"""


def r(path):
    if not shutil.which("Rscript"):
        return "no R"
    rc = subprocess.run(["Rscript", "-e", R, path]).returncode
    assert rc in (0, 77), rc
    return "R" if rc == 0 else "no R package posterior"


with tempfile.TemporaryDirectory() as tmp:
    run = subprocess.run([sys.argv[1], "to_folder"], env=dict(os.environ, NAMI_POSTERIOR=tmp),
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    for sets in 1, 3:
        if os.path.exists(f"{tmp}/{sets}.nc"):
            netcdf(f"{tmp}/{sets}.nc", sets)
        npz(f"{tmp}/{sets}.npz", sets)
        table(f"{tmp}/{sets}.csv", sets)
        summary(f"{tmp}/{sets}.json", sets)
    with_nc = "netCDF, " if os.path.exists(f"{tmp}/1.nc") else ""
    print(f"{with_nc}NPZ, CSV, JSON as they should be; {r(f'{tmp}/1.csv')}")
