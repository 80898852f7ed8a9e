#!/usr/bin/env python3
"""test_serve.py NAMI: the service: answers, forms, limits, bad and slow clients, replaced files, the end.

Uses the standard library alone.  Each case starts from a running service; `test_serve.py NAMI CASE...` runs some.
"""
import csv, io, json, os, signal, socket, subprocess, sys, tempfile, threading, time

NAMI, FOLDER = os.path.abspath(sys.argv[1]), tempfile.mkdtemp(prefix="nami-serve-test-")
os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
MODEL = "model { mu ~ normal(0, 2)\n for (i in 1:3) { y[i] ~ normal(mu, 1) } }\nobserve y\n"
OTHER = MODEL.replace("normal(0, 2)", "normal(50, 2)")
DATA = {"y": [1, 2, 0.5]}
FAILED = []


def check(ok, what):
    if not ok:
        FAILED.append(what)
        print("FAIL:", what, flush=True)


def train(name, model, *options):
    text, out = os.path.join(FOLDER, name + ".nami"), os.path.join(FOLDER, name + ".safetensors")
    with open(text, "w") as f:
        f.write(model)
    subprocess.run([NAMI, "train", text, "-o", out, "--quiet", *options], check=True, stdout=subprocess.DEVNULL)
    return out


class Service:
    def __init__(self, *arguments, env=None, preexec=None):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([NAMI, "serve", *arguments, "--port", "0"], stdout=subprocess.PIPE,
                                        stderr=self.log, text=True, env={**os.environ, **(env or {})},
                                        preexec_fn=preexec)
        address = self.process.stdout.readline().strip()
        if not address:
            self.log.seek(0)
            raise SystemExit("the service did not start: " + self.log.read())
        self.port = int(address.rstrip("/").rsplit(":", 1)[1])

    def connect(self, timeout=10):
        s = socket.create_connection(("127.0.0.1", self.port), timeout)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s

    def ask(self, method, target, body=None, headers=None, connection=None):
        s = connection or self.connect()
        send(s, method, target, body, headers)
        try:
            return receive(s, method)
        finally:
            if not connection:
                s.close()

    def post(self, target, data, **headers):
        body = data if isinstance(data, (bytes, str)) else json.dumps(data)
        return self.ask("POST", target, body, {k.replace("_", "-"): v for k, v in headers.items()})

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        code = self.process.wait(20)
        self.process.stdout.close()
        self.log.seek(0)
        text = self.log.read()
        check(code == 0, f"exit code {code}: {text[-2000:]}")
        check("Sanitizer" not in text and "runtime error" not in text, "sanitizer: " + text[-3000:])
        return [json.loads(line) for line in text.splitlines()]


def send(s, method, target, body=None, headers=None):
    body = body.encode() if isinstance(body, str) else body
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost"]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    lines += [f"{k}: {v}" for k, v in (headers or {}).items()]
    s.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b""))


def receive(s, method="GET"):
    """Status, headers, body; status 0 if the connection ended without an answer."""
    data = b""
    try:
        while b"\r\n\r\n" not in data:
            part = s.recv(65536)
            if not part:
                return 0, {}, data
            data += part
        head, body = data.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        headers = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])}
        n = 0 if method == "HEAD" else int(headers.get("content-length", 0))
        while len(body) < n:
            part = s.recv(65536)
            if not part:
                return 0, headers, body
            body += part
        return int(lines[0].split()[1]), headers, body
    except (ConnectionError, TimeoutError):
        return 0, {}, data


def error(answer):
    return json.loads(answer[2])["error"]["message"]


# ---- cases -------------------------------------------------------------------------------------------


