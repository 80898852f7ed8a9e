#!/usr/bin/python3
"""verify/numerics.py [NAME...] [--table FILE] [--points FILE] [--all] [--numbers PROGRAM]: densities, distribution functions and
quantiles of the scalar distributions, and the special functions below them, against mpmath over their whole range.

References are computed with 50 digits from textbook formulas. Tail probabilities are integrals of log-concave densities (of the
logarithm or logit of the variable), panel by panel outwards until nothing is left, to 20 digits; they share no code and no method
with NaMI. Points: for each set of parameters, NaMI's quantiles of probabilities from 1e-300 to 1 - 1e-300 (where a number of
other size does as well) and multiples of the median.

The error of a log density is absolute where |log p| < 1, otherwise relative; that of a probability is relative. A probability is
known no better than its argument: rounding x by one unit changes it by kappa = |d log P / d log x| units. The error of a
quantile is that of x or of the probability at x, whichever is smaller; a quantile of counts has the error by which its
probability misses. "bounded" is the worst error in units of eps (1 + kappa), eps = 2.2e-16.

--table writes docs/numerics.md (of NAMEs: only their rows), --points tests/numerics_reference.inc, a sample of the points with their references."""
import argparse
import math
import os
import random
import re
import subprocess
import sys
import time

import mpmath
from mpmath import mp, mpf, log, sqrt, pi, loggamma as lg

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EPS = 2.0**-52
TINY, HUGE = 1e-300, 1.7e308
mp.dps = 50
ONE = mpf(1)



def exp(x):
    return mpmath.exp(x) if x > -1e9 else mpf(0)  # smaller than any number of mpmath's that is quick


def expm1(x):
    return mpmath.expm1(x) if x > -1e9 else mpf(-1)


def log1(x):
    return mpmath.log1p(x)


def erfc(x):
    return mpmath.erfc(x) if abs(x) < 3e4 else mpf(0 if x > 0 else 2)


# ---- tails of log-concave densities ---------------------------------------------------------------
NODES = {k: mpmath.calculus.quadrature.GaussLegendre(mp).get_nodes(-1, 1, k, mp.prec) for k in (3, 4)}


def panel(f, a, b, k):
    mid, half = (a + b) / 2, (b - a) / 2
    return half * sum(w * exp(f(mid + half * x)) for x, w in NODES[k])


def adaptive(f, a, b, floor=0, depth=0):
    mid, rough, fine = (a + b) / 2, panel(f, a, b, 3), panel(f, a, b, 4)  # 12 and 24 points: twice the digits
    if abs(rough - fine) <= mpf(10)**-12 * abs(fine) or max(abs(rough), abs(fine)) <= floor or depth > 60:
        return fine
    return adaptive(f, a, mid, floor, depth + 1) + adaptive(f, mid, b, floor, depth + 1)


def beyond(f, t, out, bend=None):
    """The integral of exp(f) from t outwards, where f falls and is concave; panels shrink towards a bend."""
    top, h, total = f(t), ONE, mpf(0)
    while True:
        here = f(t)
        if top - here > 50 and total > 0:
            return total
        while here - f(t + out * h) < 3:
            h *= 2
        while here - f(t + out * h) > 9:
            h /= 2
        if bend is not None:
            h = min(h, max(ONE, abs(t - bend) / 2))
        total += abs(adaptive(f, t, t + out * h))
        t += out * h


def both(f, t, mode=None, bend=None):
    """(lower, upper) tail at t of a normalized log-concave density exp(f)."""
    if mode is not None:
        up = t >= mode
    else:
        d = abs(t) * mpf(10)**-30 + mpf(10)**-30
        up = f(t + d) <= f(t)
    if f(t) < -4000:
        return (ONE, mpf(0)) if up else (mpf(0), ONE)  # far below the smallest number
    v = beyond(f, t, 1 if up else -1, bend)
    rest = 1 - v
    if rest < mpf(10)**-6 and mode is not None:  # which 1 - v has with too few digits
        rest = beyond(f, mode, -1 if up else 1, bend) + adaptive(f, min(t, mode), max(t, mode))
    return (rest, v) if up else (v, rest)


def gamma_at(a, w):
    """P(a, x), Q(a, x) at w = log x."""
    c = lg(a)
    return both(lambda s: a * s - exp(s) - c, w, log(a), 0)


def beta_at(a, b, t):
    """I_x(a, b) and its complement at t = logit x."""
    c = lg(a) + lg(b) - lg(a + b)
    soft = lambda s: log1(exp(s)) if s < 0 else s + log1(exp(-s))
    return both(lambda s: -a * soft(-s) - b * soft(s) - c, t, log(a / b), 0)


def swap(p):
    return p[1], p[0]


def phi(z):
    """Phi(z), 1 - Phi(z)"""
    return erfc(-z / sqrt(mpf(2))) / 2, erfc(z / sqrt(mpf(2))) / 2


def lchoose(n, k):
    return lg(n + 1) - lg(k + 1) - lg(n - k + 1)


def lbeta(a, b):
    return lg(a) + lg(b) - lg(a + b)


def counted(f, k, lo, hi, mode):
    """Tails of a distribution of counts by sums, outwards from k: f is log p."""
    if k < lo:
        return mpf(0), ONE
    if k >= hi:
        return ONE, mpf(0)
    up = k >= mode
    j, total, first = (k + 1 if up else k), mpf(0), None
    while lo <= j <= hi:
        v = exp(f(j))
        total += v
        if v < total * mpf(10)**-35:
            break
        j += 1 if up else -1
    return (1 - total, total) if up else (total, 1 - total)


# ---- distributions ----------------------------------------------------------------------------------
# name: (parameters, log p, (lower, upper) tails or None, counts?)
SHAPES = [1e-10, 1e-3, 0.31, 1, 2.385, 50.5, 1e4, 3e7, 1e10, 1e15]
SCALES = [1e-300, 1e-10, 0.7, 3e5, 1e300]
PLACES = [0, 1.3, -1e8]
DIST = {}


def grid(*lists, most=60):
    import itertools
    every = list(itertools.product(*lists))
    return every if len(every) <= most else random.Random(1).sample(every, most)


def dist(name, params, lp, tails=None, counts=False, points=()):
    DIST[name] = (params, lp, tails, counts, points)


def located(name, base_lp, base_tails, shapes=None):
    """A location-scale family, by z; shapes: further arguments in front or behind."""
    dist(name, grid(PLACES, SCALES), lambda x, m, s: base_lp((x - m) / s) - log(s), lambda x, m, s: base_tails((x - m) / s))


normal_lp = lambda z: -log(2 * pi) / 2 - z * z / 2
located("normal", normal_lp, phi)
cauchy_tails = lambda z: (mpmath.atan2(1, -z) / pi, mpmath.atan2(1, z) / pi)
located("cauchy", lambda z: -log(pi) - log1(z * z), cauchy_tails)
located("double_exponential", lambda z: -log(mpf(2)) - abs(z),
        lambda z: (exp(z) / 2, 1 - exp(z) / 2) if z < 0 else (1 - exp(-z) / 2, exp(-z) / 2))
located("logistic", lambda z: -abs(z) - 2 * log1(exp(-abs(z))), lambda z: (1 / (1 + exp(-z)), 1 / (1 + exp(z))))
gev_t = lambda x, m, s, k: log1(k * (x - m) / s) / k if k else (x - m) / s
dist("gev", grid(PLACES, SCALES, [-5, -0.3, -1e-12, 0, 1e-6, 0.31, 5], most=40),
     lambda x, m, s, k: -log(s) - (1 + k) * gev_t(x, m, s, k) - exp(-gev_t(x, m, s, k)),
     lambda x, m, s, k: (exp(-exp(-gev_t(x, m, s, k))), -expm1(-exp(-gev_t(x, m, s, k)))))
