"""Posterior draws: weighted as they were drawn, or equally weighted by resampling."""

from __future__ import annotations

import json
import os
import threading
from ctypes import byref
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union, overload

from . import errors
from ._lib import (VERSION, Block, Err, Handle, Options, Picture, Using, VerdictStruct, Watch, as_dict, call, decode,
                   encode, error, figure_options, fn, new, text)
from ._numpy import np
from .data import Array, DataLike, Shape, as_array, is_many, make_data, may_differ, one_by_one, shapes

_VERDICTS = ("trusted", "care", "no")


class Verdict(NamedTuple):
    """How far to trust an answer."""

    verdict: str
    """ "trusted", "care" or "no"."""
    reason: str
    khat: float
    """Shape of the tail of the importance weights; good below 0.7."""
    ess: float
    """Effective sample size of the weights."""
    log_evidence: float
    log_evidence_se: float
    ood_p: float
    """p-value of the data among data sets that the model simulates."""

    @property
    def trusted(self) -> bool:
        """Is it trusted without reserve?"""
        return self.verdict == "trusted"


def verdict_of(name: str, pointer: int, number: int) -> Verdict:
    """The verdict that nami_NAME gives."""
    v = VerdictStruct()
    call(name, pointer, number, byref(v))
    return Verdict(_VERDICTS[v.verdict], decode(v.reason), v.khat, v.ess, v.log_evidence, v.log_evidence_se, v.ood_p)


def _resample(log_weight: Array) -> Optional[Array]:
    """Systematic resampling: the draws to take; None if all weights are equal."""
    n = log_weight.size
    weight = np.exp(log_weight - log_weight.max()) if n and np.isfinite(log_weight.max()) else np.ones(n)
    if n == 0 or weight.min() == weight.max():
        return None
    edges = np.cumsum(weight)
    return np.searchsorted(edges / edges[-1], (np.arange(n) + 0.5) / n).clip(0, n - 1)


class _Answer:
    """The draws of all data sets, and what the library says about them."""

    def __init__(self, handle: Handle, variables: List[Shape], observed: List[Shape], draws: int,
                 arrays: Dict[str, Optional[Array]], verdicts: List[Verdict], method: str,
                 given: Dict[str, Array]) -> None:
        self.handle: Optional[Handle] = handle
        self.lock = threading.Lock()  # a posterior of the library belongs to one thread at a time
        self.variables = {s.name: s for s in variables}
        self.observed = {s.name: s for s in observed}
        self.draws = draws
        self.arrays = arrays
        self.verdicts = verdicts
        self.method = method
        self.given = given
        self.texts: Dict[str, str] = {}
        self.kept = 0  # the data set whose draws the library keeps for figures

    def describe(self, as_: str) -> str:
        with self.lock:
            if as_ not in self.texts:
                with Using(self.handle) as (post,):
                    self.texts[as_] = text("posterior_describe", post, as_.encode())
            return self.texts[as_]

    def __getstate__(self) -> Dict[str, Any]:
        self.describe("text"), self.describe("json")
        return {k: v for k, v in self.__dict__.items() if k not in ("lock", "handle")}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state, lock=threading.Lock(), handle=None)


