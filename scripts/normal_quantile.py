#!/usr/bin/env python3
"""scripts/normal_quantile.py coefficients|reference: makes the numbers of src/base/normal.c and
tests/test_normal.c with 50 digits (Debian: python3-mpmath).  Run by hand."""
import sys
from mpmath import cos, erfc, erfinv, exp, log, lu_solve, matrix, mp, mpf, nstr, pi, sqrt

mp.dps = 50
CENTER, SINGULAR = mpf("0.16"), mpf("0.25")  # q^2: of 0.4 and 1/2
SHOULDER, BASE = mpf("2.25"), mpf("1.25")  # -log u of the start, and about z there
TAIL, FAR, END = mpf(3), mpf(8), mpf(39)  # r
DEGREE = 7


def tail(log_u):
    """-z with log Phi(z) = log_u < log 0.5, by Newton's method on the logarithm"""
    z = sqrt(-2 * log_u) - mpf("0.6")
    while True:
        p = erfc(z / sqrt(2)) / 2
        step = (log(p) - log_u) * p * sqrt(2 * pi) * exp(z * z / 2)
        z += step
        if abs(step) < mpf(10) ** -42:
            return z


def quantile(u):
    return -tail(log(u)) if u < 0.25 else tail(log(1 - u)) if u > 0.75 else sqrt(2) * erfinv(2 * u - 1)


def center(t):
    """(z/q - sqrt(2 pi)) / t with t = q^2, q = u - 1/2"""
    q = sqrt(t)
    return (sqrt(2) * erfinv(2 * q) / q - sqrt(2 * pi)) / t


def rise(l):
    """-z - BASE with l = -log u"""
    return tail(-l) - BASE


def excess(r):
    """r + z with r = sqrt(-2 log u)"""
    return r - tail(-r * r / 2)


def chebyshev(a, b, n):
    return [(a + b) / 2 - (b - a) / 2 * cos(pi * (2 * i + 1) / (2 * n)) for i in range(n)]


def ratio(f, at, shifted):
    """P(s)/Q(s) = f, Q(0) = 1, at 2 DEGREE + 1 points"""
    a, y = matrix(len(at), len(at)), matrix(len(at), 1)
    for i, x in enumerate(at):
        s, y[i] = shifted(x), f(x)
        for j in range(DEGREE + 1):
            a[i, j] = s**j
            if j:
                a[i, DEGREE + j] = -y[i] * s**j
    c = list(lu_solve(a, y))
    return c[: DEGREE + 1], [mpf(1)] + c[DEGREE + 1 :]


def row(name, f, at, shifted, test, scale):
    p, q = ratio(f, at, shifted)
    p, q = [[mpf(float(c)) for c in v] for v in (p, q)]  # as rounded
    at_s = lambda v, s: sum(c * s**j for j, c in enumerate(v))
    worst = max(abs(at_s(p, shifted(x)) / at_s(q, shifted(x)) - f(x)) * scale(x) for x in test)
    print(f"/* {name}: error of z below {nstr(worst, 2)} */")
    for v in (p, q):
        print("{" + ", ".join(repr(float(c)) for c in v) + "},")


def coefficients():
    # one node of N + 1 is at t = 0, where the factor t needs none; dense towards t = 1/4, a singularity
    w, low = chebyshev(log(SINGULAR - CENTER), log(SINGULAR), 2 * DEGREE + 2), log(SINGULAR - CENTER)
    at = [SINGULAR - exp(low + (x - low) * (log(SINGULAR) - low) / (w[-1] - low)) for x in w[:-1]]
    test = [CENTER * (k + mpf("0.01")) / 300 for k in range(300)]
    row("center", center, at, lambda t: CENTER - t, test,
        lambda t: t / (center(t) * t + sqrt(2 * pi)))
    for name, f, a, b in (("shoulder", rise, SHOULDER, TAIL**2 / 2), ("tail", excess, TAIL, FAR),
                          ("far tail", excess, FAR, END)):
        at = [exp(x) for x in chebyshev(log(a), log(b), 2 * DEGREE + 1)]
        test = [exp(log(a) + (log(b) - log(a)) * k / 300) for k in range(301)]
        row(name, f, at, lambda x: x - a, test, lambda x: 1 / tail(-x if f is rise else -x * x / 2))


def reference():
    us = [float(f"1e-{k}") for k in (300, 250, 200, 150, 120, 100, 80, 60, 50, 40, 30, 25, 20, 18, 16, 14, 13,
                                     12, 11, 10, 9, 8, 7, 6, 5, 4, 3)]
    us += [5e-324, 2.2250738585072014e-308, 1.2664e-14, 1.2665e-14]  # the smallest numbers; r = 8
    us += [0.0025, 0.0111089, 0.0111091, 0.01, 0.02275, 0.04, 0.07, 0.0999999999999999, 0.1, 0.10000000000000002,
           0.11, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.49, 0.499, 0.49999, 0.4999999999, 0.49999999999999994]
    us += [0.50000000000000011, 0.5000000001, 0.501, 0.55, 0.6, 0.7, 0.77, 0.841, 0.9, 0.925, 0.95, 0.975, 0.99, 0.999,
           0.9999, 1 - 1e-6, 1 - 1e-8, 1 - 1e-10, 1 - 1e-12, 1 - 1e-14, 1 - 2.0**-52, 1 - 2.0**-53]
    for u in sorted(us):
        print(f"    {{{u!r}, {nstr(quantile(mpf(u)), 22)}L}},")


{"coefficients": coefficients, "reference": reference}[sys.argv[1]]()
