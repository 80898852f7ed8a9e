"""The shared library: loading, prototypes of nami.h, errors, handles, options, progress.

Nothing here is public.  Options are not listed: the library tells their names, types and help
(nami_option_at), from which the C structs are built.
"""

from __future__ import annotations

import ctypes
import json
import logging
import os
import warnings
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_char, c_char_p, c_double, c_int, c_int64,
                    c_size_t, c_uint, c_uint64, c_void_p)
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from . import errors

log = logging.getLogger("nami")


# ---- loading ---------------------------------------------------------------------------------

def _candidates() -> Iterator[str]:
    here = Path(__file__).resolve().parent
    if os.environ.get("NAMI_LIBRARY"):
        yield os.environ["NAMI_LIBRARY"]
        return
    for path in (here / "libnami.so", here.parent.parent / "build" / "libnami.so"):
        if path.exists():
            yield str(path)
    import ctypes.util  # slow, and seldom needed
    yield ctypes.util.find_library("nami") or "libnami.so.0"


def _load() -> ctypes.CDLL:
    path = next(_candidates())
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"NaMI's library cannot be loaded: {error}. It needs the libraries of jansson, Graphviz, expat, "
            "libzip and netCDF; on Debian: apt install libjansson4 libgvc6 libexpat1 libzip4 libnetcdf19. "
            "The environment variable NAMI_LIBRARY can name another libnami.so") from None


lib = _load()


# ---- structs of nami.h -----------------------------------------------------------------------

class Err(Structure):
    _fields_ = [("code", c_int), ("line", c_int), ("col", c_int), ("msg", c_char * 512)]


class ProgressStruct(Structure):
    _fields_ = [("phase", c_char_p), ("done", c_double), ("total", c_double), ("loss", c_double),
                ("valid", c_double), ("rate", c_double)]


ON_PROGRESS = CFUNCTYPE(c_int, POINTER(ProgressStruct), c_void_p)
ON_MESSAGE = CFUNCTYPE(None, c_int, c_char_p, c_void_p)


class WatchStruct(Structure):
    _fields_ = [("progress", ON_PROGRESS), ("message", ON_MESSAGE), ("user", c_void_p)]


class Option(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("offset", c_size_t), ("key", c_char),
                ("arg", c_char_p), ("words", c_char_p), ("default", c_char_p), ("help", c_char_p)]


class Variable(Structure):
    _fields_ = [("name", c_char_p), ("num_dims", c_int), ("dim", c_int * 8),
                ("first_row", c_size_t), ("num_elements", c_size_t)]


class ModelOptions(Structure):
    _fields_ = [("size", c_size_t), ("data", c_void_p), ("set", POINTER(c_char_p)), ("num_set", c_int),
                ("observe", c_char_p), ("free", POINTER(c_char_p)), ("num_free", c_int),
                ("dialect", c_char_p), ("train_priors", c_char_p)]


class InverseView(Structure):
    _fields_ = [("size", c_size_t), ("file", c_char_p), ("show", c_char_p), ("width", c_int),
                ("runs", c_int), ("trace", c_int)]


class NetworkOptions(Structure):
    _fields_ = [("size", c_size_t), ("allow_simulator", c_int), ("threads", c_int)]


class Block(Structure):
    _fields_ = [("first", c_size_t), ("num_draws", c_size_t)] + [
        (name, POINTER(c_double)) for name in ("values", "predicted", "log_q", "log_p", "log_weight")]


class SummaryStruct(Structure):
    _fields_ = [(name, c_double) for name in ("mean", "sd", "q5", "q25", "q50", "q75", "q95", "mcse", "ess",
                                          "exact_mean", "exact_sd", "exact_mcse")]


class VerdictStruct(Structure):
    _fields_ = [("verdict", c_int), ("khat", c_double), ("ess", c_double), ("log_evidence", c_double),
                ("log_evidence_se", c_double), ("ood_p", c_double), ("reason", c_char * 160)]


