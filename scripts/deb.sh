#!/bin/sh
# scripts/deb.sh BUILD: builds the Debian packages libnami0, libnami-dev, nami and python3-nami in BUILD/packages.
# BUILD is a build directory of its own, because paths are those of the system: /usr/lib/x86_64-linux-gnu.
set -eu
cd "$(dirname "$0")/.."
build=$1
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
    -DCMAKE_INSTALL_LIBDIR="lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)" -DCMAKE_SKIP_INSTALL_ALL_DEPENDENCY=ON \
    -DNAMI_PYTHON_DIR=lib/python3/dist-packages -DNAMI_ZSH_DIR=share/zsh/vendor-completions >/dev/null
cmake --build "$build" -j "${JOBS:-2}" --target nami nami_shared nami_static nami_python man
rm -rf "$build/packages"
cpack --config "$build/CPackConfig.cmake" -B "$build/packages" >"$build/cpack.log" 2>&1 || { cat "$build/cpack.log" >&2; exit 1; }
rm -rf "$build/packages/_CPack_Packages"
ls "$build"/packages/*.deb
