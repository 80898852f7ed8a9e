#!/bin/sh
# test_numpy.sh TEST_DRAWS: does NumPy read from NPZ what the JSON file says?
set -eu
for python in python3 /usr/bin/python3 none; do
    "$python" -c 'import numpy' 2>/dev/null && break
done
[ "$python" != none ] || { echo "SKIPPED: no python3 with numpy"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
NAMI_DRAWS=$tmp/x "$1" to_file >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
"$python" - "$tmp" <<'P'
import json, sys, zipfile
import numpy as np
assert zipfile.ZipFile(sys.argv[1] + "/x.npz").testzip() is None
draws = json.load(open(sys.argv[1] + "/x.json"))
arrays = np.load(sys.argv[1] + "/x.npz")
assert sorted(arrays.files) == sorted(draws[0]), arrays.files
for name in arrays.files:
    a = arrays[name]
    want = np.array([d[name] for d in draws], dtype=object)
    want = np.vectorize(lambda v: float("nan" if v is None else v), otypes=[float])(want)
    assert a.shape == want.shape, (name, a.shape, want.shape)
    assert a.dtype == (np.int64 if name == "k" else np.float64), (name, a.dtype)
    assert a.flags.c_contiguous
    np.testing.assert_array_equal(a.astype(float), want)
print(len(arrays.files), "arrays, as they should be")
P
