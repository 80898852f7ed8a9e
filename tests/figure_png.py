#!/usr/bin/env python3
"""figure_png.py SVG PNG ZOOM PAPER: the PNG file is a picture of the SVG: its size is ZOOM times that of the SVG, its
corners have the color PAPER (#rrggbb), and it is not blank: many colors, and ink in each quarter of its height.
Decoded here, by https://www.w3.org/TR/png, without any library of pictures."""
import re
import struct
import sys
import zlib

svg, file, zoom, paper = open(sys.argv[1], encoding="utf-8").read(), open(sys.argv[2], "rb").read(), *sys.argv[3:]
assert file[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG file"
at, chunks = 8, []
while at < len(file):
    size, kind = struct.unpack(">I4s", file[at:at + 8])
    data = file[at + 8:at + 8 + size]
    assert zlib.crc32(kind + data) == struct.unpack(">I", file[at + 8 + size:at + 12 + size])[0], f"crc of {kind!r}"
    chunks.append((kind, data))
    at += 12 + size
assert chunks[0][0] == b"IHDR" and chunks[-1][0] == b"IEND"
width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[0][1])
channels = {2: 3, 6: 4}[color]
assert depth == 8 and not interlaced
want = [int(float(zoom) * int(n) + 1e-9) for n in re.search(r'<svg[^>]* width="(\d+)" height="(\d+)"', svg).groups()]
assert [width, height] == want, f"{width} x {height} pixels, not {want}"

packed = zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))
line, above, rows = width * channels, bytearray(width * channels), []
for y in range(height):
    how, row = packed[y * (line + 1)], bytearray(packed[y * (line + 1) + 1:(y + 1) * (line + 1)])
    for i in range(line if how else 0):
        left, up = row[i - channels] if i >= channels else 0, above[i]
        corner = above[i - channels] if i >= channels else 0
        if how == 4:
            near = left + up - corner
            guess = min((abs(near - left), 0, left), (abs(near - up), 1, up), (abs(near - corner), 2, corner))[2]
        else:
            guess = (0, left, up, (left + up) // 2)[how]
        row[i] = (row[i] + guess) & 255
    rows.append([bytes(row[x:x + 3]) for x in range(0, line, channels)])
    above = row
background = bytes.fromhex(paper.lstrip("#"))
assert rows[0][0] == rows[0][-1] == background, f"the corner is {rows[0][0].hex()}"
colors = {pixel for row in rows for pixel in row}
assert len(colors) > 30, f"{len(colors)} colors"
for quarter in range(4):
    some = rows[quarter * height // 4:(quarter + 1) * height // 4]
    assert any(pixel != background for row in some for pixel in row), f"nothing in quarter {quarter + 1} of the height"
