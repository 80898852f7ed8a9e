"""Models, their inverses, prior predictive checks and exact posteriors."""

from __future__ import annotations

import json
import os
import re
import threading
from ctypes import POINTER, byref, c_char_p, c_int, c_void_p, sizeof
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple, Union

from . import errors
from ._lib import (Closable, Err, Handle, InverseView, ModelOptions, Options, Using, Watch, as_dict, blob, call,
                   decode, encode, error, fn, new, path_bytes, text)
from ._numpy import np
from ._simulator import Simulator, Source
from .data import Array, DataLike, Points, Values, make_data, reals, take_draws

if TYPE_CHECKING:
    from .network import Network

_graphviz = threading.Lock()  # Graphviz allows one thread at a time

Structure = Union[Mapping[str, Any], Iterable[Tuple[str, str]]]
"""A graph: parents by node, {"y[1:3]": ["a", "b"]}, or edges, [("a", "y"), ("b", "y")]."""

_NODE = re.compile(r"([A-Za-z][A-Za-z0-9._]*)(\[[0-9:, ]+\])?")


def _node(name: Any) -> str:
    """The name of a node of a structure, without subscripts."""
    if not isinstance(name, str):
        raise errors.UsageError(f"names of variables must be str, not {type(name).__name__}: {name!r}")
    match = _NODE.fullmatch(name)
    if match is None:
        raise errors.InputError(f"{name!r} cannot be the name of a variable; it is a letter followed by letters, "
                                "digits, dots or underscores; sizes of arrays are written as in 'y[1:3]'")
    return match.group(1)


def _parents(name: str, given: Any) -> List[str]:
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise errors.UsageError(f"the parents of {name} must be a list of names, or a distribution such as "
                                f"'normal(0, 1)', not {given!r}")
    return [_node(parent) for parent in given]


def structure_text(structure: Structure) -> str:
    """The model of a graph: each node is simulated from its parents, or has the distribution that is given."""
    relations: Dict[str, Any] = {}
    if isinstance(structure, Mapping):
        for name, given in structure.items():
            base = _node(name)
            is_distribution = isinstance(given, str) and "(" in given
            relations[name] = given if is_distribution else _parents(base, given)
    else:
        for edge in structure:
            if not isinstance(edge, (tuple, list)) or len(edge) != 2:
                raise errors.UsageError(f"an edge must be a pair of names, (parent, child), not {edge!r}")
            parent, child = edge
            relations.setdefault(_node(parent), [])
            relations.setdefault(_node(child), []).append(parent)
    known = {_node(name) for name in relations}
    lines = []
    for name, given in relations.items():
        if not isinstance(given, str):
            unknown = [parent for parent in given if parent not in known]
            if unknown:
                raise errors.InputError(f"{unknown[0]} is a parent of {name}, but no node of the structure; add it: "
                                        f"{{{unknown[0]!r}: []}}")
            given = f"simulated({', '.join(dict.fromkeys(given))})"
        lines.append(f"  {name} ~ {given}\n")
    if not lines:
        raise errors.InputError("the structure has no nodes")
    return "model {\n" + "".join(lines) + "}\n"


