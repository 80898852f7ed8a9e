#!/bin/bash
# test_install.sh BUILD CC: what `make install` puts somewhere is enough to build programs with pkg-config and CMake.
. tests/checks.sh
build=$1 cc=$2
for tool in cmake pkg-config readelf; do
    command -v $tool >/dev/null || { echo "SKIPPED: there is no $tool"; exit 77; }
done

DESTDIR=$dir/stage cmake --install "$build" --prefix /opt/nami >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
prefix=$dir/stage/opt/nami # the files must not mind where they lie
lib=$(dirname "$(find "$prefix" -name 'libnami.*' | head -n 1)")
export PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# builds PROGRAM PACKAGE OPTION...: examples/PROGRAM.c as $dir/PROGRAM
builds() {
    local program=$1 package=$2 flags; shift 2
    flags=$(pkg-config "$@" --cflags --libs "$package") && "$cc" "examples/$program.c" -o "$dir/$program" $flags
}
works() { # WHAT: the programs run
    says "invert, $1" 0 '^faithful$' "$dir/invert" examples/student.json
    says "simulate, $1" 0 '^E log p ' "$dir/simulate" examples/models/schools.nami examples/models/schools.json
    says "posterior, $1" 0 '^theta' "$dir/posterior"
}
needs() { readelf -d "$1" | grep -q 'NEEDED.*libnami\.so\.0'; }
alone() { ! needs "$1"; }

version=$(sed -n 's/^#define NAMI_VERSION "\(.*\)"/\1/p' include/nami.h)
for package in nami nami-static; do
    [ -e "$lib/pkgconfig/$package.pc" ] || continue
    says "version of $package.pc" 0 "^$version\$" pkg-config --modversion $package
    ok "invert, $package" builds invert $package
    ok "simulate, $package" builds simulate $package
    ok "posterior, $package" builds posterior $package
    works $package
    if [ $package = nami ] && [ -e "$lib/libnami.so" ]; then
        ok "the shared library is used" needs "$dir/invert"
    else
        ok "the archive is used" alone "$dir/invert"
    fi
done
if [ -e "$lib/libnami.a" ] && [ -e "$lib/libnami.so" ]; then # --static has all that an archive alone needs
    rm "$lib"/libnami.so*
    ok "invert, pkg-config --static" builds invert nami --static
    ok "simulate, pkg-config --static" builds simulate nami --static
    ok "posterior, pkg-config --static" builds posterior nami --static
    works "pkg-config --static"
    DESTDIR=$dir/stage cmake --install "$build" --prefix /opt/nami >"$dir/log" 2>&1
fi

mkdir "$dir/project"
cat >"$dir/project/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES C)
find_package(nami 0.1 REQUIRED)
add_executable(invert ${EXAMPLES}/invert.c)
target_link_libraries(invert nami::nami)
add_executable(posterior ${EXAMPLES}/posterior.c)
target_link_libraries(posterior nami::nami)
add_executable(simulate ${EXAMPLES}/simulate.c)
if(TARGET nami::nami_static)
  target_link_libraries(simulate nami::nami_static)
else()
  target_link_libraries(simulate nami::nami)
endif()
EOF
ok "find_package" cmake -S "$dir/project" -B "$dir/project/build" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$cc" -DEXAMPLES="$PWD/examples"
ok "CMake project" cmake --build "$dir/project/build"
cp "$dir/project/build/"{invert,simulate,posterior} "$dir"
works "CMake"
[ ! -e "$lib/libnami.a" ] || ok "nami::nami_static is the archive" alone "$dir/simulate"
summary
