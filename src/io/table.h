/* table.h: what the formats with probability tables share: names, states,
   tables given as a list of numbers, and their counterparts for writing. */
#ifndef IO_TABLE_H
#define IO_TABLE_H

#include "base/dict.h"
#include "base/str.h"
#include "io/scan.h"
#include "model/bn.h"

/* ---- reading ------------------------------------------------------------- */

typedef vec(double) numbers;
typedef vec(int) indices;

/* The current word or string as a name, with the escapes of str_quote undone;
   moves on.  `what` completes "expected ...". */
int name_read(struct scan *x, const char *what, struct str *name, nami_err *err);
/* Reads a name and looks it up: a node, or a negative code. */
int node_read(struct scan *x, const struct bn *bn, struct str *name, nami_err *err);
/* A node that must exist; the message for one that does not. */
int node_known(const struct bn *bn, const char *name, size_t n, int line, int col, nami_err *err);
/* The states of all variables: (variable, name) -> number.  Names go to
   states_add in turn, then states_done gives them to the node. */
struct states {
    struct dict dict; /* of "variable:state" */
    vec(int) index;   /* entry of dict -> number of the state */
    vec(const char *) list;
    struct str key;
};

int states_add(struct states *s, struct bn *bn, int v, const char *name, size_t n, int line,
               int col, nami_err *err);
int states_done(struct states *s, struct bn *bn, int v, nami_err *err);
int states_find(struct states *s, int v, const char *name, size_t n); /* -1: none, -2: no memory */
void states_free(struct states *s);

/* Entries of the table of `child`, or 0 if a state count is missing, or if they
   are too many for any table (bn_table then says which). */
size_t table_size(const struct bn *bn, int child, const int *parent, size_t nparent);
/* The table of `child` from numbers in the order of struct cpt. */
int table_set(struct bn *bn, int child, const indices *parent, const numbers *p, int line, int col,
              nami_err *err);
/* Edges only, for a definition without numbers. */
int parents_set(struct bn *bn, int child, const indices *parent, int line, int col, nami_err *err);

/* ---- writing ------------------------------------------------------------- */

/* The parents of v, in the order of its table if it has one. */
int parents_of(const struct bn *bn, int v, const int **parent);
/* "v | a, b", with `sep` between the parents. */
void put_family(struct str *out, const struct bn *bn, int v, const char *sep,
                void (*put_name)(struct str *out, const char *name));
/* The name of a state; one that has none is called s0, s1, ... */
const char *state_name(const struct bn *bn, int v, int s, char buf[16]);
/* The shortest of %.15g and %.17g that reads back as the same number. */
void put_probability(struct str *out, double x);
/* k numbers with `sep` between them. */
void put_row(struct str *out, const double *p, int k, const char *sep);

#endif
