#!/usr/bin/env python3
"""Log densities by mpmath (60 digits), from textbook formulas: writes tests/dist_reference.inc.

    tests/oracle/dist_reference.py > tests/dist_reference.inc

A row is {"call", number of elements, {value}, log density}.  Nothing here shares code with NaMI.
"""
from mpmath import *

mp.dps = 60
lg = loggamma


def row(call, x, lp):
    xs = [float(v) for v in (x if isinstance(x, (list, tuple)) else [x])]
    print('    {"%s", %d, {%s}, %s},' % (call, len(xs), ", ".join(repr(v) for v in xs), nstr(lp, 17)))


def rows(name, f, cases):
    for x, *p in cases:
        call = "%s(%s)" % (name, ", ".join("%.17g" % v for v in p))
        row(call, x, f(mpf(x), *[mpf(v) for v in p]))


def lbeta(a, b):
    return lg(a) + lg(b) - lg(a + b)


def lchoose(n, k):
    return lg(n + 1) - lg(k + 1) - lg(n - k + 1)


def log_phi(z):
    return log(ncdf(z)) if z > -30 else log(erfc(-z / sqrt(2)) / 2)


# ---- accuracy far out ---------------------------------------------------------------------------
rows("beta", lambda x, a, b: (a - 1) * log(x) + (b - 1) * log(1 - x) - lbeta(a, b),
     [(0.5, 1e15, 1e15), (0.3, 3e14, 7e14), (2e-20, 1, 1e20), (1 - 1e-10, 1e10, 0.01), (1e-300, 0.31, 4.2),
      (0.9, 1e15, 1e15), (0.25, 3.5, 1e8), (0.7, 0.001, 0.002)])
rows("gamma", lambda x, a, b: a * log(b) - lg(a) + (a - 1) * log(x) - b * x,
     [(1, 1e15, 1e15), (1 + 2.0**-25, 2.0**50, 2.0**50), (2, 1e15, 1e15), (1e-300, 0.31, 4.2),
      (1e-300, 0.5, 1e-300), (1e6, 2.5, 3), (1e-5, 300, 1e7)])
rows("beta_binomial", lambda x, n, a, b: lchoose(n, x) + lbeta(x + a, n - x + b) - lbeta(a, b),
     [(500000, 1e6, 1e12, 1e12), (499000, 1e6, 1e12, 1e12), (0, 1e6, 1e12, 1e12), (1000000, 1e6, 1e12, 1e12),
      (100, 270, 1e-8, 0.47), (3, 7, 0.31, 1e10), (0, 0, 2, 3), (5, 5, 1e15, 1)])
cauchy = lambda x, m, s: -log(pi) - log(s) - log(1 + ((x - m) / s)**2)
rows("cauchy", cauchy, [(1e300, 0, 1), (-1e300, 0, 1), (1e8, 0, 1), (1e10, 0, 1)])
rows("half_cauchy", lambda x, s: log(2) + cauchy(x, 0, s), [(1e300, 2)])
rows("student_t", lambda x, n, m, s: lg((n + 1) / 2) - lg(n / 2) - log(n * pi) / 2 - log(s)
     - (n + 1) / 2 * log(1 + ((x - m) / s)**2 / n), [(1e300, 3, 0, 1), (-1e200, 0.5, 0, 1)])

# ---- other names for a record -------------------------------------------------------------------
normal = lambda x, m, s: -log(2 * pi) / 2 - log(s) - ((x - m) / s)**2 / 2
rows("std_normal", lambda x: normal(x, 0, 1), [(0.3,), (-1.7,), (0,), (12.5,), (-38,), (1e8,)])
nb2 = lambda x, mu, phi: lchoose(x + phi - 1, x) + x * log(mu / (mu + phi)) + phi * log(phi / (mu + phi))
rows("neg_binomial_2", nb2, [(0, 2.3, 0.7), (3, 2.3, 0.7), (170, 2.3, 0.7), (12, 10.5, 1e6), (0, 1e-8, 2),
                             (1000000, 1e6, 31.5)])
