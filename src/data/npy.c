/* npy.c: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#include "data/npy.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "data/data_impl.h"

enum { ALIGN = 64, LONGEST = 1 << 16 };

/* ---- the header, a Python dictionary ---------------------------------------- */

struct cursor {
    const char *s, *end;
};

static int accept(struct cursor *c, const char *text)
{
    size_t n = strlen(text);
    while (c->s < c->end && (*c->s == ' ' || *c->s == '\n')) c->s++;
    if ((size_t)(c->end - c->s) < n || memcmp(c->s, text, n) != 0) return 0;
    c->s += n;
    return 1;
}

/* 'text' into buf; 0 if it is none, or too long. */
static int quoted(struct cursor *c, char *buf, size_t cap)
{
    char quote = '\'';
    size_t n = 0;
    if (!accept(c, "'")) {
        if (!accept(c, "\"")) return 0;
        quote = '"';
    }
    for (; c->s < c->end && *c->s != quote; c->s++) {
        if (n + 1 == cap) return 0;
        buf[n++] = *c->s;
    }
    buf[n] = 0;
    return c->s++ < c->end;
}

static int descr(struct cursor *c, struct npy *a, nami_err *err)
{
    char t[32] = "";
    if (!quoted(c, t, sizeof t))
        return err_set(err, NAMI_EINPUT, "a .npy array must hold plain numbers, not records");
    a->big = t[0] == '>';
    if (t[0] && strchr("<>|=", t[0])) a->kind = t[1];
    a->size = a->kind && strlen(t) == 3 ? t[2] - '0' : 0;
    int ok = a->kind == 'b'   ? a->size == 1
             : a->kind == 'f' ? a->size == 4 || a->size == 8
                              : (a->kind == 'i' || a->kind == 'u') &&
                                    (a->size == 1 || a->size == 2 || a->size == 4 || a->size == 8);
    if (ok) return 0;
    return err_set(err, NAMI_EINPUT,
                   "a .npy array has the type '%s'; NaMI reads float64, float32, "
                   "integers and bool: convert it with astype(float)",
                   t);
}

static int shape(struct cursor *c, struct npy *a, nami_err *err)
{
    int ok = accept(c, "(");
    a->n = 1;
    for (a->ndim = 0; ok && !accept(c, ")"); a->ndim++) {
        if (a->ndim == MAX_DIM + 1)
            return err_set(err, NAMI_EINPUT, "a .npy array has more than %d dimensions",
                           MAX_DIM + 1);
        long long d = 0;
        const char *from = (accept(c, ""), c->s);
        while (c->s < c->end && *c->s >= '0' && *c->s <= '9' && d <= INT_MAX)
            d = d * 10 + (*c->s++ - '0');
        if (d > INT_MAX || (d && a->n > SIZE_MAX / 16 / (size_t)d))
            return err_set(err, NAMI_ELIMIT, "a .npy array is too large");
        a->dim[a->ndim] = (int)d;
        a->n *= (size_t)d;
        ok = c->s > from;
        if (!accept(c, ",") && ok) {
            a->ndim++;
            ok = accept(c, ")");
            break;
        }
    }
    return ok ? 0 : err_set(err, NAMI_EINPUT, "the shape of a .npy array cannot be read");
}

static int dictionary(struct cursor c, struct npy *a, nami_err *err)
{
    char key[32];
    int seen = 0, rc = 0;
    if (!accept(&c, "{")) goto bad;
    while (!accept(&c, "}")) {
        if (!quoted(&c, key, sizeof key) || !accept(&c, ":")) goto bad;
        if (strcmp(key, "descr") == 0) {
            seen |= 1;
            rc = descr(&c, a, err);
        } else if (strcmp(key, "shape") == 0) {
            seen |= 2;
            rc = shape(&c, a, err);
        } else if (strcmp(key, "fortran_order") == 0) {
            seen |= 4;
            a->fortran = accept(&c, "True");
            if (!a->fortran && !accept(&c, "False")) goto bad;
        } else {
            goto bad;
        }
        if (rc) return rc;
        if (accept(&c, ",")) continue;
        if (!accept(&c, "}")) goto bad;
        break;
    }
    if (seen == 7) return 0;
bad:
    return err_set(err, NAMI_EINPUT,
                   "the header of a .npy array cannot be read; it should be {'descr': "
                   "'<f8', 'fortran_order': False, 'shape': (3, 4), }");
}

