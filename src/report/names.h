/* names.h: formats names and numbers for display. */
#ifndef REPORT_NAMES_H
#define REPORT_NAMES_H

#include <stdint.h>

#include "base/str.h"
#include "model/bn.h"
#include "report/wrap.h"

/* A name, quoted if it contains spaces, commas, brackets, ... */
void put_name(struct str *out, const struct bn *bn, int v);
/* 1234567 as 1,234,567. */
struct count_text {
    char s[28];
} count_text(int64_t n);
/* "1 node", "2,000 nodes" */
void put_count(struct str *out, int64_t n, const char *one, const char *many);
/* ,"name":x of a JSON object, with null for what is not finite */
void put_json_number(struct str *out, const char *name, double x);

/* A list of `total` names, abbreviated with "... +34" if it would be wider than `columns`. `next`
   returns the next node, or -1 at the end. */
void put_names(struct str *out, const struct bn *bn, int (*next)(void *from), void *from,
               int64_t total, const char *between, int columns);
/* The same for an array. */
void put_array(struct str *out, const struct bn *bn, const int *v, int64_t n, const char *between,
               int columns);

#endif
