#!/usr/bin/python3
"""verify/faults.py NAMI SHIM [calls] [outputs] [memory] [limits] [crash] [signals] [--every N] [--commands NAMES] [--kills N] [--seconds S] [--seed S]: what happens when
machines fail. SHIM is build/tests/faulty.so (tests/faulty.c), preloaded to make one call of a command fail.

    calls    every call of the file system in a training that resumes a network fails once, with ENOSPC, EIO, EINTR, a short count,
             and with a disk that stays full: the old file or the new one is there, complete; nothing else; a message and exit 3
    outputs  the same for the files that sample, run, report, plot, simulate, invert and export write
    memory   every N-th allocation of every command fails once: a message and exit 3, or the usual result; never a signal
    limits   memory, file descriptors, processor time and file size by ulimit: the same
    crash    the file after a power failure between any two calls of a checkpoint, with any part of what was not yet forced to
             disk lost: always the old one or the new one
    signals  SIGKILL, SIGTERM or SIGINT at a random moment of train, sample, run and reproduce: training and reproduce resume to
             the same bits; sample and run leave nothing

Without a name, all of them. Prints the number of cases of each; exit 1 if one fails."""
import argparse
import glob
import http.client
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MODEL = "model {\n  a ~ normal(0, 1)\n  s ~ gamma(2, 1)\n  for (i in 1:4) { y[i] ~ normal(a, s) }\n}\nobserve y\n"
DATA = '{"y": [-1, 0.5, 0.2, 1.5]}\n'
TABLES = """{"nodes": [{"name": "a", "states": ["y", "n"]}, {"name": "b", "states": ["y", "n"]}, {"name": "c", "states": ["y", "n"]}],
 "edges": [["a", "b"], ["c", "b"]], "observed": ["b"]}
"""
PPCA = """network dec : real[1] -> real[3] { dense(3) }
model {
  z[1] ~ normal(0, 1)
  a[1:3] <- dec(z[1:1])
  for (p in 1:3) { x[p] ~ normal(a[p], 0.5) }
}
observe x
learn dec
"""
OPEN = """const J in 2:6
model {
  mu ~ normal(0, 5)
  for (j in 1:J) { t[j] ~ normal(mu, 1) }
  for (j in 1:J) { y[j] ~ normal(t[j], 1) }
}
observe y
"""
SMALL = "--exact none --hidden 4 --valid 100 -q".split()
bad = []


def fault(what, r):
    bad.append(what)
    print("FAILED: %s: exit %d\n%s" % (what, r.returncode, r.stderr[-600:]), flush=True)