class Posterior(Mapping[str, Array]):
    """The posterior of one data set: post["theta"] is an array (draw, ...), equally weighted.

    Draws are resampled by their importance weights, if these differ; `weighted` has the draws as
    they were made, and `log_weight` their weights.  The representation is the table of
    `nami sample`.
    """

    def __init__(self, answer: _Answer, number: int) -> None:
        self._answer = answer
        self._number = number
        self._index: Any = False  # not known yet

    def _array(self, name: str) -> Optional[Array]:
        array = self._answer.arrays[name]
        return None if array is None else array[..., self._number, :]

    def _resampled(self, array: Array) -> Array:
        if self._index is False:
            weights, copies = self.log_weight, self._array("copies")
            if copies is not None:
                self._index = None if (copies == 1).all() else np.repeat(np.arange(copies.size), copies)
            else:
                self._index = None if weights is None else _resample(weights)
        return array if self._index is None else array[self._index]

    # ---- draws

    def __getitem__(self, name: str) -> Array:
        return self._resampled(self.weighted[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._answer.variables)

    def __len__(self) -> int:
        return len(self._answer.variables)

    @property
    def weighted(self) -> "Arrays":
        """The draws as they were made, by name; log_weight has their weights."""
        return Arrays(self._answer.variables, self._array("values"))

    @property
    def predicted(self) -> Dict[str, Array]:
        """Equally weighted posterior predictive draws of the observed variables (option predict)."""
        values = self._array("predicted")
        if values is None:
            raise errors.UsageError("no predictive draws were made; ask for them: sample(..., predict=True)")
        return {name: self._resampled(array) for name, array in Arrays(self._answer.observed, values).items()}

    @property
    def log_weight(self) -> Optional[Array]:
        """Normalized log importance weights of `weighted`; None if draws have none (method direct)."""
        return self._array("log_weight")

    @property
    def log_q(self) -> Array:
        """log q(z | x) of `weighted`."""
        return self._array("log_q")  # type: ignore[return-value]

    @property
    def log_p(self) -> Optional[Array]:
        """log p(x, z) of `weighted`; None if draws have no weights."""
        return self._array("log_p")

    @property
    def draws(self) -> int:
        """The number of draws."""
        return self._answer.draws

    @property
    def method(self) -> str:
        """The inference method."""
        return self._answer.method

    # ---- what they say

    @property
    def verdict(self) -> Verdict:
        """How far to trust the answer, with k-hat, the effective sample size and the evidence."""
        return self._answer.verdicts[self._number]

    @property
    def summary(self) -> Dict[str, Dict[str, float]]:
        """mean, sd, quantiles, mcse and ess of each scalar, "theta[3]"."""
        out: Dict[str, Dict[str, float]] = self.to_dict()["variables"]
        return out

    def to_dict(self) -> Dict[str, Any]:
        """Verdict and summaries, as `nami sample --json` prints them."""
        sets: List[Dict[str, Any]] = as_dict(self._answer.describe("json"))["sets"]
        return sets[self._number]

    def loo(self) -> Dict[str, Any]:
        """PSIS-LOO: elpd, se, p_loo, khat, and `pointwise` values by observation (option loo)."""
        found: Optional[Dict[str, Any]] = self.to_dict().get("loo")
        if found is None:
            raise errors.UsageError("the log likelihoods were not computed; ask for them: sample(..., loo=True)")
        return found

    def checks(self) -> List[Dict[str, Any]]:
        """Posterior predictive checks of statistics of the observed arrays (option ppc)."""
        found: Optional[List[Dict[str, Any]]] = self.to_dict().get("checks")
        if found is None:
            raise errors.UsageError("no predictive checks were made; ask for them: sample(..., ppc=True)")
        return found

    def to_xarray(self) -> Any:
        """The groups of ArviZ: posterior, sample_stats, observed_data, (posterior_predictive).

        An xarray.DataTree, or a dict of xarray.Dataset if this version of xarray has none.
        Draws of the posterior are equally weighted.
        """
        return _to_xarray([self], False)

    def plot(self, kind: str = "marginals", *, only: Union[None, str, Sequence[str]] = None, most: int = 0) -> Picture:
        """A figure: "marginals" (with priors), "forest", "pairs", "trace", "rank", "predictive" or "prior".

        only: variables or elements, "mu" or ["mu", "theta[3]"]
        most: panels, or rows of a forest plot; 0: the usual number
        """
        with Using(self._kept_handle()) as (post,):
            with self._answer.lock:
                return Picture(text("posterior_figure", post, encode(kind, "kind"), byref(figure_options(only, most))))

    def plot_pairs(self, only: Union[None, str, Sequence[str]] = None, *, most: int = 0) -> Picture:
        """Draws of two scalars at a time, and their correlations: plot("pairs")."""
        return self.plot("pairs", only=only, most=most)

    def _kept_handle(self) -> Handle:
        """The posterior of the library, which keeps draws of one data set for figures."""
        if self._answer.handle is None:
            raise errors.UsageError("a posterior that was pickled has no figures: sample again")
        if self._number != self._answer.kept:
            raise errors.UsageError("figures are of the first data set; sample the others by themselves")
        return self._answer.handle

    def __repr__(self) -> str:
        if len(self._answer.verdicts) == 1:
            return self._answer.describe("text").rstrip("\n")
        verdict = self.verdict
        return f"posterior {self._number + 1} of {len(self._answer.verdicts)}: {', '.join(self)}; " \
               f"{self.draws} draws\nverdict      {verdict.verdict}: {verdict.reason}"


class Arrays(Mapping[str, Array]):
    """Draws by name, arrays (draw, ...)."""

    def __init__(self, variables: Dict[str, Shape], values: Optional[Array]) -> None:
        self._variables = variables
        self._values = np.empty((0, 0)) if values is None else values

    def __getitem__(self, name: str) -> Array:
        if name not in self._variables:
            raise KeyError(f"no variable is called {name!r}; there are {', '.join(self._variables)}")
        return self._variables[name].of(self._values)

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{name!r}: array {self[name].shape}" for name in self) + "}"