located("gumbel", lambda z: -z - exp(-z), lambda z: (exp(-exp(-z)), -expm1(-exp(-z))))


def t_tails(z, n):
    if z == 0:
        return mpf(1) / 2, mpf(1) / 2
    v = beta_at(n / 2, mpf(1) / 2, log(n) - 2 * log(abs(z)))[0] / 2
    return (v, 1 - v) if z < 0 else (1 - v, v)


def t_lp(z, n):
    return lg((n + 1) / 2) - lg(n / 2) - log(n * pi) / 2 - (n + 1) / 2 * log1(z * z / n)


dist("student_t", grid(SHAPES, PLACES, SCALES, most=25), lambda x, n, m, s: t_lp((x - m) / s, n) - log(s),
     lambda x, n, m, s: t_tails((x - m) / s, n))


def emg_z(z, v):
    return log(v) + v * v / 2 - v * z + log(phi(z - v)[0])


dist("exp_mod_normal", grid([0, 1.3, -50], [1e-3, 0.7, 3e3], [1e-6, 1e-2, 1.7], most=20) + [(0, 0.7, 40)],
     lambda x, m, s, l: emg_z((x - m) / s, s * l) - log(s), lambda x, m, s, l: both(lambda z: emg_z(z, s * l), (x - m) / s))
sn_z = lambda z, a: log(mpf(2)) + normal_lp(z) + log(phi(a * z)[0])
dist("skew_normal", grid([0, 1.3], [1e-3, 0.7, 3e3], [0, 1e-3, -0.8, 5, -300, 1e8], most=20),
     lambda x, m, s, a: sn_z((x - m) / s, a) - log(s), lambda x, m, s, a: both(lambda z: sn_z(z, a), (x - m) / s))
sde = lambda z, t: log(2 * t * (1 - t)) + (2 * (1 - t) * z if z < 0 else -2 * t * z)
dist("skew_double_exponential", grid(PLACES, SCALES, [1e-8, 0.3, 0.999], most=25),
     lambda x, m, s, t: sde((x - m) / s, t) - log(s),
     lambda x, m, s, t: (lambda z: (t * exp(2 * (1 - t) * z), 1 - t * exp(2 * (1 - t) * z)) if z < 0
                         else (1 - (1 - t) * exp(-2 * t * z), (1 - t) * exp(-2 * t * z)))((x - m) / s))


def peak(f, lo=-60, hi=60):
    lo, hi = mpf(lo), mpf(hi)
    for _ in range(60):
        a, b = lo + (hi - lo) / 3, hi - (hi - lo) / 3
        lo, hi = (a, hi) if f(a) < f(b) else (lo, b)
    return (lo + hi) / 2


def nct_tails(x, n, m, s):
    t, d = x / s, m / s
    c = log(mpf(2)) + n / 2 * log(n / 2) - lg(n / 2)
    out = []
    for k in (0, 1):
        f = lambda w: n * w - n * exp(2 * w) / 2 + c + log(phi(t * exp(w) - d)[k])
        top = peak(f)
        out.append(beyond(f, top, 1) + beyond(f, top, -1))
    return tuple(out)


def nct_lp(x, n, m, s):
    t, d = x / s, m / s
    f = lambda w: (n + 1) * w - n * exp(2 * w) / 2 - (t * exp(w) - d)**2 / 2
    top = peak(f)
    c = log(mpf(2)) + n / 2 * log(n / 2) - lg(n / 2) - log(2 * pi) / 2 - log(s)
    return log(beyond(f, top, 1) + beyond(f, top, -1)) + c


dist("lognormal", grid([0, 1.3, -50], [1e-6, 0.7, 50]), lambda x, m, s: normal_lp((log(x) - m) / s) - log(s) - log(x),
     lambda x, m, s: phi((log(x) - m) / s))
dist("exponential", [(s,) for s in SCALES], lambda x, b: log(b) - b * x, lambda x, b: (-expm1(-b * x), exp(-b * x)))
gamma_lp = lambda x, a, b: a * log(b) - lg(a) + (a - 1) * log(x) - b * x
dist("gamma", grid(SHAPES, SCALES + [1e15], most=40), gamma_lp, lambda x, a, b: gamma_at(a, log(b * x)), points=[(1, 1e15, 1e15)])
dist("inv_gamma", grid(SHAPES, SCALES, most=25), lambda x, a, b: a * log(b) - lg(a) - (a + 1) * log(x) - b / x,
     lambda x, a, b: swap(gamma_at(a, log(b / x))))
dist("chi_square", [(s,) for s in SHAPES], lambda x, n: gamma_lp(x, n / 2, mpf(1) / 2), lambda x, n: gamma_at(n / 2, log(x / 2)))


def weibull_tails(x, a, s):
    h = exp(a * log(x / s))
    return -expm1(-h), exp(-h)


dist("weibull", grid([1e-3, 0.31, 1, 2.385, 50.5, 1e4], SCALES), lambda x, a, s: log(a) - log(s) + (a - 1) * log(x / s) - exp(a * log(x / s)),
     weibull_tails)
dist("frechet", grid([1e-3, 0.31, 1, 2.385, 50.5, 1e4], SCALES),
     lambda x, a, s: log(a) - log(s) - (1 + a) * log(x / s) - exp(-a * log(x / s)), lambda x, a, s: swap(weibull_tails(s, a, x)))
dist("rayleigh", [(s,) for s in (1e-150, 1e-10, 0.7, 3e5, 1e150)], lambda x, s: log(x) - 2 * log(s) - (x / s)**2 / 2,
     lambda x, s: (-expm1(-(x / s)**2 / 2), exp(-(x / s)**2 / 2)))
dist("pareto", grid(SCALES, [1e-3, 0.31, 2.385, 50.5, 1e10]), lambda x, c, a: log(a) + a * log(c) - (a + 1) * log(x),
     lambda x, c, a: (-expm1(a * log(c / x)), exp(a * log(c / x))))
dist("pareto_type_2", grid([0, 1.3], SCALES, [1e-3, 0.31, 2.385, 50.5, 1e10], most=30),
     lambda x, m, l, a: log(a) - log(l) - (a + 1) * log1((x - m) / l),
     lambda x, m, l, a: (-expm1(-a * log1((x - m) / l)), exp(-a * log1((x - m) / l))))


def ncx2_parts(x, n, d):
    last = int(d / 2 + x / 2 + 60 * sqrt(d / 2 + x / 2 + 1)) + 250
    return range(last + 1), [exp(j * log(d / 2) - d / 2 - lg(mpf(j + 1))) for j in range(last + 1)]


def ncx2_tails(x, n, d):
    js, w = ncx2_parts(x, n, d)
    step = [exp((n / 2 + j) * log(x / 2) - x / 2 - lg(n / 2 + j + 1)) for j in js]  # P(a) - P(a + 1)
    p, q = gamma_at(n / 2 + js[-1], log(x / 2))[0], gamma_at(n / 2, log(x / 2))[1]
    low = up = mpf(0)
    for j in reversed(js):
        low += w[j] * p
        p += step[j - 1] if j else 0
    for j in js:
        up += w[j] * q
        q += step[j]
    return low, up


