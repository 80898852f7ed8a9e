/* table.h: text tables with aligned columns.

       struct table t = {.align = "lr"};
       table_cell(&t, "edges");
       str_printf(&t.cells, "%d", n), table_end(&t);
       table_put(&t, 0, out); */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include "base/str.h"

struct table {
    const char *align; /* one letter for each column: l(eft) or r(ight) */
    struct str cells;  /* row by row, each terminated by NUL */
};

/* Adds the next cell, in row-major order ... */
void table_cell(struct table *t, const char *text);
/* ... or ends one whose text was appended to t->cells. */
void table_end(struct table *t);
/* Appends all rows, indented by `indent` spaces, and empties the table. */
void table_put(struct table *t, int indent, struct str *out);

#endif
