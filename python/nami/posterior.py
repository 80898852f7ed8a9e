"""Posterior draws: weighted as they were drawn, or equally weighted by resampling."""

from __future__ import annotations

import json
import threading
from ctypes import byref
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import errors
from ._lib import (VERSION, Block, Err, Handle, Options, Picture, Using, VerdictStruct, Watch, call, decode, encode, error, figure_options, fn, new, text)
from .data import DataLike, Shape, is_many, make_data, shapes

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


def _resample(log_weight: np.ndarray) -> Optional[np.ndarray]:
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
                 arrays: Dict[str, Optional[np.ndarray]], verdicts: List[Verdict], method: str,
                 given: Dict[str, np.ndarray]) -> None:
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


class Posterior(Mapping):
    """The posterior of one data set: post["theta"] is an array (draw, ...), equally weighted.

    Draws are resampled by their importance weights, if these differ; `weighted` has the draws as
    they were made, and `log_weight` their weights.  The representation is the table of
    `nami sample`.
    """

    def __init__(self, answer: _Answer, number: int) -> None:
        self._answer = answer
        self._number = number
        self._index: Any = False  # not known yet

    def _array(self, name: str) -> Optional[np.ndarray]:
        array = self._answer.arrays[name]
        return None if array is None else array[..., self._number, :]

    def _resampled(self, array: np.ndarray) -> np.ndarray:
        if self._index is False:
            weights, copies = self.log_weight, self._array("copies")
            if copies is not None:
                self._index = None if (copies == 1).all() else np.repeat(np.arange(copies.size), copies)
            else:
                self._index = None if weights is None else _resample(weights)
        return array if self._index is None else array[self._index]

    # ---- draws

    def __getitem__(self, name: str) -> np.ndarray:
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
    def predicted(self) -> Dict[str, np.ndarray]:
        """Equally weighted posterior predictive draws of the observed variables (option predict)."""
        values = self._array("predicted")
        if values is None:
            raise errors.UsageError("no predictive draws were made; ask for them: sample(..., predict=True)")
        return {name: self._resampled(array) for name, array in Arrays(self._answer.observed, values).items()}

    @property
    def log_weight(self) -> Optional[np.ndarray]:
        """Normalized log importance weights of `weighted`; None if draws have none (method direct)."""
        return self._array("log_weight")

    @property
    def log_q(self) -> np.ndarray:
        """log q(z | x) of `weighted`."""
        return self._array("log_q")  # type: ignore[return-value]

    @property
    def log_p(self) -> Optional[np.ndarray]:
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
        return self.to_dict()["variables"]

    def to_dict(self) -> Dict[str, Any]:
        """Verdict and summaries, as `nami sample --json` prints them."""
        return json.loads(self._answer.describe("json"))["sets"][self._number]

    def loo(self) -> Dict[str, Any]:
        """PSIS-LOO: elpd, se, p_loo, khat, and `pointwise` values by observation (option loo)."""
        found = self.to_dict().get("loo")
        if found is None:
            raise errors.UsageError("the log likelihoods were not computed; ask for them: sample(..., loo=True)")
        return found

    def checks(self) -> List[Dict[str, Any]]:
        """Posterior predictive checks of statistics of the observed arrays (option ppc)."""
        found = self.to_dict().get("checks")
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


class Arrays(Mapping):
    """Draws by name, arrays (draw, ...)."""

    def __init__(self, variables: Dict[str, Shape], values: Optional[np.ndarray]) -> None:
        self._variables = variables
        self._values = values

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._variables:
            raise KeyError(f"no variable is called {name!r}; there are {', '.join(self._variables)}")
        return self._variables[name].of(self._values)

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{name!r}: array {self[name].shape}" for name in self) + "}"


class Posteriors(Sequence):
    """The posteriors of many data sets: posts[0]["theta"], or posts["theta"]: (set, draw, ...)."""

    def __init__(self, answer: _Answer) -> None:
        self._answer = answer
        self._posteriors = [Posterior(answer, i) for i in range(len(answer.verdicts))]

    def __len__(self) -> int:
        return len(self._posteriors)

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, str):
            return np.stack([post[which] for post in self._posteriors])
        return self._posteriors[which]

    @property
    def verdicts(self) -> List[Verdict]:
        """One for each data set."""
        return list(self._answer.verdicts)

    def to_dict(self) -> Dict[str, Any]:
        """Verdicts and summaries, as `nami sample --json` prints them."""
        return json.loads(self._answer.describe("json"))

    def to_xarray(self) -> Any:
        """As of Posterior, with a dimension `set`."""
        return _to_xarray(self._posteriors, True)

    def __repr__(self) -> str:
        return self._answer.describe("text").rstrip("\n")


# ---- sampling --------------------------------------------------------------------------------

def _copy(block: Any, name: str, rows: int, to: Optional[np.ndarray]) -> None:
    source = getattr(block, name)
    if source and to is not None and block.num_draws:
        to[..., block.first:block.first + block.num_draws] = \
            np.ctypeslib.as_array(source, (rows, block.num_draws) if to.ndim == 2 else (block.num_draws,))


def _collect(post: int, rows: Dict[str, int], total: int) -> Dict[str, Optional[np.ndarray]]:
    """All blocks; Ctrl-C is raised between them."""
    block, err = Block(), Err()
    arrays: Dict[str, Optional[np.ndarray]] = {}
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
            if "copies" not in arrays:
                arrays["copies"] = np.ones(total, dtype=np.uint32)
            arrays["copies"][block.first:block.first + block.num_draws] = np.ctypeslib.as_array(copies, (block.num_draws,))


def _given(data: DataLike, observed: List[Shape], sets: int) -> Dict[str, np.ndarray]:
    """The observed values, for to_xarray: what data in memory give."""
    if data is None or not isinstance(data, (Mapping, list, tuple)):
        return {}
    listed = [data] if isinstance(data, Mapping) else list(data)
    out = {}
    for shape in observed:
        if all(shape.name in values for values in listed[:sets]):
            arrays = [np.asarray(values[shape.name], dtype=float) for values in listed[:sets]]
            if all(array.shape == shape.dims for array in arrays):
                out[shape.name] = np.stack(arrays)
    return out


def sample(network: Handle, data: DataLike, files: List[bytes], progress: Any, options: Options) -> Union[Posterior, Posteriors]:
    """Network.sample."""
    handle_data = make_data(data)
    with Watch(progress) as watch, Using(network, handle_data) as (net, d):
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
            answer = _Answer(handle, variables, observed, draws, arrays, verdicts,
                             decode(fn.posterior_method(post)), _given(data, observed, sets))
    return Posteriors(answer) if is_many(data) or sets != 1 else Posterior(answer, 0)


# ---- xarray ----------------------------------------------------------------------------------

def _to_xarray(posts: List[Posterior], with_sets: bool) -> Any:
    try:
        import xarray
    except ImportError:
        raise ImportError("to_xarray() needs the package xarray; post[name] gives NumPy arrays without it") from None
    attributes = {"inference_library": "nami", "inference_library_version": VERSION}
    lead = ("set",) if with_sets else ()

    def group(arrays: Dict[str, List[np.ndarray]], over: Tuple[str, ...]) -> Any:
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
    stats = {"lp": [post._resampled(post.log_p) for post in posts]} if posts[0].log_p is not None else {}
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