rows("neg_binomial_2_log", lambda x, eta, phi: nb2(x, exp(eta), phi),
     [(0, -1.3, 0.7), (3, 0.8, 0.7), (170, 2.3, 1.9), (12, 2.5, 1e6), (0, -18, 2), (900000, 13.7, 31.5)])
poisson = lambda x, m: x * log(m) - m - lg(x + 1)
rows("poisson_log", lambda x, a: poisson(x, exp(a)), [(0, 0.3), (4, 0.3), (61, 2.1), (0, -30), (2, -30), (1000000, 13.8)])
geometric = lambda x, p: log(p) + x * log(1 - p)
rows("geometric", geometric, [(0, 0.3), (4, 0.3), (210, 0.3), (1, 1e-6), (100000, 1e-3), (3, 0.999)])
beta_ = lambda x, a, b: (a - 1) * log(x) + (b - 1) * log(1 - x) - lbeta(a, b)
rows("beta_proportion", lambda x, m, k: beta_(x, m * k, (1 - m) * k),
     [(0.2, 0.25, 7.5), (0.9, 0.25, 7.5), (1e-12, 0.25, 7.5), (0.5, 0.5, 0.01), (0.249, 0.25, 1e6), (0.999, 0.75, 3)])
inv_gamma = lambda x, a, b: a * log(b) - lg(a) - (a + 1) * log(x) - b / x
rows("inv_chi_square", lambda x, n: inv_gamma(x, n / 2, mpf(1) / 2),
     [(0.2, 3.5), (1.7, 3.5), (1e5, 3.5), (1e-3, 3.5), (0.02, 51), (4, 0.3)])
rows("scaled_inv_chi_square", lambda x, n, s: inv_gamma(x, n / 2, n / 2 * s**2),
     [(0.2, 3.5, 0.5), (1.7, 3.5, 2.5), (1e5, 3.5, 0.5), (1e-3, 3.5, 0.5), (2.2, 51, 1.5), (4, 0.3, 1.5)])

# ---- numbers ------------------------------------------------------------------------------------
rows("von_mises", lambda x, m, k: k * cos(x - m) - log(2 * pi * besseli(0, k)),
     [(0.3, 0.7, 2.5), (-3.1, 0.7, 2.5), (3.1, 9.5, 0.01), (1.31, 1.3, 1e4), (-1.8, 1.3, 250), (0.5, -2.5, 20.5),
      (0.5, -2.5, 19.5), (1, 1.00001, 1e9)])
rows("skew_normal", lambda x, xi, w, a: log(2) + normal(x, xi, w) + log_phi(a * (x - xi) / w),
     [(0.3, 0.7, 2.5, 3.5), (-9, 0.7, 2.5, 3.5), (-200, 0.7, 2.5, 3.5), (30, 0.7, 2.5, -8), (5, 0, 1, 0), (0.5, 0.5, 0.25, 100)])
rows("gumbel", lambda x, m, b: -log(b) - (x - m) / b - exp(-(x - m) / b),
     [(0.3, 0.7, 2.5), (-4, 0.7, 2.5), (-12, 0.7, 2.5), (40, 0.7, 2.5), (1e4, 0.5, 0.25), (0.5, 0.5, 0.125)])
rows("gev", lambda x, m, s, k: -log(s) - (1 + 1 / k) * log(1 + k * (x - m) / s) - (1 + k * (x - m) / s)**(-1 / k),
     [(0.3, 0.5, 2.5, 0.25), (-4, 0.5, 2.5, 0.25), (1e6, 0.5, 2.5, 0.25), (10.25, 0.5, 2.5, -0.25), (-30, 0.5, 2.5, -0.25),
      (0.3, 0.5, 2.5, 2**-40), (-7, 0.5, 2.5, 2**-9), (9, 0.5, 2.5, -2**-7), (2, 0.5, 0.125, 3.5)])