def ncx2_lp(x, n, d):
    js, w = ncx2_parts(x, n, d)
    return log(sum(w[j] * exp(gamma_lp(x, n / 2 + j, mpf(1) / 2)) for j in js))


dist("noncentral_chi_square", [(0.31, 1e-8), (2.385, 1.5), (50.5, 60), (3, 1000), (1e4, 0.5)], ncx2_lp, ncx2_tails)
dist("scaled_gamma", grid([1e-100, 1e-5, 0.7, 3e5], SHAPES, most=30),
     lambda x, s, n: t_lp(1 / (s * sqrt(x)), n) - log(s) - mpf(3) / 2 * log(x),
     lambda x, s, n: beta_at(n / 2, mpf(1) / 2, log(n * s * s * x)))
dist("f_dist", grid(SHAPES, SHAPES, most=25),
     lambda x, a, b: a / 2 * log(a / b) + (a / 2 - 1) * log(x) - (a + b) / 2 * log1(a / b * x) - lbeta(a / 2, b / 2),
     lambda x, a, b: beta_at(a / 2, b / 2, log(a / b * x)))
dist("gen_gamma", grid(SHAPES, [1e-100, 0.7, 3e5], [0.01, 1, 7.5], most=30),
     lambda x, r, l, b: log(b) + b * r * log(l) + (b * r - 1) * log(x) - exp(b * log(l * x)) - lg(r),
     lambda x, r, l, b: gamma_at(r, b * log(l * x)))
dist("half_normal", [(s,) for s in SCALES], lambda x, s: log(mpf(2)) + normal_lp(x / s) - log(s),
     lambda x, s: (mpmath.erf(x / s / sqrt(mpf(2))), 2 * phi(x / s)[1]))
dist("half_cauchy", [(s,) for s in SCALES], lambda x, s: log(2 / pi) - log(s) - log1((x / s)**2),
     lambda x, s: (2 * mpmath.atan2(x / s, 1) / pi, 2 * mpmath.atan2(1, x / s) / pi))
dist("uniform", [(0, 1), (-1e300, 1e300), (1.3, 1.3000001), (-3, 1e-300)], lambda x, a, b: -log(b - a), lambda x, a, b: ((x - a) / (b - a), (b - x) / (b - a)))
dist("beta", grid(SHAPES, SHAPES, most=60), lambda x, a, b: (a - 1) * log(x) + (b - 1) * log1(-x) - lbeta(a, b),
     lambda x, a, b: beta_at(a, b, log(x) - log1(-x)), points=[(0.5, 1e15, 1e15)])


def kumaraswamy_tails(x, a, b):
    t = a * log(x)
    up = b * (log1(-exp(t)) if t < -1 else log(-expm1(t)))
    return -expm1(up), exp(up)


dist("kumaraswamy", grid([1e-3, 0.31, 1, 2.385, 50.5, 1e4], [1e-3, 0.31, 1, 2.385, 50.5, 1e4, 1e10]),
     lambda x, a, b: log(a) + log(b) + (a - 1) * log(x) + (b - 1) * log(-expm1(a * log(x))), kumaraswamy_tails)


def mises_lp(x, m, k):
    return k * (mpmath.cos(x - m) - 1) - log(2 * pi * mpmath.besseli(0, k) * exp(-k))


def mises_tails(x, m, k):
    c = log(2 * pi * mpmath.besseli(0, k) * exp(-k))
    f = lambda s: k * (mpmath.cos(s - m) - 1) - c
    edge = mpf(math.pi)
    top = m - 2 * pi * mpmath.floor((m + pi) / (2 * pi))

    def over(a, b):  # pieces that follow the peak
        w, cuts = min(1 / sqrt(k), mpf(1)), {a, b}
        cuts |= {v for j in range(-24, 12) for v in (a + w * mpf(2)**j, b - w * mpf(2)**j) if a < v < b}
        for p in (top - 2 * pi, top, top + 2 * pi):
            for j in range(-14, 15):
                for v in (p + j * w, p + j * 4 * w):
                    if a < v < b:
                        cuts.add(v)
        cuts = sorted(cuts)
        floor = mpf(10)**-24 * max([panel(f, u, v, 3) for u, v in zip(cuts, cuts[1:])] + [mpf(0)])
        return sum(adaptive(f, u, v, floor) for u, v in zip(cuts, cuts[1:]))
    return over(-edge, x), over(x, edge)


dist("von_mises", [(0, 1e-10), (0.7, 0.31), (-2.5, 2.385), (0.4, 50.5), (3.1, 1e4), (0.1, 1e6)], mises_lp, mises_tails)


def relaxed_w(x, t, p):
    return t * (log(x) - log1(-x)) - (log(p) - log1(-p))


dist("relaxed_bernoulli", grid([1e-3, 0.1, 0.66, 5, 1e3], [1e-10, 0.3, 0.5, 0.999]),
     lambda x, t, p: (lambda w: log(t) - log(x) - log1(-x) - abs(w) - 2 * log1(exp(-abs(w))))(relaxed_w(x, t, p)),
     lambda x, t, p: (lambda w: (1 / (1 + exp(-w)), 1 / (1 + exp(w))))(relaxed_w(x, t, p)))

# ---- counts
dist("bernoulli", [(1e-300,), (0.3,), (1 - 2.0**-50,)], lambda x, p: log(p) if x == 1 else log1(-p),
     lambda x, p: (1 - p, p) if x < 1 else (ONE, mpf(0)), True)
dist("bernoulli_logit", [(-700,), (-0.3,), (0,), (40,)], lambda x, a: -log1(exp(-a)) if x == 1 else -log1(exp(a)),
     lambda x, a: (1 / (1 + exp(a)), 1 / (1 + exp(-a))) if x < 1 else (ONE, mpf(0)), True)


def binomial_tails(x, n, logit):
    return swap(beta_at(x + 1, n - x, logit)) if x < n else (ONE, mpf(0))


dist("binomial", grid([1, 13, 1e4, 1e9, 1e15], [1e-300, 1e-12, 0.3, 0.5, 0.999]),
     lambda x, n, p: lchoose(n, x) + x * log(p) + (n - x) * log1(-p), lambda x, n, p: binomial_tails(x, n, log(p) - log1(-p)), True)
dist("binomial_logit", grid([1, 13, 1e4, 1e9, 1e15], [-600, -20, -0.3, 0, 5]),
     lambda x, n, a: lchoose(n, x) - x * log1(exp(-a)) - (n - x) * log1(exp(a)), lambda x, n, a: binomial_tails(x, n, a), True)


def bb_lp(x, n, a, b):
    return lchoose(n, x) + lbeta(x + a, n - x + b) - lbeta(a, b)


dist("beta_binomial", grid([1, 13, 700], [1e-3, 2.385, 50.5, 1e12], [0.31, 50.5, 1e12], most=25) + [(1e6, 1e12, 1e12)],
     bb_lp, lambda x, n, a, b: counted(lambda k: bb_lp(k, n, a, b), x, 0, n, n * a / (a + b)), True)
dist("discrete_range", [(0, 1), (3, 9), (0, 1e15), (1e15, 1e15 + 2)], lambda x, a, b: -log(b - a + 1),
     lambda x, a, b: ((x - a + 1) / (b - a + 1), (b - x) / (b - a + 1)), True)
dist("poisson", [(m,) for m in (1e-300, 1e-10, 0.31, 2.385, 50.5, 1e4, 3e7, 1e10, 1e15)], lambda x, m: x * log(m) - m - lg(x + 1),
     lambda x, m: swap(gamma_at(x + 1, log(m))), True)
