"""NaMI: amortized Bayesian inference by faithful inversion.

    import nami

    model = nami.Model(text)                 # or nami.Model.read("schools.nami")
    model.check(data)                        # prior predictive check, with advice
    net = model.train(data)                  # Ctrl-C keeps the best network so far
    post = net.sample(data)                  # the table of `nami sample`, with a verdict
    post["theta"]                            # NumPy array (draw, ...), equally weighted

docs/python.md is the reference.
"""

from ._lib import VERSION as __version__
from ._lib import Picture, Progress
from ._lib import group as _group
from ._lib import options_help as _options_help
from .errors import (CanceledError, ClosedError, Error, FileError, InputError, InternalError, LimitError, NamiWarning,
                     OutOfMemoryError, UsageError)
from .model import Check, Exact, Factor, Inverse, Model
from .network import Calibration, Evidence, Mode, Modes, Network
from .posterior import Posterior, Posteriors, Verdict

__all__ = ["Calibration", "CanceledError", "Check", "ClosedError", "Error", "Evidence", "Exact", "Factor", "FileError",
           "InputError", "InternalError", "Inverse", "LimitError", "Mode", "Model", "Modes", "NamiWarning", "Network",
           "OutOfMemoryError", "Picture", "Posterior", "Posteriors", "Progress", "UsageError", "Verdict", "options"]


def options(group: str) -> str:
    """The options of "train", "invert", "query" (sample), "evidence", "modes" (map), "calibrate", "check",
    "simulate" or "exact": one line each, with defaults."""
    if not isinstance(group, str) or not _group(group)[1]:
        raise UsageError(f"no group of options is called {group!r}")
    return _options_help(group)
