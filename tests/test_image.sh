#!/bin/sh
# test_image.sh TEST_IMAGE: does Pillow see in our PNG what test_image.c has drawn?
set -eu
for python in python3 /usr/bin/python3 none; do
    "$python" -c 'import PIL' 2>/dev/null && break
done
[ "$python" != none ] || { echo "SKIPPED: no python3 with PIL"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
IMAGE_FILE=$tmp/x.png "$1" files >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
"$python" - "$tmp/x.png" <<'P'
import sys
from PIL import Image
Image.open(sys.argv[1]).verify()
im = Image.open(sys.argv[1])
n, h, w, ncol, nline = 5, 2, 3, 3, 2
assert (im.format, im.mode, im.size) == ("PNG", "L", (ncol * (w + 2), nline * (h + 2))), (im.mode, im.size)
for y in range(im.size[1]):
    for x in range(im.size[0]):
        i, r, c = y // (h + 2) * ncol + x // (w + 2), y % (h + 2) - 1, x % (w + 2) - 1
        want = 255
        if i < n and 0 <= r < h and 0 <= c < w:
            want = round(255 * ((i * h + r) * w + c) / (n * h * w - 1))
        assert abs(im.getpixel((x, y)) - want) <= (want % 255 != 0), (x, y, im.getpixel((x, y)), want)
print("a picture of", im.size, "as it should be")
P