dist("neg_binomial", grid([1e-10, 1e-3, 0.31, 2.385, 50.5, 1e6, 1e12], [1e-10, 1e-3, 0.7, 50, 1e10]),
     lambda x, a, b: lg(x + a) - lg(x + 1) - lg(a) + a * (log(b) - log1(b)) - x * log1(b),
     lambda x, a, b: beta_at(a, x + 1, log(b)), True)
dist("beta_neg_binomial", grid([0.31, 2.385, 1e3, 1e10], [0.31, 50.5, 1e10], [0.31, 7, 1e10], most=25),
     lambda x, r, a, b: lbeta(x + r, a + b) - lbeta(r, a) + lg(x + b) - lg(x + 1) - lg(b), None, True)
dist("hypergeometric", [(10, 13, 8), (1e6, 1e9, 1e9), (7, 3, 5e6), (1e12, 1e14, 3e13), (50, 100, 1e15)],
     lambda x, n, a, b: lchoose(a, x) + lchoose(b, n - x) - lchoose(a + b, n), None, True)


def nch_lp(x, n1, n2, m1, psi, memo={}):
    lo, hi = max(0, m1 - n2), min(n1, m1)
    f = lambda k: lchoose(n1, k) + lchoose(n2, m1 - k) + k * log(psi)
    key = (n1, n2, m1, psi)
    if key not in memo:
        memo[key] = log(sum(exp(f(mpf(k))) for k in range(int(lo), int(hi) + 1)))
    return f(x) - memo[key]


def nch_tails(x, n1, n2, m1, psi):
    lo, hi = max(0, m1 - n2), min(n1, m1)
    f = lambda k: nch_lp(mpf(k), n1, n2, m1, psi)
    ks = range(int(lo), int(hi) + 1)
    return sum(exp(f(k)) for k in ks if k <= x), sum((exp(f(k)) for k in ks if k > x), mpf(0))


dist("noncentral_hypergeometric", [(13, 8, 10, 0.3), (130, 80, 100, 1e-8), (300, 200, 150, 7.5), (40, 1e6, 30, 1e6)], nch_lp, nch_tails, True)

dist("noncentral_t", [(0.31, 0.4, 1), (2.385, -3, 0.7), (50.5, 8, 1)], nct_lp, nct_tails)  # slow: the last

# ---- vectors, matrices and compounds: name: (who, [(value, arguments...)], log p); each a list --------
BLOCK = {}


def block(name, cases, lp, who=None):
    BLOCK[name] = (who or name, cases, lp)


def lower(a):
    """A symmetric matrix by its lower triangle."""
    n = math.isqrt(len(a))
    return mpmath.matrix(n, n, ) if not n else mpmath.matrix([[a[max(i, j) * n + min(i, j)] for j in range(n)] for i in range(n)])


def triangle(a):
    n = math.isqrt(len(a))
    return mpmath.matrix([[a[i * n + j] if j <= i else 0 for j in range(n)] for i in range(n)])


def spd(n, scale, near, seed):
    """n x n doubles, condition about 1 / near."""
    rng = random.Random(seed)
    f = [[(rng.gauss(0, 1) if j < i else near**0.5 if i and i == n - 1 else 1 + rng.random()) if j <= i else 0 for j in range(n)] for i in range(n)]
    return [scale * sum(f[i][k] * f[j][k] for k in range(n)) for i in range(n) for j in range(n)]


def root(n, scale, seed):
    rng = random.Random(seed)
    return [scale * (rng.gauss(0, 1) if j < i else 0.3 + rng.random()) if j <= i else 0.0 for i in range(n) for j in range(n)]


def corr(n, near, seed):
    a = spd(n, 1, near, seed)
    return [1.0 if i == j else a[i * n + j] / math.sqrt(a[i * n + i] * a[j * n + j]) for i in range(n) for j in range(n)]


def corr_root(n, seed):
    """Rows of length 1 but for rounding."""
    rng, out = random.Random(seed), []
    for i in range(n):
        v = [rng.gauss(0, 1) for _ in range(i)] + [0.2 + rng.random()]
        size = math.sqrt(sum(x * x for x in v))
        out += [x / size for x in v] + [0.0] * (n - 1 - i)
    return out


def logdet(m):
    return log(mpmath.det(m))


def gauss(d, precision):
    n = len(d)
    v = mpmath.matrix(d)
    return -n * log(2 * pi) / 2 + logdet(precision) / 2 - (v.T * precision * v)[0] / 2


def lmulti(n, a):
    return n * (n - 1) * log(pi) / 4 + sum(lg(a - mpf(j) / 2) for j in range(n))


def trace(m):
    return sum(m[i, i] for i in range(m.rows))


def minus(x, m):
    return [a - b for a, b in zip(x, m)]


THETAS = [[0.2, 0.3, 0.5], [1e-300, 1.0], [1e-10, 0.5, 0.5 - 1e-10], [0.25] * 4]
block("categorical", [([k], t) for t in THETAS for k in range(1, len(t) + 1)], lambda x, t: log(t[int(x[0]) - 1] / sum(t)))
BETAS = [[0.3, -1.2, 4], [-700, 700], [1e8, 1e8 + 1, -1e8], [1e-10, 0]]
block("categorical_logit", [([k], b) for b in BETAS for k in range(1, len(b) + 1)],
      lambda x, b: b[int(x[0]) - 1] - max(b) - log(sum(exp(v - max(b)) for v in b)))
block("interval", [([k], [m], [s], cuts) for m, s, cuts in ((0, 1, [-1, 0.5, 3]), (1.3, 1e-3, [1.29, 1.3, 1.5]), (-5, 0.2, [0, 1e-3, 1e3]),
                                                            (0, 3, [1e-10, 2e-10])) for k in range(len(cuts) + 1)],
      lambda x, m, s, c: (lambda k, z: log(phi(z[0])[0] if k == 0 else phi(z[-1])[1] if k == len(z) else
                                           phi(z[k])[0] - phi(z[k - 1])[0] if z[k] < 0 else phi(z[k - 1])[1] - phi(z[k])[1]))(int(x[0]), [(v - m[0]) / s[0] for v in c]), "interval(normal)")
CUTS = [(0.385, [-1.7, 0.3, 2.385]), (-2.1, [-1.3]), (300, [-1, 0, 5]), (-30, [0, 1e-9, 3]), (0, [-700, 700])]


def ordered(tails):
    def lp(x, eta, c):
        k, z = int(x[0]), [eta[0] - v for v in c]
        return log(tails(z[0])[1] if k == 1 else tails(z[-1])[0] if k == len(z) + 1 else
                   tails(z[k - 2])[0] - tails(z[k - 1])[0] if z[k - 2] < 0 else tails(z[k - 1])[1] - tails(z[k - 2])[1])
    return lp


block("ordered_logistic", [([k], [e], c) for e, c in CUTS for k in range(1, len(c) + 2)], ordered(lambda z: (1 / (1 + exp(-z)), 1 / (1 + exp(z)))))
block("ordered_probit", [([k], [e], c) for e, c in CUTS for k in range(1, len(c) + 2)], ordered(phi))
COUNTED = [[3, 0, 4], [1000000, 2, 999999999], [0, 0, 1], [7, 7, 7]]
block("multinomial", [(x, t, [sum(x)]) for x in COUNTED for t in ([0.2, 0.3, 0.5], [1e-10, 0.5, 0.5 - 1e-10])],
      lambda x, t, n: lg(n[0] + 1) + sum((k * log(p / sum(t)) if k else 0) - lg(k + 1) for k, p in zip(x, t)))
