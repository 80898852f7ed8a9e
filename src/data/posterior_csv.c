/* posterior_csv.c: draws as a table, with the columns that R's posterior and CmdStan use:
       as_draws_df(read.csv("x.csv", check.names = FALSE)) */
#include "base/err.h"
#include "data/draws_impl.h"
#include "data/posterior_impl.h"

enum { BUFFER = 1 << 16 };

static int flush(struct posterior *p, struct str *out, nami_err *err)
{
    int rc = out->oom ? err_nomem(err) : file_put(&p->file, out->s, out->n, err);
    out->n = 0;
    return rc;
}

static int open(struct posterior *p, nami_err *err)
{
    static const char *const stat[NSTAT] = {",.log_weight", ",lp__", ",lp_approx__"};
    const struct posterior_spec *s = p->spec;
    const struct posterior_group *g = &s->part[POSTERIOR];
    struct str out = {0}, name = {0};
    str_put(&out, ".chain,.iteration,.draw");
    if (s->nset > 1) str_put(&out, ",.set");
    for (int k = 0; k < NSTAT; k++)
        if (stat_is(s, k)) str_put(&out, stat[k]);
    for (int v = 0; v < g->nvar; v++) {
        if (!draws_var_size(&g->var[v])) continue;
        str_put(&out, ",");
        csv_heading(&out, &g->var[v], &name);
    }
    str_put(&out, "\n");
    int rc = name.oom ? err_nomem(err) : flush(p, &out, err);
    str_free(&out);
    str_free(&name);
    return rc;
}

/* Draw i of the block, which is draw `at` of all. */
static void row(struct str *out, const struct posterior_spec *s, const struct posterior_block *b,
                size_t i, size_t at, const double *x)
{
    const struct posterior_group *g = &s->part[POSTERIOR];
    size_t draw = at % g->ndraw, each = g->ndraw / (s->chains > 1 ? s->chains : 1);
    put_number(out, (double)(draw / each + 1), 1);
    str_put(out, ",");
    put_number(out, (double)(draw % each + 1), 1);
    str_put(out, ",");
    put_number(out, (double)(draw + 1), 1);
    if (s->nset > 1) {
        str_put(out, ",");
        put_number(out, (double)(at / g->ndraw + 1), 1);
    }
    for (int k = 0; k < NSTAT; k++) {
        if (!stat_is(s, k)) continue;
        str_put(out, ",");
        csv_element(out, stat_of(b, k)[i], 0);
    }
    for (int v = 0; v < g->nvar; v++) {
        size_t n = draws_var_size(&g->var[v]);
        for (size_t e = 0; e < n; e++) {
            str_put(out, ",");
            csv_element(out, x[g->var[v].base + e], g->var[v].integer);
        }
    }
    str_put(out, "\n");
}

static int put(struct posterior *p, enum posterior_part part, const struct posterior_block *b,
               nami_err *err)
{
    const struct posterior_group *g = &p->spec->part[part];
    struct draws d = {.n = b->n, .nvar = g->nvar, .var = g->var, .x = b->x};
    struct str out = {0};
    struct rows r;
    int rc = rows_init(&r, &d, err);
    if (rc) return rc;
    for (size_t i = 0; i < b->n && !rc; i++) {
        row(&out, p->spec, b, i, p->done[part] + i, rows_at(&r, i));
        if (out.n > BUFFER || out.oom || i == b->n - 1) rc = flush(p, &out, err);
    }
    str_free(&out);
    rows_fini(&r);
    return rc;
}

static int close(struct posterior *p, const struct posterior_found *found, nami_err *err)
{
    (void)p, (void)found, (void)err;
    return 0;
}

static void nothing(struct posterior *p) { (void)p; }

const struct posterior_format posterior_csv = {
    .name = "csv",
    .ending = ".csv",
    .what = "a table for R's posterior: .chain, .iteration, .draw, .log_weight, x[1], \"m[2,3]\"",
    .parts = 1 << POSTERIOR,
    .pipe = 1,
    .open = open,
    .put = put,
    .close = close,
    .free = nothing,
};
