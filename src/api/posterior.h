/* posterior.h: a query to a network in the making: draws, block by block, their summaries and
   files. */
#ifndef API_POSTERIOR_H
#define API_POSTERIOR_H

#include "api/query.h"
#include "base/dict.h"
#include "data/posterior.h"
#include "infer/blocks.h"
#include "infer/digest.h"
#include "infer/verdict.h"
#include "model/eval.h"
#include "report/gallery.h"

/* A file that draws go to. */
struct sink {
    const char *path;
    struct posterior *file; /* NULL: a picture */
};

struct nami_posterior {
    const nami_network *net;
    struct arena mem;
    nami_query opt; /* completed */
    nami_watch watch;
    int threads;
    struct asked asked;
    const struct infer_method *method;
    size_t islands; /* of the method; or 0 */
    struct query q;

    struct layout layout, seen; /* of the variables asked for; of the observed ones */
    double *observed;           /* rows of `seen`, if some arrays are observed in part; else NULL */
    size_t stride;              /* rows of draws */
    size_t *row, num_rows;      /* rows of all elements asked for, in turn */
    unsigned char *given;       /* of rows: constant or observed, nothing to infer */

    struct blocks blocks;
    struct digest digest;
    struct answer answer; /* the present block */
    int begun, done;
    nami_err failed; /* code 0: nothing has */

    struct summary *summary; /* of a row: [set * stride + row] */
    struct posterior_found *found;
    struct dict names; /* of elements, in the order of `row` */

    vec(struct sink) sinks;
    struct posterior_spec spec;
    struct posterior_note note[3];
    struct gallery picture;
};

/* Element e of variable v: the model's number; is there anything to infer of it? */
int variable_element(const nami_posterior *p, const struct draws_var *v, size_t e);
int variable_is_asked(const nami_posterior *p, const struct draws_var *v, size_t e);

int is_done(const nami_posterior *p, nami_err *err); /* NAMI_EUSAGE: draws are missing */

/* ---- files: posterior_file.c ----------------------------------------------------------------- */

int is_picture(const char *path); /* by its ending */
void sinks_spec(nami_posterior *p);
int sinks_put(nami_posterior *p, nami_err *err); /* the present block */
int sinks_close(nami_posterior *p, nami_err *err);
void sinks_drop(nami_posterior *p);

#endif