ALPHAS = [[2.385, 0.6, 1.615], [1e-10, 1e-3, 0.31], [1e10, 3e7, 50.5], [1e15, 1e15, 2e15]]
block("dirichlet_multinomial", [(x, a, [sum(x)]) for x in COUNTED for a in ALPHAS],
      lambda x, a, n: lg(n[0] + 1) + lg(sum(a)) - lg(n[0] + sum(a)) + sum(lg(k + b) - lg(b) - lg(k + 1) for k, b in zip(x, a)))
SIMPLEX = [[0.2, 0.3, 0.5], [1e-300, 0.5, 0.5], [0.25, 0.25, 0.5], [1e-10, 1e-5, 1 - 1e-10 - 1e-5]]
block("dirichlet", [(x, a) for x in SIMPLEX for a in ALPHAS], lambda x, a: lg(sum(a)) + sum((b - 1) * log(v) - lg(b) for v, b in zip(x, a)))
PLACED = [(n, scale, near) for n in (1, 2, 4) for scale, near in ((1, 0.5), (1e-200, 0.5), (1e200, 0.5), (1, 1e-8))]


def placed(matrix):
    out = []
    for k, (n, scale, near) in enumerate(PLACED):
        rng = random.Random(k)
        m = [rng.gauss(0, 3) for _ in range(n)]
        for far in (0.3, 1, 40):
            out.append(([v + far * rng.gauss(0, 1) * (scale**0.5 if matrix == "S" else scale**-0.5 if matrix == "P" else scale) for v in m], m,
                        root(n, scale, k) if matrix == "L" else spd(n, scale, near, k)))
    return out


block("multi_normal", placed("S"), lambda x, m, a: gauss(minus(x, m), lower(a)**-1))
block("multi_normal_prec", placed("P"), lambda x, m, a: gauss(minus(x, m), lower(a)))
block("multi_normal_cholesky", placed("L"), lambda x, m, a: gauss(minus(x, m), (triangle(a) * triangle(a).T)**-1))


def mt(x, nu, m, a):
    d, n, v = mpmath.matrix(minus(x, m)), len(x), nu[0]
    q = (d.T * lower(a)**-1 * d)[0]
    return lg((v + n) / 2) - lg(v / 2) - n * log(v * pi) / 2 - logdet(lower(a)) / 2 - (v + n) / 2 * log1(q / v)


block("multi_student_t", [(x, [nu], m, a) for x, m, a in placed("S") for nu in (1e-10, 2.385, 1e10)], mt)
block("relaxed_onehot", [(x, [t], w) for x in SIMPLEX for t in (1e-3, 0.785, 50) for w in ([0.3, 1.3, 0.9], [1e-10, 1, 1e10])],
      lambda x, t, w: lg(mpf(len(x))) + (len(x) - 1) * log(t[0]) + sum(log(b) - (t[0] + 1) * log(v) for v, b in zip(x, w)) -
      len(x) * log(sum(b * v**-t[0] for v, b in zip(x, w))))
MATRICES = [(n, sx, ss, near) for n in (1, 2, 4) for sx, ss, near in ((1, 1, 0.5), (1e-80, 1e-80, 0.5), (1e60, 1e60, 0.5), (7, 1, 1e-8))]
block("wishart", [(spd(n, sx, near, 5), [nu], spd(n, ss, 0.5, 6)) for n, sx, ss, near in MATRICES for nu in (n + 0.1, 50.5, 1e10)],
      lambda x, nu, s: (nu[0] - lower(x).rows - 1) / 2 * logdet(lower(x)) - trace(lower(s)**-1 * lower(x)) / 2 - nu[0] / 2 * logdet(lower(s)) -
      nu[0] * lower(x).rows / 2 * log(mpf(2)) - lmulti(lower(x).rows, nu[0] / 2))
block("inv_wishart", [(spd(n, sx, near, 5), [nu], spd(n, ss, 0.5, 6)) for n, sx, ss, near in MATRICES for nu in (n + 0.1, 50.5, 1e10)],
      lambda x, nu, s: nu[0] / 2 * logdet(lower(s)) - (nu[0] + lower(x).rows + 1) / 2 * logdet(lower(x)) - trace(lower(s) * lower(x)**-1) / 2 -
      nu[0] * lower(x).rows / 2 * log(mpf(2)) - lmulti(lower(x).rows, nu[0] / 2))


def sw(x, s, df):
    m, f = lower(x), df[0]
    n = m.rows
    return ((f - 2) / 2 * logdet(m) - (f + n) / 2 * sum(log(f * m[i, i] + s[i]**-2) for i in range(n)) + n * (f + n - 1) / 2 * log(f) +
            sum(lg((f + n) / 2) - log(pi) / 2 - log(v) for v in s) - lmulti(n, (f + n - 1) / 2))


block("scaled_wishart", [(spd(n, sx, near, 5), [sx**-0.5 * (1 + k) for k in range(n)], [df]) for n, sx, _, near in MATRICES for df in (0.31, 2, 1e6)], sw)


def lkj_norm(n, eta):
    return -sum((2 * (eta - 1) + n - k) * (n - k) * log(mpf(2)) + (n - k) * lbeta(eta + mpf(n - k - 1) / 2, eta + mpf(n - k - 1) / 2) for k in range(1, n))


LKJ = [(n, eta) for n in (2, 3, 5) for eta in (1e-3, 0.31, 1, 50.5, 1e10)]
block("lkj_corr", [(corr(n, near, 7), [n], [eta]) for n, eta in LKJ for near in (0.5, 1e-8)],
      lambda x, n, eta: (eta[0] - 1) * logdet(lower(x)) + lkj_norm(int(n[0]), eta[0]))
block("lkj_corr_cholesky", [(corr_root(n, 8), [n], [eta]) for n, eta in LKJ],
      lambda x, n, eta: sum((int(n[0]) - i - 1 + 2 * eta[0] - 2) * log(triangle(x)[i, i]) for i in range(1, int(n[0]))) + lkj_norm(int(n[0]), eta[0]))
nlp = lambda x, m, s: normal_lp((x - m) / s) - log(s)
block("mixture", [([x], [w], [m], [s], [5], [2]) for x in (-40, 0.3, 5, 1e3) for w in (1e-10, 0.3, 1) for m, s in ((0, 1), (5, 1e-3), (-40, 1e5))],
      lambda x, w, m, s, n, t: log(w[0] * mpmath.exp(nlp(x[0], m[0], s[0])) + (1 - w[0]) * mpmath.exp(nlp(x[0], n[0], t[0]))), "mixture(normal,normal)")
block("censored", [([x], [m], [s], [-1], [3]) for x in (-1, 0.3, 2.9, 3) for m, s in ((0, 1), (40, 1), (-40, 1), (1, 1e-2), (0, 1e10))],
      lambda x, m, s, a, b: log(phi((a[0] - m[0]) / s[0])[0]) if x[0] <= a[0] else log(phi((b[0] - m[0]) / s[0])[1]) if x[0] >= b[0] else
      nlp(x[0], m[0], s[0]), "censored(normal)")


# ---- special functions ------------------------------------------------------------------------------
WIDE = [1e-300, 1e-100, 1e-10, 1e-3, 0.1, 0.31, 0.5, 1, 1.5, 2, 2.385, 5, 7.9999, 8, 8.5, 15, 50.5, 1e3, 1e6, 1e10, 1e15, 1e100, 1e300]
ALONG = [-1e150, -1e8, -1000, -100, -38.5, -30.1, -29.9, -10, -3, -1, -0.3, -1e-5, -1e-300, 0, 1e-300, 1e-5, 0.3, 1, 3, 8, 10, 38, 1e8]
PROBS = [1e-300, 1e-100, 1e-20, 1e-5, 0.02, 0.3, 0.5, 0.6, 0.97, 1 - 1e-10, 1 - 2.0**-53]


