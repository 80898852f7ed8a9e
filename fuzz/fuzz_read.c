/* fuzz_read.c: fuzzes one reader of structures.  What it accepts is written in the same format
   and read again: the graph must be the same size.  Built once for each format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "io/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void die(const char *what, const nami_err *err, const char *text)
{
    fprintf(stderr, "%s: %d:%d: %s\n%s\n", what, err->line, err->col, err->msg, text);
    abort();
}

/* `default` rows and single states make large tables of short texts, which
   take long to print. */
static int is_large(const struct bn *bn)
{
    size_t n = 0;
    for (int v = 0; v < bn_n(bn); v++) n += bn->node.a[v].cpt ? bn->node.a[v].cpt->n : 0;
    return n > 100000;
}

static void again(const struct format *f, const struct bn *bn)
{
    struct str text = {0};
    nami_bn *back = NULL;
    nami_err err = {0};
    int rc = f->write(bn, &text, &err);
    if (rc == NAMI_EBUG) die("internal error", &err, "");
    if (rc || text.oom) goto out; /* a refusal: not every network fits every format */
    if (nami_bn_parse(text.s, text.n, FORMAT_NAME, &back, &err))
        die("cannot read what was written", &err, text.s);
    if (back->dag.n != bn->dag.n || back->dag.m != bn->dag.m)
        die("read back another graph", &err, text.s);
out:
    bn_free(back);
    str_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const struct format *f = format_by_name(FORMAT_NAME);
    nami_bn *bn;
    nami_err err;
    char *text = malloc(len + 1); /* readers may count on the NUL, not on more */
    if (!f || !text) abort();
    if (len) memcpy(text, data, len);
    text[len] = 0;
    int sure = f->sniff(text, len);
    if (sure < 0 || sure > 100) abort();
    int rc = nami_bn_parse(text, len, FORMAT_NAME, &bn, &err);
    if (rc && (bn || err.code != rc || !err.msg[0] || strchr(err.msg, '\n')))
        die("an error without its message", &err, "");
    if (!rc && f->write && !is_large(bn)) again(f, bn);
    bn_free(bn);
    free(text);
    return 0;
}
