"""Data sets and points: from Python values to the arrays of the library, and back."""

from __future__ import annotations

import os
import re
from ctypes import POINTER, byref, c_double, c_size_t
from typing import TYPE_CHECKING, Any, Dict, ForwardRef, List, Mapping, Optional, Sequence, Tuple, Union

from . import errors
from ._lib import Handle, Using, Variable, call, decode, encode, fn, new, path_bytes
from ._numpy import np

if TYPE_CHECKING:
    Array = np.ndarray[Any, np.dtype[Any]]
else:
    Array = ForwardRef("np.ndarray")

Values = Mapping[str, Any]
"""A data set: numbers, lists or arrays by name; NaN and None are missing."""

DataLike = Union[None, Values, Sequence[Values], str, "os.PathLike[str]"]
"""None (the data of training), a data set, a list of them, or the name of a JSON or R dump file."""

_REALS = POINTER(c_double)
_LARGEST = 2.0 ** 53


def reals(array: Array) -> Any:
    """The address of an array of float64."""
    return array.ctypes.data_as(_REALS)


def _wrong(name: str, why: str) -> errors.InputError:
    return errors.InputError(f"{name} {why}; give a number, a list or an array of numbers")


def _number(value: Any) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError
    return np.nan if value is None else float(value)


def as_array(name: str, value: Any) -> Array:
    """float64, row-major; None and masked elements are NaN.  Refuses what is not numbers."""
    if type(value) is np.ndarray and value.dtype == np.float64 and value.flags.c_contiguous:
        return value  # as it is: simulators call this for each block
    if hasattr(value, "detach"):  # a PyTorch tensor; shares its memory if it is float64 on the CPU
        value = value.detach().cpu()
        if "bfloat16" in str(getattr(value, "dtype", "")):  # NumPy has no such type
            value = value.double()
    try:
        with np.errstate(all="ignore"):
            if isinstance(value, np.ma.MaskedArray):
                value = np.ma.filled(value.astype(float), np.nan)  # type: ignore[no-untyped-call]
            array = np.asarray(value)
            if array.dtype == object:
                array = np.asarray(np.frompyfunc(_number, 1, 1)(array), dtype=np.float64)
    except Exception:  # of whatever object was given
        raise _wrong(name, "is not a regular array of numbers") from None
    if array.dtype.kind not in "buif":
        raise _wrong(name, f"has elements of type {array.dtype}")
    out = np.asarray(array, dtype=np.float64, order="C")
    if array.dtype.kind in "ui" and out.size and np.abs(out).max() > _LARGEST:
        raise _wrong(name, "has integers above 2^53, which are not exact")
    return out


def _check_names(values: Any) -> None:
    if not isinstance(values, Mapping):
        raise errors.UsageError("a data set must be a dict of arrays by name, not a "
                                f"{type(values).__name__}")
    for name in values:
        if not isinstance(name, str):
            raise errors.UsageError(f"names of variables must be str, not {type(name).__name__}: {name!r}")


def _fill(pointer: int, number: int, values: Any) -> None:
    _check_names(values)
    if not values:
        raise errors.InputError("a data set is empty; give values by name, or None for the data of training")
    for name, value in values.items():
        array = as_array(name, value)
        dims = (c_size_t * max(array.ndim, 1))(*array.shape)
        call("data_set", pointer, number, encode(name, "a name"), array.ndim, dims, reals(array))


def is_many(data: DataLike) -> bool:
    """Is it a list of data sets?"""
    return data is not None and not isinstance(data, (Mapping, str, bytes, os.PathLike))


def make_data(data: DataLike) -> Optional[Handle]:
    """The data sets for the library; None for None."""
    if data is None:
        return None
    handle = Handle(new("data_new"), fn.data_free, "data set")
    with Using(handle) as (pointer,):
        if isinstance(data, (str, os.PathLike)):
            call("data_read", pointer, path_bytes(data), file=os.fspath(data))
        elif isinstance(data, Mapping):
            _fill(pointer, 0, data)
        else:
            try:
                sets = list(data)
            except TypeError:
                raise errors.UsageError("data must be a dict, a list of dicts or the name of a file, not a "
                                        f"{type(data).__name__}") from None
            if not sets:
                raise errors.InputError("the list of data sets is empty")
            for number, values in enumerate(sets):
                _fill(pointer, number, values)
    return handle


def may_differ(network: Handle, data: Optional[Handle]) -> bool:
    """Is the network open, and are there several data sets, which may then differ in size?"""
    with Using(network, data) as (net, d):
        return d is not None and bool(fn.network_is_open(net)) and fn.data_size(d) > 1


def one_by_one(data: Handle) -> List[Handle]:
    """Each data set as data of its own."""
    with Using(data) as (pointer,):
        return [Handle(new("data_one", pointer, i), fn.data_free, "data set") for i in range(fn.data_size(pointer))]


