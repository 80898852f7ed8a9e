/* query.h: what all questions to a network share: the data sets as rows of its model, and whether
   they are like those that it was trained on. */
#ifndef API_QUERY_H
#define API_QUERY_H

#include "api/api.h"
#include "infer/verdict.h"
#include "report/names.h"

struct asked {
    size_t num_sets;
    double *x;     /* observed rows, x[row * num_sets + set]: a query's */
    double *ood_p; /* of each set: p-value among data sets of the model; NaN: not known */
};

/* data NULL: what the network was trained with.  max_sets: the first so many; 0: all.  Tells what
   is not used of the data, and which sets are unlike what the model draws.  asked_free() in any
   case. */
int asked_init(struct asked *q, const nami_network *net, const nami_data *data, int max_sets,
               int threads, const nami_watch *watch, nami_err *err);
/* The same without comparison with draws of the model: ood_p is NaN. */
int asked_uncompared(struct asked *q, const nami_network *net, const nami_data *data, int max_sets,
                     const nami_watch *watch, nami_err *err);
/* The rows alone: for answers that are right for any data. */
int asked_rows(struct asked *q, const nami_network *net, const nami_data *data, int max_sets,
               const nami_watch *watch, nami_err *err);
void asked_free(struct asked *q);

/* What was found of a data set; islands: of methods that have them, else 0. */
int give_verdict(const struct infer_method *method, const struct diagnostics *found, size_t draws,
                 size_t islands, double ood_p, nami_verdict *out, nami_err *err);

/* Has an array latent elements, or, with `all`, computed ones? */
int array_is_latent(const struct model *m, int array, int all);

#endif
