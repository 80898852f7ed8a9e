/* saved.h: what draws from the prior have decided about a network, as JSON in its file: the scales
   of the encodings, variable by variable, and the output distribution of each group of factors.

       {"encodings": [{"node": "mu", "kind": "real", "mean": [0.1], "sd": [9.9]}, ...],
        "outputs": [{"family": "match", "size": 0, "fixed": 0, "shift": [...], "scale": [...]}, ...]} */
#ifndef NET_SAVED_H
#define NET_SAVED_H

#include <jansson.h>

#include "base/str.h"
#include "net/qnet.h"

struct saved {
    json_t *root;
    const json_t *encodings, *outputs;
};

void saved_print(const struct qnet *q, struct str *out);

/* NAMI_EINPUT if this is not such a text.  saved_close() in any case. */
int saved_open(struct saved *s, const char *text, nami_err *err);
void saved_close(struct saved *s);

/* The scales of q->encoding, which must be the encodings that the file names. */
int saved_encodings(const struct saved *s, struct qnet *q, nami_err *err);
/* Output distribution number g, as the file has it: NAMI_EINPUT if it is none. */
int saved_output(const struct saved *s, int g, struct output_dist *out, nami_err *err);

/* Pieces of such texts: ,"name":[...]; an output distribution.  Those that take return 0 if the
   JSON is not of this form. */
void saved_put_numbers(struct str *out, const char *name, int n, const double *x);
int saved_take_numbers(const json_t *o, const char *name, int n, double *out);
void saved_put_output(struct str *out, const struct output_dist *output);
int saved_take_output(const json_t *o, struct output_dist *out);
const char *saved_kind_name(enum encoding_kind kind);

#endif