# ---- variables -------------------------------------------------------------------------------

class Shape:
    """A variable: name, dims, and its rows in a matrix of rows and draws."""

    def __init__(self, variable: Variable) -> None:
        self.name = decode(variable.name)
        self.dims: Tuple[int, ...] = tuple(variable.dim[:variable.num_dims])
        self.rows = slice(variable.first_row, variable.first_row + variable.num_elements)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shape) and (self.name, self.dims) == (other.name, other.dims)

    def of(self, matrix: Array) -> Array:
        """(rows, ..., draws) to (..., draws, dims)."""
        part = matrix[self.rows]
        return np.moveaxis(part, 0, -1).reshape(matrix.shape[1:] + self.dims)


def shapes(function: str, pointer: int) -> List[Shape]:
    """The variables that nami_FUNCTION(pointer, i, &variable) tells."""
    out: List[Shape] = []
    variable = Variable()
    while getattr(fn, function)(pointer, len(out), byref(variable)) == 0:
        out.append(Shape(variable))
    return out


def take_draws(pointer: int) -> Dict[str, Array]:
    """The arrays of nami_draws, by name: (draw, dims...)."""
    handle = Handle(pointer, fn.draws_free, "draws")
    with Using(handle) as (draws,):
        size, variables = fn.draws_size(draws), shapes("draws_variable", draws)
        rows = max((s.rows.stop for s in variables), default=0)
        values = fn.draws_values(draws)
        matrix = np.ctypeslib.as_array(values, (rows, size)) if rows and size else np.empty((rows, size))
        return {s.name: np.array(s.of(matrix), order="C") for s in variables}  # copies: the draws are freed


# ---- points ----------------------------------------------------------------------------------

class Points:
    """The scalars of a model by variable: fills points x[scalar, i] for densities."""

    def __init__(self, model: int) -> None:
        self.model = model
        self.size = fn.model_size(model)
        self.names = [decode(fn.model_scalar_name(model, i)) for i in range(self.size)]
        self.random = np.array([fn.model_scalar_node(model, i) >= 0 for i in range(self.size)], dtype=bool)
        self.elements: Dict[str, List[Tuple[Tuple[int, ...], int]]] = {}
        for i, name in enumerate(self.names):
            base, subscripts = re.fullmatch(r"(.*?)(?:\[([\d,]+)\])?", name).groups()  # type: ignore
            index = tuple(int(k) - 1 for k in subscripts.split(",")) if subscripts else ()
            self.elements.setdefault(base, []).append((index, i))

    def _check(self, name: str, array: Array) -> Tuple[Tuple[int, ...], int]:
        if name not in self.elements:
            known = ", ".join(sorted(self.elements))
            raise errors.InputError(f"the model has no variable {name}; it has {known}")
        indices = [index for index, _ in self.elements[name]]
        dims = tuple(max(k) + 1 for k in zip(*indices))
        if array.shape == dims:
            return dims, 0
        if array.shape[1:] == dims and array.ndim == len(dims) + 1:
            return dims, array.shape[0]
        many = ("n",) + dims
        raise errors.InputError(f"{name} has shape {array.shape}; give shape {dims}, or ({', '.join(map(str, many))}"
                                f"{',' if len(many) == 1 else ''}) for n points")

    def fill(self, points: Values, data: Optional[int]) -> Tuple[Array, bool]:
        """x[scalar, i], and whether there is only one point without a leading dimension."""
        _check_names(points)
        arrays = {name: as_array(name, value) for name, value in points.items()}
        counts = {name: self._check(name, array)[1] for name, array in arrays.items()}
        lengths = sorted({n for n in counts.values() if n})
        empty = [name for name in counts if not counts[name] and arrays[name].size == 0]
        if len(lengths) > 1 or empty:
            raise errors.InputError("points differ in number: " + ", ".join(
                f"{name} has {arrays[name].shape[0] if arrays[name].ndim else 1}" for name in counts))
        n = lengths[0] if lengths else 1
        x = np.full((self.size, n), np.nan)
        if data is not None:
            one = np.full(self.size, np.nan)
            call("model_set_point", self.model, data, 0, 1, 0, reals(one))
            x[:] = one[:, None]
        for name, array in arrays.items():
            for index, scalar in self.elements[name]:
                x[scalar] = array[(slice(None),) + index] if counts[name] else array[index]
        missing = np.flatnonzero(self.random & np.isnan(x).any(axis=1))
        if missing.size:
            raise errors.InputError(f"{self.names[missing[0]]} has no value; give all random variables, the "
                                    "observed ones in the data or in the points")
        return np.ascontiguousarray(x), not lengths