class Model:
    """A generative model p(x, z), in NaMI's language or that of JAGS and BUGS.

    text: the model, see docs/language.md; or its structure, {"a": [], "y[1:3]": ["a"]} (parents by
        node; a text such as "gamma(2, 1)" is a distribution) or [("a", "y")] (edges), which can be
        inverted, and trained with a simulator
    name: what messages call it; relative paths in the model refer to its folder
    dialect: "nami" (default) or "bugs"
    observe: names of observed variables ("y,x[1:3]"), instead of those of the text
    constants: values of constants, instead of those of the text and the data
    simulator: a function (rng, n) that returns n joint draws of all random variables, arrays by
        name with leading dimension n; rng is a numpy.random.Generator.  The text then gives the
        structure, with `~ simulated(parents)` where a density is not known.

    The text is compiled with the data that a call is given: sizes of arrays may depend on them.
    Errors are raised then.  A model may be used by several threads at once, and pickled.
    """

    def __init__(self, text: Union[str, Structure], *, name: str = "model", dialect: Optional[str] = None,
                 observe: Union[None, str, List[str]] = None,
                 constants: Optional[Mapping[str, float]] = None,
                 simulator: Optional[Simulator] = None) -> None:
        if not isinstance(text, (str, bytes)) and hasattr(text, "__iter__"):
            text = structure_text(text)
        encode(text, "a model"), encode(name, "a name")  # type: ignore[arg-type]
        self.text: str = text  # type: ignore[assignment]
        self.name = name
        self.dialect = dialect
        self.observe = ",".join(observe) if isinstance(observe, (list, tuple)) else observe
        self.constants = dict(constants or {})
        self._source = None if simulator is None else Source(simulator)
        self._check_syntax()

    @classmethod
    def read(cls, path: Union[str, "os.PathLike[str]"], **options: Any) -> "Model":
        """The model of a file: .bug, .bugs, .jags and .txt as JAGS reads them, others as NaMI's own."""
        path_bytes(path)
        try:
            with open(path, encoding="utf-8") as file:
                content = file.read()
        except OSError as problem:
            raise errors.FileError(f"{os.fspath(path)}: {problem.strerror}") from None
        except UnicodeDecodeError:
            raise errors.InputError(f"{os.fspath(path)}: this is not a text file in UTF-8") from None
        if str(path).endswith((".bug", ".bugs", ".jags", ".txt")):
            options.setdefault("dialect", "bugs")
        options.setdefault("name", os.fspath(path))
        return cls(content, **options)

    @property
    def simulator(self) -> Optional[Simulator]:
        """The Python function that draws from it; None if there is none."""
        return self._source.function if self._source else None

    def _check_syntax(self) -> None:
        """Errors that no data can mend are raised at once."""
        try:
            self._compile(None)
        except errors.InputError as problem:
            if "expected " in problem.message or "is called" in problem.message:
                raise

    def _compile(self, data: Optional[Handle]) -> Handle:
        written = self.text + (self._source.declaration if self._source else "")
        options = ModelOptions(size=sizeof(ModelOptions))
        settings = [encode(f"{key}={float(value)!r}", "a constant") for key, value in self.constants.items()]
        array = (c_char_p * max(len(settings), 1))(*settings)
        options.set, options.num_set = array, len(settings)
        options.observe = None if self.observe is None else encode(self.observe, "observe")
        options.dialect = None if self.dialect is None else encode(self.dialect, "dialect")
        out, err, data_bytes = c_void_p(), Err(), encode(written, "a model")
        with Using(data) as (options.data,):
            rc = fn.model_parse(data_bytes, len(data_bytes), encode(self.name, "a name"), byref(options),
                                byref(out), byref(err))
        handle = Handle(out.value or 0, fn.model_free, "model")
        if rc < 0:
            raise error(err, decode(fn.model_messages(out)) if out.value else "")
        return handle

    def _make(self, data: DataLike, progress: Any, name: str, options: Options, group: str) -> Tuple[int, Handle]:
        """An object that nami_NAME makes of the model and a struct of options with a watch."""
        model = self._compile(make_data(data))
        with self._simulating(), Watch(progress) as watch, Using(model) as (m,):
            options[group].watch = watch.address
            return new(name, m, options.at(group)), model

    def _simulating(self) -> "_Simulating":
        return _Simulating(self._source)

    def invert(self, data: DataLike = None, **options: Any) -> "Inverse":
        """The inverse factorization of the model, with its certificate.

        Options: mode, method, criterion, barren, restarts, verify, seed, exact
        (nami.options("invert") describes them).
        """
        chosen = Options(("invert",), options)
        model = self._compile(make_data(data))
        with Using(model) as (m,):
            handle = Handle(new("model_invert", m, None, chosen.at("invert")), fn.inverse_free, "inverse", (model,))
        return Inverse(handle, self.name)

    def check(self, data: DataLike = None, *, progress: Any = None, **options: Any) -> "Check":
        """The prior predictive check: what makes it hard to learn from draws of the model, with advice.

        Options: draws, seed, threads.
        """
        pointer_, model = self._make(data, progress, "check_new", Options(("check",), options), "check")
        handle = Handle(pointer_, fn.check_free, "check", (model,))
        with Using(handle) as (check,):
            return Check(fn.check_problems(check), decode(fn.check_messages(check)),
                         text("check_describe", check, b"text"), text("check_describe", check, b"json"))

    def simulate(self, draws: int = 1000, data: DataLike = None, *, progress: Any = None,
                 **options: Any) -> Dict[str, Array]:
        """Joint draws of all random variables: arrays (draw, ...) by name.

        Options: only, all, seed, threads.
        """
        chosen = Options(("simulate",), {"draws": draws, **options})
        pointer_, model = self._make(data, progress, "model_draws", chosen, "simulate")
        try:
            return take_draws(pointer_)
        finally:
            model.close()

    def log_prob(self, points: Values, data: DataLike = None, *, threads: int = 0) -> Union[float, Array]:
        """log p(x, z) with all normalizing constants, at one point or n (leading dimension n).

        Observed variables come from the data, if the points do not give them.
        """
        observed = make_data(data)
        model = self._compile(observed)
        with Using(model, observed) as (m, d):
            x, single = Points(m).fill(points, d)
            out = np.empty(x.shape[1])
            call("model_logp", m, x.shape[1], reals(x), int(threads), reals(out), None)
        return float(out[0]) if single else out

    def exact(self, data: DataLike = None, *, progress: Any = None, **options: Any) -> "Exact":
        """The exact posterior, if the model is linear Gaussian or discrete.

        Options: draws, all, mpe, only, limit, seed, threads.
        """
        chosen = Options(("exact",), options)
        observed = make_data(data)
        model = self._compile(observed)
        with Watch(progress) as watch, Using(model, observed) as (m, d):
            chosen["exact"].watch = watch.address
            handle = Handle(new("exact_new", m, d, 0, chosen.at("exact")), fn.exact_free, "posterior", (model,))
        return Exact(handle)

    def train(self, data: DataLike = None, *, progress: Union[None, bool, Callable[[Any], Any]] = None,
              log: Union[None, str, "os.PathLike[str]"] = None, **options: Any) -> Network:
        """Trains an inference network on draws of the model: a Network.

        progress: True or False: a line on standard error, or none (default: if it is a terminal);
            or a function of an object with done, total, loss, valid, rate, whose true result stops
            the training
        log: a .csv or .json file for the losses
        options: those of the command: family, net, hidden, steps, batch, rate, seed, threads, ...
            and of the inversion: mode, exact, ... (nami.options("train") describes them)

        Ctrl-C stops the training and keeps the network of the best validation; before the first
        validation, it is raised.
        """
        from .network import train  # the modules know each other
        return train(self, data, progress, log, options)

    def __repr__(self) -> str:
        return self.text.strip("\n")

    def __reduce__(self) -> Tuple[Any, ...]:
        return _model, (self.text, self.name, self.dialect, self.observe, self.constants, self.simulator)


