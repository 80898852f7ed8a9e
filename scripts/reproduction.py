#!/usr/bin/env python3
"""scripts/reproduction.py QUICK [FULL]: writes the tables of docs/reproduction.md from the summaries that
`nami reproduce` wrote to QUICK/tree, QUICK/skip, ... and FULL/tree, ..., and shows the figures of FULL, a folder in docs/;
what is not there is left empty."""
import os
import sys

DOC = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "reproduction.md")
BEGIN, END = "<!-- claims", "<!-- end -->"
EXPERIMENTS = ["vae", "tree", "gmm", "skip"]  # as in the paper


def rows(text, head):
    """The cells of the table whose first line begins with head."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith(head):
            break
    next(lines, None)
    for line in lines:
        if not line.startswith("|"):
            return
        yield [c.strip() for c in line.strip("|").split("|")]


def summary(folder, name):
    path = os.path.join(folder or "", name, "summary.md")
    if not folder or not os.path.exists(path):
        return "", {}
    text = open(path, encoding="utf-8").read()
    claims = {}
    for claim, measure, difference, won, p_t, p_signs, verdict in rows(text, "| claim |"):
        said = f"{verdict}: " if verdict else ""
        p = max([p_t, p_signs], key=lambda x: float(x or 0))  # of two tests, which must both be passed
        said += difference + (f", {won}" if won else "") + (f", p = {p}" if p else "")
        claims[claim, measure] = said if difference else ""
    return text, claims


def table(name, quick, full):
    text, small = summary(quick, name)
    big_text, big = summary(full, name)
    what = next((t.splitlines()[0].lstrip("# ") for t in (big_text, text) if t), name)
    out = [f"### {what}", ""]
    for said, t in (("Quick", text), ("Full", big_text)):
        if t:
            out += [f"{said}: {t.splitlines()[2]}", ""]
    out += ["| claim | measure | quick | full |", "|---|---|---|---|"]
    for claim in big or small:
        out.append(f"| {claim[0]} | {claim[1]} | {small.get(claim, '')} | {big.get(claim, '')} |")
    if big:
        out += [""] + shown(big_text, os.path.relpath(os.path.join(full, name), os.path.dirname(DOC)))
    return out + [""]


def shown(text, folder):
    """The figures of a summary, and where its numbers are."""
    out = [line.replace("](", f"]({folder}/") for line in text.splitlines() if line.startswith("![")]
    files = [f"[{f}]({folder}/{f})" for f in ("summary.md", "ends.csv", "epochs.csv", "settings.json")]
    return out + ["", "All numbers: " + ", ".join(files) + "."]


def main(quick, full=None):
    doc = open(DOC, encoding="utf-8").read()
    begin, end = doc.index(BEGIN), doc.index(END)
    begin = doc.index("\n", begin) + 1
    lines = [line for name in EXPERIMENTS for line in table(name, quick, full)]
    with open(DOC, "w", encoding="utf-8") as f:
        f.write(doc[:begin] + "\n" + "\n".join(lines) + doc[end:])


if __name__ == "__main__":
    main(*sys.argv[1:3])
