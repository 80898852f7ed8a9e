/* sim_rows.c: parses the output of a simulator: JSON Lines or .npy arrays. */
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "data/data_impl.h"
#include "data/json_value.h"
#include "data/npy.h"
#include "data/simulator_impl.h"
#include "base/json.h"

static int too_much(struct sim *m)
{
    return sim_bad(m, "gave more than the %zu rows it was asked for; it must read n from its input",
                   m->s->command, m->n);
}

static int same_shape(const struct draws_var *v, int ndim, const int *dim)
{
    return ndim == v->ndim && (ndim == 0 || memcmp(dim, v->dim, (size_t)ndim * sizeof *dim) == 0);
}

static int wrong_shape(struct sim *m, const struct draws_var *v, int ndim, const int *dim)
{
    char got[PATH_MAX_LEN], want[PATH_MAX_LEN];
    return sim_bad(m, "gave '%.60s' in row %zu the shape %s, but it must be %s", m->s->command,
                   v->name, m->row + 1, shape_text(got, ndim, dim),
                   shape_text(want, v->ndim, v->dim));
}

/* ---- JSON Lines -------------------------------------------------------------- */

static int json_variable(struct sim *m, const struct draws_var *v, const json_t *row)
{
    struct value w = {.name = v->name};
    struct json_path at;
    nami_err e;
    const json_t *j = json_object_get(row, v->name);
    if (!j)
        return sim_bad(m, "gave no '%.60s' in row %zu; each row must have every variable",
                       m->s->command, v->name, m->row + 1);
    if (json_shape(j, &w, &at, &e)) return sim_in_row(m, m->row, &e);
    if (!same_shape(v, w.ndim, w.dim)) return wrong_shape(m, v, w.ndim, w.dim);
    int rc = sim_room(m, w.n);
    if (rc) return rc;
    json_numbers(j, m->tmp);
    return sim_scatter(m, v, m->row, 1, m->tmp);
}

static int json_line(struct sim *m, const char *s, size_t n)
{
    struct json_why e;
    int rc = 0;
    while (n && strchr(" \t\r", *s) && *s) s++, n--;
    if (n == 0) return 0;
    if (m->row == m->n) return too_much(m);
    json_t *row = json_read(s, n, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &e);
    if (!row && e.code == json_error_out_of_memory) return err_nomem(m->err);
    if (!row)
        return sim_bad(m,
                       "gave a row %zu that is not JSON: %s; each line must be one object, and "
                       "messages go to standard error",
                       m->s->command, m->row + 1, e.text);
    if (!json_is_object(row))
        rc = sim_bad(m, "gave a row %zu that is not an object; write {\"name\": value, ...}",
                     m->s->command, m->row + 1);
    for (int v = 0; v < m->s->nvar && !rc; v++) rc = json_variable(m, &m->s->var[v], row);
    json_decref(row);
    m->row++;
    return rc;
}

static int json_lines(struct sim *m)
{
    int rc = 0;
    char *end;
    while (!rc && m->looked < m->text.n) {
        if (!(end = memchr(m->text.s + m->looked, '\n', m->text.n - m->looked))) {
            m->looked = m->text.n;
            break;
        }
        size_t next = (size_t)(end - m->text.s) + 1;
        rc = json_line(m, m->text.s + m->used, next - 1 - m->used);
        m->used = m->looked = next;
    }
    return rc;
}

/* ---- .npy arrays ---------------------------------------------------------------- */

static int npy_shape(struct sim *m, const struct draws_var *v, const struct npy *a)
{
    if (a->ndim < 1)
        return sim_bad(m, "gave '%.60s' without an axis of rows; its first axis must be rows",
                       m->s->command, v->name);
    if (!same_shape(v, a->ndim - 1, a->dim + 1)) return wrong_shape(m, v, a->ndim - 1, a->dim + 1);
    if (a->dim[0] < 1)
        return sim_bad(m, "gave an array of 0 rows for '%.60s'; give at least one", m->s->command,
                       v->name);
    if (m->var == 0) m->batch = (size_t)a->dim[0];
    if ((size_t)a->dim[0] != m->batch)
        return sim_bad(m,
                       "gave %d rows of '%.60s', but %zu of '%.60s'; arrays that come together "
                       "must have the same rows",
                       m->s->command, a->dim[0], v->name, m->batch, m->s->var[0].name);
    return m->batch > m->n - m->row ? too_much(m) : 0;
}

/* One array, if it is there: *more. */
static int npy_array(struct sim *m, int *more)
{
    const char *s = m->text.s + m->used;
    size_t len = m->text.n - m->used;
    struct npy a;
    nami_err e;
    int rc;
    *more = 0;
    if (len == 0) return 0;
    if (m->row == m->n) return too_much(m);
    const struct draws_var *v = &m->s->var[m->var];
    if (npy_header(&a, s, len, &e)) return sim_in_row(m, m->row, &e);
    if (!a.header) return 0;
    if ((rc = npy_shape(m, v, &a))) return rc;
    if ((len - a.header) / (size_t)a.size < a.n) return 0;
    if ((rc = sim_room(m, a.n))) return rc;
    npy_numbers(&a, s + a.header, m->tmp);
    if ((rc = sim_scatter(m, v, m->row, m->batch, m->tmp))) return rc;
    m->used += a.header + a.n * (size_t)a.size;
    if (++m->var == m->s->nvar) {
        m->var = 0;
        m->row += m->batch;
    }
    *more = 1;
    return 0;
}

/* ---- both ------------------------------------------------------------------------ */

/* Discards parsed output once it is the larger part. */
static void forget(struct sim *m)
{
    if (m->used < m->text.n / 2 || m->used == 0) return;
    m->text.n -= m->used;
    memmove(m->text.s, m->text.s + m->used, m->text.n);
    m->looked = m->looked > m->used ? m->looked - m->used : 0;
    m->used = 0;
}

int sim_feed(struct sim *m, const char *s, size_t n)
{
    int rc = 0, more = 1;
    str_putn(&m->text, s, n);
    if (m->text.oom) return err_nomem(m->err);
    if (m->npy < 0) m->npy = m->text.s[0] == NPY_MAGIC[0] && m->s->nvar > 0;
    if (!m->npy)
        rc = json_lines(m);
    else
        while (more && !rc) rc = npy_array(m, &more);
    if (!rc) forget(m);
    return rc;
}

int sim_end(struct sim *m)
{
    int rc = 0;
    if (m->npy == 0 && m->used < m->text.n) /* a last line without its end */
        rc = json_line(m, m->text.s + m->used, m->text.n - m->used);
    if (rc) return rc;
    if (m->npy == 1 && (m->used < m->text.n || m->var > 0))
        return sim_bad(m, "ended in the middle of row %zu", m->s->command, m->row + 1);
    if (m->row < m->n)
        return sim_bad(m, "gave %zu rows, but was asked for %zu", m->s->command, m->row, m->n);
    return 0;
}
