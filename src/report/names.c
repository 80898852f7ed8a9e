/* names.c: names quoted where necessary, lists of names, and counts with thousands separators. */
#include "report/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "report/view.h"

const char *const property_names[NPROPERTY] = {"faithful", "minimal", "natural"};

/* Needs no quotes in a list of names: commas stand in brackets only. */
static int is_plain(const char *s)
{
    int in = 0;
    if (!*s) return 0;
    for (; *s; s++) {
        in += (*s == '[') - (*s == ']');
        if (in > 0 && *s == ',') continue;
        if ((unsigned char)*s <= ' ' || *s == 127 || strchr(",;|(){}\"'\\", *s)) return 0;
    }
    return 1;
}

void put_name(struct str *out, const struct bn *bn, int v)
{
    const char *s = bn_name(bn, v);
    if (is_plain(s))
        str_put(out, s);
    else
        str_quote(out, s);
}

struct count_text count_text(int64_t n)
{
    struct count_text t;
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%lld", (long long)n), k = 0;
    for (int i = 0; i < len; i++) {
        if (i && digits[i - 1] != '-' && (len - i) % 3 == 0) t.s[k++] = ',';
        t.s[k++] = digits[i];
    }
    t.s[k] = 0;
    return t;
}

void put_count(struct str *out, int64_t n, const char *one, const char *many)
{
    str_printf(out, "%s %s", count_text(n).s, n == 1 ? one : many);
}

void put_json_number(struct str *out, const char *name, double x)
{
    char buf[NUM_MAX];
    str_printf(out, ",\"%s\":", name);
    if (isfinite(x))
        str_putn(out, buf, (size_t)num_print(buf, x));
    else
        str_put(out, "null");
}

void put_names(struct str *out, const struct bn *bn, int (*next)(void *from), void *from,
               int64_t total, const char *between, int columns)
{
    int64_t done = 0;
    int used = 0;
    for (int v; (v = next(from)) >= 0; done++) {
        int w = str_width(bn_name(bn, v)) + str_width(between);
        if (done && used + w > columns && total - done > 1) break;
        if (done) str_put(out, between);
        put_name(out, bn, v);
        used += w;
    }
    if (done < total) str_printf(out, "%s… +%s", between, count_text(total - done).s);
}

struct array {
    const int *v, *end;
};

static int next_of(void *from)
{
    struct array *a = from;
    return a->v < a->end ? *a->v++ : -1;
}

void put_array(struct str *out, const struct bn *bn, const int *v, int64_t n, const char *between,
               int columns)
{
    struct array a = {v, v + n};
    put_names(out, bn, next_of, &a, n, between, columns);
}