class Posteriors(Sequence["Posterior"]):
    """The posteriors of many data sets: posts[0]["theta"], or posts["theta"]: (set, draw, ...)."""

    def __init__(self, posteriors: List[Posterior]) -> None:
        self._posteriors = posteriors

    def _same_size(self) -> bool:
        """Have all data sets the same variables?  Those of an open network may differ."""
        return all(post._answer.variables == self._posteriors[0]._answer.variables for post in self._posteriors)

    def _answers(self) -> List[_Answer]:
        """One of all data sets, or one for each."""
        return list({id(post._answer): post._answer for post in self._posteriors}.values())

    def __len__(self) -> int:
        return len(self._posteriors)

    @overload
    def __getitem__(self, which: str) -> Array: ...

    @overload
    def __getitem__(self, which: int) -> Posterior: ...

    @overload
    def __getitem__(self, which: slice) -> List[Posterior]: ...

    def __getitem__(self, which: Any) -> Any:
        if not isinstance(which, str):
            return self._posteriors[which]
        arrays = [post[which] for post in self._posteriors]
        if any(array.shape != arrays[0].shape for array in arrays):
            raise errors.UsageError(f"{which} differs in size between the data sets; take one at a time: "
                                    f"[post[{which!r}] for post in posts]")
        return np.stack(arrays)

    @property
    def verdicts(self) -> List[Verdict]:
        """One for each data set."""
        return [post.verdict for post in self._posteriors]

    def to_dict(self) -> Dict[str, Any]:
        """Verdicts and summaries, as `nami sample --json` prints them."""
        sets = [described for answer in self._answers() for described in json.loads(answer.describe("json"))["sets"]]
        return {"sets": [{**described, "set": i + 1} for i, described in enumerate(sets)]}

    def to_xarray(self) -> Any:
        """As of Posterior, with a dimension `set`."""
        if not self._same_size():
            raise errors.UsageError("the data sets differ in size; convert one at a time: "
                                    "[post.to_xarray() for post in posts]")
        return _to_xarray(self._posteriors, True)

    def __repr__(self) -> str:
        answers = self._answers()
        if len(answers) == 1:
            return answers[0].describe("text").rstrip("\n")
        return "\n\n".join(f"data set {i + 1} of {len(answers)}\n{answer.describe('text')}".rstrip("\n")
                           for i, answer in enumerate(answers))


# ---- sampling --------------------------------------------------------------------------------

def _copy(block: Any, name: str, rows: int, to: Optional[Array]) -> None:
    source = getattr(block, name)
    if source and to is not None and block.num_draws:
        to[..., block.first:block.first + block.num_draws] = \
            np.ctypeslib.as_array(source, (rows, block.num_draws) if to.ndim == 2 else (block.num_draws,))


def _collect(post: int, rows: Dict[str, int], total: int) -> Dict[str, Optional[Array]]:
    """All blocks; Ctrl-C is raised between them."""
    block, err = Block(), Err()
    arrays: Dict[str, Optional[Array]] = {}
    while True:
        rc = fn.posterior_next(post, byref(block), byref(err))
        if rc < 0:
            raise error(err)
        if rc == 0:
            return arrays
        for name, count in rows.items():
            if name not in arrays:
                has = bool(getattr(block, name))
                arrays[name] = np.empty(((count,) if count >= 0 else ()) + (total,)) if has else None
            _copy(block, name, count, arrays[name])
        copies = fn.posterior_copies(post)
        if copies and block.num_draws:
            to = arrays.setdefault("copies", np.ones(total, dtype=np.uint32))
            assert to is not None
            to[block.first:block.first + block.num_draws] = np.ctypeslib.as_array(copies, (block.num_draws,))


def _given(data: DataLike, observed: List[Shape], sets: int) -> Dict[str, Array]:
    """The observed values, for to_xarray: what data in memory give."""
    if data is None or not isinstance(data, (Mapping, list, tuple)):
        return {}
    listed = [data] if isinstance(data, Mapping) else list(data)
    out = {}
    for shape in observed:
        if all(shape.name in values for values in listed[:sets]):
            arrays = [as_array(shape.name, values[shape.name]) for values in listed[:sets]]
            if all(array.shape == shape.dims for array in arrays):
                out[shape.name] = np.stack(arrays)
    return out


