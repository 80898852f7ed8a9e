/* ood_model.c: the out-of-distribution test of observed data against draws of a model. */
#include "infer/ood_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "model/eval.h"
#include "net/joint.h"

/* Two thirds are for calibration, so that p can be as small as 2 / 2001 if LEAST are finite. */
enum { N = 3200, LEAST = 3003, MOST = 2000, NUMBERS = 1 << 20, SEED = 0x6f6f64 };

static int choose(const struct model *m, struct ood_model *o)
{
    int n = 0, i = 0;
    for (int e = 0; e < model_num_elements(m); e++)
        n += element_row(m, e) >= 0 && element_is_observed(m, e);
    if (!(o->elem = raw_array(int, n < MOST ? n : MOST))) return -1;
    for (int e = 0; e < model_num_elements(m); e++) {
        if (element_row(m, e) < 0 || !element_is_observed(m, e)) continue;
        if (n <= MOST || (int64_t)i * MOST / n < (int64_t)(i + 1) * MOST / n) o->elem[o->k++] = e;
        i++;
    }
    return 0;
}

/* The selected elements of all draws: x[j * N + i]; in blocks, since the model may be large. */
static int simulate(const struct model *m, const struct ood_model *o, int threads, double *x,
                    nami_err *err)
{
    size_t rows = (size_t)model_num_rows(m), each = NUMBERS / rows / 8 * 8 + 8;
    if (each > N) each = N;
    double *all = raw_array(double, rows *each);
    int rc = all ? 0 : err_nomem(err);
    for (size_t i = 0, n; i < N && !rc; i += n) {
        n = N - i < each ? N - i : each;
        rc = model_simulate_training(m, SEED, i, n, threads, all, err);
        for (int j = 0; j < o->k && !rc; j++)
            memcpy(x + (size_t)j * N + i, all + (size_t)element_row(m, o->elem[j]) * n,
                   n * sizeof *x);
    }
    free(all);
    return rc;
}

/* Removes draws with non-finite values; returns the number of remaining ones. */
static int keep_finite(int k, double *x)
{
    int keep[N] = {0}, n = 0;
    for (int i = 0; i < N; i++) {
        int finite = 1;
        for (int j = 0; j < k; j++) finite &= isfinite(x[(size_t)j * N + (size_t)i]) != 0;
        if (finite) keep[n++] = i;
    }
    for (size_t j = 0; j < (size_t)k; j++)
        for (size_t i = 0; i < (size_t)n; i++) x[j * (size_t)n + i] = x[j * N + (size_t)keep[i]];
    return n;
}

int ood_model_fit(const struct model *m, int threads, struct ood_model *out, nami_err *err)
{
    *out = (struct ood_model){0};
    if (model_simulator_command(m) || joint_density(m, "", NULL))
        out->why = "they come from a simulator";
    if (choose(m, out)) return err_nomem(err);
    if (!out->k) out->why = "nothing is observed";
    if (out->why) return 0;
    double *x = raw_array(double, (size_t)out->k *N);
    out->x = raw_array(double, out->k);
    int rc = x && out->x ? simulate(m, out, threads, x, err) : err_nomem(err);
    if (!rc) {
        int n = keep_finite(out->k, x);
        if (n < LEAST)
            out->why = "too many of them are not finite";
        else
            rc = ood_fit(x, out->k, n, SEED, &out->o, err);
    }
    free(x);
    return rc;
}

int ood_model_query(const struct ood_model *o, const struct model *m, const double *x, size_t nset,
                    size_t s, struct ood_answer *out, nami_err *err)
{
    int tell = !o->why;
    *out = (struct ood_answer){.p = NAN};
    for (int j = 0; j < o->k && tell; j++) {
        o->x[j] = x[(size_t)element_row(m, o->elem[j]) * nset + s];
        tell = isfinite(o->x[j]);
    }
    return tell ? ood_query(&o->o, o->x, out, err) : 0;
}

void ood_model_free(struct ood_model *o)
{
    free(o->elem);
    free(o->x);
    ood_free(&o->o);
    *o = (struct ood_model){0};
}