rows("frechet", lambda x, a, s: log(a) - log(s) - (1 + a) * log(x / s) - (x / s)**-a,
     [(0.3, 1.5, 0.5), (2, 1.5, 0.5), (1e6, 1.5, 0.5), (0.01, 1.5, 0.5), (4.5, 30, 4.5), (1e-4, 0.25, 2)])
rows("rayleigh", lambda x, s: log(x) - 2 * log(s) - x**2 / (2 * s**2),
     [(0.3, 1.5), (2, 1.5), (60, 1.5), (1e-12, 1.5), (1e6, 1e6), (0.001, 0.0005)])
rows("pareto_type_2", lambda x, m, l, a: log(a) - log(l) - (a + 1) * log(1 + (x - m) / l),
     [(0.75, 0.5, 2.5, 3.5), (0.5, 0.5, 2.5, 3.5), (1e9, 0.5, 2.5, 3.5), (-1, -1.5, 0.25, 0.5), (1e-9, 0, 1, 1.5), (7, 2, 1e6, 1e6)])
rows("skew_double_exponential", lambda x, m, s, t: log(2 * t * (1 - t) / s)
     - 2 / s * ((1 - t) * (m - x) if x < m else t * (x - m)),
     [(0.75, 0.5, 2.5, 0.25), (-4, 0.5, 2.5, 0.25), (300, 0.5, 2.5, 0.25), (-300, 0.5, 2.5, 0.25), (0.5, 0.5, 1, 0.75), (2, 0.5, 0.125, 0.999)])


def emg(x, m, s, l):
    z = (m + l * s**2 - x) / (sqrt(2) * s)
    return log(l / 2) + l / 2 * (2 * m + l * s**2 - 2 * x) + log(erfc(z))


rows("exp_mod_normal", emg, [(0.75, 0.5, 2.5, 0.75), (-9, 0.5, 2.5, 0.75), (-120, 0.5, 2.5, 0.75), (90, 0.5, 2.5, 0.75),
                             (0.5, 0.5, 1, 50), (3, 0.5, 0.125, 0.01)])


def nct(x, n, m, s):
    t, d = x / s, m / s
    f = lambda u: exp(-(t * u - d)**2 / 2) * u**n * exp(-n * u**2 / 2)  # u = sqrt(chi2/n)
    top = (t * d + sqrt((t * d)**2 + 4 * (t * t + n) * n)) / (2 * (t * t + n))
    w = 1 / sqrt(t * t + n + n / top**2)
    cut = sorted(set([mpf(0)] + [max(mpf(0), top + k * w) for k in range(-24, 60, 3)] + [top + 100 * w]))
    j = quad(f, cut)
    return log(j) - log(2 * pi) / 2 + log(2) + n / 2 * log(n / 2) - lg(n / 2) - log(s)


mp.dps = 30
rows("noncentral_t", nct, [(0.75, 5.5, 1.5, 2.5), (-9, 5.5, 1.5, 2.5), (250, 5.5, 1.5, 2.5), (-250, 1.5, 4.5, 0.5),
                           (11, 60, 10, 1), (0, 3, -2, 0.5)])


def ncx2(x, n, d):
    s = nsum(lambda j: exp(j * log(d / 2) - d / 2 - lg(j + 1) + (n / 2 + j - 1) * log(x) - x / 2
                           - (n / 2 + j) * log(mpf(2)) - lg(n / 2 + j)), [0, 3000], method="d") if d else \
        exp((n / 2 - 1) * log(x) - x / 2 - n / 2 * log(mpf(2)) - lg(n / 2))
    return log(s)


