#!/bin/sh
# packages/smoke.sh DIR: do the installed packages work?  DIR has examples/ and a subset of r/.  Runs in a fresh root.
set -eu
cd "$1"
ok() { echo "ok $*"; }
nami --version | grep -q '^nami [0-9]'
man=$(ls /usr/share/man/man1/nami-run.1* | head -n 1)
[ -s "$man" ] && [ -s /usr/share/bash-completion/completions/nami ]
nami run examples/models/schools.nami --data examples/models/schools.json -o schools.nc --seed 1 >table
grep -q '^verdict      trusted' table
[ -s schools.nc ] && [ -s schools.html ]
nami invert examples/student.json -o student.svg && grep -q '<svg' student.svg
nami train examples/models/schools.nami --data examples/models/schools.json --steps 200 -q -o schools.net
nami plot marginals schools.net -q -o marginals.png
[ "$(head -c 4 marginals.png | tail -c 3)" = PNG ]
ok "command: posterior, report, netCDF, pictures"
if ldd "$(command -v nami)" /usr/lib/*/libnami.so.0 | grep 'not found'; then exit 1; fi
ok "libraries"
if command -v cc >/dev/null && command -v pkg-config >/dev/null; then
    # shellcheck disable=SC2046 # several options
    cc examples/posterior.c -o posterior $(pkg-config --cflags --libs nami)
    ./posterior | grep -q '^theta'
    cc examples/posterior.c -o posterior-static $(pkg-config --cflags --libs nami-static)
    ./posterior-static | grep -q '^theta'
    ok "C: shared, archive"
fi
if command -v python3 >/dev/null; then
    python3 - <<'END'
import numpy as np
import nami
assert "site-packages" not in nami.__file__, nami.__file__
model = nami.Model("model { a ~ normal(0, 1); b ~ half_normal(1); for (i in 1:5) { y[i] ~ normal(a, b) } }\nobserve y")
post = model.train(steps=100, seed=1, progress=False).sample({"y": [1.2, 0.7, 1.9, 1.1, 1.4]})
assert post["a"].shape == (4000,) and abs(post["a"].mean() - 1.2) < 0.3
sim = nami.Model("model { r ~ gamma(2, 1); y ~ simulated(r) }\nobserve y",
                 simulator=lambda rng, n: {"r": (r := rng.gamma(2, 1, size=n)), "y": rng.poisson(r)})
post.plot().save("post.png")
assert sim.train(steps=20, progress=False).sample({"y": 2})["r"].shape == (4000,)
END
    ok "Python: posterior, simulator"
fi
if command -v Rscript >/dev/null && [ -d r ]; then
    mkdir -p library
    R CMD INSTALL -l library r >/dev/null 2>&1
    R_LIBS=$PWD/library Rscript r/tests/nami.R | grep -q '^all of the package works'
    ok "R"
fi
