"""A wheel of NaMI for any Python 3, with the shared library inside: scripts/wheel.sh ('make wheel')."""

import os
import pathlib

from setuptools import Distribution, setup

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel


class Wheel(bdist_wheel):
    """py3-none-PLATFORM: it has a library, but none of Python's."""

    def get_tag(self):
        return ("py3", "none") + super().get_tag()[2:]


class WithLibrary(Distribution):
    """It is for one platform."""

    def has_ext_modules(self):
        return True


if not pathlib.Path("nami/libnami.so").exists():
    raise SystemExit("the library is missing here; 'make wheel' in NaMI's folder makes a wheel")

setup(
    name="nami",
    version=os.environ["NAMI_VERSION"],
    description="Amortized Bayesian inference by faithful inversion of generative models",
    long_description=pathlib.Path("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    packages=["nami"],
    package_data={"nami": ["*.so", "py.typed"]},
    python_requires=">=3.8",
    install_requires=["numpy"],
    extras_require={"xarray": ["xarray"]},
    classifiers=["Programming Language :: Python :: 3", "Operating System :: POSIX :: Linux",
                 "License :: OSI Approved :: Apache Software License"],
    cmdclass={"bdist_wheel": Wheel},
    distclass=WithLibrary,
    zip_safe=False,
)