rows("noncentral_chi_square", ncx2, [(2.5, 3.5, 1.5), (1e-6, 3.5, 1.5), (300, 3.5, 1.5), (50, 0.5, 60), (2, 3, 0), (900, 20, 1000)])
rows("scaled_gamma", lambda x, s, n: lg((n + 1) / 2) - lg(n / 2) - log(n * pi) / 2 - log(s)
     - (n + 1) / 2 * log(1 + 1 / (n * s**2 * x)) - mpf(3) / 2 * log(x),
     [(0.75, 2.5, 3.5), (1e-6, 2.5, 3.5), (1e8, 2.5, 3.5), (1, 0.5, 0.25), (0.02, 7, 50), (3, 1e-3, 2)])
mp.dps = 60

# ---- counts -------------------------------------------------------------------------------------
rows("hypergeometric", lambda x, n, a, b: lchoose(a, x) + lchoose(b, n - x) - lchoose(a + b, n),
     [(4, 10, 13, 8), (2, 10, 13, 8), (10, 10, 13, 8), (0, 7, 3, 5e6), (500000, 1e6, 1e9, 1e9), (499000, 1e6, 1e9, 1e9), (0, 0, 3, 4)])
rows("binomial_logit", lambda x, n, a: lchoose(n, x) - x * log(1 + exp(-a)) - (n - x) * log(1 + exp(a)),
     [(4, 10, 0.3), (0, 10, 0.3), (10, 10, -2.5), (9, 10, 50), (500000, 1e6, 0.001), (1, 3, -40)])
rows("discrete_range", lambda x, l, u: -log(u - l + 1), [(4, 3, 9), (3, 3, 9), (9, 3, 9), (5, 5, 5), (0, 0, 1), (77, 0, 1e6)])
rows("beta_neg_binomial", lambda x, r, a, b: lbeta(x + r, a + b) - lbeta(r, a) + lg(x + b) - lg(x + 1) - lg(b),
     [(4, 2.5, 6.5, 0.5), (0, 2.5, 6.5, 0.5), (3000, 2.5, 6.5, 0.5), (17, 9, 3.5, 40), (2, 0.25, 0.5, 0.75), (100, 1, 1, 1)])

# ---- vectors and matrices -----------------------------------------------------------------------
sigma = lambda t: 1 / (1 + exp(-t))
for name, F in (("ordered_logistic", sigma), ("ordered_probit", lambda t: erfc(-t / sqrt(mpf(2))) / 2)):
    for x, eta, c in ((1, 0.3, (-1, 0.5, 2)), (2, 0.3, (-1, 0.5, 2)), (4, 0.3, (-1, 0.5, 2)), (3, 30, (-1, 0.5, 2)),
                      (2, -25, (-1, 0.5, 2)), (2, 0.5, (0.25, 0.2500001)), (1, 2, (0.5,))):
        e, cut = mpf(eta), [-inf] + [mpf(v) for v in c] + [inf]
        hi, lo = e - cut[x - 1] if x > 1 else inf, e - cut[x] if x <= len(c) else -inf
        if lo > 0:
            hi, lo = -lo, -hi  # the tail that keeps its digits
        p = (mpf(1) if hi == inf else F(hi)) - (mpf(0) if lo == -inf else F(lo))
        row("%s(%g, c(%s))" % (name, eta, ", ".join("%.17g" % v for v in c)), x, log(p))


def mat(rows_):
    return matrix([[mpf(v) for v in r] for r in rows_])


# the constants S and L of test_dist_reference.c
S2, L2 = [[2.5, 0.5], [0.5, 0.75]], [[1.5, 0], [-0.5, 0.25]]
for x, nu in (((0.3, -1), 4.5), ((50, 20), 4.5), ((0.25, -1.5), 1e6), ((1, 1), 0.5), ((-3, 2), 30), ((1e8, 0), 2)):
    d, S, n = mat([[x[0] - 0.25], [x[1] + 1.5]]), mat(S2), mpf(nu)
    q = (d.T * S**-1 * d)[0]
    row("multi_student_t(%g, c(0.25, -1.5), S)" % nu, x,
        lg(n / 2 + 1) - lg(n / 2) - log(n * pi) - log(det(S)) / 2 - (n / 2 + 1) * log(1 + q / n))
