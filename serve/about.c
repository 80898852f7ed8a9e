/* about.c: describes a network for those who want to ask it: its variables, an example, the prior.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hosted.h"

enum { MOST_POINTS = 1000, MOST_NUMBERS = 4000000, MOST_LISTED = 512 };

static int is_observed(const nami_model *model, int scalar)
{
    int node = nami_model_scalar_node(model, scalar);
    return node >= 0 && nami_bn_observed(nami_model_structure(model), node);
}

int about_example(const nami_network *network, double *point)
{
    const nami_model *model = nami_network_model(network);
    int size = nami_model_size(model), missing = 0;
    double *drawn = calloc((size_t)size + 1, sizeof *drawn);
    if (!drawn) return NAMI_ENOMEM;
    for (int s = 0; s < size; s++) point[s] = NAN;
    if (nami_data_size(nami_network_data(network)))
        nami_model_set_point(model, nami_network_data(network), 0, 1, 0, point, NULL);
    for (int s = 0; s < size; s++) missing |= is_observed(model, s) && isnan(point[s]);
    if (missing && !nami_model_simulate(model, 1, 1, 1, drawn, NULL))
        memcpy(point, drawn, sizeof *point * (size_t)size);
    for (int s = 0; s < size; s++) /* a simulator that may not run */
        if (is_observed(model, s) && isnan(point[s])) point[s] = 0;
    free(drawn);
    return 0;
}

/* ---- a data set -------------------------------------------------------------------------------
 */

enum { DIMS = 8 };

/* "x[2,3]": the length of "x", and the subscripts; returns how many. */
static int subscripts(const char *name, size_t *len, long at[DIMS])
{
    int n = 0;
    *len = strcspn(name, "[");
    for (const char *s = name + *len; *s && n < DIMS;) {
        char *end;
        at[n++] = strtol(s + 1, &end, 10);
        if (end == s + 1) return 0;
        s = *end == ',' ? end : "";
    }
    return n;
}

/* An array that is observed in part has null elsewhere: dim[], and values in row-major order. */
static void put_array(struct text *out, int num_dims, const long *dim, const double *values)
{
    if (!num_dims) {
        text_number(out, *values, "null");
        return;
    }
    size_t stride = 1;
    for (int k = 1; k < num_dims; k++) stride *= (size_t)dim[k];
    text_put(out, "[");
    for (long i = 0; i < dim[0]; i++) {
        if (i) text_put(out, ",");
        put_array(out, num_dims - 1, dim + 1, values + (size_t)i * stride);
    }
    text_put(out, "]");
}

/* Scalars first .. end-1 are those of one variable. */
static void put_variable(const nami_model *model, int first, int end, const double *point,
                         struct text *out)
{
    long dim[DIMS] = {0}, at[DIMS];
    size_t len, total = 1;
    int num_dims = 0;
    for (int s = first; s < end; s++) {
        num_dims = subscripts(nami_model_scalar_name(model, s), &len, at);
        for (int k = 0; k < num_dims; k++)
            if (at[k] > dim[k]) dim[k] = at[k];
    }
    for (int k = 0; k < num_dims; k++) total *= (size_t)dim[k];
    double *values = malloc(sizeof *values * (total + 1));
    if (!values) {
        out->failed = 1;
        return;
    }
    for (size_t i = 0; i < total; i++) values[i] = NAN;
    for (int s = first; s < end; s++) {
        size_t i = 0;
        subscripts(nami_model_scalar_name(model, s), &len, at);
        for (int k = 0; k < num_dims; k++) i = i * (size_t)dim[k] + (size_t)(at[k] - 1);
        if (is_observed(model, s)) values[i] = point[s];
    }
    put_array(out, num_dims, dim, values);
    free(values);
}

