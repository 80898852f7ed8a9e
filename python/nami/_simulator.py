"""Simulators written in Python, as plug-ins of the library (include/nami_plugin.h).

The library loads a simulator from a file.  A copy of the small plug-in of this package, one for
each simulator, passes the request on to a Python function.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from ctypes import CFUNCTYPE, POINTER, c_char, c_double, c_int, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Callable, Mapping, Optional

from . import errors
from ._lib import PluginVariable, decode
from ._numpy import np
from .data import as_array

Simulator = Callable[["np.random.Generator", int], Mapping[str, Any]]
"""simulator(rng, n): n joint draws of all random variables, arrays by name with leading dimension n."""

_CALL = CFUNCTYPE(c_int, c_uint64, c_uint64, c_size_t, POINTER(PluginVariable), c_int,
                  POINTER(POINTER(c_double)), POINTER(c_char), c_size_t)


def _plugin() -> Path:
    here = Path(__file__).resolve().parent
    library = os.environ.get("NAMI_LIBRARY")
    places = [Path(library).resolve().parent] if library else []
    for folder in places + [here, here.parent.parent / "build"]:
        if (folder / "nami_python.so").exists():
            return folder / "nami_python.so"
    raise errors.FileError("the plug-in nami_python.so is missing; install the package anew")


class Source:
    """A Python function that the library can call, as long as this object lives."""

    def __init__(self, function: Simulator) -> None:
        if not callable(function):
            raise errors.UsageError(f"a simulator must be a function (rng, n), not a {type(function).__name__}")
        self.function = function
        self.exception: Optional[BaseException] = None
        import shutil  # not by `import nami`, which is to be quick
        import tempfile
        folder = tempfile.mkdtemp(prefix="nami-")
        # removed when this object is; not in a child after a fork, whose parent still needs it
        self._remove = weakref.finalize(self, _remove, folder, os.getpid())
        self.path = os.path.join(folder, "simulator.so")
        shutil.copyfile(_plugin(), self.path)
        me = weakref.ref(self)

        def simulate(*args: Any) -> int:
            source = me()
            return 1 if source is None else source._simulate(*args)

        self._callback = _CALL(simulate)
        self._library = ctypes.CDLL(self.path)
        c_void_p.in_dll(self._library, "nami_python_simulate").value = \
            ctypes.cast(self._callback, c_void_p).value

    @property
    def declaration(self) -> str:
        """The line that names it in a model."""
        return f'\nsimulator "{self.path}"\n'

    def _simulate(self, seed: int, first: int, n: int, var: Any, nvar: int, out: Any, err: Any,
                  size: int) -> int:
        try:
            drawn = self.function(np.random.default_rng([seed, first]), n)
            if not isinstance(drawn, Mapping):
                raise errors.InputError(f"the simulator returned a {type(drawn).__name__}, not a dict of arrays")
            for v in range(nvar):
                name = decode(var[v].name)
                shape = (n,) + tuple(var[v].dim[:var[v].ndim])
                if name not in drawn:
                    raise errors.InputError(f"the simulator returned no {name}; it must return all random variables")
                array = as_array(name, drawn[name])
                if array.shape != shape:
                    raise errors.InputError(f"the simulator returned {name} with shape {array.shape}; it must "
                                            f"have shape {shape}")
                ctypes.memmove(out[v], array.ctypes.data, array.nbytes)
            return 0
        except BaseException as problem:  # pylint: disable=broad-except
            self.exception = problem
            message = f"{type(problem).__name__}: {problem}".encode()[:size - 1] + b"\0"
            ctypes.memmove(err, message, len(message))
            return 1

    def reraise(self) -> None:
        """Raises what the function has raised, if anything."""
        exception, self.exception = self.exception, None
        if exception is not None:
            raise exception


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        import shutil
        shutil.rmtree(folder, ignore_errors=True)