int npy_header(struct npy *a, const char *s, size_t len, nami_err *err)
{
    const unsigned char *u = (const unsigned char *)s;
    *a = (struct npy){0};
    if (memcmp(s, NPY_MAGIC, len < 6 ? len : 6) != 0)
        return err_set(err, NAMI_EINPUT, "expected a .npy array, which begins with \\x93NUMPY");
    if (len < 12) return 0;
    if (u[6] < 1 || u[6] > 3)
        return err_set(err, NAMI_EINPUT, "a .npy array has the version %d; NaMI reads 1 to 3",
                       u[6]);
    size_t start = u[6] == 1 ? 10 : 12, n = u[8] | (size_t)u[9] << 8;
    if (u[6] > 1) n |= (size_t)u[10] << 16 | (size_t)u[11] << 24;
    if (n > LONGEST)
        return err_set(err, NAMI_ELIMIT, "the header of a .npy array has %zu bytes", n);
    if (len - start < n) return 0;
    int rc = dictionary((struct cursor){s + start, s + start + n}, a, err);
    if (!rc) a->header = start + n;
    return rc;
}

/* ---- elements -------------------------------------------------------------------- */

static double element(const struct npy *a, const unsigned char *p)
{
    uint64_t bits = 0;
    double x;
    float f;
    for (int i = 0; i < a->size; i++) bits |= (uint64_t)p[a->big ? a->size - 1 - i : i] << 8 * i;
    if (a->kind == 'f' && a->size == 8) {
        memcpy(&x, &bits, 8);
        return x;
    }
    if (a->kind == 'f') {
        uint32_t low = (uint32_t)bits;
        memcpy(&f, &low, 4);
        return f;
    }
    if (a->kind != 'i') return (double)bits;
    uint64_t sign = (uint64_t)1 << (8 * a->size - 1);
    return (double)(int64_t)((bits ^ sign) - sign);
}

void npy_numbers(const struct npy *a, const char *data, double *x)
{
    const unsigned char *p = (const unsigned char *)data;
    struct column_walk w;
    if (!a->fortran) {
        for (size_t i = 0; i < a->n; i++) x[i] = element(a, p + i * (size_t)a->size);
        return;
    }
    column_walk_init(&w, a->ndim, a->dim);
    for (size_t i = 0; i < a->n; i++, column_walk_next(&w))
        x[i] = element(a, p + w.at * (size_t)a->size);
}

/* ---- writing ------------------------------------------------------------------------ */

void npy_put_header(struct str *out, int integer, int ndim, const size_t *dim)
{
    size_t from = out->n, pad;
    str_putn(out, NPY_MAGIC "\1\0\0\0", 10);
    str_printf(out, "{'descr': '<%c8', 'fortran_order': False, 'shape': (", integer ? 'i' : 'f');
    for (int k = 0; k < ndim; k++) str_printf(out, "%s%zu", k ? ", " : "", dim[k]);
    str_put(out, ndim == 1 ? ",), }" : "), }");
    pad = ALIGN - (out->n - from + 1) % ALIGN;
    for (size_t i = pad % ALIGN; i > 0; i--) str_put(out, " ");
    str_put(out, "\n");
    if (out->oom) return;
    size_t n = out->n - from - 10;
    out->s[from + 8] = (char)(n & 0xFF);
    out->s[from + 9] = (char)(n >> 8);
}

void npy_put(char p[8], double x, int integer)
{
    uint64_t bits;
    if (integer)
        bits = (uint64_t)(int64_t)x;
    else
        memcpy(&bits, &x, 8);
    for (int i = 0; i < 8; i++) p[i] = (char)(bits >> 8 * i & 0xFF);
}
