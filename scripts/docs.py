#!/usr/bin/env python3
"""scripts/docs.py FILE...: runs the commands of every ```console block of these Markdown files, from
the root of the repository, and writes what they print below them anew.  Output with a line `...` is left
as it is.  Read the change before it is committed: tests/test_docs.sh holds the program to it."""
import os
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))


def output(command):
    run = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    return run.stdout.rstrip("\n").split("\n") if run.stdout.strip() else []


def block(lines):
    """The lines of a block with each command's output made anew."""
    out, i = [], 0
    while i < len(lines):
        out.append(lines[i])
        end = i + 1
        while end < len(lines) and not lines[end].startswith("$ "):
            end += 1
        old = lines[i + 1:end]
        if not lines[i].startswith("$ ") or "..." in old:
            out += old
        else:
            blank = [""] if old and not old[-1] else []
            out += output(lines[i][2:]) + blank
        i = end
    return out


for path in sys.argv[1:]:
    with open(path) as f:
        text = f.read().split("\n")
    new, inside = [], None
    for line in text:
        if inside is not None and line.startswith("```"):
            new += block(inside)
            inside = None
        if inside is not None:
            inside.append(line)
        else:
            new.append(line)
        if line.startswith("```console"):
            inside = []
    with open(path, "w") as f:
        f.write("\n".join(new))
