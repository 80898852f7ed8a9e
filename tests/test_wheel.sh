#!/bin/bash
# test_wheel.sh BUILD FILE...: makes the wheel, installs it without network in a fresh virtual
# environment (with the system's NumPy), and runs there the ```python blocks of these Markdown files:
# those of a file are one program.  What `>>> ` lines show is what is printed; `...` stands for anything.
set -eu
build=$(realpath "$1")
shift
cd "$(dirname "$0")/.."
python=/usr/bin/python3
[ -x $python ] || python=python3
$python -c 'import numpy, setuptools, wheel, venv, ensurepip' 2>/dev/null ||
    { echo "Python's numpy, setuptools, wheel or venv is not installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
scripts/wheel.sh "$build" "$tmp" >/dev/null
case $(echo "$tmp"/*.whl) in
*/nami-[0-9]*-py3-none-linux_*.whl) ;;
*) echo "FAIL: the wheel is called $(ls "$tmp")"; exit 1 ;;
esac
$python -m venv --system-site-packages "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-index --no-deps "$tmp"/*.whl
unset NAMI_LIBRARY PYTHONPATH
cp -R examples "$tmp/examples"
cd "$tmp"
venv/bin/python - <<'END'
import nami, os, sys
assert nami.__file__.startswith(sys.prefix), nami.__file__
assert nami._lib.lib._name == os.path.join(os.path.dirname(nami.__file__), "libnami.so"), nami._lib.lib._name
END
for file in "$@"; do
    sed -n '/^```python$/,/^```$/p' "$OLDPWD/$file" | sed 's/^```python$//; s/^```$//' >doc.txt
    venv/bin/python - "$file" <<'END'
import doctest, re, sys
text = open("doc.txt").read()
assert "nami" in text, f"{sys.argv[1]} has no Python example"
if ">>> " not in text:  # a program
    exec(compile(text, sys.argv[1], "exec"), {"__name__": "__main__"})
else:
    test = doctest.DocTestParser().get_doctest(text, {}, sys.argv[1], sys.argv[1], 0)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.DocTestRunner(optionflags=flags).run(test)
    assert not result.failed and result.attempted, result
print("ok", sys.argv[1])
END
done
