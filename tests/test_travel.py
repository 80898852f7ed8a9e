#!/usr/bin/env python3
"""test_travel.py NAMI [MODEL...]: exported networks equal the engine: draws and log q of the C file are those of
`nami sample --method direct` with the same seed; the ONNX file is parsed by itself, field by field (test_onnx.mjs
runs it).  Networks are trained for a few steps: what is learned does not matter here."""
import csv, json, math, os, shutil, struct, subprocess, sys, tempfile

NAMI, ONLY = sys.argv[1], sys.argv[2:]
KEEP = os.environ.get("TRAVEL_DIR")
MODELS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "examples", "models")
DRAWS, SEED, NEAR = 64, 7, 1e-5
# model, how it is trained, other data: an open network is exported for their sizes
THREE = {"J": 3, "s": [15, 10, 16], "y": [28, 8, -3]}
GAPS = {"J": 5, "s": [15, 10, 16, 9, 7], "y": [28, None, -3, 8, None]}
CASES = [
    ("schools", []), ("schools", ["--family", "mixture"]), ("schools", ["--net", "made"]), ("pumps", []), ("hmm", []),
    ("student", []), ("schools", ["--open", "J=1:10"], THREE),
]
MORE = [ # with TRAVEL_ALL=1: make test-onnx
    ("schools", ["--family", "spline"]), ("schools", ["--family", "naf", "--components", "3"]), ("tree", []), ("gmm", []),
    ("dyes", []), ("gmm", ["--net", "messages"]), ("schools", ["--open", "J=1:10", "--missing", "0.3"], GAPS),
]
if os.environ.get("TRAVEL_ALL"): CASES += MORE
failed = 0


def ok(what, good, why=""):
    global failed
    if not good:
        failed += 1
        print(f"FAILED  {what}  {why}")


def run(*words, **more):
    return subprocess.run([str(w) for w in words], text=True, capture_output=True, **more)


def near(a, b):
    return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= NEAR * max(1, abs(a), abs(b))


def flat(x):
    return [y for e in x for y in flat(e)] if isinstance(x, list) else [x]


def data_of(source, data):
    """The numbers that the C file wants, by the names in it; those that are missing are not among them."""
    text = source[source.index("_data_name[] = {"):]
    names = json.loads("[" + text[text.index("{") + 1:text.index("}")] + "]") if '"' in text[:text.index("}")] else []
    shape = lambda x: [len(x)] + shape(x[0]) if isinstance(x, list) else []
    out = []
    for name in names:
        base, _, index = name.rstrip("]").partition("[")
        at = data[base]
        for k in index.split(",") if index else []:
            at = at[int(k) - 1]
        out.append(at)
    return out


def compare_c(case, net, data, of, dir):
    c, exe, table = dir + "/net.c", dir + "/net", dir + "/draws.csv"
    r = run(NAMI, "export", net, "-o", c, "-q", "--name", "net", *of)
    ok(f"{case}: is written as C", r.returncode == 0, r.stderr)
    if r.returncode: return
    r = run("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-DNAMI_MAIN", c, "-lm", "-o", exe)
    ok(f"{case}: compiles without warnings", r.returncode == 0, r.stderr[:2000])
    if r.returncode: return
    numbers = data_of(open(c).read(), data)
    open(dir + "/data.txt", "w").write(" ".join(map(str, numbers)))
    r = run(exe, DRAWS, SEED, input=" ".join(map(str, numbers)))
    mine = list(csv.DictReader(r.stdout.splitlines()))
    ok(f"{case}: draws", len(mine) == DRAWS, r.stderr)
    r = run(NAMI, "sample", net, "--method", "direct", "--draws", DRAWS, "--seed", SEED, "-q", "-o", table,
            *of)
    ok(f"{case}: the engine draws", r.returncode == 0, r.stderr)
    theirs = list(csv.DictReader(open(table)))
    worst = 0
    for a, b in zip(mine, theirs):
        for name in a:
            if name in ("log_q_again",): continue
            x = float(a[name] or "nan")
            y = float(b["lp_approx__" if name == "log_q" else name])
            worst = max(worst, abs(x - y) / max(1, abs(x), abs(y)))
        ok(f"{case}: log q in both directions", near(float(a["log_q"]), float(a["log_q_again"])),
           f"{a['log_q']} {a['log_q_again']}")
    ok(f"{case}: draws and log q are those of the engine", worst <= NEAR, f"differ by {worst:g}")
    print(f"{case}: {len(mine[0]) - 2} latents, largest relative difference {worst:.1e}")