def answers(s):
    """Numbers are those of `nami sample` with the same seed; all forms have them."""
    path = os.path.join(FOLDER, "data.json")
    with open(path, "w") as f:
        json.dump(DATA, f)
    said = json.loads(subprocess.run([NAMI, "sample", NET, "-d", path, "-n", "200", "--seed", "7", "--method", "adaptive",
                                      "--json"], capture_output=True, text=True).stdout)["sets"][0]
    status, headers, body = s.post("/networks/net/summary?draws=200&seed=7", DATA)
    got = json.loads(body)["sets"][0]
    check(status == 200 and headers["x-nami-verdict"] == "trusted", f"summary: {status}")
    for k, x in said["variables"]["mu"].items():
        check(abs(got["variables"]["mu"][k] - x) <= 1e-8 * abs(x), f"{k}: {got['variables']['mu'][k]} is not {x}")
    check(abs(got["log_evidence"] - said["log_evidence"]) < 1e-6, "evidence")
    draws = json.loads(s.post("/networks/net/draws?draws=200&seed=7", DATA)[2])["sets"][0]
    check(len(draws["variables"]["mu"]) == 200 == len(draws["log_q"]), "length of draws")
    mean = sum(draws["variables"]["mu"]) / 200  # equally weighted
    check(abs(mean - got["variables"]["mu"]["mean"]) < 1e-6, "the mean of the draws")
    table = list(csv.reader(io.StringIO(s.post("/networks/net/summary?draws=200&seed=7", DATA, Accept="text/csv")[2].decode())))
    check(table[0][:3] == ["set", "variable", "mean"] and abs(float(table[1][2]) - mean) < 1e-6, "summary as CSV")
    status, headers, body = s.post("/networks/net/draws?as=csv&draws=50", DATA)
    check(status == 200 and body.count(b"\n") == 51, f"draws as CSV: {status} {body[:200]}")
    status, headers, body = s.post("/networks/net/draws?draws=50", DATA, Accept="application/x-netcdf, */*;q=0.1")
    check(status in (200, 400) and (status == 400 or body[1:4] == b"HDF"), f"netCDF: {status} {body[:80]}")
    check(s.post("/networks/net/draws?as=npz&draws=50", DATA)[2][:2] == b"PK", "NPZ")
    point = {**DATA, "mu": 0.7}
    log_q = json.loads(s.post("/networks/net/log_q", [point, {**point, "mu": 30}])[2])["log_q"]
    check(len(log_q) == 2 and log_q[0] > log_q[1] and log_q[0] > -5, f"log q: {log_q}")
    check(s.post("/networks/net/log_q", DATA)[0] == 422, "log q without latents")
    many = json.loads(s.post("/networks/net/summary?draws=100", [DATA] * 5)[2])["sets"]
    check(len(many) == 5 and all(m["variables"] == many[0]["variables"] for m in many), "five equal data sets")
    evidence = json.loads(s.post("/networks/net/evidence", DATA)[2])["sets"][0]
    check("variables" not in evidence and evidence["log_evidence"] < 0, "evidence alone")


def pages_and_descriptions(s):
    check(s.ask("GET", "/healthz")[2] == b"ok\n" and s.ask("GET", "/readyz")[0] == 200, "health")
    api = json.loads(s.ask("GET", "/openapi.json")[2])
    check("/networks/{name}/draws" in api["paths"], "OpenAPI")
    about = json.loads(s.ask("GET", "/networks/net")[2])
    check(about["num_observed"] == 3 and about["latent"][0]["name"] == "mu", "a network described")
    check(s.post("/networks/net/summary", about["example"])[0] == 200, "its example")
    status, headers, body = s.ask("GET", "/networks/net", headers={"Accept": "text/html,*/*;q=0.8"})
    check(b"<!doctype html>" in body and "default-src 'none'" in headers["content-security-policy"], "its page")
    for path in ("/", "/static/style.css", "/static/page.js", "/networks"):
        check(s.ask("GET", path)[0] == 200 and s.ask("HEAD", path)[2] == b"", path)
    check(s.ask("GET", "/networks/net/report")[0] == 404, "no report yet")
    with open(NET.replace(".safetensors", ".html"), "w") as f:
        f.write("<!doctype html><title>report</title>")
    check(b"report" in s.ask("GET", "/networks/net/report")[2], "the report")
    metrics = s.ask("GET", "/metrics")[2].decode()
    check('nami_requests_total{route="networks",status="200"}' in metrics and "nami_batch_size_count" in metrics, "metrics")