def _model(text_: str, name: str, dialect: Any, observe: Any, constants: Any, simulator: Any) -> Model:
    return Model(text_, name=name, dialect=dialect, observe=observe, constants=constants, simulator=simulator)


class _Simulating:
    """What a Python simulator raises is raised instead of the library's error."""

    def __init__(self, source: Optional[Source]) -> None:
        self._source = source

    def __enter__(self) -> None:
        if self._source:
            self._source.exception = None

    def __exit__(self, kind: Any, problem: Any, trace: Any) -> None:
        if self._source and problem is not None:
            self._source.reraise()


class Factor(NamedTuple):
    """q(node | parents).  kind: "network", "model" (the model's own), or that of an exact factor."""

    node: str
    parents: Tuple[str, ...]
    kind: str

    def __str__(self) -> str:
        given = "|" + ",".join(self.parents) if self.parents else ""
        return f"{'q' if self.kind == 'network' else 'p'}({self.node}{given})"


_PROVED = {1: True, 0: False, -1: None}


class Inverse(Closable):
    """An inverse factorization q(z | x).  In a notebook: model and inverse side by side."""

    def __init__(self, handle: Handle, name: str) -> None:
        self._handle = handle
        self._name = name

    def _describe(self, as_: str, width: int = 88, show: Optional[str] = None) -> bytes:
        view = InverseView(size=sizeof(InverseView), file=encode(self._name), width=width,
                           show=None if show is None else encode(show))
        with Using(self._handle) as (inverse,):
            if as_ in ("svg", "png", "dot"):
                with _graphviz:
                    return blob("inverse_describe", inverse, as_.encode(), byref(view))
            return blob("inverse_describe", inverse, as_.encode(), byref(view))

    def _ask(self, name: str) -> Any:
        with Using(self._handle) as (inverse,):
            return getattr(fn, "inverse_" + name)(inverse)

    @property
    def certificate(self) -> Dict[str, Optional[bool]]:
        """What was proved: faithful, minimal, natural; None: not checked."""
        return {name: _PROVED.get(self._ask(name)) for name in ("faithful", "minimal", "natural")}

    @property
    def mode(self) -> str:
        """The inversion mode."""
        return decode(self._ask("mode"))

    @property
    def edges(self) -> int:
        """The number of edges into network and exact factors."""
        out: int = self._ask("edges")
        return out

    @property
    def width(self) -> int:
        """The size of the largest parent set."""
        out: int = self._ask("width")
        return out

    @property
    def factors(self) -> List[Factor]:
        """The factors, in the order of sampling."""
        with Using(self._handle) as (inverse,):
            model = self._handle._parents[0][0]
            with Using(model) as (m,):
                return _factors(inverse, fn.model_structure(m))

    def to_dict(self) -> Dict[str, Any]:
        """The inverse as JSON (docs/formats.md), parsed."""
        return as_dict(self._describe("json").decode())

    def svg(self) -> str:
        """Model and inverse as an SVG picture."""
        return self._describe("svg").decode()

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes .svg, .png, .dot or .json."""
        ending = os.path.splitext(os.fspath(path))[1][1:]
        if ending not in ("svg", "png", "dot", "json"):
            raise errors.UsageError(f"an inverse is saved as .svg, .png, .dot or .json, not '{ending}'")
        data = self._describe(ending)
        call("file_write", path_bytes(path), data, len(data), file=os.fspath(path))

    def __repr__(self) -> str:
        return "<closed inverse>" if self.closed else self._describe("text").decode().rstrip("\n")

    def _repr_svg_(self) -> Optional[str]:
        try:
            return self.svg()
        except errors.LimitError:
            return None  # too large to draw

    def _repr_html_(self) -> str:
        import html
        certificate = html.escape(self._describe("text", show="inverse,certificate").decode())
        return f"{self._repr_svg_() or ''}<pre>{certificate}</pre>"


def _factors(inverse: int, bn: int) -> List[Factor]:
    order = POINTER(c_int)()
    count = fn.inverse_order(inverse, byref(order))
    out = []
    for node in reversed(order[:max(count, 0)]):
        size = fn.inverse_parents(inverse, node, None, 0)
        is_model = fn.inverse_is_model(inverse, node)
        if size < 0 or is_model < 0:
            continue  # summed out: no factor
        parents = (c_int * max(size, 1))()
        fn.inverse_parents(inverse, node, parents, size)
        kind = decode(fn.inverse_exact(inverse, node)) or ("model" if is_model else "network")
        out.append(Factor(decode(fn.bn_name(bn, node)), tuple(decode(fn.bn_name(bn, v)) for v in parents[:size]),
                          kind))
    return out


class Check:
    """A prior predictive check.  False if problems were found."""

    def __init__(self, problems: int, messages: str, described: str, as_json: str) -> None:
        self.problems = problems
        self.messages = messages
        self._text = described
        self._json = as_json

    def to_dict(self) -> Dict[str, Any]:
        """What draws of each statement look like, and the problems."""
        return as_dict(self._json)

    def __bool__(self) -> bool:
        return self.problems == 0

    def __repr__(self) -> str:
        return (self._text + self.messages).rstrip("\n")


class Exact(Closable):
    """An exact posterior."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    @property
    def kind(self) -> str:
        """ "gaussian" or "discrete"."""
        with Using(self._handle) as (exact,):
            return decode(fn.exact_kind(exact))

    @property
    def log_evidence(self) -> float:
        """log p(x)."""
        with Using(self._handle) as (exact,):
            out: float = fn.exact_log_evidence(exact)
            return out

    def draws(self) -> Dict[str, Array]:
        """Independent draws, as many as the option `draws` says: arrays (draw, ...) by name."""
        with Using(self._handle) as (exact,):
            return take_draws(new("exact_draws", exact))

    def to_dict(self) -> Dict[str, Any]:
        """The table, parsed from JSON."""
        with Using(self._handle) as (exact,):
            return as_dict(text("exact_describe", exact, b"json"))

    def __repr__(self) -> str:
        if self.closed:
            return "<closed posterior>"
        with Using(self._handle) as (exact,):
            return text("exact_describe", exact, b"text").rstrip("\n")