def _answer(network: Handle, data: Optional[Handle], given: DataLike, files: List[bytes], watch: Watch,
            options: Options) -> _Answer:
    """The draws of all data sets, which have one design."""
    with Using(network, data) as (net, d):
        options["query"].watch = watch.address
        handle = Handle(new("posterior_new", net, d, options.at("query")), fn.posterior_free, "posterior", (network,))
        with Using(handle) as (post,):
            for file in files:
                call("posterior_write", post, file)
            if fn.posterior_sets(post):
                call("posterior_keep", post, 0)
            variables, observed = shapes("posterior_variable", post), shapes("posterior_observed", post)
            sets, draws = fn.posterior_sets(post), fn.posterior_draws(post)
            rows = {"values": max((s.rows.stop for s in variables), default=0),
                    "predicted": max((s.rows.stop for s in observed), default=0),
                    "log_q": -1, "log_p": -1, "log_weight": -1}
            arrays = _collect(post, rows, sets * draws)
            for name in [*rows, "copies"]:
                array = arrays.get(name)
                arrays[name] = None if array is None else array.reshape(array.shape[:-1] + (sets, draws))
            verdicts = [verdict_of("posterior_verdict", post, i) for i in range(sets)]
            return _Answer(handle, variables, observed, draws, arrays, verdicts,
                           decode(fn.posterior_method(post)), _given(given, observed, sets))


def sample(network: Handle, data: DataLike, files: List[bytes], progress: Any,
           options: Options) -> Union[Posterior, Posteriors]:
    """Network.sample."""
    handle = make_data(data)
    with Watch(progress) as watch:
        try:
            answer = _answer(network, handle, data, files, watch, options)
        except errors.InputError:
            if not may_differ(network, handle):
                raise
            return _sample_each(network, handle, data, files, watch, options)
    posteriors = [Posterior(answer, i) for i in range(len(answer.verdicts))]
    return Posteriors(posteriors) if is_many(data) or len(posteriors) != 1 else posteriors[0]


def _sample_each(network: Handle, data: Optional[Handle], given: DataLike, files: List[bytes], watch: Watch,
                 options: Options) -> Posteriors:
    """Data sets of different sizes, of an open network: one query each."""
    if files:
        raise errors.UsageError(f"the data sets differ in size, and {os.fsdecode(files[0])} can hold only one; "
                                "sample them one at a time")
    sets = one_by_one(data) if data is not None else []
    most = options["query"].sets or len(sets)
    values = [given[i] if isinstance(given, (list, tuple)) else None for i in range(len(sets))]
    return Posteriors([Posterior(_answer(network, one, values[i], [], watch, options), 0)
                       for i, one in enumerate(sets[:most])])


# ---- xarray ----------------------------------------------------------------------------------

def _to_xarray(posts: List[Posterior], with_sets: bool) -> Any:
    try:
        import xarray
    except ImportError:
        raise ImportError("to_xarray() needs the package xarray; post[name] gives NumPy arrays without it") from None
    attributes = {"inference_library": "nami", "inference_library_version": VERSION}
    lead = ("set",) if with_sets else ()

    def group(arrays: Dict[str, List[Array]], over: Tuple[str, ...]) -> Any:
        variables, coords = {}, {}
        for name, parts in arrays.items():
            array = np.stack(parts) if with_sets else parts[0]
            if over:
                array = np.expand_dims(array, len(lead))  # one chain
            own = array.ndim - len(lead) - len(over)
            dims = lead + over + tuple(f"{name}_dim_{k}" for k in range(own))
            variables[name] = (dims, array)
            coords.update({dim: np.arange(size) for dim, size in zip(dims, array.shape)})
        return xarray.Dataset(variables, coords, attributes)

    draws = ("chain", "draw")
    groups = {"posterior": group({name: [post[name] for post in posts] for name in posts[0]}, draws)}
    densities = [post.log_p for post in posts]
    stats = {} if densities[0] is None else {"lp": [post._resampled(p) for post, p in zip(posts, densities) if p is not None]}
    stats["log_q"] = [post._resampled(post.log_q) for post in posts]
    groups["sample_stats"] = group(stats, draws)
    given = posts[0]._answer.given
    if given:
        groups["observed_data"] = group({name: [array[post._number] for post in posts]
                                         for name, array in given.items()}, ())
    if posts[0]._answer.arrays["predicted"] is not None:
        predicted = [post.predicted for post in posts]
        groups["posterior_predictive"] = group({name: [p[name] for p in predicted] for name in predicted[0]}, draws)
    if hasattr(xarray, "DataTree"):
        return xarray.DataTree.from_dict(groups)
    return groups