def xlogx_dev(x, m):
    return x * log(x / m) + m - x


def precise(f):
    """f with 300 digits: its terms cancel"""
    def value(*a):
        with mp.workdps(300):
            return f(*a)
    return value


def binomial_lp(x, y, p, q):
    p, q = (p, 1 - p) if p <= 0.5 else (1 - q, q)  # the smaller one is exact
    return lchoose(x + y, x) + (x * log(p) if x else 0) + (y * log(q) if y else 0)


SPECIAL = {
    "lgam": ([(x,) for x in WIDE], lg),
    "digamma": ([(x,) for x in WIDE if x > 1e-200], mpmath.digamma),
    "stirling_error": ([(x,) for x in WIDE if x < 1e200], precise(lambda x: lg(x + 1) - (x + mpf(1) / 2) * log(x) + x - log(2 * pi) / 2)),
    "lgam_half": ([(x,) for x in WIDE if x < 1e200], precise(lambda x: lg(x + mpf(1) / 2) - lg(x))),
    "log1m_exp": ([(x,) for x in WIDE], lambda t: log(-expm1(-t)) if t < 1e5 else -exp(-t)),
    "softplus": ([(x,) for x in ALONG], lambda t: log1(exp(t)) if t < 0 else t + log1(exp(-t))),
    "normal_p": ([(x,) for x in ALONG], lambda z: phi(z)[0]),
    "log_normal_p": ([(x,) for x in ALONG if x > -2e4], lambda z: log1(-phi(z)[1]) if z > 0 else log(phi(z)[0])),
    "normal_hazard": ([(x,) for x in ALONG if x > -2e4], lambda z: exp(normal_lp(z)) / phi(z)[0]),
    "normal_quantile": ([(u,) for u in PROBS], lambda u: quantile_of_normal(u)),
    "lbeta": (grid(WIDE[1:-2], WIDE[1:-2], most=80), lbeta),
    "deviance": ([(x, x * r) for x in (1e-10, 0.3, 7, 1e10, 1e15) for r in (1e-10, 0.3, 0.999, 1 - 1e-9, 1, 1 + 1e-9, 1.001, 3, 1e10)], xlogx_dev),
    "poisson_lp": (grid([1e-10, 0.3, 7, 50.5, 1e4, 1e10, 1e15], [1e-10, 0.3, 7, 50.5, 1e4, 1e10, 1e15, 1e15 + 1e8]), lambda x, m: x * log(m) - m - lg(x + 1)),
    "binomial_lp": ([(x, y, p, 1 - p) for x, y, p in grid([0, 0.3, 7, 1e4, 1e10, 1e15], [0, 0.3, 7, 1e4, 1e10, 1e15], [1e-10, 0.3, 0.5, 0.75, 1 - 2.0**-30], most=60)],
                    binomial_lp),
    "gamma_p": ([], None), "gamma_q": ([], None), "beta_i": ([], None),  # at the points of gamma and beta
}


def quantile_of_normal(u):
    f = lambda z: log(phi(z)[0]) - log(u) if u < 0.5 else log(1 - u) - log(phi(z)[1])
    z = mpf(-sqrt(-2 * log(u))) if u < 0.1 else mpf(0) if u < 0.9 else sqrt(-2 * log(1 - u))
    return mpmath.findroot(f, z) if u != 0.5 else mpf(0)


# ---- functions of the model language: name: (arguments, reference, errors below 1 are absolute?) ------
ANY = [-1e10, -700, -50.3, -3, -0.31, -1e-5, -1e-300, 1e-300, 1e-10, 0.5, 1, 1.5, 3, 20.7, 700, 1e10, 1e22]
ABOVE = [1e-300, 1e-10, 0.31, 0.999999, 1, 1.000001, 2, 7.5, 1e10, 1e300]
INSIDE = [1e-300, 1e-10, 0.02, 0.3, 0.5, 0.5000001, 0.97, 1 - 1e-10]
SMALL_ONES = [v for v in ANY if abs(v) <= 700]
FUNCTION = {
    "exp": (SMALL_ONES, exp, 0), "expm1": (SMALL_ONES, expm1, 0), "log": (ABOVE, log, 0), "log1p": (ABOVE + [-0.3, -1e-10, -1 + 1e-10], log1, 0),
    "sqrt": (ABOVE, sqrt, 0), "loggam": (ABOVE[:-1], lg, 1), "logfact": ([0, 1, 2, 7, 50, 1e4, 1e10], lambda x: lg(x + 1), 1),
    "sin": (ANY, mpmath.sin, 0), "cos": (ANY, mpmath.cos, 0), "tan": (ANY, mpmath.tan, 0),
    "sinh": (SMALL_ONES, mpmath.sinh, 0), "cosh": (SMALL_ONES, mpmath.cosh, 0), "tanh": (SMALL_ONES, mpmath.tanh, 0),
    "arcsin": ([v for v in ANY + INSIDE if abs(v) <= 1], mpmath.asin, 0), "arccos": ([v for v in ANY + INSIDE if abs(v) <= 1], mpmath.acos, 0),
    "arctan": (ANY, mpmath.atan, 0), "arcsinh": (ANY, mpmath.asinh, 0), "arccosh": ([v for v in ABOVE if v >= 1], mpmath.acosh, 0),
    "arctanh": ([v for v in ANY + INSIDE if abs(v) < 1], mpmath.atanh, 0), "logit": (INSIDE, lambda p: log(p) - log1(-p), 1),
    "ilogit": (SMALL_ONES, lambda x: 1 / (1 + exp(-x)), 0), "probit": (INSIDE, lambda u: quantile_of_normal(u), 1),
    "phi": ([v for v in ANY if v > -38], lambda z: phi(z)[0], 0), "cloglog": (INSIDE, lambda p: log(-log1(-p)), 1),
    "icloglog": ([v for v in ANY if -700 <= v < 30], lambda x: -expm1(-exp(x)), 0),
    "^": ([(x, y) for x in (1e-100, 0.31, 1.0000001, 7.5, 1e100) for y in (-3, -0.31, 1e-10, 0.5, 2, 2.9)], lambda x, y: x**y, 0),
}


# ---- the comparison ---------------------------------------------------------------------------------
class Numbers:
    def __init__(self, program):
        self.p = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def __call__(self, who, what, *a):
        self.p.stdin.write("%s %s %s\n" % (who, what, " ".join("%.17g" % v for v in a)))
        v = self.p.stdout.readline().strip()
        return None if v == "?" else float(v)


class Worst:
    def __init__(self):
        self.n = self.none = self.lost = 0
        self.error, self.at, self.bounded, self.bad = 0.0, None, 0.0, []

    def add(self, error, kappa, at, value, ref):
        """error None: the function says NaN"""
        self.n += 1
        if error is None:
            self.none += 1
            self.bad.append((float("inf"), at, value, ref))
            return
        if error > self.error:
            self.error, self.at = error, at
        b = error / (EPS * (1 + kappa))
        self.bounded = max(self.bounded, b)
        self.bad.append((b, at, value, ref))


