/* export_c.c: an inference network as one file of C99 that needs nothing but libm. */
#include <math.h>
#include <string.h>

#include "net/export_impl.h"

/* A function in the making: tables that it reads, its statements. */
struct printer {
    const struct exported *e;
    const struct tape *t;
    struct str *table, *body;
    int *ntable; /* tables so far, of all functions */
};

#define QUOTE(x) #x
#define TEXT(x)  QUOTE(x)
#define VARIANCE TEXT(POOL_VARIANCE)

static void put_number(struct str *s, double x)
{
    char text[40];
    struct str one = {0};
    if (isnan(x) || isinf(x)) {
        str_put(s, isnan(x) ? "NAN" : x < 0 ? "(-INFINITY)" : "INFINITY");
        return;
    }
    str_printf(&one, "%.17g", x);
    if (!one.oom && one.n < sizeof text)
        memcpy(text, one.s, one.n + 1);
    else
        text[0] = 0, s->oom |= one.oom;
    str_free(&one);
    str_printf(s, x < 0 ? "(%s%s)" : "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static void put_float(struct str *s, float x)
{
    char text[40] = "";
    struct str one = {0};
    str_printf(&one, "%.9g", (double)x);
    if (!one.oom && one.n < sizeof text) memcpy(text, one.s, one.n + 1);
    s->oom |= one.oom;
    str_free(&one);
    str_printf(s, "%s%sf", text, strpbrk(text, ".e") ? "" : ".0");
}

/* Lines of at most so many items. */
static void separate(struct str *s, size_t i, size_t n, size_t per_line)
{
    if (i + 1 < n) str_put(s, (i + 1) % per_line ? ", " : ",\n    ");
}

static int int_table(struct printer *p, size_t n, const int *x)
{
    str_printf(p->table, "static const int table%d[] = {\n    ", *p->ntable);
    for (size_t i = 0; i < n; i++) {
        str_printf(p->table, "%d", x[i]);
        separate(p->table, i, n, 16);
    }
    str_put(p->table, n ? "};\n" : "0};\n");
    return (*p->ntable)++;
}

static int number_table(struct printer *p, int n, const double *x)
{
    str_printf(p->table, "static const double table%d[] = {\n    ", *p->ntable);
    for (int i = 0; i < n; i++) {
        put_number(p->table, x[i]);
        separate(p->table, (size_t)i, (size_t)n, 4);
    }
    str_put(p->table, "};\n");
    return (*p->ntable)++;
}

/* "row[5]", "row[5 + 2 * i]", "row[table3[i]]" */
static void put_place(struct printer *p, const char *array, int n, const int *at)
{
    int step = n > 1 ? at[1] - at[0] : 0;
    for (int i = 1; i < n; i++)
        if (at[i] != at[0] + i * step) {
            str_printf(p->body, "%s[table%d[i]]", array, int_table(p, (size_t)n, at));
            return;
        }
    if (step == 0)
        str_printf(p->body, "%s[%d]", array, at[0]);
    else if (step == 1)
        str_printf(p->body, "%s[%d + i]", array, at[0]);
    else
        str_printf(p->body, "%s[%d + %d * i]", array, at[0], step);
}

static const char *array_of(const struct formula_value *v)
{
    if (v->kind == VALUE_NOISE) return v->place == NOISE_UNIFORM ? "uniform" : "normal";
    return v->place == PLACE_UNIT ? "unit" : "row";
}

static void put_value(struct printer *p, const struct step *s, int number)
{
    const struct formula_value *v = &p->t->value.a[number];
    if (v->kind == VALUE_NUMBER)
        put_number(p->body, v->number);
    else
        str_printf(p->body, "v%d", number - s->first);
}

static void put_operation(struct printer *p, const struct step *s, const struct formula_value *v)
{
    for (const char *c = formula_ops[v->op].c; *c; c++)
        if (*c == '$')
            put_value(p, s, v->arg[*++c - '0']);
        else
            str_putn(p->body, c, 1);
}

static void put_line(struct printer *p, const struct step *s, int number)
{
    const struct formula_value *v = &p->t->value.a[number];
    if (!v->used || v->kind == VALUE_NUMBER) return;
    str_put(p->body, s->n > 1 ? "        " : "    ");
    if (v->kind == VALUE_STORE) {
        put_place(p, array_of(v), s->n, v->at);
        str_put(p->body, v->place == PLACE_UNIT ? " = (float)" : " = ");
        put_value(p, s, v->arg[0]);
    } else if (v->kind == VALUE_TOTAL) {
        str_printf(p->body, "log_q %c= ", v->sign > 0 ? '+' : '-');
        put_value(p, s, v->arg[0]);
    } else {
        int test = v->kind == VALUE_OP && formula_is_test(v->op);
        str_printf(p->body, "const %s v%d = ", test ? "int" : "double", number - s->first);
        if (v->kind == VALUE_OP)
            put_operation(p, s, v);
        else if (v->kind == VALUE_TABLE)
            str_printf(p->body, "table%d[i]", number_table(p, s->n, v->table));
        else
            put_place(p, array_of(v), s->n, v->at);
    }
    str_put(p->body, ";\n");
}

/* Text in a comment must not end it. */
static void put_comment(struct str *s, const char *text)
{
    for (; *text; text++) str_putn(s, *text == '*' && text[1] == '/' ? "+" : text, 1);
}

static void put_formula(struct printer *p, const struct step *s)
{
    if (s->what) {
        str_put(p->body, "    /* ");
        put_comment(p->body, s->what);
        str_put(p->body, " */\n");
    }
    if (s->n > 1)
        str_printf(p->body, "    for (int i = 0; i < %d; i++) {\n", s->n);
    else
        str_put(p->body, "    {\n");
    for (int v = s->first; v < s->end; v++) put_line(p, s, v);
    str_put(p->body, "    }\n");
}

static const char *const acts[NACT] = {[ACT_LINEAR] = "LINEAR",
                                       [ACT_TANH] = "TANH",
                                       [ACT_RELU] = "RELU",
                                       [ACT_SIGMOID] = "SIGMOID",
                                       [ACT_SOFTPLUS] = "SOFTPLUS"};

static void put_step(struct printer *p, const struct step *s)
{
    if (s->kind == STEP_LAYER) {
        const struct dense *d = s->layer;
        size_t n = (size_t)d->n * (size_t)d->in;
        str_printf(p->body, "    layer(unit, weight + %zu, table%d, %d, %d, %d, %d, %s);\n", d->w,
                   int_table(p, n, d->from), d->n, d->in, d->out, d->to, acts[d->act]);
    } else if (s->kind == STEP_POOL) {
        const struct pooling *x = s->pool;
        int off = int_table(p, (size_t)x->n + 1, x->off);
        int from = int_table(p, (size_t)x->off[x->n], x->from);
        str_printf(p->body, "    pool(unit, table%d, table%d, %d, %d, %d, %d);\n", off, from, x->n,
                   x->width, x->spread, x->to);
    } else {
        put_formula(p, s);
    }
}

static int has(const struct exported *e, enum step_kind kind)
{
    const struct tape *tape[] = {&e->draw, &e->density};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < tape[k]->step.n; i++)
            if (tape[k]->step.a[i].kind == kind) return 1;
    return 0;
}

static const char layer_text[] =
    "enum { LINEAR, TANH, RELU, SIGMOID, SOFTPLUS };\n"
    "\n"
    "static double activate(int act, double x)\n"
    "{\n"
    "    switch (act) {\n"
    "    case TANH: return tanh(x);\n"
    "    case RELU: return x < 0 ? 0 : x;\n"
    "    case SIGMOID: return 1 / (1 + exp(-x));\n"
    "    case SOFTPLUS: return (x < 0 ? 0 : x) + log1p(exp(-fabs(x)));\n"
    "    default: return x;\n"
    "    }\n"
    "}\n"
    "\n"
    "/* n instances of a layer: weights w (out, in), then biases; inputs are the units from (n, "
    "in) */\n"
    "static void layer(float *unit, const float *w, const int *from, int n, int in, int out, int "
    "to,\n"
    "                  int act)\n"
    "{\n"
    "    for (int i = 0; i < n; i++)\n"
    "        for (int o = 0; o < out; o++) {\n"
    "            double sum = w[out * in + o];\n"
    "            for (int k = 0; k < in; k++) sum += (double)w[o * in + k] * (double)unit[from[i * "
    "in + k]];\n"
    "            unit[to + i * out + o] = (float)activate(act, sum);\n"
    "        }\n"
    "}\n\n";

static const char pool_text[] =
    "/* Means of sets of vectors of units, logarithms of their variances (if spread) and numbers "
    "*/\n"
    "static void pool(float *unit, const int *off, const int *from, int n, int width, int spread,\n"
    "                 int to)\n"
    "{\n"
    "    for (int i = 0; i < n; i++, to += width * (1 + spread) + 1) {\n"
    "        int first = off[i], end = off[i + 1];\n"
    "        double scale = end > first ? 1.0 / (end - first) : 0;\n"
    "        for (int j = 0; j < width; j++) {\n"
    "            double mean = 0, var = 0;\n"
    "            for (int k = first; k < end; k++) mean += (double)unit[from[k] + j] * scale;\n"
    "            for (int k = first; k < end; k++) {\n"
    "                double d = (double)unit[from[k] + j] - mean;\n"
    "                var += d * d * scale;\n"
    "            }\n"
    "            unit[to + j] = (float)mean;\n"
    "            if (spread)\n"
    "                unit[to + width + j] =\n"
    "                    end > first ? (float)(0.2 * log(var + " VARIANCE ") + 0.5) : 0;\n"
    "        }\n"
    "        unit[to + width * (1 + spread)] = (float)(0.5 * log1p((double)(end - first)));\n"
    "    }\n"
    "}\n\n";

/* The numbers of base/stream.c, but for the last digits of normal ones. */
static const char noise_text[] =
    "/* Philox 4x32-10 (Salmon et al. 2011) */\n"
    "static void philox(uint64_t seed, const uint32_t *counter, uint32_t *out)\n"
    "{\n"
    "    uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3];\n"
    "    uint32_t k = (uint32_t)seed, l = (uint32_t)(seed >> 32);\n"
    "    for (int r = 0; r < 10; r++, k += 0x9E3779B9u, l += 0xBB67AE85u) {\n"
    "        uint64_t p = (uint64_t)a * 0xD2511F53u, q = (uint64_t)c * 0xCD9E8D57u;\n"
    "        a = (uint32_t)(q >> 32) ^ b ^ k;\n"
    "        c = (uint32_t)(p >> 32) ^ d ^ l;\n"
    "        b = (uint32_t)q;\n"
    "        d = (uint32_t)p;\n"
    "    }\n"
    "    out[0] = a, out[1] = b, out[2] = c, out[3] = d;\n"
    "}\n"
    "\n"
    "/* Four draws of one part of the stream of a row */\n"
    "static void block(uint64_t seed, uint64_t draw, int row, int part, uint32_t *out)\n"
    "{\n"
    "    uint64_t at = draw / 4;\n"
    "    const uint32_t counter[] = {(uint32_t)at, (uint32_t)(at >> 32 & 0xffff) | (uint32_t)part "
    "<< 16,\n"
    "                                (uint32_t)row, 0x5eed0000u | (uint32_t)(at >> 48)};\n"
    "    philox(seed, counter, out);\n"
    "}\n\n";

static const char uniform_text[] =
    "static double uniform_at(uint64_t seed, uint64_t draw, int row, int part)\n"
    "{\n"
    "    uint32_t out[4];\n"
    "    block(seed, draw, row, part, out);\n"
    "    return ((double)out[draw % 4] + 0.5) / 4294967296.0;\n"
    "}\n\n";

static const char own_text[] =
    "/* Number `part` of the generator of a draw's own, for rejections */\n"
    "static double own_at(uint64_t seed, uint64_t draw, int row, int use, int part)\n"
    "{\n"
    "    uint32_t word[2], out[4];\n"
    "    for (int k = 0; k < 2; k++) {\n"
    "        int at = 2 * part + k;\n"
    "        const uint32_t counter[] = {((uint32_t)use << 12) + (uint32_t)(at / 4), "
    "(uint32_t)draw,\n"
    "                                    (uint32_t)row, 0x80000000u | (uint32_t)(draw >> 32)};\n"
    "        philox(seed, counter, out);\n"
    "        word[k] = out[3 - at % 4] >> 6;\n"
    "    }\n"
    "    return (word[0] * 67108864.0 + word[1] + 0.5) / 4503599627370496.0;\n"
    "}\n\n";

static const char normal_text[] =
    "static double normal_at(uint64_t seed, uint64_t draw, int row, int part)\n"
    "{\n"
    "    uint32_t out[4];\n"
    "    block(seed, draw, row, part, out);\n"
    "    int pair = (int)(draw % 4) / 2 * 2;\n"
    "    double r = sqrt(-2 * log(((double)out[pair] + 0.5) / 4294967296.0));\n"
    "    double turn = (double)out[pair + 1] - (out[pair + 1] >= 0x80000000u ? 4294967296.0 : 0);\n"
    "    double angle = (turn + 0.5) * (2 * 3.14159265358979323846 / 4294967296.0);\n"
    "    return draw % 2 ? r * sin(angle) : r * cos(angle);\n"
    "}\n\n";

static void put_noise(const struct exported *e, struct str *out)
{
    const struct tape *t = &e->draw;
    size_t num[] = {t->noise[NOISE_UNIFORM].n, t->noise[NOISE_NORMAL].n};
    int own = 0, bulk = 0;
    for (size_t i = 0; i < num[0]; i++)
        if (t->noise[0].a[i].use >= 0)
            own = 1;
        else
            bulk = 1;
    str_put(out, noise_text);
    if (bulk) str_put(out, uniform_text);
    if (own) str_put(out, own_text);
    if (num[1]) str_put(out, normal_text);
    for (int k = 0; k < NOISE_KINDS; k++) {
        if (!num[k]) continue;
        str_printf(out, "/* row, part, use */\nstatic const int %s_from[][3] = {\n    ",
                   k ? "normal" : "uniform");
        for (size_t i = 0; i < num[k]; i++) {
            const struct noise *x = &t->noise[k].a[i];
            str_printf(out, "{%d, %d, %d}", x->row, x->part, x->use);
            separate(out, i, num[k], 8);
        }
        str_put(out, "};\n");
    }
    str_printf(
        out, "\nvoid %s_noise(uint64_t seed, uint64_t draw, double *uniform, double *normal)\n{\n",
        e->name);
    if (num[0]) {
        str_printf(out,
                   "    for (int i = 0; i < %zu; i++) {\n        const int *at = "
                   "uniform_from[i];\n        uniform[i] = ",
                   num[0]);
        if (own && bulk)
            str_put(out, "at[2] < 0 ? uniform_at(seed, draw, at[0], at[1])\n                       "
                         "        : own_at(seed, draw, at[0], at[2], at[1]);\n");
        else
            str_put(out, own ? "own_at(seed, draw, at[0], at[2], at[1]);\n"
                             : "uniform_at(seed, draw, at[0], at[1]);\n");
        str_put(out, "    }\n");
    } else {
        str_put(out, "    (void)uniform;\n");
    }
    if (num[1])
        str_printf(
            out,
            "    for (int i = 0; i < %zu; i++)\n"
            "        normal[i] = normal_at(seed, draw, normal_from[i][0], normal_from[i][1]);\n",
            num[1]);
    else
        str_put(out, "    (void)normal;\n");
    str_put(out, "}\n\n");
}

static void put_names(struct str *out, const char *prefix, const char *what, int n,
                      const char *const *name)
{
    str_printf(out, "const char *const %s_%s_name[] = {\n    ", prefix, what);
    for (int i = 0; i < n; i++) {
        str_quote(out, name[i]);
        separate(out, (size_t)i, (size_t)n, 6);
    }
    str_put(out, n ? "};\n" : "0};\n");
}

static void put_weights(const struct exported *e, struct str *out)
{
    size_t n = e->q->prog.nparam;
    str_put(out, "static const float weight[] = {\n    ");
    for (size_t i = 0; i < n; i++) {
        put_float(out, e->param[i]);
        separate(out, i, n, 6);
    }
    str_put(out, n ? "};\n\n" : "0};\n\n");
}

static void put_rows(struct printer *p, const char *to, const char *from, int n, const int *row,
                     int back)
{
    if (!n) return;
    str_printf(p->body, n > 1 ? "    for (int i = 0; i < %d; i++) " : "    ", n);
    if (back) {
        str_printf(p->body, n > 1 ? "%s[i] = " : "%s[0] = ", to);
        put_place(p, from, n, row);
    } else {
        put_place(p, to, n, row);
        str_printf(p->body, n > 1 ? " = %s[i]" : " = %s[0]", from);
    }
    str_put(p->body, ";\n");
}

static void begin(struct printer *p, const struct prog *g)
{
    str_printf(p->body, "    double row[%d] = {0}, log_q = 0;\n    float unit[%d];\n", g->nrow + 1,
               g->nunit + 1);
    if (!p->e->num_data) str_put(p->body, "    (void)data;\n");
    if (!g->nunit) str_put(p->body, "    (void)unit;\n");
    put_rows(p, "row", "data", p->e->num_data, p->e->data, 0);
}

static void put_draw(struct printer *p)
{
    const struct exported *e = p->e;
    p->t = &e->draw;
    str_printf(p->body,
               "double %s_draw(const double *data, const double *uniform, const double *normal,\n"
               "               double *latent)\n{\n",
               e->name);
    begin(p, e->draw_prog);
    if (!p->t->noise[NOISE_UNIFORM].n) str_put(p->body, "    (void)uniform;\n");
    if (!p->t->noise[NOISE_NORMAL].n) str_put(p->body, "    (void)normal;\n");
    for (size_t i = 0; i < p->t->step.n; i++) put_step(p, &p->t->step.a[i]);
    put_rows(p, "latent", "row", e->num_latents, e->latent, 1);
    str_put(p->body, "    return log_q;\n}\n\n");
}

static void put_density(struct printer *p)
{
    const struct exported *e = p->e;
    p->t = &e->density;
    str_printf(p->body, "double %s_log_q(const double *data, const double *latent)\n{\n", e->name);
    begin(p, &e->q->prog);
    put_rows(p, "row", "latent", e->num_latents, e->latent, 0);
    for (size_t i = 0; i < p->t->step.n; i++) put_step(p, &p->t->step.a[i]);
    str_put(p->body, "    return log_q;\n}\n\n");
}

/* ---- the file ----------------------------------------------------------------------------- */

static void put_list(struct str *out, int n, const char *const *name)
{
    int at = 3;
    for (int i = 0; i < n; i++) {
        int w = str_width(name[i]) + 2;
        if (at + w > 96) str_put(out, "\n  "), at = 3;
        str_put(out, " ");
        put_comment(out, name[i]);
        if (i + 1 < n) str_put(out, ",");
        at += w;
    }
    str_put(out, "\n\n");
}

static void put_prototypes(const struct exported *e, struct str *out)
{
    str_printf(out,
               "void %s_noise(uint64_t seed, uint64_t draw, double *uniform, double *normal);\n"
               "double %s_draw(const double *data, const double *uniform, const double *normal,\n"
               "               double *latent);\n"
               "double %s_log_q(const double *data, const double *latent);\n"
               "extern const char *const %s_data_name[], *const %s_latent_name[];\n\n",
               e->name, e->name, e->name, e->name, e->name);
    put_names(out, e->name, "data", e->num_data, e->data_name);
    put_names(out, e->name, "latent", e->num_latents, e->latent_name);
    str_put(out, "\n");
}

static void put_head(const struct exported *e, struct str *out)
{
    int most = e->draw_prog->nrow > e->q->prog.nrow ? e->draw_prog->nrow : e->q->prog.nrow;
    str_put(out, "/* An inference network of ");
    put_comment(out, e->from ? e->from : "a model");
    str_put(out,
            ", written by 'nami export --to c'.  C99; needs libm.\n\n   Data, in this order:\n  ");
    put_list(out, e->num_data, e->data_name);
    str_put(out, "   Latents, in this order:\n  ");
    put_list(out, e->num_latents, e->latent_name);
    if (e->others.n) {
        str_put(out, "   Not in this file are latents that are not the network's: ");
        put_comment(out, e->others.s);
        str_put(out, ".\n\n");
    }
    str_printf(
        out,
        "   %s_noise    random numbers of draw number `draw` of a seed, the same as in NaMI;\n"
        "                or use your own: uniform on (0, 1), and standard normal\n"
        "   %s_draw     from these to a draw of the latents given data; returns its log q\n"
        "   %s_log_q    log q(latents | data)\n\n"
        "   There is no state, and no allocation; a call takes about %zu kB of stack.\n"
        "   With -DNAMI_MAIN, it is a program: %s DRAWS [SEED] <data, which prints draws as CSV. "
        "*/\n"
        "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n",
        e->name, e->name, e->name,
        ((size_t)most * sizeof(double) + (size_t)e->q->prog.nunit * sizeof(float)) / 1024 + 1,
        e->name);
    str_printf(out,
               "enum {\n    %s_num_data = %d,\n    %s_num_latents = %d,\n"
               "    %s_num_uniform = %zu,\n    %s_num_normal = %zu\n};\n\n",
               e->name, e->num_data, e->name, e->num_latents, e->name,
               e->draw.noise[NOISE_UNIFORM].n, e->name, e->draw.noise[NOISE_NORMAL].n);
    put_prototypes(e, out);
}

static void put_main(const struct exported *e, struct str *out)
{
    const char *s = e->name;
    str_put(out, "#ifdef NAMI_MAIN\n");
    str_printf(out,
               "int main(int argc, char **argv)\n{\n"
               "    static double data[%s_num_data + 1], latent[%s_num_latents + 1];\n"
               "    static double uniform[%s_num_uniform + 1], normal[%s_num_normal + 1];\n"
               "    unsigned long long draws = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;\n"
               "    unsigned long long seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;\n",
               s, s, s, s);
    str_printf(out,
               "    for (int i = 0; i < %s_num_data; i++)\n"
               "        if (scanf(\"%%lf\", &data[i]) != 1) {\n"
               "            fprintf(stderr, \"the data are %%d numbers, of which number %%d is "
               "missing\\n\",\n"
               "                    (int)%s_num_data, i + 1);\n"
               "            return 1;\n"
               "        }\n"
               "    for (int i = 0; i < %s_num_latents; i++) printf(\"\\\"%%s\\\",\", "
               "%s_latent_name[i]);\n"
               "    printf(\"log_q,log_q_again\\n\");\n"
               "    for (uint64_t k = 0; k < draws; k++) {\n"
               "        %s_noise(seed, k, uniform, normal);\n"
               "        double log_q = %s_draw(data, uniform, normal, latent);\n"
               "        for (int i = 0; i < %s_num_latents; i++) printf(\"%%.17g,\", latent[i]);\n"
               "        printf(\"%%.17g,%%.17g\\n\", log_q, %s_log_q(data, latent));\n"
               "    }\n"
               "    return 0;\n}\n#endif\n",
               s, s, s, s, s, s, s, s);
}

int export_c(const struct exported *e, struct str *out, nami_err *err)
{
    struct str table = {0}, body = {0};
    int ntable = 0;
    struct printer p = {.e = e, .table = &table, .body = &body, .ntable = &ntable};
    (void)err;
    put_head(e, out);
    put_weights(e, out);
    if (has(e, STEP_LAYER)) str_put(out, layer_text);
    if (has(e, STEP_POOL)) str_put(out, pool_text);
    put_draw(&p);
    put_density(&p);
    if (table.s) str_put(out, table.s);
    str_put(out, "\n");
    put_noise(e, out);
    if (body.s) str_put(out, body.s);
    put_main(e, out);
    out->oom |= table.oom | body.oom;
    str_free(&table);
    str_free(&body);
    return 0;
}