class FigureOptions(Structure):
    _fields_ = [("size", c_size_t), ("only", c_char_p), ("most", c_int)]


class PngOptions(Structure):
    _fields_ = [("size", c_size_t), ("zoom", c_double), ("dark", c_int)]


class ReportOptions(Structure):
    _fields_ = [("size", c_size_t), ("posterior", c_void_p), ("calibration", c_void_p), ("title", c_char_p),
                ("command", c_char_p), ("notes", c_char_p)]


class ModeStruct(Structure):
    _fields_ = [("state", c_char_p), ("reason", c_char_p), ("log_p", c_double), ("derivative", c_double),
                ("steps", c_int), ("agree", c_int)]


class PluginVariable(Structure):
    _fields_ = [("name", c_char_p), ("ndim", c_int), ("dim", POINTER(c_int)), ("size", c_size_t)]


# ---- prototypes ------------------------------------------------------------------------------

_P, _S, _N, _I, _D = c_void_p, c_char_p, c_size_t, c_int, c_double
_OUT, _TEXT, _LEN, _ERR = POINTER(c_void_p), POINTER(c_void_p), POINTER(c_size_t), POINTER(Err)
_REALS = POINTER(c_double)

# name: (result, arguments); calls that can fail return int and take nami_err * last
_PROTOTYPES: Dict[str, Tuple[Any, Tuple[Any, ...]]] = {
    "version": (_S, ()),
    "free": (None, (_P,)),
    "option_at": (POINTER(Option), (_S, _I)),
    "option_set": (_I, (POINTER(Option), _P, _S, _ERR)),
    "option_word": (_S, (POINTER(Option), _I)),
    "word": (_S, (_S, _I)),
    "nearest": (_S, (_S, POINTER(_S))),
    "list": (_I, (_S, _S, _TEXT, _ERR)),
    "file_write": (_I, (_S, _S, _N, _ERR)),
    "file_check": (_I, (_S, _ERR)),
    "data_new": (_I, (_OUT, _ERR)),
    "data_read": (_I, (_P, _S, _ERR)),
    "data_set": (_I, (_P, _N, _S, _I, POINTER(_N), _REALS, _ERR)),
    "data_one": (_I, (_P, _N, _OUT, _ERR)),
    "data_size": (_N, (_P,)),
    "data_records": (_S, (_P, _I)),
    "data_free": (None, (_P,)),
    "draws_free": (None, (_P,)),
    "draws_size": (_N, (_P,)),
    "draws_variables": (_I, (_P,)),
    "draws_variable": (_I, (_P, _I, POINTER(Variable))),
    "draws_values": (_REALS, (_P,)),
    "bn_size": (_I, (_P,)),
    "bn_name": (_S, (_P, _I)),
    "bn_observed": (_I, (_P, _I)),
    "bn_parents": (_I, (_P, _I, POINTER(POINTER(_I)))),
    "inverse_free": (None, (_P,)),
    "inverse_mode": (_S, (_P,)),
    "inverse_edges": (c_int64, (_P,)),
    "inverse_width": (c_int64, (_P,)),
    "inverse_order": (_I, (_P, POINTER(POINTER(_I)))),
    "inverse_parents": (c_int64, (_P, _I, POINTER(_I), c_int64)),
    "inverse_is_model": (_I, (_P, _I)),
    "inverse_exact": (_S, (_P, _I)),
    "inverse_faithful": (_I, (_P,)),
    "inverse_minimal": (_I, (_P,)),
    "inverse_natural": (_I, (_P,)),
    "inverse_describe": (_I, (_P, _S, POINTER(InverseView), _TEXT, _LEN, _ERR)),
    "model_is": (_I, (_S,)),
    "model_read": (_I, (_S, POINTER(ModelOptions), _OUT, _ERR)),
    "model_parse": (_I, (_S, _N, _S, POINTER(ModelOptions), _OUT, _ERR)),
    "model_free": (None, (_P,)),
    "model_messages": (_S, (_P,)),
    "model_structure": (_P, (_P,)),
    "model_invert": (_I, (_P, _P, _P, _OUT, _ERR)),
    "model_simulator": (_S, (_P,)),
    "model_size": (_I, (_P,)),
    "model_scalar_name": (_S, (_P, _I)),
    "model_scalar_node": (_I, (_P, _I)),
    "model_logp": (_I, (_P, _N, _REALS, _I, _REALS, _REALS, _ERR)),
    "model_set_point": (_I, (_P, _P, _N, _N, _N, _REALS, _ERR)),
    "model_draws": (_I, (_P, _P, _OUT, _ERR)),
    "model_describe": (_I, (_P, _S, _TEXT, _LEN, _ERR)),
    "check_new": (_I, (_P, _P, _OUT, _ERR)),
    "check_free": (None, (_P,)),
    "check_problems": (_I, (_P,)),
    "check_messages": (_S, (_P,)),
    "check_describe": (_I, (_P, _S, _TEXT, _ERR)),
    "exact_new": (_I, (_P, _P, _N, _P, _OUT, _ERR)),
    "exact_free": (None, (_P,)),
    "exact_kind": (_S, (_P,)),
    "exact_log_evidence": (_D, (_P,)),
    "exact_draws": (_I, (_P, _OUT, _ERR)),
    "exact_describe": (_I, (_P, _S, _TEXT, _ERR)),
    "trainer_new": (_I, (_P, _P, _P, _OUT, _ERR)),
    "trainer_free": (None, (_P,)),
    "trainer_step": (_I, (_P, _ERR)),
    "trainer_valid": (_D, (_P,)),
    "trainer_objective": (_S, (_P,)),
    "trainer_progress": (None, (_P, POINTER(ProgressStruct))),
    "trainer_describe": (_I, (_P, _S, _TEXT, _ERR)),
    "trainer_log": (_I, (_P, _S, _ERR)),
    "trainer_network": (_I, (_P, _OUT, _ERR)),
    "network_read": (_I, (_S, POINTER(NetworkOptions), _OUT, _ERR)),
    "network_parse": (_I, (_S, _N, POINTER(NetworkOptions), _OUT, _ERR)),
    "network_with_model": (_I, (_P, _P, _OUT, _ERR)),
    "network_write": (_I, (_P, _S, _ERR)),
    "network_print": (_I, (_P, _TEXT, _LEN, _ERR)),
    "network_free": (None, (_P,)),
    "network_model": (_P, (_P,)),
    "network_inverse": (_P, (_P,)),
    "network_data": (_P, (_P,)),
    "network_for": (_I, (_P, _P, _N, _P, _OUT, _ERR)),
    "network_is_open": (_I, (_P,)),
    "network_describe": (_I, (_P, _S, _TEXT, _ERR)),
    "network_check_data": (_I, (_P, _P, _ERR)),
    "network_export": (_I, (_P, _S, _S, _P, _TEXT, _LEN, _ERR)),
    "network_log_q": (_I, (_P, _N, _REALS, _I, _REALS, _ERR)),
    "posterior_new": (_I, (_P, _P, _P, _OUT, _ERR)),
    "posterior_free": (None, (_P,)),
    "posterior_sets": (_N, (_P,)),
    "posterior_draws": (_N, (_P,)),
    "posterior_method": (_S, (_P,)),
    "posterior_variables": (_I, (_P,)),
    "posterior_variable": (_I, (_P, _I, POINTER(Variable))),
    "posterior_observed": (_I, (_P, _I, POINTER(Variable))),
    "posterior_next": (_I, (_P, POINTER(Block), _ERR)),
    "posterior_copies": (POINTER(c_uint), (_P,)),
    "posterior_write": (_I, (_P, _S, _ERR)),
    "posterior_summary": (_I, (_P, _N, _S, POINTER(SummaryStruct), _ERR)),
    "posterior_verdict": (_I, (_P, _N, POINTER(VerdictStruct), _ERR)),
    "posterior_describe": (_I, (_P, _S, _TEXT, _ERR)),
    "posterior_keep": (_I, (_P, _N, _ERR)),
    "posterior_figure": (_I, (_P, _S, POINTER(FigureOptions), _TEXT, _ERR)),
    "network_figure": (_I, (_P, _S, POINTER(FigureOptions), _TEXT, _ERR)),
    "figure_png": (_I, (_S, POINTER(PngOptions), _TEXT, _LEN, _ERR)),
    "report_html": (_I, (_P, POINTER(ReportOptions), _TEXT, _LEN, _ERR)),
    "evidence_new": (_I, (_P, _P, _P, _OUT, _ERR)),
    "evidence_free": (None, (_P,)),
    "evidence_sets": (_N, (_P,)),
    "evidence_verdict": (_I, (_P, _N, POINTER(VerdictStruct), _ERR)),
    "evidence_describe": (_I, (_P, _S, _TEXT, _ERR)),
    "modes_new": (_I, (_P, _P, _P, _OUT, _ERR)),
    "modes_free": (None, (_P,)),
    "modes_sets": (_N, (_P,)),
    "modes_get": (_I, (_P, _N, POINTER(ModeStruct), _ERR)),
    "modes_value": (_I, (_P, _N, _S, _REALS, _REALS, _ERR)),
    "modes_describe": (_I, (_P, _S, _TEXT, _ERR)),
    "calibration_new": (_I, (_P, _P, _OUT, _ERR)),
    "calibration_free": (None, (_P,)),
    "calibration_verdict": (_I, (_P,)),
    "calibration_describe": (_I, (_P, _S, _TEXT, _ERR)),
}