def run(cmd, env=None, limit=300, **kw):
    e = dict(os.environ, **(env or {}))
    try:
        return subprocess.run(cmd, env=e, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", timeout=limit, **kw)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(cmd, 999, "", "no end within %d s" % limit)


def shim(opt, call, at=0, how="", **more):
    return dict(LD_PRELOAD=opt.shim, FAULTY_CALL=call, FAULTY_AT=str(at), FAULTY_HOW=how, **more)


def content(path):
    with open(path, "rb") as f:
        return f.read()


def calls(opt):
    train = [opt.nami, "train", "line.nami", "-o", "f.net", "--resume", "--steps", "40", "-q"]
    old = content("n.net")
    shutil.copy("n.net", "f.net")
    run(train)
    new, n = content("f.net"), 0
    shutil.copy("n.net", "f.net")
    run(train, shim(opt, "all", FAULTY_COUNT="count"))
    total = int(content("count"))
    for how in ("ENOSPC", "EIO", "EINTR", "SHORT", "FOREVER"):
        for at in range(1, total + 1):
            shutil.copy("n.net", "f.net")
            r = run(train, shim(opt, "all", at, how))
            n += 1
            there, names = content("f.net"), sorted(glob.glob("f.net*"))
            what = "call %d of %d, %s" % (at, total, how)
            if there not in (old, new) or names != ["f.net"]:
                fault(what + ": " + ("the network is damaged" if there not in (old, new) else "left: %s" % names), r)
            elif r.returncode == 0 and there != new or r.returncode not in (0, 3) or r.returncode == 3 and "error: " not in r.stderr:
                fault(what, r)
            elif r.returncode == 3 and there == new and "not safe" not in r.stderr:
                fault(what + ": written, but the message does not say so", r)
            elif how in ("EINTR", "SHORT") and r.returncode and "clos" not in r.stderr and how == "SHORT":
                fault(what + ": not tried again", r)
            for name in names:
                os.unlink(name)
    print("calls: %d faults in %d calls of a checkpoint" % (n, total))


def outputs(opt):
    """As calls(), for commands that write answers: what is there afterwards is what was there or a complete new file."""
    cases, some = 0, commands(opt)
    cmds = {k: some[k] for k in ("sample", "run", "report", "plot")}
    for name in ("nc", "npz", "json"):
        cmds["sample " + name] = some["sample"][:-1] + ["x." + name]
    cmds["simulate"] = some["simulate"] + ["-o", "x.csv"]
    cmds["invert"] = some["invert"] + ["-o", "x.svg"]
    cmds["export"] = some["export C"] + ["-o", "x.c"]
    whole = {".html": "</html>", ".svg": "</svg>"}

    def clear():
        for f in set(glob.glob("*")) - inputs:
            os.unlink(f)
    inputs = set(glob.glob("*")) - set(glob.glob("x.*")) | {"count"}
    clear()
    for name, cmd in cmds.items():
        usual = run(cmd, shim(opt, "all", FAULTY_COUNT="count"))
        total, new = int(content("count")), {f: content(f) for f in set(glob.glob("*")) - inputs}
        if usual.returncode not in (0, 1) or not new:
            fault(name + ": without a fault", usual)
        clear()
        run(cmd)
        same = {f for f in new if os.path.exists(f) and content(f) == new[f]}  # others have a time in them
        clear()
        for how in ("ENOSPC", "EIO", "EINTR", "SHORT", "FOREVER"):
            for at in range(1, total + 1):
                for f in [f for f in new if not f.endswith(".safetensors")]:  # run would use it
                    with open(f, "w") as out:
                        out.write("old")
                r = run(cmd, shim(opt, "all", at, how))
                cases += 1
                what = "%s: call %d of %d, %s" % (name, at, total, how)
                left = set(glob.glob("*")) - inputs
                if not left <= set(new):
                    fault(what + ": left %s for %s" % (sorted(left), sorted(new)), r)
                for f in left & set(new):
                    now, end = content(f), whole.get(os.path.splitext(f)[1])
                    complete = now.rstrip().endswith(end.encode()) if end else now == new[f] if f in same else len(now) >= 0.9 * len(new[f])
                    if now != b"old" and not complete:
                        fault(what + ": %s is damaged" % f, r)
                    if r.returncode == usual.returncode != 3 and now == b"old":
                        fault(what + ": success, and %s is not written" % f, r)
                if not (r.returncode == usual.returncode or r.returncode == 3 and "error: " in r.stderr):
                    fault(what, r)
                clear()
    print("outputs: %d faults in the calls of %s" % (cases, ", ".join(cmds)))


def timeless(text):
    """Without the times of training, which differ."""
    return re.sub(r"[0-9.]+ (us|ms|s|min)\b", "", text)


def commands(opt):
    n = opt.nami
    c = {
        "invert": [n, "invert", "line.nami"],
        "check": [n, "check", "line.nami", "-n", "50"],
        "simulate": [n, "simulate", "line.nami", "-n", "5"],
        "train": [n, "train", "line.nami", "-o", "x.net", "--steps", "3"] + SMALL,
        "sample": [n, "sample", "n.net", "--data", "y.json", "-n", "30", "--method", "is", "-o", "x.csv"],
        "evidence": [n, "evidence", "n.net", "--data", "y.json", "-n", "30"],
        "map": [n, "map", "n.net", "--data", "y.json"],
        "calibrate": [n, "calibrate", "n.net", "-n", "20", "--draws", "10"],
        "run": [n, "run", "line.nami", "--data", "y.json", "--steps", "3", "-n", "100", "-o", "x.csv"] + SMALL,
        "report": [n, "report", "n.net", "--data", "y.json", "-n", "200", "-o", "x.html", "-q"],
        "plot": [n, "plot", "marginals", "n.net", "--data", "y.json", "-n", "200", "-o", "x.svg", "-q"],
        "exact": [n, "exact", "linear.nami", "--data", "b.json"],
        "logp": [n, "logp", "line.nami", "--at", "at.json"],
        "compare": [n, "compare", "line.nami", "line.nami"],
        "export": [n, "export", "line.nami", "--to", "json"],
        "export C": [n, "export", "n.net", "--to", "c"],
        "convert": [n, "convert", "g.json", "--to", "bif"],
        "list": [n, "list", "dists"],
        "completion": [n, "completion", "bash"],
        "help": [n, "help", "train"],
        "reproduce": [n, "reproduce", "tree", "--quick", "--runs", "1", "--only", "full", "--set", "epochs=1", "-o", "x.study", "-q"],
    }
    return c


def more_commands(opt):
    """Other ways and formats, for memory."""
    n, c = opt.nami, commands(opt)
    for end in ("nc", "npz", "json"):
        c["sample " + end] = c["sample"][:-1] + ["x." + end]
    for method in ("direct", "smc", "adaptive", "mcmc"):
        c["sample " + method] = [n, "sample", "n.net", "--data", "y.json", "-n", "30", "--method", method]
    for end in ("svg", "png", "dot", "json"):
        c["invert " + end] = c["invert"] + ["-o", "x." + end]
    for end in ("csv", "json", "npz"):
        c["simulate " + end] = c["simulate"] + ["-o", "x." + end]
    for to in ("jags", "dot"):
        c["export " + to] = [n, "export", "line.nami", "--to", to]
    c["export onnx"] = [n, "export", "n.net", "-o", "x.onnx"]
    for f in ("dot", "bif", "xmlbif", "uai", "net", "bnlearn", "dagitty", "edges"):
        c["convert " + f] = [n, "convert", "s." + f, "--to", "json"]
    c["sample open"] = [n, "sample", "open.net", "--data", "j.json", "-n", "30", "--method", "direct"]
    c["resume"] = [n, "train", "line.nami", "-o", "x.net", "--resume", "--steps", "3", "-q"]
    c["learn"] = [n, "train", "ppca.nami", "--data", "o.json", "-o", "x.net", "--steps", "3", "--batch", "2", "-q"]
    return c


def memory(opt):
    done, all = {}, 0
    for name, cmd in more_commands(opt).items():
        if opt.commands and name not in opt.commands.split(","):
            continue
        shutil.rmtree("out", ignore_errors=True)
        os.mkdir("out")
        usual = run(cmd)
        if usual.returncode not in (0, 1):
            fault(name + ": without a fault", usual)
        # Where memory fails, Graphviz may take all of its processor time: of its own allocations there is a sample.
        pictures = name in ("invert svg", "invert png")
        alone = {"FAULTY_ALONE": "1"} if name in ("run", "report") else {}
        clean = {"FAULTY_CLEAN": "x.study"} if name == "reproduce" else {"FAULTY_CLEAN": "x.net"} if name in ("train", "learn") else {}
        for f in clean.values():
            run(["rm", "-rf", f])
        run(cmd, shim(opt, "malloc", FAULTY_COUNT="count", **alone))
        total = int(content("count"))
        every = max(opt.every, total // min(opt.most, 100) if pictures else total // opt.most)
        first = random.Random(opt.seed).randrange(every) + 1 if every > 1 else 1
        there = set(glob.glob("*"))
        r = run(cmd, shim(opt, "malloc", 0, "ENOMEM", FAULTY_FORK="%d %d %d" % (first, total, every), FAULTY_OUT="out", **clean, **alone), limit=10**6)
        if r.returncode:
            fault(name + ": faulty.c", r)
        n = 0
        for line in content("out/status").decode().splitlines():
            at, status = line.split()
            code = os.waitstatus_to_exitcode(int(status))
            out, err = (content("out/%s.%s" % (at, w)).decode(errors="replace") for w in ("out", "err"))
            r = subprocess.CompletedProcess(cmd, code, out, err)
            n += 1
            if not (code == usual.returncode or code == 3 and "error: " in err):
                fault("%s: allocation %s of %d" % (name, at, total), r)
            elif code != 3 and timeless(out) != timeless(usual.stdout):
                fault("%s: allocation %s of %d: another answer:\n%s" % (name, at, total, out), r)
        left = set(glob.glob("*")) - there - set(clean.values())
        if left:
            fault("%s: left %s" % (name, sorted(left)), r)
        all += n
        done[name] = "%s %d of %d" % (name, n, total)
        print(done[name], file=sys.stderr, flush=True)
        for f in glob.glob("x.*"):
            if name != "train":
                run(["rm", "-rf", f])
        if name == "train":  # resume needs it
            run(cmd)
    if not opt.commands or "serve" in opt.commands.split(","):
        n = serve(opt)
        all += n
        done["serve"] = "serve %d of %d" % (n, n)
    print("memory: %d: %s" % (all, ", ".join(done.values())))


def serve(opt):
    """Allocations of the service, with three equal queries: of the answers at most one may be another, and SIGTERM ends it well."""
    def one(at):
        with open("serve.err", "w+") as log:
            p = subprocess.Popen([opt.nami, "serve", "n=n.net", "--port", "0", "--threads", "1"], stdout=subprocess.PIPE, stderr=log, text=True,
                                 env=dict(os.environ, **shim(opt, "malloc", at, "ENOMEM", FAULTY_COUNT="count")))
            address, answers = p.stdout.readline().strip(), []
            for _ in range(3 if address else 0):
                try:
                    c = http.client.HTTPConnection("127.0.0.1", int(address.rstrip("/").rsplit(":", 1)[1]), timeout=20)
                    c.request("POST", "/networks/n/summary?draws=20&method=is&seed=3", DATA, {"Accept": "application/json"})
                    r = c.getresponse()
                    answers.append((r.status, r.read()))
                    c.close()
                except (OSError, http.client.HTTPException):
                    answers.append(None)
            p.send_signal(signal.SIGTERM)
            try:
                code = p.wait(30)
            except subprocess.TimeoutExpired:
                p.kill()
                code = 999
            log.seek(0)
            return answers, subprocess.CompletedProcess(["serve"], code, "", log.read())
    usual, r = one(0)
    total = int(content("count"))
    if r.returncode or len(usual) != 3 or usual[0] is None or usual[0][0] != 200:
        fault("serve: without a fault: %s" % usual, r)
    ats = range(1, total + 1, max(opt.every, total // opt.most))
    for at in ats:
        answers, r = one(at)
        other = sum(a != u for a, u in zip(answers, usual))
        if not (r.returncode == 0 and len(answers) == 3 and other <= 1 or r.returncode == 3 and not answers and "error: " in r.stderr):
            fault("serve: allocation %d of %d: %s" % (at, total, answers), r)
    return len(ats)


def limits(opt):
    n = 0

    def under(kind, value):
        def set_limit():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(kind, (value, value))
        return set_limit
    some = {k: v for k, v in commands(opt).items() if k in ("invert", "train", "sample", "run", "exact", "convert", "evidence")}
    for name, cmd in some.items():
        usual = run(cmd).returncode
        for kind, word, values in ((resource.RLIMIT_AS, "memory", range(40 << 20, 240 << 20, 20 << 20)),
                                   (resource.RLIMIT_NOFILE, "descriptors", range(3, 9)), (resource.RLIMIT_FSIZE, "file size", (0, 100))):
            for v in values:
                r = run(cmd, preexec_fn=under(kind, v))
                n += 1
                loader = r.returncode == 127 or "error while loading" in r.stderr  # its libraries do not fit
                size = kind == resource.RLIMIT_FSIZE and r.returncode == -signal.SIGXFSZ
                if not (r.returncode == usual or r.returncode == 3 and "error: " in r.stderr or loader or size):
                    fault("%s: %s %d" % (name, word, v), r)
                left = [f for f in glob.glob("x.*") if f not in ("x.net", "x.csv", "x.html", "x.safetensors")]
                if left:
                    fault("%s: %s %d: left %s" % (name, word, v, left), r)
                for f in glob.glob("x.*"):
                    os.unlink(f)
    # Time: the system kills a training that never stops by itself; its last checkpoint, whichever that is, can be read and used.
    shutil.copy("n.net", "f.net")
    r = run([opt.nami, "train", "line.nami", "-o", "f.net", "--steps", "100000000", "--check", "100000000", "--save", "1"] + SMALL,
            preexec_fn=under(resource.RLIMIT_CPU, 2))
    n += 1
    if r.returncode != -signal.SIGKILL:
        fault("processor time: not killed", r)
    r = run([opt.nami, "sample", "f.net", "--data", "y.json", "-n", "30", "--method", "direct", "-o", "x.csv"])
    left = set(glob.glob("f.net?*")) - {"f.net.lock"}  # which the next training recognizes
    if r.returncode or left:
        fault("processor time: after it %s" % sorted(left), r)
    print("limits: %d" % n)


def replay(log):
    """The calls of a log of faulty.c: (name, arguments, bytes)."""
    at, out = 0, []
    while at < len(log):
        end = log.index(b"\n", at)
        word = log[at:end].decode().split(" ")
        at = end + 1
        data = b""
        if word[0] == "write":
            data = log[at:at + int(word[2])]
            at += int(word[2]) + 1
        out.append((word[0], word[1:], data))
    return out


def states(ops, old, target):
    """What the target may contain after a power failure behind each call: data that was not forced to disk may be lost from any
    point on, or be zeros; changes of names that were not forced to disk may have happened, or not."""
    for crash in range(len(ops) + 1):
        data, synced, name = b"", False, "old"
        possible = {("old", None)}
        for what, arg, more in ops[:crash]:
            if what == "write":
                data, synced = data + more, False
            elif what == "open" and arg[1] == "folder":
                name = "folder"
            elif what == "fsync" and name == "folder":
                possible = {p for p in possible if p[0] == "new"} or possible
            elif what == "fsync":
                synced = True
                possible = {(k, True if k == "new" else None) for k, v in possible}
            elif what == "rename" and arg[1] == target:
                possible.add(("new", synced))
        for kind, safe in possible:
            if kind == "old":
                yield crash, old
            elif safe:
                yield crash, data
            else:
                for part in (0, 1, len(data) // 2, len(data) - 1):
                    yield crash, data[:part]
                    yield crash, data[:part] + bytes(len(data) - part)


def crash(opt):
    shutil.copy("n.net", "f.net")
    if os.path.exists("log"):
        os.unlink("log")
    old = content("f.net")
    run([opt.nami, "train", "line.nami", "-o", "f.net", "--resume", "--steps", "40", "-q"], shim(opt, "none", FAULTY_LOG="log"))
    new = content("f.net")
    ops = replay(content("log"))
    seen, n = set(), 0
    for at, data in states(ops, old, "f.net"):
        n += 1
        seen.add(data)
    worse = any(d not in (old, new) for _, d in states([o for o in ops if o[0] != "fsync"], old, "f.net"))
    r = subprocess.CompletedProcess([], 0, "", "calls: " + " ".join(o[0] for o in ops))
    if not seen <= {old, new} or len(seen) != 2:
        fault("crash: a state that is neither the old file nor the new one", r)
    if not worse:
        fault("crash: the test does not notice that fsync() is missing", r)
    print("crash: %d states of %d calls, the old file or the new one in each" % (n, len(ops)))


def signals(opt):
    rng, done, resumed = random.Random(opt.seed), {}, 0
    train = [opt.nami, "train", "line.nami", "-o", "k.net", "--steps", "3000", "--patience", "1000", "--save", "1"] + SMALL
    study = [opt.nami, "reproduce", "tree", "--quick", "--runs", "1", "--only", "full,forward", "--set", "epochs=4", "-o", "k.study", "-q"]
    cmds = {"train": train, "sample": [opt.nami, "sample", "n.net", "--data", "y.json", "-n", "500000", "-o", "k.csv", "-q"],
            "run": [opt.nami, "run", "line.nami", "--data", "y.json", "--steps", "3000", "-q"], "reproduce": study}

    def clear():
        for f in glob.glob("k.*"):
            shutil.rmtree(f) if os.path.isdir(f) else os.unlink(f)

    def result():
        if os.path.isdir("k.study"):
            return {f: content(f) for f in sorted(glob.glob("k.study/**", recursive=True)) if os.path.isfile(f)}
        return content("k.net")
    whole, lasts = {}, {}
    for name in ("train", "sample", "run") + (("reproduce",) if opt.kills >= 100 else ()):
        clear()
        start = time.time()
        run(cmds[name], limit=600)
        lasts[name] = time.time() - start
        if name in ("train", "reproduce"):
            whole[name] = result()
    begin = time.time()
    for k in range(opt.kills):
        if time.time() - begin > opt.seconds:
            break
        name = list(lasts)[k % len(lasts)]
        sig = rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        clear()
        p = subprocess.Popen(cmds[name], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            p.communicate(timeout=rng.random() * lasts[name])
        except subprocess.TimeoutExpired:
            p.send_signal(sig)
        err = p.communicate()[1]
        r = subprocess.CompletedProcess(cmds[name], p.returncode, "", err)
        done[name] = done.get(name, 0) + 1
        if k % 50 == 49:
            print("%d signals, %.0f s" % (k + 1, time.time() - begin), file=sys.stderr, flush=True)
        what = "%s: %s" % (name, sig.name)
        left = [f for f in glob.glob("k.*") if not re.fullmatch(r"k\.(net|csv|html|study)", f)]
        if sig == signal.SIGKILL:  # a lock that nobody holds may stay
            left = [f for f in left if f != "k.net.lock"]
        if left or p.returncode not in (0, 1, 3, -sig):
            fault(what + ": left %s" % left, r)
        if name == "sample" and os.path.exists("k.csv") and p.returncode not in (0, 1):
            fault(what + ": an incomplete file", r)
        if name in whole:
            r = run(cmds[name] + (["--resume"] if name == "train" else []), limit=600)
            resumed += 1
            if result() != whole[name]:
                fault(what + ": other bits after it resumed", r)
    print("signals: %s; %d resumed to the same bits" % (", ".join("%s %d" % i for i in done.items()), resumed))


def main():
    parts = {"calls": calls, "outputs": outputs, "memory": memory, "limits": limits, "crash": crash, "signals": signals}
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("nami")
    ap.add_argument("shim")
    ap.add_argument("parts", nargs="*", choices=[[]] + list(parts))
    ap.add_argument("--every", type=int, default=1, metavar="N", help="every N-th allocation")
    ap.add_argument("--most", type=int, default=10**9, metavar="N", help="at most about N allocations of a command")
    ap.add_argument("--commands", metavar="NAMES", help="memory: of these commands alone")
    ap.add_argument("--kills", type=int, default=500)
    ap.add_argument("--seconds", type=float, default=float("inf"), help="no more kills after that time")
    ap.add_argument("--seed", type=int, default=1)
    opt = ap.parse_args()
    opt.nami, opt.shim = os.path.abspath(opt.nami), os.path.abspath(opt.shim)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        files = {"line.nami": MODEL, "y.json": DATA, "g.json": '{"nodes": ["a", "b", "c"], "edges": [["a", "b"], ["c", "b"]]}\n', "b.json": '{"b": 1}\n',
                 "linear.nami": "model {\n  a ~ normal(0, 1)\n  b ~ normal(a, 1)\n}\nobserve b\n",
                 "open.nami": OPEN, "j.json": '{"J": 4, "y": [1, 2, 0.5, 1]}\n', "tables.json": TABLES, "ppca.nami": PPCA, "o.json": '[{"x": [1, 2, 0.5]}, {"x": [0.1, -1, 0.3]}, {"x": [2, 2, 1]}]\n',
                 "at.json": '{"a": 0.1, "s": 1, "y": [-1, 0.5, 0.2, 1.5]}\n'}
        for name, text in files.items():
            with open(name, "w") as f:
                f.write(text)
        for to, name in (("dot", "dot"), ("bif", "bif"), ("xmlbif", "xmlbif"), ("uai", "uai"), ("hugin", "net"), ("bnlearn", "bnlearn"),
                         ("dagitty", "dagitty"), ("edges", "edges")):
            with open("s." + name, "w") as f:
                f.write(run([opt.nami, "convert", "tables.json", "--to", to]).stdout)
        r = run([opt.nami, "train", "line.nami", "-o", "n.net", "--steps", "20"] + SMALL)
        if not r.returncode:
            r = run([opt.nami, "train", "open.nami", "--data", "j.json", "-o", "open.net", "--steps", "3", "--exact", "none", "--valid", "50", "-q"])
        if r.returncode:
            sys.exit(r.stderr)
        for name in opt.parts or parts:
            parts[name](opt)
            sys.stdout.flush()
        os.chdir("/")
    sys.exit(1 if bad else 0)


main()
