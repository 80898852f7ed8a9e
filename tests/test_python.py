#!/usr/bin/env python3
"""test_python.py NAMI LIBRARY [unittest's arguments]: the Python package (python/nami) gives what the command
gives, bit for bit; misuse raises exceptions; objects may be shared by threads, pickled and closed."""

import copy
import gc
import io
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

try:
    import numpy as np
except ImportError:
    print("NumPy is not installed")
    sys.exit(77)

NAMI, LIBRARY = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ["NAMI_LIBRARY"] = LIBRARY
sys.path.insert(0, os.path.join(ROOT, "python"))
import nami  # noqa: E402

SCHOOLS = os.path.join(ROOT, "examples/models/schools.nami")
DATA = {"J": 8, "s": [15, 10, 16, 11, 9, 11, 10, 18], "y": [28, 8, -3, 7, -1, 1, 18, 12]}
LINE = """
model {
  a ~ normal(0, 1)
  b ~ normal(0, 1)
  for (i in 1:4) { y[i] ~ normal(a + b * (i - 2), 1) }
}
observe y
"""
QUICK = {"steps": 60, "check": 20, "valid": 250, "hidden": [8, 8], "exact": "none", "seed": 5}
SIMULATED = """
model { a ~ normal(0, 1); y[1:3] ~ simulated(a) }
observe y
"""


def simulate(rng, n):
    """A joint draw of SIMULATED."""
    a = rng.normal(size=n)
    return {"a": a, "y": a[:, None] + rng.normal(size=(n, 3))}