for x in ((0.3, -1), (5, 2), (0.25, -1.5), (1, 1), (-3, 2), (100, 0)):
    y = mat(L2)**-1 * mat([[x[0] - 0.25], [x[1] + 1.5]])
    row("multi_normal_cholesky(c(0.25, -1.5), L)", x,
        -log(2 * pi) - log(mpf(L2[0][0] * L2[1][1])) - (y.T * y)[0] / 2)
for x, al, n in (((2, 1, 4), (2.5, 0.5, 1.5), 7), ((7, 0, 0), (2.5, 0.5, 1.5), 7), ((0, 0, 7), (2.5, 0.5, 1.5), 7),
                 ((0, 0), (1, 2), 0), ((300, 200), (0.25, 30), 500), ((1, 1), (100, 200), 2)):
    A = mpf(sum(al))
    row("dirichlet_multinomial(c(%s), %d)" % (", ".join("%g" % v for v in al), n), x,
        lg(A) + lg(n + 1) - lg(n + A) + sum(lg(k + mpf(a)) - lg(k + 1) - lg(mpf(a)) for k, a in zip(x, al)))


# By the partial correlations r_ij;1..i-1, K - i for each i, of density (1 - r^2)^(b_i - 1) / B(1/2, b_i): with the
# Jacobian their product is |R|^(eta - 1) (Lewandowski, Kurowicka and Joe 2009).
def lkj_log_norm(K, eta):
    return -sum((K - i) * lbeta(mpf(1) / 2, eta + mpf(K - 1 - i) / 2) for i in range(1, K))


def lkj(R, eta):
    return (eta - 1) * log(det(R)) + lkj_log_norm(R.rows, eta)


for R, eta in (([[1, 0.25], [0.25, 1]], 2.5), ([[1, -0.9375], [-0.9375, 1]], 0.5), ([[1, 0.25], [0.25, 1]], 1e6),
               ([[1, 0.5, -0.25], [0.5, 1, 0.125], [-0.25, 0.125, 1]], 2.5),
               ([[1, 0.5, -0.25], [0.5, 1, 0.125], [-0.25, 0.125, 1]], 1),
               ([[1, 0.875, 0.75], [0.875, 1, 0.96875], [0.75, 0.96875, 1]], 0.25)):
    M, K = mat(R), len(R)
    row("lkj_corr(%d, %g)" % (K, eta), sum(R, []), lkj(M, mpf(eta)))
    L = cholesky(M)
    Lf = [[float(L[i, j]) for j in range(K)] for i in range(K)]
    row("lkj_corr_cholesky(%d, %g)" % (K, eta), sum(Lf, []),
        lkj(M, mpf(eta)) + sum((K - 1 - j) * log(L[j, j]) for j in range(K)))
for x, s, n in (((0.5, 0.125, 0.125, 0.75), (0.5, 2), 3.5), ((50, 12.5, 12.5, 75), (0.5, 2), 3.5), ((1, 0, 0, 1), (1, 1), 2),
                ((1e-3, 1e-4, 1e-4, 2e-3), (0.5, 2), 3.5), ((4, -1, -1, 0.5), (10, 0.25), 0.5), ((1, 0.5, 0.5, 1), (1, 1), 60)):
    n = mpf(n)
    d = mpf(x[0]) * mpf(x[3]) - mpf(x[1])**2
    a = (n + 1) / 2
    row("scaled_wishart(c(%g, %g), %g)" % (s[0], s[1], n), x,
        (n - 2) / 2 * log(d) + (n + 1) * log(n) - (log(pi) / 2 + lg(a) + lg(a - mpf(1) / 2))
        + sum(lg((n + 2) / 2) - log(pi) / 2 - log(mpf(t)) - (n + 2) / 2 * log(n * mpf(v) + 1 / mpf(t)**2)
              for t, v in zip(s, (x[0], x[3]))))
