"""Trained inference networks: training, files, questions."""

from __future__ import annotations

import copy
import json
import os
import sys
import time
from ctypes import byref, c_double, sizeof
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import errors
from ._lib import (Closable, Err, Handle, ModeStruct, NetworkOptions, Options, Picture, Progress, ProgressStruct,
                   ReportOptions, Using, Watch, as_dict, blob, call, decode, encode, error, figure_options, fn, new, path_bytes,
                   text, words)
from ._numpy import np
from ._simulator import Source
from .data import Array, DataLike, Points, Values, make_data, may_differ, one_by_one, reals
from .model import Factor, Model, _factors, _Simulating
from .posterior import Posterior, Posteriors, Verdict, sample, verdict_of

PathLike = Union[str, "os.PathLike[str]"]


class Network(Closable):
    """An inference network q(z | x) with its model.  Any number of threads may ask it at once.

    `data` of its methods is a data set (a dict), a list of them, the name of a file, or None: the
    data that the network was trained with.  nami.options("query"), ("evidence"), ("modes") and
    ("calibrate") describe the options.
    """

    def __init__(self, handle: Handle, source: Optional[Source] = None, report: str = "",
                 interrupted: bool = False) -> None:
        self._handle = handle
        self._source = source
        self.report = report
        """How training ended; "" if the network was loaded."""
        self.interrupted = interrupted
        """Was its training stopped before the end?"""

    # ---- files

    @classmethod
    def load(cls, path: PathLike, *, allow_simulator: bool = False, threads: int = 0) -> "Network":
        """Reads a file of save() or `nami train`.

        allow_simulator: calibrate() may run the program that the file names
        """
        options = NetworkOptions(sizeof(NetworkOptions), int(bool(allow_simulator)), _count(threads, "threads"))
        pointer = new("network_read", path_bytes(path), byref(options), file=os.fspath(path))
        return cls(Handle(pointer, fn.network_free, "network"))

    @classmethod
    def _parse(cls, data: bytes) -> "Network":
        options = NetworkOptions(sizeof(NetworkOptions), 0, 0)
        return cls(Handle(new("network_parse", data, len(data), byref(options)), fn.network_free, "network"))

    def save(self, path: PathLike) -> None:
        """Writes a safetensors file, all or nothing, for load() and all commands."""
        with Using(self._handle) as (net,):
            call("network_write", net, path_bytes(path), file=os.fspath(path))

    def to_bytes(self) -> bytes:
        """The file, in memory."""
        with Using(self._handle) as (net,):
            return blob("network_print", net)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Network._parse, (self.to_bytes(),)

    # ---- questions

    def with_model(self, model: Model, data: DataLike = None) -> "Network":
        """The network for a changed model: another prior or likelihood of the same variables.

        Draws are proposed by this network, and importance weights, evidence and Markov chains use the
        density of `model`, whose latents and observations must have the same names and shapes.
        `data` has the constants of `model`, if it needs any.
        """
        compiled = model._compile(make_data(data))
        with Using(self._handle, compiled) as (net, changed):
            pointer = new("network_with_model", net, changed)
        return Network(Handle(pointer, fn.network_free, "network", (self._handle, compiled)))

    def sample(self, data: DataLike = None, *, write: Union[None, PathLike, List[PathLike]] = None,
               progress: Any = None, **options: Any) -> Any:
        """Posterior draws: a Posterior; for a list or a file of many data sets, Posteriors.

        write: also to these files, as they are drawn: .nc (ArviZ), .npz, .csv (R), .json (summaries)
        Options: draws, method, predict, only, all, sets, seed, threads.
        """
        files = [] if write is None else [write] if isinstance(write, (str, os.PathLike)) else list(write)
        return sample(self._handle, data, [path_bytes(file) for file in files], progress,
                      Options(("query",), options))

    def log_prob(self, points: Values, data: DataLike = None, *, threads: int = 0) -> Union[float, Array]:
        """log q(z | x) at one point or n (arrays with leading dimension n)."""
        observed = make_data(data)
        with Using(self._design(observed), observed) as (net, d):
            given = d if d is not None else fn.network_data(net)
            if d is None and not fn.data_size(given):
                given = None
            x, single = Points(fn.network_model(net)).fill(points, given)
            out = np.empty(x.shape[1])
            call("network_log_q", net, x.shape[1], reals(x), _count(threads, "threads"), reals(out))
        return float(out[0]) if single else out

    def map(self, data: DataLike = None, *, progress: Any = None, **options: Any) -> "Modes":
        """Maximum a posteriori (MAP) estimates.

        Options: searches, unconstrained, sd, all, sets, seed, threads.
        """
        return Modes(self._ask("modes_new", fn.modes_free, "modes", data, progress, options), bool(options.get("sd")))

    def evidence(self, data: DataLike = None, *, progress: Any = None, **options: Any) -> "Evidence":
        """log p(x), the log marginal likelihood, of each data set.

        Options: draws, method, chains, temps, leapfrog, start, sets, seed, threads.
        """
        return Evidence(self._ask("evidence_new", fn.evidence_free, "evidence", data, progress, options))

    def calibrate(self, *, progress: Any = None, **options: Any) -> "Calibration":
        """Simulation-based calibration, coverage, TARP and recovery, on simulated data sets.

        Options: sets, draws, method, only, alpha, seed, threads.
        """
        chosen = Options(("calibrate",), options)
        with _Simulating(self._source), Watch(progress) as watch, Using(self._handle) as (net,):
            chosen["calibrate"].watch = watch.address
            pointer = new("calibration_new", net, chosen.at("calibrate"))
            handle = Handle(pointer, fn.calibration_free, "calibration", (self._handle,))
        return Calibration(handle)

    def plot(self, kind: str = "loss", data: DataLike = None, *, only: Union[None, str, Sequence[str]] = None,
             most: int = 0, **options: Any) -> Picture:
        """A figure: "loss", of the training; those of the posterior of a data set (Posterior.plot); or
        those of the calibration (Calibration.plot).

        only: variables or elements, "mu" or ["mu", "theta[3]"]
        most: panels, or rows of a forest plot; 0: the usual number
        options: those of sample() or calibrate(), which draw what is shown
        """
        if kind == "loss":
            if options:
                raise _unused(kind, options)
            with Using(self._handle) as (net,):
                return Picture(text("network_figure", net, encode(kind, "kind"), byref(figure_options(None, most))))
        if kind in words("plots"):
            if data is not None or most:
                raise _unused(kind, ["data" if data is not None else "most"])
            shown = only if only is None or isinstance(only, str) else ",".join(only)
            return self.calibrate(only=shown, **options).plot(kind)
        if kind not in words("figures"):
            raise errors.UsageError(f"no figure is called {kind!r}; there are {', '.join(words('figures'))}")
        posterior = self.sample(data, **options)
        first: Posterior = posterior[0] if isinstance(posterior, Posteriors) else posterior
        return first.plot(kind, only=only, most=most)

    def export(self, path: PathLike, data: DataLike = None, *, density: bool = False, name: Optional[str] = None) -> None:
        """Writes the network for other programs: one file of C99 (.c), or an ONNX model (.onnx).

        data: of an open network: the data set for whose sizes, constants and missing values it is
        density: .onnx from data and latents to log q, instead of from noise to draws
        name: of its functions; None: by the file of the model
        """
        file = path_bytes(path)
        to = {b".c": "c", b".onnx": "onnx"}.get(os.path.splitext(file)[1])
        if to is None or (density and to == "c"):
            raise errors.UsageError("a network is exported as .c, which has both directions" if to else
                                    f"a network is exported as .c or .onnx, not as {os.fspath(path)!r}")
        design = self._design(make_data(data))
        if data is not None and design is self._handle:
            raise errors.UsageError("data choose the sizes of an open network; this one has fixed sizes")
        with Using(design) as (net,), Watch() as watch:
            code = blob("network_export", net, (to + "-density" if density else to).encode(),
                        None if name is None else encode(name, "name"), watch.address)
        call("file_write", file, code, len(code), file=os.fspath(path))

    def write_report(self, path: PathLike, posterior: Optional[Posterior] = None,
                     calibration: Optional["Calibration"] = None, *, title: Optional[str] = None) -> None:
        """Writes a page (.html) about the network, which needs no other file.

        posterior: of this network: sample(...), the first data set
        calibration: of this network: calibrate()
        """
        with Using(self._handle, None if posterior is None else posterior._kept_handle(),
                   None if calibration is None else calibration._handle) as (net, post, found):
            options = ReportOptions(sizeof(ReportOptions), post, found, None if title is None else encode(title, "title"),
                                    None, None)
            page = blob("report_html", net, byref(options))
        call("file_write", path_bytes(path), page, len(page), file=os.fspath(path))

    def _design(self, data: Optional[Handle]) -> Handle:
        """The network for the sizes and missing values of the data, if it is open; else itself."""
        with Using(self._handle, data) as (net, d):
            if d is None or not fn.network_is_open(net):
                return self._handle
            with Watch() as watch:
                pointer = new("network_for", net, d, 0, watch.address)
            return Handle(pointer, fn.network_free, "network", (self._handle,))

    def _ask(self, name: str, free: Any, group: str, data: DataLike, progress: Any,
             keywords: Dict[str, Any]) -> List[Handle]:
        """The answer of all data sets; or, if they differ in size, that of each."""
        chosen = Options((group,), keywords)
        observed = make_data(data)

        def ask(one: Optional[Handle]) -> Handle:
            with Using(self._handle, one) as (net, d):
                return Handle(new(name, net, d, chosen.at(group)), free, group, (self._handle,))

        with Watch(progress) as watch:
            chosen[group].watch = watch.address
            try:
                return [ask(observed)]
            except errors.InputError:
                if observed is None or not may_differ(self._handle, observed):
                    raise
                sets = one_by_one(observed)
                return [ask(one) for one in sets[:chosen[group].sets or len(sets)]]

    # ---- what it is

    @property
    def factors(self) -> List[Factor]:
        """The factors of its inverse, in the order of sampling."""
        with Using(self._handle) as (net,):
            return _factors(fn.network_inverse(net), fn.model_structure(fn.network_model(net)))

    @property
    def settings(self) -> Dict[str, Any]:
        """How it was trained."""
        with Using(self._handle) as (net,):
            return as_dict(text("network_describe", net, b"settings"))

    def to_dict(self) -> Dict[str, Any]:
        """Factors, families, layers and parameters."""
        with Using(self._handle) as (net,):
            return as_dict(text("network_describe", net, b"json"))

    def __repr__(self) -> str:
        if self.closed:
            return "<closed network>"
        with Using(self._handle) as (net,):
            return (text("network_describe", net, b"text") + self.report).strip("\n")


