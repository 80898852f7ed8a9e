/* export_impl.h: what the files of the export share; private to net/export*.c. */
#ifndef NET_EXPORT_IMPL_H
#define NET_EXPORT_IMPL_H

#include "base/str.h"
#include "net/export.h"
#include "net/formula.h"
#include "net/qnet.h"

/* Everything that is written down: both directions of a network. */
struct exported {
    const struct qnet *q;
    const float *param;
    const char *name, *from;                   /* of functions; of the model's file */
    int num_data, num_latents, *data, *latent; /* their rows */
    const char **data_name, **latent_name;
    struct str others; /* latents that are not the network's, with the reason; or empty */
    const struct prog *draw_prog;
    struct tape draw, density;
};

/* ---- export_family.c: output distributions ---- */

/* log q of a value, or a draw, given the outputs o[nout] of the network; -1: there is no formula,
   and *what is set ("poisson"). */
int formula_log_q(struct tape *t, const struct output_dist *h, int value, const int *o,
                  const char **what);
int formula_draw(struct tape *t, const struct output_dist *h, const int *o, const char **what);

/* ---- export_dist.c: distributions that models give to variables ---- */

/* The same for a distribution with arguments a. */
int formula_dist_log_p(struct tape *t, const struct dist *d, int x, const int *a);
int formula_dist_draw(struct tape *t, const struct dist *d, const int *a);
int formula_sigmoid(struct tape *t, int x);

/* ---- export_encoding.c: variables and their coordinates ---- */

/* A kernel of encodings: the values out of its results from those of its arguments a.  c: the
   variable, for kernels of variables.  work: formula_encoding_work(c) numbers.  -1: there is no
   formula. */
int formula_encoding(struct tape *t, enum encoding_kernel kernel, const struct encoding *c,
                     const int *a, int *out, int *work);
static inline int formula_encoding_work(const struct encoding *c)
{
    return 1 + 3 * c->num_elements + c->ncoord;
}

/* ---- the languages ---- */

/* A row of network_export's table. Memory that is short is noted in out->oom. */
typedef int export_fn(const struct exported *e, struct str *out, nami_err *err);
export_fn export_c, export_onnx, export_onnx_density;

#endif