def relative(v, ref, floor=0.0):
    ref = mpf(ref)
    if math.isnan(v):
        return None
    if abs(ref) > HUGE:
        return 0.0 if math.isinf(v) and (v > 0) == (ref > 0) or abs(v) > 1e307 else 1.0
    if math.isinf(v):
        return float("inf")
    if abs(ref) < TINY and abs(v) < 2 * TINY:
        return 0.0
    if ref == 0 and not floor:
        return 0.0 if v == 0 else 1.0
    return float(abs(v - ref) / max(abs(ref), mpf(floor)))


LEVELS = [1e-300, 1e-60, 1e-10, 1e-3, 0.1, 0.5, 0.8]


def points(call, name, p, counts, extra):
    xs = {e[0] for e in extra if tuple(e[1:]) == tuple(p)}
    for u in LEVELS:
        for q in ("quantile", "cquantile"):
            x = call(name, q, u, *p)
            if x is not None and math.isfinite(x):
                xs.add(x)
                if counts:
                    xs |= {x + 1, max(0, x - 1)}
    mid = call(name, "quantile", 0.5, *p)
    if mid is None or not math.isfinite(mid):
        mid = 1.0
    for f in (1e-3, 0.5, 2, 1e3):
        xs.add(math.floor(mid * f) if counts and abs(mid) < 1e300 else mid * f)
    return sorted(x for x in xs if math.isfinite(x))


def mps(p):
    return [mpf(v) for v in p]


NUDGE = mpf(10)**-15


FIXED = {"binomial": 1, "binomial_logit": 1, "beta_binomial": 1, "discrete_range": 2, "hypergeometric": 3, "noncentral_hypergeometric": 3}


def moves(lp, a, counts, name):
    """How much log p changes if an argument changes by one part: the largest such change. Counts do not change."""
    most, here = mpf(0), lp(*a)
    for k in range(1 + FIXED.get(name, 0) if counts else 0, len(a)):
        if a[k]:
            try:
                d = abs(lp(*a[:k], a[k] * (1 + NUDGE * mpf(10)**-10), *a[k + 1:]) - here) / NUDGE * mpf(10)**10
                most = max(most, mpmath.re(d))
            except (ValueError, ZeroDivisionError, OverflowError, TypeError):
                pass
    return min(float(most), 1e300)


def one_dist(call, name, rows, keep):
    params, lp, tails, counts, extra = DIST[name]
    for p in params:
        q = mps(p)
        if counts and tails is None:
            xs = sorted({float(math.floor(v)) for v in (0, 1, 3, 7, 50, 1e4, 5e5, 1e9, 7.7e11)})
        else:
            xs = points(call, name, p, counts, extra)
        if tails is None and not counts:
            xs = [1e-3, 0.3, 1, 7]
        for x in xs:
            v = call(name, "lp", x, *p)
            if v is None or v == -math.inf and call(name, "cdf", x, *p) in (0.0, 1.0, None):
                continue  # outside of the support, as the distribution function says, or far beyond
            if abs(x) < TINY and x != 0:
                continue
            try:
                ref = lp(mpf(x), *q)
            except (ValueError, ZeroDivisionError, OverflowError, TypeError):
                continue
            if not mpmath.isfinite(ref) or mpmath.im(ref) != 0:
                continue
            rows["lp"].add(relative(v, ref, 1.0), moves(lp, [mpf(x)] + q, counts, name) / max(1.0, abs(float(ref))), (x,) + tuple(p), v, ref)
            keep(name, "lp", (x,) + tuple(p), ref)
            if not tails:
                continue
            try:
                low, up = tails(mpf(x), *q)
            except (ValueError, ZeroDivisionError, OverflowError, TypeError):
                rows["cdf"].lost += 1
                continue
            slope = 0 if counts else float(abs(x) * exp(ref)) if abs(ref) < 1e4 else float(mpmath.mpf(abs(x)) * exp(ref))
            moved = tails(mpf(x), *q[:-1], q[-1] * (1 + NUDGE)) if counts and name not in ("discrete_range", "bernoulli_logit") else (low, up)
            for what, t, t2 in (("cdf", low, moved[0]), ("ccdf", up, moved[1])):
                v = call(name, what, x, *p)
                kappa = min(float((mpf(slope) if slope else abs(t2 - t) / NUDGE) / t), 1e300) if t > 0 else 0.0
                rows[what].add(relative(v, t), kappa, (x,) + tuple(p), v, t)
                keep(name, what, (x,) + tuple(p), t)
        if not tails:
            continue
        for u in LEVELS:
            for what, k in (("quantile", 0), ("cquantile", 1)):
                x = call(name, what, u, *p)
                rows[what].add(*quantile_error(x, u, q, lp, tails, counts, k), (u,) + tuple(p), x, mpf(u))


def quantile_error(x, u, q, lp, tails, counts, k):
    if math.isnan(x):
        return None, 0
    if abs(x) < TINY or math.isinf(x) or abs(x) > 1e307:  # as small or large as numbers are
        return 0.0, 0
    try:
        t = tails(mpf(x), *q)[k]
        if counts:
            step = max(1.0, math.ulp(x))
            before = tails(mpf(x - step), *q)[k] if x >= step else mpf(1 if k else 0)
            miss = [u - t, before - u] if k == 0 else [t - u, u - before]
            return float(max(0, *miss) / u), 0
        f = exp(lp(mpf(x), *q))
        by_x = abs(t - u) / (f * abs(mpf(x))) if f > 0 and x != 0 else mpf(1)
        error = float(min(abs(t - u) / u, by_x))
        if error > 1e-14:
            lo, hi = (tails(mpf(x) * (1 + s * 2 * EPS), *q)[k] for s in (-1, 1))
            if min(lo, hi) <= u <= max(lo, hi):
                return EPS, 0  # right up to rounding
        return error, 0
    except (ValueError, ZeroDivisionError, OverflowError, TypeError):
        return 0.0, 0


def one_block(call, name, row, keep):
    who, cases, lp = BLOCK[name]
    for case in cases:
        sizes, flat = [len(p) for p in case], [v for p in case for v in p]

        def at(values):
            out, k = [], 0
            for n in sizes:
                out.append(values[k:k + n])
                k += n
            return lp(*out)
        exact = mps(flat)
        ref = at(exact)
        most = mpf(0)  # by how much it moves if one element does
        for k in range(len(flat)):
            if exact[k] and not (k < sizes[0] and exact[k] == int(exact[k])) and name not in ("lkj_corr", "lkj_corr_cholesky"):
                moved = at(exact[:k] + [exact[k] * (1 + NUDGE * mpf(10)**-10)] + exact[k + 1:])
                most = max(most, abs(mpmath.re(moved) - ref) / NUDGE * mpf(10)**10)
        if name == "lkj_corr":
            most = abs(case[2][0] - 1) * mpmath.norm(lower(exact[:sizes[0]])**-1)
        if name == "lkj_corr_cholesky":
            most = mpf(abs(2 * case[2][0] + case[1][0]))
        scalar = who != name and name != "interval"
        a = tuple(flat) if scalar else tuple(sizes + flat)
        v = call(who, "lp" if scalar else "at", *a)
        row.add(relative(v, ref, 1.0), min(float(most), 1e300) / max(1.0, abs(float(ref))), a, v, ref)
        keep(who, "lp" if scalar else "at", a, ref)


def one_function(call, name, row, keep):
    cases, f, floor = FUNCTION[name]
    for a in cases:
        a = a if isinstance(a, tuple) else (a,)
        ref, v = f(*mps(a)), call("function", name, *a)
        row.add(relative(v, ref, floor), 0, a, v, ref)
        keep("function", name, a, ref)