class _Functions:
    """fn.model_read is nami_model_read, with its prototype."""


fn: Any = _Functions()
for _name, (_result, _arguments) in _PROTOTYPES.items():
    _function = getattr(lib, "nami_" + _name)
    _function.restype, _function.argtypes = _result, _arguments
    setattr(fn, _name, _function)

VERSION = fn.version().decode()


# ---- calls -----------------------------------------------------------------------------------

def encode(text: str, what: str = "text") -> bytes:
    """UTF-8 for C, which ends a text at a zero."""
    if not isinstance(text, str):
        raise errors.UsageError(f"{what} must be a str, not {type(text).__name__}")
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise errors.UsageError(f"{what} is not valid Unicode: {text!r}") from None
    if b"\0" in data:
        raise errors.UsageError(f"{what} must not contain a null character: {text!r}")
    return data


def path_bytes(path: Any) -> bytes:
    """A file name for C."""
    try:
        data = os.fsencode(path)
    except TypeError:
        raise errors.UsageError(f"a file name must be a str or a path, not {type(path).__name__}") from None
    if b"\0" in data:
        raise errors.UsageError(f"a file name must not contain a null character: {path!r}")
    return data


def decode(data: Optional[bytes]) -> str:
    """A text of the library."""
    return (data or b"").decode("utf-8", "replace")