def _unused(kind: str, options: Iterable[str]) -> errors.UsageError:
    return errors.UsageError(f"the figure {kind!r} takes no option {', '.join(repr(name) for name in options)}")


def _count(value: Any, name: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 0 <= value.__index__() < 2 ** 31:
        raise errors.UsageError(f"{name} must be a whole number, 0 or more")
    return int(value.__index__())


# ---- training --------------------------------------------------------------------------------

class Line:
    """A progress line on standard error, drawn anew ten times a second."""

    def __init__(self) -> None:
        self._next = self._start = time.monotonic()
        self._shown = False

    def __call__(self, p: Progress) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + 0.1
        known = [(name, getattr(p, name)) for name in ("loss", "valid") if getattr(p, name) == getattr(p, name)]
        share = min(p.done / p.total, 1.0) if p.total > 0 else 0.0
        bar = "#" * int(24 * share) + "." * (24 - int(24 * share))
        left = f"  {(now - self._start) * (1 / share - 1):.0f} s left" if 0 < share < 1 else ""
        numbers = "".join(f"  {name} {value:.4f}" for name, value in known)
        done = f"[{bar}] {100 * share:3.0f}%" if p.total > 0 else f"{p.done:.0f} steps"
        sys.stderr.write(f"\r\033[K{done}{numbers}{left}")
        sys.stderr.flush()
        self._shown = True

    def end(self) -> None:
        if self._shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def _steps(trainer: int, show: Optional[Callable[[Progress], Any]]) -> bool:
    """All steps; False if they were stopped by Ctrl-C or the progress function after a validation."""
    step, tell, progress, err = fn.trainer_step, fn.trainer_progress, ProgressStruct(), Err()
    more = 1
    try:
        while more:
            more = step(trainer, byref(err))
            if more < 0:
                raise error(err)
            if show is not None:
                tell(trainer, byref(progress))
                if show(Progress.of(progress)) and more:
                    raise errors.CanceledError(f"stopped after {progress.done:.0f} steps, before the first validation")
    except (KeyboardInterrupt, errors.CanceledError):
        if fn.trainer_valid(trainer) != fn.trainer_valid(trainer):
            raise
        return False
    return True


def _chosen_progress(progress: Any) -> Any:
    if progress is None:
        progress = bool(sys.stderr is not None and hasattr(sys.stderr, "isatty") and sys.stderr.isatty())
    if progress is True:
        return Line()
    if progress is not False and not callable(progress):
        raise errors.UsageError(f"progress must be True, False or a function, not a {type(progress).__name__}")
    return progress or None


def _check_log(log: Optional[PathLike]) -> None:
    """Before hours of training."""
    if log is None:
        return
    path = path_bytes(log)
    if not path.endswith((b".csv", b".json")):
        raise errors.UsageError(f"a log is a .csv or a .json file, not '{os.fspath(log)}'")
    call("file_check", path, file=os.fspath(log))


def train(model: Model, data: DataLike, progress: Any, log: Optional[PathLike],
          options: Dict[str, Any]) -> Network:
    """Model.train."""
    chosen = Options(("train", "invert"), options)
    show = _chosen_progress(progress)
    _check_log(log)
    observed = make_data(data)
    compiled = model._compile(observed)
    with model._simulating(), Using(compiled, observed) as (m, d):
        with Watch() as watch:
            chosen["train"].watch, chosen["train"].data = watch.address, d
            trainer = Handle(new("trainer_new", m, chosen.at("invert"), chosen.at("train")), fn.trainer_free,
                             "trainer", (compiled,))
        with Using(trainer) as (t,):
            if fn.trainer_objective(t) == b"elbo" and d is None and options.get("samples") is None:
                raise errors.UsageError("a model is learned from data; give them to train()")
            try:
                completed = _steps(t, show)
            finally:
                if isinstance(show, Line):
                    show.end()
            if log is not None:
                call("trainer_log", t, path_bytes(log), file=os.fspath(log))
            report = text("trainer_describe", t, b"text")
            net = Handle(new("trainer_network", t), fn.network_free, "network")
        trainer.close()
    if not completed and isinstance(show, Line):
        sys.stderr.write("stopped: the network is that of the best validation\n")
    return Network(net, model._source, report, not completed)


# ---- answers ---------------------------------------------------------------------------------

def _texts(describe: str, answers: List[Handle]) -> str:
    """The tables of answers."""
    out = []
    for i, answer in enumerate(answers):
        with Using(answer) as (pointer,):
            head = f"data set {i + 1} of {len(answers)}\n" if len(answers) > 1 else ""
            out.append(head + text(describe, pointer, b"text"))
    return "\n".join(out)


def _lists(describe: str, answers: List[Handle]) -> List[Dict[str, Any]]:
    """Their JSON, one entry for each data set."""
    out: List[Dict[str, Any]] = []
    for answer in answers:
        with Using(answer) as (pointer,):
            parsed = json.loads(text(describe, pointer, b"json"))
            out += parsed if isinstance(parsed, list) else [parsed]
    return [{**described, "set": i + 1} for i, described in enumerate(out)] if len(answers) > 1 else out


class Mode(NamedTuple):
    """A MAP estimate: its state ("maximum", or why there is none), and log p(x, z) there.

    sd: standard deviations by the Laplace approximation; empty without the option sd
    """

    state: str
    reason: Optional[str]
    log_p: float
    values: Dict[str, float]
    sd: Dict[str, float]

    def __getitem__(self, name: Any) -> Any:
        return self.values[name] if isinstance(name, str) else tuple.__getitem__(self, name)


class Modes:
    """MAP estimates: modes[0]["theta[3]"] of the first data set, modes["theta[3]"] for short."""

    def __init__(self, answers: List[Handle], with_sd: bool) -> None:
        self._text = _texts("modes_describe", answers)
        self._list = _lists("modes_describe", answers)
        self._modes: List[Mode] = []
        for answer in answers:
            with Using(answer) as (modes,):
                for i in range(fn.modes_sets(modes)):
                    self._modes.append(self._get(modes, i, self._list[len(self._modes)], with_sd))

    @staticmethod
    def _get(modes: int, number: int, described: Mapping[str, Any], with_sd: bool) -> Mode:
        mode, value, sd = ModeStruct(), c_double(), c_double()
        call("modes_get", modes, number, byref(mode))
        values, sds = {}, {}
        for name in (variable["name"] for variable in described["variables"]):
            call("modes_value", modes, number, name.encode(), byref(value),
                 byref(sd) if with_sd else None)
            values[name] = value.value
            if with_sd:
                sds[name] = sd.value
        return Mode(decode(mode.state), decode(mode.reason) or None, mode.log_p, values, sds)

    def __len__(self) -> int:
        return len(self._modes)

    def __iter__(self) -> Iterator[Mode]:
        return iter(self._modes)

    def __getitem__(self, which: Union[int, str]) -> Any:
        return self._modes[0][which] if isinstance(which, str) else self._modes[which]

    def to_dict(self) -> List[Dict[str, Any]]:
        """The table, parsed from JSON: one entry for each data set."""
        return copy.deepcopy(self._list)

    def __repr__(self) -> str:
        return self._text.rstrip("\n")


class Evidence:
    """Estimates of log p(x)."""

    def __init__(self, answers: List[Handle]) -> None:
        self._text = _texts("evidence_describe", answers)
        self._list = _lists("evidence_describe", answers)
        self.verdicts: List[Verdict] = []
        for answer in answers:
            with Using(answer) as (evidence,):
                self.verdicts += [verdict_of("evidence_verdict", evidence, i) for i in range(fn.evidence_sets(evidence))]

    @property
    def verdict(self) -> Verdict:
        """That of the first data set."""
        return self.verdicts[0]

    @property
    def log_evidence(self) -> Array:
        """log p(x) of each data set."""
        return np.array([v.log_evidence for v in self.verdicts])

    @property
    def se(self) -> Array:
        """Its standard error."""
        return np.array([v.log_evidence_se for v in self.verdicts])

    def __float__(self) -> float:
        if len(self.verdicts) != 1:
            raise TypeError(f"there are {len(self.verdicts)} data sets; use log_evidence")
        return self.verdicts[0].log_evidence

    def to_dict(self) -> List[Dict[str, Any]]:
        """The table, parsed from JSON: one entry for each data set."""
        return copy.deepcopy(self._list)

    def __repr__(self) -> str:
        return self._text.rstrip("\n")


class Calibration(Closable):
    """Is the network right about its uncertainty?"""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def _describe(self, as_: str) -> str:
        with Using(self._handle) as (calibration,):
            return text("calibration_describe", calibration, as_.encode())

    @property
    def calibrated(self) -> Optional[bool]:
        """None: there are too few effective draws to tell."""
        with Using(self._handle) as (calibration,):
            return {1: True, 0: False}.get(fn.calibration_verdict(calibration))

    def to_dict(self) -> Dict[str, Any]:
        """All results, parsed from JSON."""
        return as_dict(self._describe("json"))

    def plot(self, kind: str = "ecdf") -> Picture:
        """A picture: "ecdf", "ranks", "coverage", "tarp" or "recovery"."""
        if kind not in words("plots"):
            raise errors.UsageError(f"no plot is called {kind!r}; there are {', '.join(words('plots'))}")
        return Picture(self._describe(kind))

    def __repr__(self) -> str:
        return "<closed calibration>" if self.closed else self._describe("text").rstrip("\n")

    def _repr_svg_(self) -> str:
        return self.plot()
