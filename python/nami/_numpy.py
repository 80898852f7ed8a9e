"""NumPy, imported when it is first used: `import nami` takes a third of the time without it."""

from typing import TYPE_CHECKING, Any

__all__ = ["np"]

if TYPE_CHECKING:
    import numpy as np
else:
    class _NumPy:
        def __getattr__(self, name: str) -> Any:
            import numpy  # by several threads at once: the others wait for the first
            value = getattr(numpy, name)
            setattr(self, name, value)  # next time without this function
            return value

    np = _NumPy()