def error(err: Err, details: str = "", file: Any = None) -> errors.Error:
    """The exception of a nami_err."""
    message = decode(err.msg) or "failed"
    if file is not None and not message.startswith(str(file)):
        message = f"{file}: {message}"
    kind = errors.BY_CODE.get(err.code, errors.InternalError)
    return kind(message, err.line or None, err.col or None, details)


def call(name: str, *args: Any, file: Any = None) -> int:
    """Calls nami_NAME(args, &err) and raises its error."""
    err = Err()
    rc: int = getattr(fn, name)(*args, byref(err))
    if rc < 0:
        raise error(err, file=file)
    return rc


def new(name: str, *args: Any, file: Any = None) -> int:
    """The object that a call gives."""
    out = c_void_p()
    call(name, *args, byref(out), file=file)
    return out.value or 0


def text(name: str, *args: Any) -> str:
    """The text that a call gives."""
    out = c_void_p()
    call(name, *args, byref(out))
    try:
        return decode(ctypes.string_at(out.value)) if out.value else ""
    finally:
        fn.free(out)


def blob(name: str, *args: Any) -> bytes:
    """The bytes that a call gives."""
    out, size = c_void_p(), c_size_t()
    call(name, *args, byref(out), byref(size))
    try:
        return ctypes.string_at(out.value, size.value) if out.value else b""
    finally:
        fn.free(out)