void about_data(const nami_model *model, const double *point, struct text *out)
{
    const char *sep = "";
    int size = nami_model_size(model);
    text_put(out, "{");
    for (int first = 0, end; first < size; first = end) {
        const char *name = nami_model_scalar_name(model, first);
        size_t len = strcspn(name, "[");
        int any = 0;
        for (end = first; end < size; end++) {
            const char *other = nami_model_scalar_name(model, end);
            if (strcspn(other, "[") != len || strncmp(name, other, len) != 0) break;
            any |= is_observed(model, end);
        }
        if (!any) continue;
        text_printf(out, "%s\"%.*s\":", sep, (int)len, name);
        put_variable(model, first, end, point, out);
        sep = ",";
    }
    text_put(out, "}");
}

/* ---- the prior ---------------------------------------------------------------------------------
 */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double p)
{
    double at = p * (double)(n - 1);
    size_t i = (size_t)at;
    return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

/* Central intervals of n draws from the model, which are sorted; none if some are not finite. */
static void put_prior(double *x, size_t n, struct text *out)
{
    static const double level[] = {0.005, 0.05, 0.25, 0.5, 0.75, 0.95, 0.995};
    int whole = 1;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) return;
        whole &= x[i] == floor(x[i]);
    }
    qsort(x, n, sizeof *x, compare);
    text_put(out, ",\"prior\":[");
    for (size_t i = 0; i < sizeof level / sizeof *level; i++) {
        if (i) text_put(out, ",");
        text_number(out, quantile(x, n, level[i]), "null");
    }
    text_printf(out, "],\"integer\":%s", whole ? "true" : "false");
}

static void put_scalars(const nami_model *model, int observed, const double *point, double *draws,
                        size_t n, struct text *out)
{
    int total = 0;
    text_printf(out, ",\"%s\":[", observed ? "observed" : "latent");
    for (int s = 0; s < nami_model_size(model); s++) {
        if (is_observed(model, s) != observed || nami_model_scalar_node(model, s) < 0) continue;
        if (total++ >= MOST_LISTED) continue;
        text_put(out, total > 1 ? ",\n{\"name\":" : "\n{\"name\":");
        text_quoted(out, nami_model_scalar_name(model, s));
        if (observed) text_put(out, ",\"value\":");
        if (observed) text_number(out, point[s], "null");
        if (draws && n > 1) put_prior(draws + (size_t)s * n, n, out);
        text_put(out, "}");
    }
    text_printf(out, "],\"num_%s\":%d", observed ? "observed" : "latent", total);
}

static int has_report(const struct hosted *h)
{
    struct text path = {0};
    hosted_report(h, &path);
    int there = !path.failed && access(path.bytes, R_OK) == 0;
    text_free(&path);
    return there;
}

void about_put(const struct hosted *h, const struct version *v, const double *point,
               const struct hosting *how, struct text *out)
{
    const nami_model *model = nami_network_model(v->network);
    size_t size = (size_t)nami_model_size(model) + 1, n = MOST_NUMBERS / size;
    if (n > MOST_POINTS) n = MOST_POINTS;
    double *draws = calloc(size * n + 1, sizeof *draws);
    int drawn = draws && n > 1 && !nami_model_simulate(model, 2, n, 0, draws, NULL);
    text_put(out, "{\"name\":");
    text_quoted(out, h->name);
    text_put(out, ",\"file\":");
    text_quoted(out, strrchr(h->path, '/') ? strrchr(h->path, '/') + 1 : h->path);
    text_printf(out, ",\"version\":%d,\"loaded\":%.0f,\"method\":", v->number, v->loaded);
    text_quoted(out, v->method ? v->method : "direct");
    text_printf(out, ",\"report\":%s", has_report(h) ? "true" : "false");
    text_put(out, ",\"methods\":[");
    for (int i = 0; how->methods[i]; i++) {
        if (i) text_put(out, ",");
        text_quoted(out, how->methods[i]);
    }
    text_put(out, "],\n\"example\":");
    about_data(model, point, out);
    put_scalars(model, 1, point, drawn ? draws : NULL, n, out);
    put_scalars(model, 0, point, drawn ? draws : NULL, n, out);
    text_put(out, "}\n");
    free(draws);
}