# ---- ONNX: a reader of protocol buffers ----

def fields(b):
    """(number, value) of a message; the value is an int or bytes."""
    at = 0

    def varint():
        nonlocal at
        x = shift = 0
        while True:
            x |= (b[at] & 127) << shift
            at += 1
            shift += 7
            if not b[at - 1] & 128: return x
    while at < len(b):
        key = varint()
        if key & 7 == 0: yield key >> 3, varint()
        elif key & 7 == 2:
            n = varint()
            assert at + n <= len(b), "a message ends early"
            yield key >> 3, b[at:at + n]
            at += n
        elif key & 7 == 5:
            yield key >> 3, b[at:at + 4]
            at += 4
        else: raise AssertionError(f"wire type {key & 7}")


def check_onnx(case, net, of, dir, density):
    path = dir + ("/density.onnx" if density else "/net.onnx")
    r = run(NAMI, "export", net, "-o", path, "-q", *of, *(["--density"] if density else []))
    ok(f"{case}: is written as ONNX", r.returncode == 0, r.stderr)
    if r.returncode: return
    model = list(fields(open(path, "rb").read()))
    opset = [dict(fields(v)) for k, v in model if k == 8]
    ok(f"{case}: opset 17", opset and opset[0].get(2) == 17, opset)
    graph = list(fields(next(v for k, v in model if k == 7)))
    name = lambda v: dict(fields(v))[1].decode()
    known = {name(v) for k, v in graph if k == 11}
    inputs = set(known)
    for k, v in graph:
        if k != 5: continue
        f = list(fields(v))
        size = 1
        for i, d in f:
            if i == 1: size *= d
        raw = next((d for i, d in f if i == 9), b"")
        ok(f"{case}: sizes of constants", len(raw) == size * {1: 4, 7: 8, 11: 8}[dict(f)[2]])
        known.add(dict(f)[8].decode())
    made = 0
    for k, v in graph:
        if k != 1: continue
        f = list(fields(v))
        for i, d in f:
            if i == 1: ok(f"{case}: {d.decode()} is known before it is read", d.decode() in known)
        for i, d in f:
            if i == 2:
                ok(f"{case}: {d.decode()} is made once", d.decode() not in known)
                known.add(d.decode())
        made += 1
    outputs = [name(v) for k, v in graph if k == 12]
    ok(f"{case}: outputs", outputs == (["log_q"] if density else ["latents", "log_q"]), outputs)
    ok(f"{case}: outputs are made", all(o in known for o in outputs))
    ok(f"{case}: inputs", ("latents" if density else "data") in inputs and made > 0, inputs)


def main():
    dir = KEEP or tempfile.mkdtemp()
    os.makedirs(dir, exist_ok=True)
    for k, (model, how, *other) in enumerate(CASES):
        if ONLY and model not in ONLY: continue
        case = " ".join([model] + how)
        here = f"{dir}/{k}-{model}"
        os.makedirs(here, exist_ok=True)
        net, data = here + "/n.net", f"{MODELS}/{model}.json"
        r = run(NAMI, "train", f"{MODELS}/{model}.nami", "--data", data, "--exact", "none", "--steps", 20, "--threads", 1,
                "-q", "-o", net, *how)
        ok(f"{case}: trains", r.returncode == 0, r.stderr)
        if r.returncode: continue
        of = []
        if other:
            data = here + "/other.json"
            json.dump(other[0], open(data, "w"))
            of = ["--data", data]
        compare_c(case, net, json.load(open(data)), of, here)
        check_onnx(case, net, of, here, False)
        check_onnx(case, net, of, here, True)
    r = run(NAMI, "export", f"{dir}/0-schools/n.net", "--to", "c", "--data", f"{MODELS}/schools.json")
    ok("data for a network of fixed sizes", ONLY or (r.returncode == 2 and "its sizes are fixed" in r.stderr), r.stderr)
    if not KEEP: shutil.rmtree(dir)
    print("FAILED" if failed else "passed")
    return failed > 0


sys.exit(main())