def command(*args):
    """What the command prints."""
    return subprocess.run([NAMI, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          encoding="utf-8").stdout


class Case(unittest.TestCase):
    """With a small network, made once."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.model = nami.Model(LINE)
        cls.net = cls.model.train(**QUICK)
        cls.y = {"y": [1.0, 2.0, 2.5, 3.0]}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)


class SameAsTheCommand(Case):
    """Python and the command run the same engine."""

    def setUp(self):
        self.file = self.path("schools.safetensors")
        self.json = self.path("schools.json")
        with open(self.json, "w", encoding="utf-8") as file:
            json.dump(DATA, file)
        self.options = ["--steps", 60, "--check", 20, "--valid", 250, "--seed", 5, "--hidden", "8,8", "--exact", "none"]

    def test_trained_network_and_draws(self):
        command("train", SCHOOLS, "--data", self.json, "-o", self.file, "-q", *self.options)
        net = nami.Model.read(SCHOOLS).train(DATA, **QUICK)
        loaded = nami.Network.load(self.file)
        self.assertEqual(net.settings, loaded.settings)
        theirs = self.path("draws.npz")
        printed = command("sample", self.file, "--data", self.json, "-n", 500, "--seed", 2, "-o", theirs)
        arrays = np.load(theirs)
        for n in (net, loaded):
            post = n.sample(DATA, draws=500, seed=2)
            self.assertEqual(repr(post).split("\n"), printed.split("\nwritten")[0].split("\n"))
            for name in ("mu", "tau", "theta"):
                ours = post[name]
                self.assertEqual(ours.tobytes(), arrays[name].reshape(ours.shape).tobytes())
        self.assertEqual(nami.Network.load(self.file).sample(DATA, draws=500, seed=2).to_dict(),
                         json.loads(command("sample", self.file, "--data", self.json, "-n", 500, "--seed", 2,
                                            "--json"))["sets"][0])
        self.assertEqual(repr(loaded.evidence(DATA, draws=500)) + "\n",
                         command("evidence", self.file, "--data", self.json, "-n", 500))
        self.assertEqual(repr(loaded.calibrate(sets=40)) + "\n", command("calibrate", self.file, "-n", 40))
        self.assertEqual(repr(loaded.map(DATA, searches=2)) + "\n",
                         command("map", self.file, "--data", self.json, "-n", 2))

    def test_changed_model(self):
        wide = LINE.replace("b ~ normal(0, 1)", "b ~ normal(1, 0.5)").replace("(i - 2), 1)", "(i - 2), 1.5)")
        path, net = self.path("wide.nami"), self.path("line.safetensors")
        with open(path, "w", encoding="utf-8") as file:
            file.write(wide)
        with open(self.json, "w", encoding="utf-8") as file:
            json.dump(self.y, file)
        self.net.save(net)
        changed = self.net.with_model(nami.Model(wide))
        self.assertEqual(repr(changed.sample(self.y, draws=500)) + "\n",
                         command("sample", net, "--model", path, "--data", self.json, "-n", 500))
        self.assertEqual(repr(changed.evidence(self.y)) + "\n", command("evidence", net, "--model", path, "--data", self.json))
        with self.assertRaisesRegex(nami.Error, "b, latent for the network, is not in the changed model"):
            self.net.with_model(nami.Model(LINE.replace("b ~ normal(0, 1)", "b <- 1")))
        with self.assertRaisesRegex(nami.Error, "cannot be written"):
            changed.to_bytes()

    def test_inverse(self):
        os.chdir(ROOT)
        inverse = nami.Model.read("examples/models/schools.nami").invert(DATA)
        self.assertEqual(repr(inverse) + "\n", command("invert", "examples/models/schools.nami", "--data", self.json))
        self.assertEqual(inverse.certificate, {"faithful": True, "minimal": True, "natural": True})
        self.assertEqual(str(inverse.factors[0]), "q(tau|" + ",".join(f"y[{j}]" for j in range(1, 9)) + ")")
        self.assertIn("<svg", inverse._repr_svg_())
        self.assertIn("faithful", inverse._repr_html_())

    def test_check_simulate_exact(self):
        model = nami.Model(LINE)
        path = self.path("line.nami")
        with open(path, "w", encoding="utf-8") as file:
            file.write(LINE)
        self.assertTrue(model.check(draws=200))
        self.assertEqual(repr(model.check(draws=200)).split("\n")[:4], command("check", path, "-n", 200).split("\n")[:4])
        draws = model.simulate(5, seed=3)
        theirs = np.loadtxt(io.StringIO(command("simulate", path, "-n", 5, "--seed", 3, "-q")), delimiter=",", skiprows=1)
        np.testing.assert_array_equal(np.column_stack([draws["a"], draws["b"], draws["y"]]), theirs)
        exact = model.exact(self.y)
        self.assertEqual(exact.kind, "gaussian")
        self.assertAlmostEqual(exact.log_evidence, self.net.sample(self.y, draws=4000).verdict.log_evidence, 1)

    def test_model_files_of_jags(self):
        model = nami.Model.read(os.path.join(ROOT, "examples/models/pumps.bug"))
        self.assertEqual(model.dialect, "bugs")
        inverse = model.invert(os.path.join(ROOT, "examples/models/pumps-data.R"))
        self.assertTrue(inverse.certificate["faithful"])


class Answers(Case):
    """Draws, weights, many data sets, densities."""

    def test_resampling_keeps_the_mean(self):
        post = self.net.sample(self.y, draws=4000)
        mean = float((np.exp(post.log_weight) * post.weighted["a"]).sum())
        self.assertAlmostEqual(post["a"].mean(), post.summary["a"]["mean"], 10)
        self.assertAlmostEqual(post["a"].std(ddof=1), post.summary["a"]["sd"], 10)
        self.assertAlmostEqual(post["a"].mean(), mean, 2)
        self.assertEqual(post["a"].shape, (4000,))
        self.assertEqual(set(post), {"a", "b"})
        self.assertIn("a", post)

    def test_many_data_sets_are_those_of_single_calls(self):
        sets = [self.y, {"y": np.arange(4)}, {"y": (0, 0, 0, 0)}]
        posts = self.net.sample(sets, draws=64, method="is")
        self.assertEqual(len(posts), 3)
        self.assertEqual(posts["a"].shape, (3, 64))
        self.assertEqual(len(posts.verdicts), 3)
        first = self.net.sample(self.y, draws=64, method="is")
        np.testing.assert_array_equal(posts[0].weighted["a"], first.weighted["a"])

    def test_densities(self):
        post = self.net.sample(self.y, draws=50, method="is")
        points = dict(post.weighted)
        log_q = self.net.log_prob(points, self.y)
        np.testing.assert_allclose(log_q, post.log_q, atol=1e-4)
        np.testing.assert_allclose(self.model.log_prob(points, self.y), post.log_p, rtol=1e-9)
        one = {name: array[0] for name, array in points.items()}
        self.assertAlmostEqual(self.net.log_prob(one, self.y), log_q[0], 5)

    def test_values_of_every_kind(self):
        expected = self.net.sample(self.y, draws=10)["a"]
        y = self.y["y"]
        for value in (tuple(y), np.array(y, dtype=np.float32), np.array(y)[::-1][::-1], np.array([y]).T[:, 0],
                      np.ma.array(y), [np.float64(v) for v in y]):
            np.testing.assert_array_equal(self.net.sample({"y": value}, draws=10)["a"], expected)

    def test_files_and_prediction(self):
        path = self.path("x.npz")
        post = self.net.sample(self.y, draws=30, predict=True, write=path)
        np.testing.assert_array_equal(np.load(path)["a"].ravel(), post["a"])
        self.assertEqual(post.predicted["y"].shape, (30, 4))

    def test_xarray(self):
        try:
            import xarray  # noqa: F401
        except ImportError:
            self.skipTest("xarray is not installed")
        tree = self.net.sample(self.y, draws=20, predict=True).to_xarray()
        self.assertEqual(dict(tree["posterior"]["a"].sizes), {"chain": 1, "draw": 20})
        self.assertEqual(tree["posterior_predictive"]["y"].dims, ("chain", "draw", "y_dim_0"))
        np.testing.assert_array_equal(tree["observed_data"]["y"], self.y["y"])
        many = self.net.sample([self.y, self.y], draws=20).to_xarray()
        self.assertEqual(many["posterior"]["a"].dims, ("set", "chain", "draw"))

    def test_constants_and_options(self):
        model = nami.Model("const n\nmodel { a ~ normal(0, 1); for (i in 1:n) { y[i] ~ normal(a, 1) } }\nobserve y",
                           constants={"n": 3})
        self.assertEqual(model.simulate(7)["y"].shape, (7, 3))
        self.assertIn("steps: number of training steps", nami.options("train"))
        self.assertEqual(self.net.settings["seed"] if "seed" in self.net.settings else 5, 5)


class Import(Case):
    """`import nami` does not wait for NumPy, and nobody notices."""

    def fresh(self, code):
        """What a process of its own prints, in the folder of the case."""
        done = subprocess.run([sys.executable, "-c", code], cwd=self.folder.name, capture_output=True, encoding="utf-8",
                              env=dict(os.environ, PYTHONPATH=os.path.join(ROOT, "python")))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_numpy_comes_with_the_first_array(self):
        self.assertEqual(self.fresh("""
import sys, typing, nami
print("numpy" in sys.modules, "numpy" in sys.modules or nami.Model("model { a ~ normal(0, 1) }").simulate(3)["a"].shape,
      typing.get_type_hints(nami.Posterior.__getitem__)["return"] is sys.modules["numpy"].ndarray)"""),
                         "False (3,) True\n")

    def test_first_used_by_threads_and_pickles(self):
        post = self.net.sample(self.y, draws=9)
        with open(self.path("post.pickle"), "wb") as file:
            pickle.dump((self.net, post, self.model), file)
        out = self.fresh("""
import pickle, sys, threading
net, post, model = pickle.load(open("post.pickle", "rb"))
barrier, shapes = threading.Barrier(8), []
def ask():
    barrier.wait()
    shapes.append(net.sample({"y": [1.0, 2.0, 2.5, 3.0]}, draws=9)["a"].tolist())
threads = [threading.Thread(target=ask) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print(len(shapes), all(s == post["a"].tolist() for s in shapes))""")
        self.assertEqual(out, "8 True\n")


class Figures(Case):
    """Pictures and reports of the library."""

    def test_png(self):
        picture = self.net.plot("loss")
        picture.save(self.path("loss.svg"))
        for name, more, paper in (("loss.png", {}, "#ffffff"), ("dark.png", {"dark": True, "zoom": 1}, "#1c1c1e")):
            picture.save(self.path(name), **more)
            subprocess.run([sys.executable, os.path.join(ROOT, "tests/figure_png.py"), self.path("loss.svg"),
                            self.path(name), str(more.get("zoom", 2)), paper], check=True)
        with open(self.path("dark.png"), "rb") as file:
            self.assertEqual(file.read(), picture.png(dark=True, zoom=1))
        self.assertEqual(nami.Picture(self.model.invert().svg()).png()[:4], b"\x89PNG")
        for wrong in (lambda: picture.png(zoom=0), lambda: picture.png(zoom="a"), lambda: picture.png(zoom=float("nan")),
                      lambda: picture.save(self.path("x.jpg")), lambda: picture.save(3), lambda: nami.Picture("x").png(),
                      lambda: picture.save(self.path("none/x.png")), lambda: nami.Picture("a\0b").png()):
            with self.assertRaises(nami.Error):
                wrong()

    def test_figures_and_report(self):
        from xml.dom import minidom
        post, calibration = self.net.sample(self.y, draws=200), self.net.calibrate(sets=20)
        for kind in ("marginals", "forest", "pairs", "predictive", "prior"):
            picture = post.plot(kind)
            minidom.parseString(picture)
            self.assertEqual(picture, post.plot(kind))
        self.assertEqual(post.plot(only=["a"]).count("<clipPath"), 1)
        self.assertIn("<svg", post.plot()._repr_svg_())
        self.assertRaisesRegex(nami.UsageError, "no figure is called 'pie'", post.plot, "pie")
        self.assertRaisesRegex(nami.UsageError, "is no variable", post.plot, only="zzz")
        self.assertRaisesRegex(nami.UsageError, "not of Markov chains", post.plot, "trace")
        self.assertRaises(nami.UsageError, post.plot, most=-1)
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.html")
            self.net.write_report(page, post, calibration, title="<&>")
            with open(page, encoding="utf-8") as file:
                text = file.read()
            self.assertIn("<h1>&lt;&amp;&gt;</h1>", text)
            self.assertIn('id="calibration"', text)
            self.net.write_report(page)
        many = self.net.sample([self.y, self.y], draws=100)
        self.assertIn("<svg", many[0].plot())
        self.assertRaisesRegex(nami.UsageError, "first data set", many[1].plot)
        self.assertRaisesRegex(nami.UsageError, "pickled", pickle.loads(pickle.dumps(post)).plot)


    def test_figures_of_a_network(self):
        self.assertIn("<svg", self.net.plot())  # of a network that has not been a file
        self.assertEqual(self.net.plot("loss"), nami.Network._parse(self.net.to_bytes()).plot("loss"))
        post = self.net.sample(self.y, draws=50)
        self.assertEqual(self.net.plot("forest", self.y, draws=50), post.plot("forest"))
        self.assertEqual(post.plot_pairs(["a", "b"]), post.plot("pairs"))
        self.assertEqual(self.net.plot("coverage", sets=20), self.net.calibrate(sets=20).plot("coverage"))
        for wrong in (lambda: self.net.plot("pie"), lambda: self.net.plot(3), lambda: self.net.plot("loss", draws=3),
                      lambda: self.net.plot("ecdf", self.y), lambda: self.net.plot("pairs", {"y": [1]}),
                      lambda: self.net.plot("trace", self.y), lambda: post.plot_pairs("zzz")):
            with self.assertRaises(nami.Error):
                wrong()


class Export(Case):
    """Networks that travel, as the command writes them."""

    def test_as_the_command(self):
        self.net.save(self.path("net.safetensors"))
        for name, more in (("x.c", ["--name", "me"]), ("x.onnx", ["--name", "me"]), ("y.onnx", ["--name", "me", "--density"])):
            command("export", self.path("net.safetensors"), "-o", self.path(name), *more)
            self.net.export(self.path("p" + name), name="me", density="--density" in more)
            with open(self.path(name), "rb") as a, open(self.path("p" + name), "rb") as b:
                self.assertEqual(a.read(), b.read())
        for wrong in (lambda: self.net.export("x.txt"), lambda: self.net.export(3), lambda: self.net.export("x.c", self.y),
                      lambda: self.net.export("x.c", density=True), lambda: self.net.export(self.path("none/x.c"))):
            with self.assertRaises(nami.Error):
                wrong()


class Open(unittest.TestCase):
    """Networks for data of any size."""

    def test_data_sets_of_different_sizes(self):
        model = nami.Model("const n in 1:9\nmodel { a ~ normal(0, 1); for (i in 1:n) "
                           "{ b[i] ~ normal(a, 1); y[i] ~ normal(b[i], 1) } }\nobserve y")
        sets = [{"n": 2, "y": [1, 2]}, {"n": 4, "y": [1, 0, 0, 3]}, {"n": 2, "y": [0, 0]}]
        net = model.train(sets[0], steps=4, batch=20, valid=20, designs=3, hidden=[4], exact="none", progress=False)
        options = {"draws": 40, "method": "is", "seed": 3}
        posts = net.sample(sets, **options)
        self.assertEqual([post["b"].shape for post in posts], [(40, 2), (40, 4), (40, 2)])
        self.assertEqual(posts["a"].shape, (3, 40))
        self.assertEqual([described["set"] for described in posts.to_dict()["sets"]], [1, 2, 3])
        self.assertEqual(len(posts.verdicts), 3)
        self.assertIn("data set 2 of 3", repr(posts))
        for given, post in zip(sets, posts):
            alone = net.sample(given, **options)
            np.testing.assert_array_equal(alone["b"], post["b"])
            np.testing.assert_allclose(net.log_prob(dict(alone.weighted), given), alone.log_q, atol=1e-4)
            self.assertEqual(repr(alone), repr(post))
            self.assertIn("<svg", post.plot())
        with tempfile.TemporaryDirectory() as folder:
            texts = []
            for given in sets[:2]:
                net.export(os.path.join(folder, "x.c"), given)
                with open(os.path.join(folder, "x.c"), encoding="utf-8") as file:
                    texts.append(file.read())
            self.assertNotIn('"y[3]"', texts[0])
            self.assertIn('"y[3]"', texts[1])
        with self.assertRaisesRegex(nami.UsageError, "differs in size"):
            posts["b"]
        with self.assertRaisesRegex(nami.UsageError, "differ in size"):
            posts.to_xarray()
        with self.assertRaisesRegex(nami.UsageError, "can hold only one"):
            net.sample(sets, write="x.nc")
        self.assertEqual(len(net.sample(sets, **options, sets=2)), 2)
        self.assertEqual(net.evidence(sets, draws=40).log_evidence.shape, (3,))
        self.assertEqual([len(mode.values) for mode in net.map(sets, searches=1)], [3, 5, 3])
        copied = pickle.loads(pickle.dumps(posts))
        self.assertEqual((repr(copied), copied["a"].shape), (repr(posts), (3, 40)))
        with self.assertRaises(nami.InputError):
            net.sample([{"n": 2, "y": [1, 2]}, {"n": 3, "y": [1, 2]}], draws=10)


class Training(Case):
    """Progress, and what stops it."""

    def stopped_at(self, step, what):
        seen = []

        def progress(p):
            seen.append(p)
            if p.done >= step:
                return what()
            return None
        net = nami.Model(LINE).train(progress=progress, **{**QUICK, "steps": 1000})
        self.assertLess(len(seen), 100)
        return net, seen

    def test_ctrl_c_keeps_the_best_network(self):
        def interrupt():
            raise KeyboardInterrupt
        net, seen = self.stopped_at(50, interrupt)
        self.assertTrue(net.interrupted)
        self.assertEqual(seen[0].phase, "train")
        net.sample(self.y, draws=10)
        with self.assertRaises(KeyboardInterrupt):
            self.stopped_at(5, interrupt)  # before the first validation

    def test_signal(self):
        script = ("import nami, sys, threading, time, os, signal\n"
                  "threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
                  f"net = nami.Model({LINE!r}).train(exact='none', steps=10000000, check=20, patience=10**6, valid=250, hidden=[8, 8])\n"
                  "print(net.interrupted, net.sample({'y': [1, 2, 3, 4]}, draws=10)['a'].shape)")
        result = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=True, encoding="utf-8",
                                env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")})
        self.assertEqual(result.stdout, "True (10,)\n")

    def test_progress_can_stop_and_fail(self):
        net, _ = self.stopped_at(50, lambda: True)
        self.assertTrue(net.interrupted)
        with self.assertRaises(ZeroDivisionError):
            self.stopped_at(50, lambda: 1 / 0)
        with self.assertRaises(ZeroDivisionError):
            self.net.sample(self.y, draws=10000, progress=lambda p: 1 / 0)
        with self.assertRaises(nami.CanceledError):
            self.net.sample(self.y, draws=10000, progress=lambda p: True)

    def test_line_and_log(self):
        stderr, sys.stderr = sys.stderr, io.StringIO()
        try:
            nami.Model(LINE).train(progress=True, log=self.path("log.csv"), **QUICK)
            shown = sys.stderr.getvalue()
        finally:
            sys.stderr = stderr
        self.assertIn("%", shown)
        self.assertTrue(os.path.exists(self.path("log.csv")))

    def test_simulator(self):
        model = nami.Model(SIMULATED, simulator=simulate)
        options = {"steps": 100, "check": 20, "valid": 250, "hidden": [8, 8]}
        net = model.train(**options)
        y = {"y": [1, 1, 1]}
        post = net.sample(y, draws=100)
        self.assertEqual(post["a"].shape, (100,))
        self.assertIsNone(post.log_weight)
        again = pickle.loads(pickle.dumps(model)).train(**options)
        np.testing.assert_array_equal(again.sample(y, draws=100)["a"], post["a"])
        self.assertIsNotNone(net.calibrate(sets=20, draws=80).to_dict())
        copied = pickle.loads(pickle.dumps(net))
        np.testing.assert_array_equal(copied.sample(y, draws=100)["a"], post["a"])
        with self.assertRaises(nami.UsageError):
            copied.calibrate(sets=20)

    def test_simulators_that_fail(self):
        def interrupt(rng, n):
            raise KeyboardInterrupt
        for function, kind in ((lambda rng, n: 1 / 0, ZeroDivisionError), (lambda rng, n: None, nami.InputError),
                               (lambda rng, n: {"a": np.zeros(n)}, nami.InputError),
                               (lambda rng, n: {"a": np.zeros(n), "y": np.zeros(n)}, nami.InputError),
                               (lambda rng, n: {"a": ["x"] * n, "y": np.zeros((n, 3))}, nami.InputError),
                               (lambda rng: None, TypeError), (interrupt, KeyboardInterrupt)):
            with self.assertRaises(kind):
                nami.Model(SIMULATED, simulator=function).train(steps=5)
        with self.assertRaises(nami.UsageError):
            nami.Model(SIMULATED, simulator=3)


    def test_structures(self):
        by_parents = nami.Model({"a": "normal(0, 1)", "y[1:3]": ["a"]}, observe="y", simulator=simulate)
        options = {"steps": 40, "check": 20, "valid": 250, "hidden": [8, 8]}
        post = by_parents.train(**options).sample({"y": [1, 1, 1]}, draws=100)
        expected = nami.Model(SIMULATED, simulator=simulate).train(**options).sample({"y": [1, 1, 1]}, draws=100)
        np.testing.assert_array_equal(post["a"], expected["a"])
        by_edges = nami.Model([("a", "c"), ("b", "c"), ("c", "d")], observe=["d"])
        self.assertEqual([str(factor) for factor in by_edges.invert().factors], ["q(c|d)", "q(b|c)", "q(a|b,c)"])
        self.assertEqual(pickle.loads(pickle.dumps(by_edges)).text, by_edges.text)
        for wrong in ({}, [], {"a": ["b"]}, {"a": 3}, {"a": "b"}, {3: []}, {"a b": []}, {"a": [], "b": [3]}, [("a",)],
                      ["ab"], [("a", 2)], {"a": ["a"]}, [("a", "b"), ("b", "a")], {"a": "nrmal(0, 1)"}, {"a; b": []},
                      {"a[": []}, {"y[1:x]": []}):
            with self.assertRaises(nami.Error, msg=repr(wrong)):
                nami.Model(wrong).invert()

    def test_tensors_of_pytorch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("PyTorch is not installed")
        expected = self.net.sample(self.y, draws=10)["a"]
        y = torch.tensor(self.y["y"])
        for value in (y, y.double(), y.double().requires_grad_(), y.half(), y.bfloat16()):
            np.testing.assert_array_equal(self.net.sample({"y": value}, draws=10)["a"], expected)
        tensor = torch.zeros(3, 2, dtype=torch.float64)
        self.assertEqual(nami.data.as_array("x", tensor).ctypes.data, tensor.data_ptr())  # no copy
        a = self.net.sample(self.y, draws=10).weighted["a"]
        self.assertEqual(torch.from_numpy(a).data_ptr(), a.ctypes.data)

        def in_torch(rng, n):
            return {name: torch.from_numpy(array) for name, array in simulate(rng, n).items()}
        options = {"steps": 20, "check": 20, "valid": 250, "hidden": [8]}
        posts = [nami.Model(SIMULATED, simulator=f).train(**options).sample({"y": [1, 1, 1]}, draws=10)["a"]
                 for f in (in_torch, simulate)]
        np.testing.assert_array_equal(*posts)
        with self.assertRaises(nami.InputError):
            self.net.sample({"y": torch.zeros(4, dtype=torch.complex64)})


class Misuse(Case):
    """Exceptions with a place and advice; never a crash."""

    def test_models(self):
        with self.assertRaises(nami.InputError) as caught:
            nami.Model("model {\n  x ~ nrmal(0, 1)\n}")
        error = caught.exception
        self.assertEqual((error.line, error.column), (2, 7))
        self.assertEqual(error.advice, "did you mean normal()?")
        self.assertIn("^", str(error))
        self.assertIsInstance(error, ValueError)
        self.assertEqual(pickle.loads(pickle.dumps(error)).column, 7)
        with self.assertRaises(nami.InputError):
            nami.Model.read(SCHOOLS).train()  # J has no value
        for text in (None, 3, b"model", "model { x ~ normal(0, 1) \0}", "\ud800"):
            with self.assertRaises(nami.UsageError):
                nami.Model(text)
        for text in ("model {", "model { x ~ }", "~"):
            with self.assertRaises(nami.InputError):
                nami.Model(text).invert()
        with self.assertRaises(nami.FileError) as caught:
            nami.Model.read("/no/such/file.nami")
        self.assertIsInstance(caught.exception, OSError)
        with self.assertRaises(nami.InputError):
            nami.Model.read(NAMI)
        with self.assertRaises(nami.UsageError):
            nami.Model(LINE, dialect="basic").check()

    def test_data(self):
        wrong = ({"y": [1, 2, 3]}, {"y": [[1, 2, 3], [4, 5, 6]]}, {"y": "abcd"}, {"y": [1, 2, 3, "4"]}, {"y": [1, [2], 3, 4]},
                 {"y": np.array([1j, 2, 3, 4])}, {"y": [1, 2, 3, 2 ** 60]}, {"y": [1, 2, 3, None]},
                 {"y": [1, 2, 3, np.nan]}, {}, {"x": 1}, {"y": np.zeros((1,) * 9)},
                 {"y": np.array(["a"] * 4)}, {"y": np.zeros(0)}, {"y": {}}, {"y": object()}, {"y": [object()] * 4},
                 {"y": np.ma.array(["a"] * 4)})
        with self.assertWarns(nami.NamiWarning):
            self.net.sample({"z": 1, **self.y}, draws=10)
        for values in wrong:
            with self.assertRaises(nami.Error, msg=repr(values)):
                self.net.sample(values)
        for values in (3, [1, 2], {1: 2}, [[]], [None], [], b"x", object(), {"y\0": 1}, "/no/such/file.json"):
            with self.assertRaises(nami.Error, msg=repr(values)):
                self.net.sample(values)
        with self.assertRaises(nami.Error):
            nami.Model.read(SCHOOLS).train({**DATA, "s": [1, 2]})

    def test_points(self):
        for points in ({}, {"a": 1}, {"a": 1, "b": [[1, 2]]}, {"a": [1, 2], "b": [1, 2, 3]}, {"a": 1, "b": 2, "c": 3},
                       {"a": [], "b": []}, 3, None, {"a": np.nan, "b": 1}):
            with self.assertRaises(nami.Error, msg=repr(points)):
                self.net.log_prob(points, self.y)
            with self.assertRaises(nami.Error, msg=repr(points)):
                self.model.log_prob(points, self.y)
        with self.assertRaises(nami.Error):
            self.net.log_prob({"a": 1, "b": 1})

    def test_options(self):
        with self.assertRaises(nami.UsageError) as caught:
            self.net.sample(self.y, drws=10)
        self.assertEqual(caught.exception.advice, "did you mean 'draws'?")
        for options in ({"draws": -1}, {"draws": 0}, {"draws": "x"}, {"draws": 2 ** 40}, {"method": "magic"},
                        {"seed": -1}, {"seed": 2 ** 64}, {"only": "nothing"}, {"draws": object()}, {"draws": 1.5},
                        {"only": "a\0b"}, {"write": "x.unknown"}, {"write": 3}, {"progress": 3}):
            with self.assertRaises((nami.Error, TypeError), msg=repr(options)):
                self.net.sample(self.y, **options)
        for options in ({"hidden": "x"}, {"family": 3}, {"rate": float("nan")}, {"steps": [1, 2]}, {"progress": "x"},
                        {"samples": "/no/such.npz"}, {"log": "x.txt", "steps": 1}):
            with self.assertRaises(nami.Error, msg=repr(options)):
                self.model.train(**{**QUICK, **options})
        with self.assertRaises(nami.UsageError):
            nami.options("nothing")
        self.model.train(**{**QUICK, "clip": 0, "steps": 2})

    def test_networks(self):
        path = self.path("broken.safetensors")
        whole = self.net.to_bytes()
        for data in (b"", b"x", whole[:100], whole[:-1], b"\0" * 1000):
            with open(path, "wb") as file:
                file.write(data)
            with self.assertRaises(nami.Error):
                nami.Network.load(path)
            with self.assertRaises(nami.Error):
                nami.Network._parse(data)
        for bad in (None, 3, "a\0b", "/no/such.net", self.folder.name):
            with self.assertRaises(nami.Error):
                nami.Network.load(bad)
        with self.assertRaises(nami.FileError):
            self.net.save("/no/such/folder/x.net")
        with self.assertRaises(nami.UsageError):
            nami.Network.load(path, threads=-1)

    def test_posteriors(self):
        post = self.net.sample(self.y, draws=10)
        for name in ("c", 3, None):
            with self.assertRaises(KeyError):
                post[name]
        with self.assertRaises(nami.UsageError):
            post.predicted
        with self.assertRaises(nami.UsageError):
            self.net.calibrate(sets=20).plot("pie")

    def test_closed_objects(self):
        net = nami.Network._parse(self.net.to_bytes())
        post = net.sample(self.y, draws=10)
        calibration = net.calibrate(sets=20)
        inverse = self.model.invert()
        with net, inverse:
            pass
        net.close()  # twice is once
        for use in (lambda: net.sample(self.y), lambda: net.save(self.path("x")), net.to_bytes, lambda: net.factors,
                    lambda: net.log_prob({}), net.map, net.evidence, net.calibrate, lambda: pickle.dumps(net),
                    inverse.svg, lambda: inverse.factors, lambda: inverse.certificate):
            with self.assertRaises(nami.ClosedError):
                use()
        self.assertEqual((repr(net), repr(inverse)), ("<closed network>", "<closed inverse>"))
        self.assertTrue(repr(post) and post.summary and repr(calibration))  # they keep what they need

    def test_not_made_by_the_package(self):
        net = nami.Network.__new__(nami.Network)
        with self.assertRaises(AttributeError):
            net.sample(self.y)
        net.close()
        with self.assertRaises(TypeError):
            pickle.dumps(self.model.invert())
        with self.assertRaises(TypeError):
            copy.deepcopy(self.net._handle)


class Life(Case):
    """Threads, pickles, forks, memory."""

    def test_threads_get_the_same_answers(self):
        expected = self.net.sample(self.y, draws=200, seed=1, threads=1)["a"]
        wrong = []

        def work():
            for _ in range(5):
                got = self.net.sample(self.y, draws=200, seed=1, threads=1)["a"]
                if not np.array_equal(got, expected):
                    wrong.append(got)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_closed_while_it_is_used(self):
        net = nami.Network._parse(self.net.to_bytes())
        outcomes = []

        def work():
            try:
                for _ in range(100):
                    net.sample(self.y, draws=500, threads=1)
            except nami.ClosedError:
                outcomes.append("closed")
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.05)
        net.close()
        for thread in threads:
            thread.join()
        self.assertEqual(outcomes, ["closed"] * 3)

    def test_pickles(self):
        net = pickle.loads(pickle.dumps(self.net))
        post = self.net.sample(self.y, draws=20)
        np.testing.assert_array_equal(net.sample(self.y, draws=20)["a"], post["a"])
        again = pickle.loads(pickle.dumps(post))
        np.testing.assert_array_equal(again["a"], post["a"])
        self.assertEqual((repr(again), again.summary, again.verdict), (repr(post), post.summary, post.verdict))
        model = copy.deepcopy(self.model)
        self.assertEqual((model.text, repr(model)), (LINE, LINE.strip("\n")))
        posts = pickle.loads(pickle.dumps(self.net.sample([self.y] * 2, draws=20)))
        self.assertEqual(posts["a"].shape, (2, 20))

    def test_fork(self):
        expected = self.net.sample(self.y, draws=50)["a"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            child = os.fork()
        if child == 0:
            good = False
            try:
                good = np.array_equal(self.net.sample(self.y, draws=50)["a"], expected)
                self.net.close()
            finally:
                os._exit(0 if good else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        np.testing.assert_array_equal(self.net.sample(self.y, draws=50)["a"], expected)

    def test_memory_does_not_grow(self):
        def resident():
            gc.collect()
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        def work(times):
            for _ in range(times):
                self.net.sample(self.y, draws=1000, threads=1)
                self.model.invert()
        work(50)
        before = resident()
        work(200)
        self.assertLess(resident() - before, 8e6)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