START = time.time()


def one_special(call, name, row, keep):
    cases, f = SPECIAL[name]
    if f is None:
        base = "beta" if name == "beta_i" else "gamma"
        for p in DIST[base][0]:
            if base == "gamma" and p[1] != 0.7:
                continue
            p = (p[0],) if base == "gamma" else p
            for u in LEVELS:
                for c in ("quantile", "cquantile"):
                    x = call(base, c, u, *(p + ((1,) if base == "gamma" else ())))
                    if not TINY < x < HUGE or base == "beta" and not x < 1:
                        continue
                    if base == "gamma":
                        a, ref = (p[0], x), gamma_at(mpf(p[0]), log(mpf(x)))[name == "gamma_q"]
                        kappa = float(exp(gamma_lp(mpf(x), mpf(p[0]), ONE)) * x / ref) if ref > 0 else 0
                    else:
                        a, t = (p[0], p[1], x, 1 - x), log(mpf(x)) - log1(-mpf(x))
                        if 1 - x < 1e-3:
                            continue  # 1 - x is rounded: the points of the mirrored case have it
                        ref = beta_at(*mps(p), t)[0]
                        kappa = float(exp(DIST["beta"][1](mpf(x), *mps(p))) * x / ref) if ref > 0 else 0
                    v = call("-", name, *a)
                    row.add(relative(v, ref), kappa, a, v, ref)
                    keep("-", name, a, ref)
        return
    floor = 1.0 if name in ("lgam", "stirling_error", "lgam_half", "lbeta", "poisson_lp", "binomial_lp", "digamma", "normal_quantile") else 0.0
    for a in cases:
        ref = f(*mps(a))
        v = call("-", name, *a)
        row.add(relative(v, ref, floor), 0, a, v, ref)
        keep("-", name, a, ref)


HEAD = """# Numerical accuracy

This page is for readers who want to know how far the numbers of NaMI can be trusted. `make numerics` writes it: it compares
all distributions of `nami list dists`, functions of the model language and special functions below them with references of mpmath (50
digits; tails are integrals to 20 digits) over shapes from 1e-10 to 1e15, scales from 1e-300 to 1e300 and probabilities from 1e-300 to 1 - 1e-300
(`verify/numerics.py` lists the points).

- Errors of log densities are absolute where |log p| < 1 and relative elsewhere; those of probabilities are relative.
- Distributions of vectors and matrices have a log density only; mixture() and censored() are those of normals, interval() is that of
  a normal. Their arguments include scales of 1e-200 and 1e200 and matrices with a condition of 1e8.
- A probability changes by kappa = |d log P / d log x| units if x changes by one, and x is known to half a unit; with a shape of
  1e15, kappa is 10^8 and more. *Bounded* is the worst error divided by eps (1 + kappa), eps = 2.2e-16;
  for densities, kappa is by how much they move if one argument does.
- The error of a quantile is that of x or that of the probability at x, whichever is smaller. Quantiles of counts: by how
  much their probability misses.
- *NaN*: points at which double precision, or the time that is allowed, does not suffice. NaMI returns NaN there, not a wrong
  number; a model that meets it reports the variable.
"""


def fmt(w, bounded):
    if w.n == 0:
        return "–"
    s = "%.1e" % w.error
    return s + (" (%.0f)" % w.bounded if bounded else "")


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("names", nargs="*")
    ap.add_argument("--table")
    ap.add_argument("--points")
    ap.add_argument("--all", action="store_true", help="print the worst points of each function")
    ap.add_argument("--numbers", default=os.path.join(ROOT, "build", "tests", "numbers"))
    opt = ap.parse_args()
    call = Numbers(opt.numbers)
    kept = {}

    def keep(who, what, a, ref):
        kept.setdefault((who, what), []).append((a, ref))
    results = {}
    rows = re.findall(r"^(?:DIST|FORM)\((\w+)\)", open(os.path.join(ROOT, "src", "dist", "dist.def")).read(), re.M)
    missing = set(rows) - set(DIST) - set(BLOCK)
    if missing:
        sys.exit("no references for " + ", ".join(sorted(missing)))
    for name in opt.names or list(DIST) + list(BLOCK) + list(SPECIAL) + list(FUNCTION):
        if name in BLOCK:
            rows = {w: Worst() for w in ("lp", "cdf", "ccdf", "quantile", "cquantile")}
            one_block(call, name, rows["lp"], keep)
        elif name in FUNCTION:
            rows = {"value": Worst()}
            one_function(call, name, rows["value"], keep)
        elif name in DIST:
            rows = {w: Worst() for w in ("lp", "cdf", "ccdf", "quantile", "cquantile")}
            one_dist(call, name, rows, keep)
        else:
            rows = {"value": Worst()}
            one_special(call, name, rows["value"], keep)
        results[name] = rows
        print("%.0f s" % (time.time() - START), end=" ")
        print(name, " ".join("%s %.1e (%.0f, %d of %d NaN, %d lost)" % (k, w.error, w.bounded, w.none, w.n, w.lost) for k, w in rows.items() if w.n), flush=True)
        if opt.all:
            for k, w in rows.items():
                for b, at, v, ref in sorted(w.bad, key=lambda r: -r[0])[:8]:
                    if b > 50:
                        print("    %s%r = %.17g, not %s (%.3g)" % (k, at, v, mpmath.nstr(ref, 17), b))
    if opt.table:
        old = {}  # rows of what was not computed now stay
        if os.path.exists(opt.table):
            with open(opt.table) as f:
                old = {line.split("`")[1]: line for line in f if line.startswith("| `")}
        with open(opt.table, "w") as f:
            f.write(HEAD + "\n## Distributions\n\nWorst errors; in parentheses *bounded*.\n\n"
                    "| distribution | points | log density | cdf | upper tail | quantile | upper quantile | NaN |\n|---|---|---|---|---|---|---|---|\n")
            for name in list(DIST) + list(BLOCK):
                if name in results:
                    r = results[name]
                    f.write("| `%s` | %d | %s | %s | %s | %s | %s | %d |\n" % (
                        name, r["lp"].n, fmt(r["lp"], True), fmt(r["cdf"], True), fmt(r["ccdf"], True), fmt(r["quantile"], False),
                        fmt(r["cquantile"], False), sum(w.none for w in r.values())))
                elif name in old:
                    f.write(old[name])
            f.write("\n## Special functions\n\n| function | points | worst error | NaN |\n|---|---|---|---|\n")
            for name in SPECIAL:
                if name in results:
                    w = results[name]["value"]
                    f.write("| `%s` | %d | %s | %d |\n" % (name, w.n, fmt(w, w.bounded * EPS < 0.9 * w.error), w.none))
                elif name in old:
                    f.write(old[name])
            f.write("\n## Functions of the model language\n\n| function | points | worst error | NaN |\n|---|---|---|---|\n")
            for name in FUNCTION:
                if name in results:
                    w = results[name]["value"]
                    f.write("| `%s` | %d | %s | %d |\n" % (name, w.n, fmt(w, False), w.none))
                elif name in old:
                    f.write(old[name])
    if opt.points:
        pick = random.Random(2)
        with open(opt.points, "w") as f:
            for (who, what), rows in kept.items():
                for a, ref in pick.sample(rows, min(len(rows), 6)):
                    if abs(ref) < 1e300 and (ref == 0 or abs(ref) > TINY):
                        f.write('    {"%s", "%s", {%s}, %s},\n' % (who, what, ", ".join("%.17g" % v for v in a), mpmath.nstr(ref, 18)))


main()
