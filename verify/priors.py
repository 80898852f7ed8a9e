#!/usr/bin/env python3
"""Do the priors that `nami check` proposes leave posteriors where they are?

    verify/priors.py build/nami [MODEL...]       classic models (tests/models/bugs) and those of
                                                 other folders: NAME or FOLDER/NAME

For each model with data, the proposals of `nami check` are put into the text of the model as they
stand, and JAGS runs both: the model as it was (twice, to see the Monte Carlo error) and the one with
the proposed priors.  A row for each model: how many priors were changed, how many scalar parameters
have a posterior, by how many posterior sds their means moved (median and largest), and how many moved by
less than 0.2 sd.  Parameters whose mean moves by more than 0.1 sd between the two runs of the same model
are left out: JAGS does not know them well enough.  The exit code is 1 if fewer than 90 % stay.
"""
import concurrent.futures
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "verify"))
sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))
import corpus  # noqa: E402
import jags_compare  # noqa: E402

BURN, STEPS, THIN = 2000, 20000, 10
STAY = 0.2
# JAGS's chains take too long (cervix, lsat, pigs) or do not converge (see tests/models/bugs/README.md)
LEFT_OUT = {"cervix", "lsat", "pigs", "stagnant", "stagnant-anywhere", "inhaler", "otrees"}


def proposals(nami, model, data):
    """[(line, column, new statement)]"""
    p = subprocess.run([nami, "check", model, "--data", data, "--json"], capture_output=True, text=True)
    if p.returncode > 1:
        raise RuntimeError(p.stderr.splitlines()[0])
    out = []
    for d in json.loads(p.stdout)["problems"]:
        m = re.match(r"for instance (.*?): ", d["advice"] or "")
        if m:
            out.append((d["line"], d["column"], m.group(1)))
    return out


def closing(text, i):
    """The place after the parenthesis that closes the first one from i on."""
    depth = 0
    for i in range(text.index("(", i), len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    raise ValueError("no closing parenthesis")


def changed(text, where):
    """The model with the statements at these places replaced; from the last to the first."""
    start = [0]
    for line in text.splitlines(keepends=True):
        start.append(start[-1] + len(line))
    for line, column, new in sorted(where, reverse=True):
        a = start[line - 1] + column - 1
        b = closing(text, text.index("~", a))
        t = re.match(r"\s*[TI]\(", text[b:])
        if t:
            b = closing(text, b)
        text = text[:a] + new + text[b:]
    return text


def posterior(text, data, init, names, seed, where):
    """{scalar: (mean, sd)}"""
    with open(os.path.join(where, "model.bug"), "w") as f:
        f.write(text)
    script = 'load glm\nmodel in "model.bug"\ndata in "%s"\ncompile\n' % data
    with open(os.path.join(where, "seed.R"), "w") as f:
        f.write('".RNG.name" <- "base::Mersenne-Twister"\n".RNG.seed" <- %d\n' % seed)
    for path in [init] if init else []:
        script += 'parameters in "%s"\n' % path
    script += 'parameters in "seed.R"\ninitialize\nupdate %d\n' % BURN
    script += "".join("monitor %s, thin(%d)\n" % (n, THIN) for n in names)
    script += "update %d\ncoda *\n" % STEPS
    jags_compare.run(script, where)
    with open(os.path.join(where, "CODAchain1.txt")) as f:
        x = [float(line.split()[1]) for line in f]
    out = {}
    with open(os.path.join(where, "CODAindex.txt")) as f:
        for line in f:
            name, a, b = line.split()
            v = x[int(a) - 1:int(b)]
            out[name] = (statistics.fmean(v), statistics.pstdev(v))
    return out


def latent_names(text, data):
    with open(data) as f:
        given = f.read()
    names = []
    for n in jags_compare.stochastic(text):
        m = re.search(r"^\W*%s\W*(<-|=)([^a-z]*|.*?)(?=\n\W*[A-Za-z.]+\W*(<-|=)|\Z)" % re.escape(n), given, re.M | re.S)
        if not m or "NA" in m.group(0):
            names.append(n)
    return names


def compare(nami, model, data, init):
    """(number of changed priors, {scalar: shift in sds}, number left out)"""
    with open(model) as f:
        text = f.read()
    what = proposals(nami, model, data)
    if not what:
        return 0, {}, 0
    names = latent_names(text, data)
    with tempfile.TemporaryDirectory() as where:
        one = posterior(text, data, init, names, 1, where)
        two = posterior(text, data, init, names, 2, where)
        new = posterior(changed(text, what), data, init, names, 3, where)
    shift, unsure = {}, 0
    for n, (mean, sd) in one.items():
        if not sd > 1e-9 * (1 + abs(mean)):
            continue
        if abs(two[n][0] - mean) > 0.1 * sd:
            unsure += 1
            continue
        shift[n] = abs(new[n][0] - (mean + two[n][0]) / 2) / sd
    return len(what), shift, unsure


def main(nami, wanted):
    nami = os.path.abspath(nami)
    folder = os.path.join(ROOT, "tests", "models", "bugs")
    rows = [r for r in corpus.models(folder) if r[2] and r[0] not in LEFT_OUT]
    if wanted:
        rows = []
        for w in wanted:
            rows += [r for r in corpus.models(os.path.dirname(w) or folder) if r[0] == os.path.basename(w)]
    total = stay = models = left = 0
    print("%-18s %6s %10s %8s %8s %10s" % ("model", "priors", "parameters", "median", "largest", "< %.1f sd" % STAY))

    def one(row):
        try:
            return compare(nami, row[1], os.path.abspath(row[2]), row[3] and os.path.abspath(row[3]))
        except (RuntimeError, ValueError, jags_compare.JagsError) as e:
            return e

    pool = concurrent.futures.ThreadPoolExecutor(2)
    for (name, _, _, _), result in zip(rows, pool.map(one, rows)):
        if isinstance(result, Exception):
            print("%-18s %s" % (name, str(result).strip().splitlines()[-1]))
            continue
        priors, shift, unsure = result
        if not shift:
            print("%-18s %6d" % (name, priors))
            continue
        far = max(shift, key=shift.get)
        ok = sum(v < STAY for v in shift.values())
        print("%-18s %6d %10d %8.3f %8.3f %6d %3.0f%%  %s" % (name, priors, len(shift), statistics.median(shift.values()),
                                                        shift[far], ok, 100 * ok / len(shift), far), flush=True)
        total, stay, models, left = total + len(shift), stay + ok, models + 1, left + unsure
    print("%d of %d parameters of %d models (%.1f%%) moved by less than %g sd; %d left out: JAGS's own runs differ" %
          (stay, total, models, 100 * stay / max(total, 1), STAY, left))
    return 0 if total and stay >= 0.9 * total else 1


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
