/* posterior_impl.h: private to the writers of posterior files. */
#ifndef DATA_POSTERIOR_IMPL_H
#define DATA_POSTERIOR_IMPL_H

#include "base/file.h"
#include "data/posterior.h"

#define POSTERIOR(id) extern const struct posterior_format posterior_##id;
#include "data/posterior.def"
#undef POSTERIOR

struct posterior {
    const struct posterior_format *format;
    const struct posterior_spec *spec;
    struct file_out file;
    size_t done[NPART]; /* number of draws written so far, over all data sets */
    int failed;
    void *state; /* private data of the format */
};

extern const char *const part_name[NPART]; /* posterior, posterior_predictive, ... */
enum { ALL_PARTS = (1 << NPART) - 1 };

/* The number of data sets with separate draws in this part, and the total number of draws. */
size_t part_sets(const struct posterior_spec *s, enum posterior_part part);
size_t part_draws(const struct posterior_spec *s, enum posterior_part part);

/* sample_stats: k = 0, 1, 2. */
enum { NSTAT = 3 };
extern const struct stat_name {
    const char *npz, *nc;
} stat_name[NSTAT];
int stat_is(const struct posterior_spec *s, int k);
const double *stat_of(const struct posterior_block *b, int k);

/* Results for a data set: k = 0 .. NFOUND-1. */
enum { NFOUND = 5 };
extern const char *const found_name[NFOUND];
double found_of(const struct posterior_found *f, int k);

/* Draws first .. first+count-1 of an array of `size` elements whose first is x[0 .. n-1], as rows:
   out[i * size + e]. */
void block_rows(const double *x, size_t n, size_t size, size_t first, size_t count, double *out);
/* The number of rows that fit in a buffer of about 256 KB; at least one. */
size_t rows_a_time(size_t size);

/* Is x an integer between -2^63 and 2^63, exclusive? */
int fits_int64(double x);

#endif