def bad_requests(s):
    for status, method, target, body, headers in [
            (404, "GET", "/nowhere", None, {}), (404, "GET", "/networks/other", None, {}),
            (404, "GET", "/networks/../etc", None, {}), (400, "GET", "/%zz", None, {}), (400, "GET", "/%00", None, {}),
            (405, "GET", "/networks/net/draws", None, {}), (405, "POST", "/networks", "{}", {}),
            (405, "DELETE", "/networks/net", None, {}),
            (400, "POST", "/networks/net/summary?draw=1", "{}", {}), (400, "POST", "/networks/net/summary?draws=-1", "{}", {}),
            (400, "POST", "/networks/net/summary?draws=1e99", "{}", {}), (400, "POST", "/networks/net/summary?method=x", "{}", {}),
            (400, "POST", "/networks/net/summary?method=mcmc", json.dumps(DATA), {}),
            (400, "POST", "/networks/net/summary?as=nc", "{}", {}), (406, "POST", "/networks/net/summary", "{}", {"Accept": "image/png"}),
            (415, "POST", "/networks/net/summary", "{}", {"Content-Encoding": "gzip"}),
            (400, "POST", "/networks/net/summary", "", {}), (400, "POST", "/networks/net/summary", "[]", {}),
            (400, "POST", "/networks/net/summary", "y <- c(1, 2, 3)", {}), (400, "POST", "/networks/net/summary", '{"y": [1, 2}', {}),
            (400, "POST", "/networks/net/summary", b"\xff\xfe\x00{", {}), (400, "POST", "/networks/net/summary", "[" * 100000, {}),
            (422, "POST", "/networks/net/summary", "{}", {}), (422, "POST", "/networks/net/summary", '{"y": [1, 2]}', {}),
            (422, "POST", "/networks/net/summary", '{"y": [1, 2, null]}', {}),
            (422, "POST", "/networks/net/summary?draws=2000000000", json.dumps(DATA), {}),
            (422, "POST", "/networks/net/summary?only=zeta", json.dumps(DATA), {}),
            (403, "GET", "/networks", None, {"Host": "evil.example"})]:
        if headers.get("Host"):
            c = s.connect()
            c.sendall(b"GET /networks HTTP/1.1\r\nHost: evil.example\r\n\r\n")
            got = receive(c)
            c.close()
        else:
            got = s.ask(method, target, body, headers)
        check(got[0] == status, f"{method} {target} {str(body)[:40]}: {got[0]} instead of {status}: {got[2][:200]}")
        if got[0] != 200 and got[0]:
            check(len(error(got)) > 10, f"{target}: a message")
    c = s.connect()
    c.sendall(b"\x16\x03\x01 not HTTP at all\r\n\r\n")
    check(receive(c)[0] in (0, 400), "what is not HTTP")
    c.close()


def same_in_company(s):
    """An answer is the same, byte for byte, alone and among many that are evaluated together."""
    targets = ["/networks/net/summary?draws=100&seed=3", "/networks/net/draws?draws=64&seed=4", "/networks/net/summary?draws=100"]
    sets = [{"y": [0.1 * i, 1, 2]} for i in range(4)]
    alone = {(t, i): s.post(t, sets[i])[2] for t in targets for i in range(4)}
    bad, wrong = [], []

    def client(k):
        c = s.connect(30)
        for r in range(25):
            t, i = targets[(k + r) % 3], (k * 7 + r) % 4
            if r % 8 == 5:  # a bad one in the company of good ones
                bad.append(s.ask("POST", t, '{"y": [1]}', connection=c)[0])
            got = s.ask("POST", t, json.dumps(sets[i]), connection=c)
            if got[0] != 200 or got[2] != alone[t, i]:
                wrong.append((got[0], t))
        c.close()

    threads = [threading.Thread(target=client, args=(k,)) for k in range(16)]
    [t.start() for t in threads], [t.join() for t in threads]
    check(not wrong and bad == [422] * 48, f"{len(wrong)} answers differ: {wrong[:3]}; refusals: {bad}")
    largest = [line for line in s.ask("GET", "/metrics")[2].decode().splitlines() if line.startswith("nami_batch_size_bucket")]
    check(float(largest[0].split()[1]) < float(largest[-1].split()[1]), "some were evaluated together: " + str(largest))


