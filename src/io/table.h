/* table.h: shared by the formats with conditional probability tables: reading and writing of names,
   states, and tables given as lists of numbers. */
#ifndef IO_TABLE_H
#define IO_TABLE_H

#include "base/dict.h"
#include "base/str.h"
#include "io/scan.h"
#include "model/bn.h"

/* ---- reading ------------------------------------------------------------- */

typedef vec(double) numbers;
typedef vec(int) indices;

/* The current word or string as a name, with the escapes of str_quote removed;
   advances.  `what` completes "expected ...". */
int name_read(struct scan *x, const char *what, struct str *name, nami_err *err);
/* Reads a name and looks it up; returns the node or a negative error code. */
int node_read(struct scan *x, const struct bn *bn, struct str *name, nami_err *err);
/* Looks up a node; an error if there is none of this name. */
int node_known(const struct bn *bn, const char *name, size_t n, int line, int col, nami_err *err);
/* The states of all variables: (variable, name) -> number.  Call states_add for each name, then
   states_done to assign them to the node. */
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

/* Number of entries of the table of `child`, or 0 if a number of states is unknown or the table
   would be too large (bn_table then reports which). */
size_t table_size(const struct bn *bn, int child, const int *parent, size_t nparent);
/* Sets the table of `child` from numbers in the order of struct cpt. */
int table_set(struct bn *bn, int child, const indices *parent, const numbers *p, int line, int col,
              nami_err *err);
/* Sets only the edges, for a definition without numbers. */
int parents_set(struct bn *bn, int child, const indices *parent, int line, int col, nami_err *err);

/* ---- writing ------------------------------------------------------------- */

/* The parents of v, in the order of its table if it has one. */
int parents_of(const struct bn *bn, int v, const int **parent);
/* "v | a, b", with `sep` between the parents. */
void put_family(struct str *out, const struct bn *bn, int v, const char *sep,
                void (*put_name)(struct str *out, const char *name));
/* The name of a state; unnamed states are called s0, s1, ... */
const char *state_name(const struct bn *bn, int v, int s, char buf[16]);
/* The shortest of %.15g and %.17g that reads back as the same number. */
void put_probability(struct str *out, double x);
/* k numbers with `sep` between them. */
void put_row(struct str *out, const double *p, int k, const char *sep);

#endif
