/* format.h: the file formats of graphs, one row and one file each.

   A row of format.def is FORMAT(id); src/io/<id>.c ends with its record
   `const struct format format_<id>`.  Readers receive the entire text
   (which may contain NUL bytes and need not end with one) and build a struct bn; nami_bn_parse
   calls bn_finish for them.  Writers append text. */
#ifndef IO_FORMAT_H
#define IO_FORMAT_H

#include "base/str.h"
#include "model/bn.h"

struct format {
    const char *name; /* "bif" */
    const char *what; /* "Bayesian interchange format, with tables" */
    const char *ends; /* file extensions, separated by spaces: ".bif .BIF" */
    /* Confidence that a text is in this format, from 0 (no) to 100 (certain), based on its
       beginning. */
    int (*sniff)(const char *text, size_t len);
    int (*read)(struct bn *bn, const char *text, size_t len, nami_err *err);
    int (*write)(const struct bn *bn, struct str *out, nami_err *err); /* or NULL */
};

#define FORMAT(id) extern const struct format format_##id;
#include "io/format.def"
#undef FORMAT

/* All formats, NULL at the end. */
extern const struct format *const formats[];
const struct format *format_by_name(const char *name);

#endif
