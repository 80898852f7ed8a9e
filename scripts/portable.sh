#!/bin/bash
# scripts/portable.sh: proxies of other systems.  (1) The command and the library built by clang, and a posterior that
# both compilers agree on.  (2) All files of src/ compiled for musl, another C library; what needs no other
# library (random numbers, graph, dist) linked and run there, with the results of glibc.
set -euo pipefail
cd "$(dirname "$0")/.."
out=build/portable jobs=${JOBS:-2}
mkdir -p $out

cmake -S . -B build-clang -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build build-clang -j "$jobs" --target nami nami_shared >$out/clang.log 2>&1 || { tail -n 30 $out/clang.log; exit 1; }
for build in build build-clang; do
    $build/nami invert examples/student.json --json >$out/$build.invert
    $build/nami run examples/models/rats.nami --data examples/models/rats.json --method mcmc -n 1600 --report none \
        -o $out/$build.npz --json --seed 1 >$out/$build.json
done
cmp $out/build.invert $out/build-clang.invert
/usr/bin/python3 - $out/build.json $out/build-clang.json <<'END'
import json, sys
gcc, clang = (json.load(open(f))["sets"][0] for f in sys.argv[1:])
worst = max(abs(a["mean"] - clang["variables"][n]["mean"]) / a["sd"] for n, a in gcc["variables"].items())
print(f"clang: posterior means of rats within {worst:.3f} sd of those of gcc")
assert worst < 0.25 and clang["verdict"] == gcc["verdict"] == "trusted", (worst, clang["reason"])
END

command -v musl-gcc >/dev/null || { echo "musl-gcc is missing: scripts/setup.sh portable" >&2; exit 1; }
headers=$out/headers
rm -rf $headers $out/musl
mkdir -p $headers $out/musl
for name in Random123 jansson.h jansson_config.h expat.h expat_config.h expat_external.h zlib.h zconf.h zip.h zipconf.h \
    graphviz netcdf.h netcdf_meta.h; do
    found=$(find /usr/include /usr/lib -name $name -not -path '*/python*' 2>/dev/null | head -n 1)
    [ -z "$found" ] || ln -s "$found" $headers
done
flags="-std=gnu11 -O0 -w -Wno-psabi -Iinclude -Isrc -Ibuild/embedded -isystem $headers -isystem $headers/graphviz"
compile() { # FILE: an object in $out/musl; the name has the folder
    musl-gcc $flags -c "$1" -o "$out/musl/$(echo "${1%.c}" | tr / -).o"
}
export -f compile
export flags out
printf '%s\n' src/*/*.c src/*/*/*.c | xargs -P "$jobs" -I{} bash -c 'compile {}'
echo "musl: $(ls $out/musl/*.o | wc -l) files of src/ compile"
rm -f $out/musl.a
ar rcs $out/musl.a $out/musl/*.o
musl-gcc $flags -static tests/libc.c -o $out/libc-musl $out/musl.a -lm
gcc $flags -isystem /usr/include tests/libc.c -o $out/libc-glibc build/libnami_internal.a \
    $(pkg-config --libs jansson libcgraph libgvc expat libzip zlib netcdf) -lm
$out/libc-musl >$out/musl.txt
$out/libc-glibc >$out/glibc.txt
diff $out/glibc.txt $out/musl.txt
echo "musl: random numbers, draws and densities of $(grep -c '^[a-z_0-9]* [-0-9]' $out/musl.txt) distributions, and inverses equal those of glibc"