def as_dict(written: str) -> Dict[str, Any]:
    """An object of JSON."""
    out: Dict[str, Any] = json.loads(written)
    return out


def words(kind: str) -> List[str]:
    """The words of a kind that nami_word tells: "figures", "plots"."""
    out: List[str] = []
    while fn.word(kind.encode(), len(out)):
        out.append(decode(fn.word(kind.encode(), len(out))))
    return out


# ---- pictures --------------------------------------------------------------------------------

class Picture(str):
    """An SVG picture, shown in notebooks."""

    def _repr_svg_(self) -> str:
        return str(self)

    def png(self, *, zoom: float = 2, dark: bool = False) -> bytes:
        """The picture as PNG, painted by librsvg, with `zoom` pixels for each of the SVG's."""
        try:
            options = PngOptions(ctypes.sizeof(PngOptions), zoom, bool(dark))
        except TypeError:
            raise errors.UsageError(f"zoom must be a number, not {zoom!r}") from None
        if not options.zoom:
            raise errors.UsageError("zoom must not be 0")
        return blob("figure_png", self.encode(), byref(options))

    def save(self, path: Any, *, zoom: float = 2, dark: bool = False) -> None:
        """Writes an .svg or .png file; zoom, dark: of png()."""
        name = path_bytes(path)
        if not name.endswith((b".svg", b".png")):
            raise errors.UsageError(f"a figure is saved as .svg or .png, not as {os.fspath(path)!r}")
        content = self.encode() if name.endswith(b".svg") else self.png(zoom=zoom, dark=dark)
        call("file_write", name, content, len(content), file=os.fspath(path))


def figure_options(only: Any, most: int) -> FigureOptions:
    """Options of figures: only is a name, or a list of names."""
    if only is not None and not isinstance(only, str):
        only = ",".join(only)
    if isinstance(most, bool) or not isinstance(most, int) or most < 0:
        raise errors.UsageError(f"most must be a number of panels, not {most!r}")
    return FigureOptions(ctypes.sizeof(FigureOptions), None if only is None else encode(only, "only"), min(most, 2**31 - 1))


# ---- objects ---------------------------------------------------------------------------------

class Handle:
    """A C object, its owner, and who uses it.

    It is freed once: when it is closed (or no longer referenced) and no call uses it, and after
    the objects made from it, which hold tokens of it.  Without locks, for finalizers may run at
    any point: each step is one atomic operation of a set or list.
    """

    __slots__ = ("_pointer", "_free", "_tokens", "_parents", "_closed", "_what", "__weakref__")

    def __init__(self, pointer: int, free: Callable[[int], None], what: str,
                 parents: Tuple["Handle", ...] = ()) -> None:
        self._pointer = [pointer]
        self._free = free
        self._what = what
        self._tokens: Set[object] = set()
        self._closed = not pointer
        self._parents: List[Tuple[Handle, object]] = []
        try:
            for parent in parents:
                token = object()
                parent.take(token)
                self._parents.append((parent, token))
        except BaseException:
            self.close()
            raise

    def take(self, token: object) -> int:
        """The pointer, valid until drop(token)."""
        self._tokens.add(token)
        if self._closed or not self._pointer:
            self.drop(token)
            raise errors.ClosedError(f"this {self._what} has been closed")
        return self._pointer[0]

    def drop(self, token: object) -> None:
        self._tokens.discard(token)
        if self._closed and not self._tokens:
            self._release()

    def _release(self) -> None:
        try:
            pointer = self._pointer.pop()
        except IndexError:
            return
        if pointer:
            self._free(pointer)
        while self._parents:
            parent, token = self._parents.pop()
            parent.drop(token)

    def close(self) -> None:
        self._closed = True
        if not self._tokens:
            self._release()

    def __del__(self) -> None:
        if hasattr(self, "_closed"):
            self.close()

    def __reduce__(self) -> Any:
        raise TypeError(f"this {self._what} cannot be pickled or copied")