def cut_and_idle(s):
    import resource
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 4000), most))
    many = [s.connect() for _ in range(min(most - 200, 1200))]  # silent ones
    for c in many[:300]:
        c.sendall(b"POST /networks/net/summary HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{\"y\"")
    for c in many[300:400]:  # asked, and gone
        send(c, "POST", "/networks/net/draws?draws=2000", json.dumps(DATA))
    for c in many[250:450]:
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        c.close()
    start = time.time()
    check(s.post("/networks/net/summary", DATA)[0] == 200, "an answer among many idle connections")
    check(time.time() - start < 20, "without delay")
    for c in many:
        c.close()


def many_at_once(s):
    """Connections that come together, and ask together, are all answered: none is forgotten."""
    for _ in range(3):
        clients = [s.connect(5) for _ in range(128)]
        for _ in range(2):
            for c in clients:
                send(c, "POST", "/networks/net/summary?draws=20", json.dumps(DATA))
            check([receive(c)[0] for c in clients] == [200] * 128, "128 at once")
        for c in clients:
            c.close()


def mutated_requests(s):
    """Requests to every path with some bytes changed, lost or repeated."""
    import random
    rng, found = random.Random(1), {}
    body = json.dumps([DATA, {**DATA, "mu": 1}]).encode()
    paths = [p.replace("{name}", "net") for p in json.loads(s.ask("GET", "/openapi.json")[2])["paths"]]
    for i in range(12 * len(paths)):
        path = paths[i % len(paths)]
        method = "POST" if path.rsplit("/", 1)[1] in ("summary", "draws", "evidence", "log_q") else "GET"
        query = "?draws=20&seed=1&as=json" if method == "POST" else ""
        raw = bytearray(f"{method} {path}{query} HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n"
                        f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        for _ in range(rng.randint(1, 2)):
            at, n = rng.randrange(len(raw)), rng.randint(0, 6)
            raw[at:at + n] = rng.choice([b"", bytes([rng.randrange(256)]), b"%", b"[" * 9, b"1e999", bytes(raw[at:at + 9]) * 2])
        with s.connect(0.2) as c:
            try:
                c.sendall(raw)
                c.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            status = receive(c)[0]
            found[status] = found.get(status, 0) + 1
    check(set(found) <= {0, 200, 400, 401, 403, 404, 405, 406, 408, 411, 413, 414, 415, 422, 431, 501, 505}, f"statuses: {found}")
    check(found.get(200) and found.get(400), f"statuses: {found}")
    check(s.post("/networks/net/summary", DATA)[0] == 200, "after all that")


def tokens(_):
    path = os.path.join(FOLDER, "token")
    with open(path, "w") as f:
        f.write("secret-1\n")
    for arguments, env in [(("--token-file", path), {}), ((), {"NAMI_TOKEN": "secret-1"})]:
        s = Service(NET, *arguments, env=env)
        for status, headers in [(200, {"Authorization": "Bearer secret-1"}), (401, {}), (401, {"Authorization": "Bearer secret-2"}),
                                (401, {"Authorization": "Bearer secret-1x"}), (401, {"Authorization": "Bearer "}),
                                (401, {"Authorization": "Basic secret-1"}), (401, {"Authorization": "Bearer secret"})]:
            got = s.ask("POST", "/networks/net/summary", json.dumps(DATA), headers)
            check(got[0] == status, f"{headers}: {got[0]}")
            check(s.ask("GET", "/networks", headers=headers)[0] == status, "the list of networks")
        check(s.ask("GET", "/healthz")[0] == 200 and s.ask("GET", "/")[0] == 200, "open without a token")
        with open(f"/proc/{s.process.pid}/cmdline") as f:
            check("secret" not in f.read(), "the token is not in the list of processes")
        s.end()
    refused = subprocess.run([NAMI, "serve", NET, "--address", "0.0.0.0", "--port", "0"], capture_output=True, text=True)
    check(refused.returncode == 2 and "token" in refused.stderr, "no token for other machines: " + refused.stderr)


def limits(_):
    s = Service(NET, "--max-body", "1000", "--max-draws", "500", "--timeout", "1", "--idle", "1", "--queue", "2",
                "--per-client", "2", "--threads", "1")
    c = s.connect()
    c.sendall(b"POST /networks/net/summary HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
    check(receive(c)[0] == 413, "a body that says it is too large")
    c.close()
    c = s.connect()
    chunk = b"400\r\n" + b" " * 0x400 + b"\r\n"
    c.sendall(b"POST /networks/net/summary HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk * 3 + b"0\r\n\r\n")
    check(receive(c)[0] == 413, "a body that does not say so")
    c.close()
    check(s.post("/networks/net/summary?draws=501", DATA)[0] == 422, "too many draws")
    check(s.post("/networks/net/summary?draws=300", [DATA] * 2)[0] == 422, "too many draws of all sets")
    c, slow = s.connect(), s.connect()
    start = time.time()
    slow.sendall(b"POST /networks/net/summary HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n")
    status = None
    for _ in range(20):
        try:
            slow.sendall(b" ")
        except OSError:
            break
        time.sleep(0.15)
    status = receive(slow)[0]
    check(status in (408, 0) and time.time() - start < 20, f"drop by drop: {status}")
    check(c.recv(10) == b"", "a silent connection is closed")
    c.close(), slow.close()
    found, lock = {}, threading.Lock()

    def client():
        status, headers, _ = s.post("/networks/net/draws?draws=500", DATA)
        with lock:
            found[status] = found.get(status, 0) + 1
            if status in (429, 503):
                check(headers.get("retry-after") == "1", "Retry-After")

    for _ in range(4):
        threads = [threading.Thread(target=client) for _ in range(30)]
        [t.start() for t in threads], [t.join() for t in threads]
    check(set(found) <= {200, 429, 503} and found.get(200) and found.get(429), f"too many at a time: {found}")
    log = s.end()
    check(any(line.get("status") == 413 for line in log), "the log")


def full_disk(_):
    import resource
    s = Service(NET, preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
    got = s.post("/networks/net/draws?as=csv&draws=5000", DATA)
    check(got[0] == 507 and "disk" in error(got), f"a full disk: {got[0]} {got[2][:100]}")
    check(s.post("/networks/net/summary", DATA)[0] == 200, "and it goes on")
    s.process.terminate()
    s.process.wait(10)
    s.process.stdout.close()
    gone = Service(NET, env={"TMPDIR": "/nowhere"})
    check(gone.post("/networks/net/draws?as=csv", DATA)[0] == 507, "no place for temporary files")
    gone.end()


def replaced_file(_):
    import shutil
    live = os.path.join(FOLDER, "live.safetensors")
    shutil.copy(NET, live)
    s, stop, wrong, means = Service(live), threading.Event(), [], set()

    def client():
        c = s.connect()
        while not stop.is_set():
            got = s.ask("POST", "/networks/live/summary?draws=100", json.dumps(DATA), connection=c)
            if got[0] != 200:
                wrong.append(got)
                return
            means.add(round(json.loads(got[2])["sets"][0]["variables"]["mu"]["mean"]))
        c.close()

    def version(n):
        for _ in range(100):
            if json.loads(s.ask("GET", "/networks/live")[2])["version"] == n:
                return True
            time.sleep(0.05)
        return False

    threads = [threading.Thread(target=client) for _ in range(4)]
    [t.start() for t in threads]
    with open(live + ".part", "wb") as f, open(SECOND, "rb") as g:
        f.write(g.read()[:-100])  # broken
    os.rename(live + ".part", live)
    time.sleep(1.2)
    check(json.loads(s.ask("GET", "/networks/live")[2])["version"] == 1, "a broken file changes nothing")
    shutil.copy(SECOND, live + ".part")
    os.rename(live + ".part", live)
    s.process.send_signal(signal.SIGHUP)
    check(version(2), "a new file is read")
    time.sleep(0.2)
    stop.set()
    [t.join() for t in threads]
    check(not wrong and len(means) == 2, f"answers while the file is replaced: {wrong[:2]} {means}")
    reloads = [line for line in s.end() if line["event"] == "reload"]
    check([r["level"] for r in reloads] == ["error", "info"] and "message" in reloads[0], f"the log says so: {reloads}")


def stop_under_load(_):
    for _ in range(3):
        s, lost, answered, lock = Service(NET), [], [0], threading.Lock()

        def client():
            try:
                c = s.connect(15)
            except OSError:
                return
            while True:
                try:
                    send(c, "POST", "/networks/net/summary?draws=500", json.dumps(DATA))
                except OSError:
                    return  # closed before it was sent
                status, headers, data = receive(c)
                with lock:
                    answered[0] += status == 200
                    if status not in (200, 0) or (status == 0 and data):
                        lost.append((status, data[:50]))
                if status == 0 or headers.get("connection") == "close":
                    return

        threads = [threading.Thread(target=client) for _ in range(20)]
        [t.start() for t in threads]
        time.sleep(0.3)
        log = s.end()
        [t.join() for t in threads]
        logged = [line for line in log if line["event"] == "request"]
        check(not lost and answered[0] > 20, f"stopped under load: {answered[0]} answers, {lost[:3]}")
        check(all(line["status"] == 200 and not line.get("cut") for line in logged),
              f"what was accepted was answered: {[l for l in logged if l['status'] != 200 or l.get('cut')][:3]}")
        check(len(logged) == answered[0], f"{len(logged)} accepted, {answered[0]} answers received")


def no_simulator(_):
    """The file of a network names a simulator, which leaves a trace when it runs: no request makes it run."""
    import shutil
    trace = os.path.join(FOLDER, "ran")
    shutil.copy("examples/ricker.py", FOLDER)
    with open("examples/models/ricker.nami") as f:
        model = f.read().replace("python3 ../ricker.py", "touch ran; python3 ricker.py")
    net = train("ricker", model, "--steps", "2", "--valid", "20", "--batch", "10", "--hidden", "4")
    check(os.path.exists(trace), "the simulator was run by the training")
    os.remove(trace)
    s = Service(net)
    about = json.loads(s.ask("GET", "/networks/ricker")[2])
    for what in ("summary", "draws", "evidence"):
        check(s.post("/networks/ricker/" + what, about["example"])[0] == 200, what)
    check(s.post("/networks/ricker/summary?method=is", about["example"])[0] == 422, "no weights without a density")
    s.end()
    check(not os.path.exists(trace), "no simulator was run by the service")


def bad_starts(_):
    for arguments, part in [([os.path.join(FOLDER, "none.safetensors")], "none"), ([NET, NET], "two networks"),
                            (["a b=" + NET], "NAME="), ([NET, "--methods", "magic"], "magic"), ([NET, "--port", "70000"], "65535"),
                            ([os.path.join(FOLDER, "net.nami")], "net.nami"), ([NET, "--token", ""], "empty")]:
        r = subprocess.run([NAMI, "serve", *arguments], capture_output=True, text=True, timeout=10)
        check(r.returncode == 2 and part in r.stderr, f"{arguments}: {r.returncode} {r.stderr}")


try:
    if "built without" in subprocess.run([NAMI, "serve", "x"], capture_output=True, text=True).stderr:
        sys.exit(77)
    NET = train("net", MODEL, "--steps", "300", "--exact", "none", "--hidden", "16")
    SECOND = train("second", OTHER)
    shared = [answers, pages_and_descriptions, bad_requests, same_in_company, many_at_once, mutated_requests, cut_and_idle]
    own = [tokens, limits, full_disk, replaced_file, stop_under_load, no_simulator, bad_starts]
    chosen = sys.argv[2:]
    service = Service(NET)
    for case in shared + own:
        if chosen and case.__name__ not in chosen:
            continue
        begun = time.time()
        case(service)
        print(f"{case.__name__}: {time.time() - begun:.1f} s", flush=True)
    service.end()
finally:
    subprocess.run(["rm", "-rf", FOLDER])
print(f"{len(FAILED)} failed")
sys.exit(bool(FAILED))
