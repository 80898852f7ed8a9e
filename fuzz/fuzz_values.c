/* fuzz_values.c: fuzzes the reader of JSON beside Jansson's: they must accept the same texts, and
   read the same values. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void compare(const char *text, size_t len, size_t flags)
{
    struct json_why why;
    json_error_t other;
    json_t *ours = json_read(text, len, flags, &why),
           *theirs = json_loadb(text, len, flags, &other);
    int other_rule = memchr(text, 0, len) || /* Jansson skips some NULs, and nests deeper */
                     (!ours && why.code == json_error_stack_overflow);
    if (!other_rule && (!ours != !theirs || (ours && !json_equal(ours, theirs)))) {
        fprintf(stderr, "%s; Jansson: %s\n", ours ? "" : why.text, theirs ? "" : other.text);
        abort();
    }
    if (!ours && (!why.text[0] || why.line < 1 || why.column < 0 || why.position > len)) abort();
    json_decref(ours);
    json_decref(theirs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = malloc(len ? len : 1); /* nothing behind its end may be read */
    if (!text) abort();
    if (len) memcpy(text, data, len);
    compare(text, len, JSON_REJECT_DUPLICATES);
    compare(text, len, JSON_DISABLE_EOF_CHECK | JSON_DECODE_INT_AS_REAL);
    free(text);
    return 0;
}