class Using:
    """with Using(handle, ...) as (pointer, ...): they stay valid meanwhile.  None: NULL."""

    def __init__(self, *handles: Optional[Handle]) -> None:
        self._handles = handles
        self._taken: List[Handle] = []

    def __enter__(self) -> Tuple[Any, ...]:
        try:
            out = []
            for handle in self._handles:
                out.append(None if handle is None else handle.take(self))
                if handle is not None:
                    self._taken.append(handle)
            return tuple(out)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: Any) -> None:
        while self._taken:
            self._taken.pop().drop(self)


class Closable:
    """An object with a handle: close(), and `with`."""

    _handle: Handle

    def close(self) -> None:
        """Frees the memory now; later uses raise ClosedError.  Running calls end first."""
        if hasattr(self, "_handle"):
            self._handle.close()

    @property
    def closed(self) -> bool:
        """Has it been closed?"""
        return self._handle._closed

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


# ---- options ---------------------------------------------------------------------------------

_FLAG, _COUNT, _REAL, _LIMIT, _SEED, _WORD, _LIST = range(7)
_MEMBERS = (c_int, c_int, c_double, c_double, c_uint64, c_char_p, c_char_p)

# what follows the options in the struct of a group
_REST: Dict[str, List[Tuple[str, Any]]] = {
    "invert": [],
    "train": [("stream", c_uint64), ("data", c_void_p), ("allow_simulator", c_int), ("watch", c_void_p)],
    "simulate": [("image_mean", c_int), ("watch", c_void_p)],
    "exact": [("given", c_void_p), ("num_given", c_int), ("watch", c_void_p)],
}

_groups: Dict[str, Tuple[Any, Dict[str, Option]]] = {}


def group(name: str) -> Tuple[Any, Dict[str, Option]]:
    """The struct of a group of options, and its rows by name."""
    if name not in _groups:
        rows: Dict[str, Option] = {}
        while True:
            row = fn.option_at(name.encode(), len(rows))
            if not row:
                break
            rows[decode(row.contents.name).replace("-", "_")] = row.contents
        fields = [("size", c_size_t)] + [(key, _MEMBERS[row.kind]) for key, row in rows.items()]
        fields += _REST.get(name, [("watch", c_void_p)])
        struct = type("Options_" + name, (Structure,), {"_fields_": fields})
        for key, row in rows.items():
            if getattr(struct, key).offset != row.offset:
                raise ImportError(f"this libnami.so lays out its options in another way: {name}.{key}")
        _groups[name] = struct, rows
    return _groups[name]


def _option_text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return ",".join(_option_text(name, item) for item in value)
    if hasattr(value, "__fspath__"):
        return os.fsdecode(value)
    if isinstance(value, bool):
        return str(int(value))
    if hasattr(value, "__index__"):
        return str(value.__index__())
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise errors.UsageError(f"{name} cannot be a {type(value).__name__}") from None
    return repr(number)


def _unknown(name: str, known: List[str]) -> errors.UsageError:
    words = (c_char_p * (len(known) + 1))(*[word.encode() for word in known], None)
    try:
        near = fn.nearest(encode(name, "an option"), words)
    except errors.UsageError:
        near = None
    advice = f"did you mean '{decode(near)}'?" if near else "there are " + ", ".join(sorted(known))
    return errors.UsageError(f"no option is called '{name}'; {advice}")


class Options:
    """Structs of options of one or more groups, filled from keywords."""

    def __init__(self, groups: Tuple[str, ...], keywords: Dict[str, Any]) -> None:
        self._keep: List[Any] = []
        self._structs: Dict[str, Any] = {}
        known = {key for name in groups for key in group(name)[1]}
        for key in keywords:
            if key not in known:
                raise _unknown(key, list(known))
        for name in groups:
            struct, rows = group(name)
            self._structs[name] = options = struct(size=ctypes.sizeof(struct))
            for key, row in rows.items():
                if keywords.get(key) is not None:
                    self._set(options, key, row, keywords[key])

    def _set(self, options: Structure, key: str, row: Option, value: Any) -> None:
        written = _option_text(key, value)
        if row.kind in (_COUNT, _SEED, _FLAG) and isinstance(value, float) and value.is_integer():
            written = str(int(value))
        data = encode(written, key)
        named = Option.from_buffer_copy(row)
        named.name = key.encode()
        self._keep += [data, named]
        call("option_set", byref(named), byref(options), data)
        if row.kind == _LIMIT and getattr(options, key) == 0:
            setattr(options, key, -1.0)  # off; 0 in the struct is the default

    def __getitem__(self, name: str) -> Any:
        return self._structs[name]

    def at(self, name: str) -> Any:
        """The address of a struct."""
        return ctypes.addressof(self._structs[name])


def options_help(name: str) -> str:
    """The options of a group, for docstrings and people."""
    lines = []
    for key, row in group(name)[1].items():
        default = decode(row.default)
        lines.append(f"{key}: {decode(row.help)}" + (f" [{default}]" if default else ""))
    return "\n".join(lines)


# ---- what happens meanwhile ------------------------------------------------------------------

class Progress(NamedTuple):
    """Where an operation is, for progress functions.  NaN: not known."""

    phase: str
    """ "train", "sample", ..."""
    done: float
    total: float
    """Steps, draws or data sets; 0: not known."""
    loss: float
    """Training: loss of the minibatches since the last validation."""
    valid: float
    """Training: loss of the last validation."""
    rate: float
    """Training: learning rate."""

    @classmethod
    def of(cls, p: ProgressStruct) -> "Progress":
        """A copy: the library's own lasts only as long as the call."""
        return cls(decode(p.phase), p.done, p.total, p.loss, p.valid, p.rate)


class Watch:
    """Progress and messages of one call.

    An exception of the progress function cancels the call and is raised when it has ended, as is
    Ctrl-C; a true result cancels it.  Messages are given out after the call.
    """

    def __init__(self, progress: Optional[Callable[[Progress], Any]] = None) -> None:
        if progress is not None and not callable(progress):
            raise errors.UsageError(f"progress must be a function, not a {type(progress).__name__}")
        self.progress = progress
        self.exception: Optional[BaseException] = None
        self._messages: List[Tuple[int, str]] = []
        self._struct = WatchStruct(ON_PROGRESS(self._on_progress), ON_MESSAGE(self._on_message), None)

    def _on_progress(self, progress: Any, _: Any) -> int:
        try:
            return int(bool(self.progress and self.progress(Progress.of(progress.contents))))
        except BaseException as problem:  # pylint: disable=broad-except
            self.exception = problem
            return 1

    def _on_message(self, level: int, message: bytes, _: Any) -> None:
        self._messages.append((level, decode(message)))

    @property
    def address(self) -> int:
        return ctypes.addressof(self._struct)

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, kind: Any, problem: Any, trace: Any) -> None:
        if self.exception is not None:
            exception, self.exception = self.exception, None
            raise exception
        messages, self._messages = self._messages, []
        for level, message in messages:
            if level:
                warnings.warn(message, errors.NamiWarning, stacklevel=4)
            else:
                log.info("%s", message)
