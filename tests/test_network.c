/* test_network.c: files of trained networks: what is written is read again, byte for byte and
   number for number; what no network could be is refused, with a sentence that says why. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sha256.h"
#include "base/sha256_impl.h"
#include "network_at.h"

#include "malloc_fail.h"

static const char small[] = "model { z ~ normal(1, 2)\n s ~ gamma(2, 1)\n"
                            "for (i in 1:3) { y[i] ~ normal(z, s) } }\n observe y";
static const char chain[] =
    "model { x[1] ~ normal(0, 1)\n for (t in 2:5) { x[t] ~ normal(0.9 * x[t - 1], 0.5) }\n"
    "for (t in 1:5) { y[t] ~ normal(x[t], 1) } }\n observe y";
static const char grid[] =
    "model { for (i in 1:4) { for (j in 1:4) { z[i,j] ~ normal(0, 1) } }\n"
    "for (i in 1:3) { for (j in 1:3) {\n"
    "y[i,j] ~ normal(z[i,j] + z[i + 1,j] + z[i,j + 1] + z[i + 1,j + 1], 1) } } }\n observe y";

static char path[] = "/tmp/nami_network_XXXXXX";

static void must(int rc, const nami_err *err)
{
    if (rc) fail_msg("%s", err->msg);
}

/* ---- networks ------------------------------------------------------------------------- */

static nami_model *model_with(const char *text, const nami_model_options *opt)
{
    nami_model *m;
    nami_err err = {0};
    if (nami_model_parse(text, strlen(text), "m", opt, &m, &err))
        fail_msg("%s: %s", err.msg, nami_model_messages(m));
    return m;
}

#define model_of(text) model_with(text, NULL)

static const nami_train_options quick = {.hidden = "4",
                                         .activation = "tanh",
                                         .steps = 6,
                                         .batch = 8,
                                         .check = 3,
                                         .valid = 16,
                                         .threads = 1};

static const nami_options all_learned = {.exact = "none"};

/* A trainer that has made its steps. */
static nami_trainer *trained(const nami_model *m, const nami_options *invert,
                             const nami_train_options *opt)
{
    nami_trainer *t;
    nami_err err = {0};
    int rc;
    must(nami_trainer_new(m, invert, opt, &t, &err), &err);
    while ((rc = nami_trainer_step(t, &err)) > 0) continue;
    must(rc, &err);
    return t;
}

/* The file of such a trainer, with its state. */
static void file_of(const char *text, const nami_options *invert, const nami_train_options *opt,
                    struct str *out)
{
    nami_model *m = model_of(text);
    nami_trainer *t = trained(m, invert, opt);
    nami_err err = {0};
    char *bytes;
    size_t n;
    must(nami_trainer_print(t, &bytes, &n, &err), &err);
    str_putn(out, bytes, n);
    nami_free(bytes);
    nami_trainer_free(t);
    nami_model_free(m);
}

static const nami_network_options one = {.threads = 1};

static nami_network *network_of(const struct str *bytes)
{
    nami_network *net;
    nami_err err = {0};
    must(nami_network_parse(bytes->s, bytes->n, &one, &net, &err), &err);
    return net;
}

enum { POINTS = 7 };

/* log q of draws of the model. */
static void log_q(const nami_network *net, double out[POINTS])
{
    const nami_model *m = nami_network_model(net);
    double *x = calloc((size_t)nami_model_size(m) * POINTS + 1, sizeof *x);
    nami_err err = {0};
    assert_non_null(x);
    must(nami_model_simulate(m, 3, POINTS, 1, x, &err), &err);
    must(nami_network_log_q(net, POINTS, x, 1, out, &err), &err);
    free(x);
}

static void same_log_q(const nami_network *a, const nami_network *b)
{
    double u[POINTS], v[POINTS];
    log_q(a, u);
    log_q(b, v);
    for (int i = 0; i < POINTS; i++) assert_true(isfinite(u[i]));
    assert_memory_equal(u, v, sizeof u);
}

/* Refused, with a message that has `why`. */
static void refused(const char *bytes, size_t n, const char *why, const char *what)
{
    nami_network *net;
    nami_err err = {0};
    int rc = nami_network_parse(bytes, n, &one, &net, &err);
    if (rc != NAMI_EINPUT || err.code != rc || net)
        fail_msg("%s: code %d, '%s'", what, rc, err.msg);
    if (strlen(err.msg) < 20 || !strstr(err.msg, why))
        fail_msg("%s: no '%s' in '%s'", what, why, err.msg);
}

/* ---- there and back ------------------------------------------------------------------- */

static void round_trip(void **state)
{
    (void)state;
    struct str bytes = {0}, again = {0};
    nami_network *net, *other;
    nami_err err = {0};
    char *text;
    size_t n;
    file_of(small, &all_learned, &quick, &bytes);
    net = network_of(&bytes);
    must(nami_network_write(net, path, &err), &err);
    assert_true(nami_network_is(path));
    must(file_read(path, &again, &err), &err);
    assert_true(again.n == bytes.n && memcmp(again.s, bytes.s, bytes.n) == 0);
    must(nami_network_read(path, NULL, &other, &err), &err);
    must(nami_network_print(other, &text, &n, &err), &err);
    assert_true(n == bytes.n && memcmp(text, bytes.s, n) == 0);
    same_log_q(net, other);
    nami_free(text);
    nami_network_free(other);
    nami_network_free(net);
    str_free(&bytes);
    str_free(&again);
}

/* The network of a trainer is that of its file; but training goes on from the file alone. */
static void without_state(void **state)
{
    (void)state;
    nami_model *m = model_of(small);
    nami_trainer *t = trained(m, &all_learned, &quick), *more;
    nami_network *a, *b;
    nami_err err = {0};
    must(nami_trainer_save(t, path, &err), &err);
    must(nami_trainer_network(t, &a, &err), &err);
    must(nami_network_read(path, &one, &b, &err), &err);
    same_log_q(a, b);
    must(nami_trainer_read(path, NULL, &more, &err), &err);
    assert_int_equal(nami_trainer_steps(more), 6);
    nami_trainer_free(more);
    must(nami_network_write(a, path, &err), &err);
    assert_int_equal(nami_trainer_read(path, NULL, &more, &err), NAMI_EINPUT);
    assert_null(more);
    assert_non_null(strstr(err.msg, "without the state of its training"));
    nami_network_free(a);
    nami_network_free(b);
    nami_trainer_free(t);
    nami_model_free(m);
}

/* A value that is not the option's default, as a user would write it. */
static const char *other_value(const nami_option *o)
{
    switch (o->kind) {
    case NAMI_OPTION_FLAG: return "1";
    case NAMI_OPTION_COUNT: return "3";
    case NAMI_OPTION_REAL:
    case NAMI_OPTION_LIMIT: return "0.25";
    case NAMI_OPTION_SEED: return "9223372036854775809";
    case NAMI_OPTION_TEXT: return strcmp(o->name, "split") == 0 ? "rest,3" : "5,4";
    case NAMI_OPTION_WORD: break;
    }
    const char *word = nami_option_word(o, 0);
    return strcmp(word, o->def) == 0 ? nami_option_word(o, 1) : word;
}

static int json_is(const json_t *x, const nami_option *o, const char *text)
{
    switch (o->kind) {
    case NAMI_OPTION_FLAG: return json_is_true(x);
    case NAMI_OPTION_COUNT: return json_integer_value(x) == atoi(text);
    case NAMI_OPTION_REAL:
    case NAMI_OPTION_LIMIT: return json_real_value(x) == atof(text);
    case NAMI_OPTION_SEED: return (uint64_t)json_integer_value(x) == strtoull(text, NULL, 10);
    default: return json_is_string(x) && strcmp(json_string_value(x), text) == 0;
    }
}

/* Trains nothing, saves, reads; the settings have the option, if it is one for others, too. */
static void check_option(const char *group, const nami_option *o)
{
    nami_model *m = model_of(chain);
    nami_options invert = all_learned;
    nami_train_options train = quick;
    nami_trainer *t;
    nami_network *net;
    nami_err err = {0};
    char *text;
    int of_one_machine = strcmp(o->name, "threads") == 0 || strcmp(o->name, "samples") == 0;
    const char *value = strcmp(o->name, "samples") == 0 ? path
                        : strcmp(o->name, "exact") == 0 ? "x"
                                                        : other_value(o);
    must(nami_option_set(o, strcmp(group, "invert") == 0 ? (void *)&invert : &train, value, &err),
         &err);
    if (nami_trainer_new(m, &invert, &train, &t, &err)) fail_msg("%s: %s", o->name, err.msg);
    if (nami_trainer_network(t, &net, &err)) fail_msg("%s: %s", o->name, err.msg);
    must(nami_network_describe(net, "settings", &text, &err), &err);
    json_t *root = json_loads(text, 0, NULL);
    const json_t *x = json_object_get(json_object_get(root, group), o->name);
    if (of_one_machine ? !json_is_null(x) && json_integer_value(x) : !json_is(x, o, value))
        fail_msg("%s = %s is not in %s", o->name, value, text);
    if (of_one_machine) assert_null(strstr(text, path));
    if (strcmp(o->name, "samples") == 0)
        assert_int_equal(json_integer_value(json_object_get(root, "samples")), 100);
    json_decref(root);
    nami_free(text);
    nami_network_free(net);
    nami_trainer_free(t);
    nami_model_free(m);
}

/* Draws of the chain, as a file. */
static void put_samples(void)
{
    struct str out = {0};
    nami_err err = {0};
    str_put(&out, "[");
    for (int i = 0; i < 100; i++) {
        str_put(&out, i ? ",\n" : "");
        for (int k = 0; k < 2; k++) {
            str_put(&out, k ? ", \"y\": [" : "{\"x\": [");
            for (int t = 0; t < 5; t++)
                str_printf(&out, "%s%g", t ? "," : "", sin(i * 5 + t + 17 * k));
            str_put(&out, "]");
        }
        str_put(&out, "}");
    }
    str_put(&out, "]");
    must(nami_file_write(path, out.s, out.n, &err), &err);
    str_free(&out);
}

static void every_setting(void **state)
{
    (void)state;
    static const char *const group[] = {"invert", "train"};
    const nami_option *o;
    char was[sizeof path];
    memcpy(was, path, sizeof path);
    memcpy(path + strlen(path) - 5, ".json", 5); /* by their ending, draws are read */
    put_samples();
    for (int g = 0; g < 2; g++)
        for (int i = 0; (o = nami_option_at(group[g], i)); i++)
            if (strcmp(o->name, "open") != 0) /* for models with sizes: test_open.sh */
                check_option(group[g], o);
    remove(path);
    memcpy(path, was, sizeof path);
}

static void infinite_limit(void **state)
{
    (void)state;
    nami_model *m = model_of(small);
    nami_train_options opt = {.clip = INFINITY};
    nami_trainer *t;
    nami_err err = {0};
    assert_int_equal(nami_trainer_new(m, NULL, &opt, &t, &err), NAMI_EUSAGE);
    assert_non_null(strstr(err.msg, "clip must be a finite number"));
    nami_model_free(m);
}

/* ---- damage --------------------------------------------------------------------------- */

static void every_byte(void **state)
{
    (void)state;
    struct str b = {0};
    nami_train_options opt = quick;
    opt.hidden = "1";
    file_of("model { z ~ normal(1, 2)\n y ~ normal(z, 1) }\n observe y", &all_learned, &opt, &b);
    for (size_t i = 0; i < b.n; i++)
        for (int bit = i % 5 ? 8 : 0; bit <= 8; bit++) {
            char what[40], was = b.s[i];
            snprintf(what, sizeof what, "byte %zu, bit %d", i, bit);
            b.s[i] = (char)(was ^ (bit < 8 ? 1 << bit : 0xff));
            refused(b.s, b.n, "", what);
            b.s[i] = was;
        }
    for (size_t n = 0; n < b.n; n += n < 20 ? 1 : 97) refused(b.s, n, "", "cut off");
    str_put(&b, "x");
    refused(b.s, b.n, "", "a byte more");
    print_message("%zu bytes\n", b.n);
    str_free(&b);
}

/* root, changed at "factors/0/runs": value is JSON; NULL: taken out. */
static void edit_json(json_t *root, const char *at, const char *value)
{
    char key[40];
    const char *slash;
    for (; (slash = strchr(at, '/')); at = slash + 1) {
        snprintf(key, sizeof key, "%.*s", (int)(slash - at), at);
        root = json_is_array(root) ? json_array_get(root, strtoul(key, NULL, 10))
                                   : json_object_get(root, key);
        assert_non_null(root);
    }
    json_t *x = value ? json_loads(value, JSON_DECODE_ANY, NULL) : NULL;
    assert_true(x || !value);
    int rc = json_is_array(root) ? json_array_set_new(root, strtoul(at, NULL, 10), x)
             : x                 ? json_object_set_new(root, at, x)
                                 : json_object_del(root, at);
    assert_int_equal(rc, 0);
}

/* A text of JSON, changed in up to two places, in a file whose digest fits. */
static void edited(const struct str *whole, const char *name, const char *const *at,
                   const char *const *value, struct str *out)
{
    struct st st = {0};
    nami_err err = {0};
    must(st_parse(&st, whole->s, whole->n, &err), &err);
    json_t *root = json_loads(st_get(&st, name), 0, NULL);
    for (int k = 0; k < 2 && at[k]; k++) edit_json(root, at[k], value[k]);
    char *text = json_dumps(root, JSON_REAL_PRECISION(17));
    edit_text(&st, name, text);
    edit_print(&st, out);
    free(text);
    json_decref(root);
    st_free(&st);
}

/* Texts that are not there, or others. */
static void other_texts(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *why;
    } row[] = {
        {"nami", "1", "earlier version of NaMI (format 1)"},
        {"nami", "3", "format 3"},
        {"nami", "", "format"},
        {"nami", NULL, "not a network of NaMI"},
        {"model", NULL, "'model'"},
        {"model", "model { z ~ }", "expected"},
        {"model", "model { z ~ normal(1, 2)\n y ~ normal(z, 1) }\n observe y", "perm"},
        {"file", NULL, "'file'"},
        {"dialect", NULL, "'dialect'"},
        {"dialect", "fortran", "'dialect'"},
        {"data", NULL, "'data'"},
        {"data", "{", ""},
        {"data", "[1]", ""},
        {"settings", NULL, "'settings'"},
        {"settings", "{", "'settings'"},
        {"settings", "[]", "'settings'"},
        {"inverse", NULL, "'inverse'"},
        {"inverse", "", "inverse has no usable 'text'"},
        {"inverse", "[]", "inverse has no usable 'text'"},
        {"network", NULL, "encodes its variables"},
        {"network", "{}", "encodes its variables"},
    };
    struct str whole = {0};
    nami_err err = {0};
    file_of(small, &all_learned, &quick, &whole);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct st st = {0};
        struct str out = {0}, what = {0};
        must(st_parse(&st, whole.s, whole.n, &err), &err);
        edit_text(&st, row[i].name, row[i].value);
        edit_print(&st, &out);
        str_printf(&what, "%s: %s", row[i].name, row[i].value ? row[i].value : "none");
        refused(out.s, out.n, row[i].why, what.s);
        st_free(&st);
        str_free(&out);
        str_free(&what);
    }
    /* the digest of other bytes */
    struct st st = {0};
    struct str out = {0};
    must(st_parse(&st, whole.s, whole.n, &err), &err);
    edit_text(&st, "data", "{\"a\": 1}");
    must(st_print(&st, &out, &err), &err);
    refused(out.s, out.n, "do not match their checksum", "an old digest");
    out.n = 0;
    edit_text(&st, "sha256", NULL);
    must(st_print(&st, &out, &err), &err);
    refused(out.s, out.n, "do not match their checksum", "no digest");
    st_free(&st);
    str_free(&out);
    str_free(&whole);
}

/* In the file of `small`, factors are z (or s) and s (or z), 0 and 1 of perm; y[1] ... y[3] are 2
 * ... 4. */
static const struct edit {
    const char *name, *at[2], *value[2], *why;
} edits[] = {
    {"settings", {"train/nothing"}, {"1"}, "'nothing' is not known; a newer version"},
    {"settings", {"invert/nothing"}, {"1"}, "'nothing' is not known"},
    {"settings", {"nothing"}, {"1"}, "'nothing' is not known"},
    {"settings", {"train"}, {NULL}, "'settings'"},
    {"settings", {"train"}, {"3"}, "'settings'"},
    {"settings", {"set"}, {NULL}, "'settings'"},
    {"settings", {"train/batch"}, {"\"8\""}, "'batch' has no usable value"},
    {"settings", {"train/batch"}, {"1e99"}, "'batch'"},
    {"settings", {"train/rate"}, {"true"}, "'rate'"},
    {"settings", {"train/clip"}, {"-1"}, "'clip'"},
    {"settings", {"train/no_share"}, {"1"}, "'no_share'"},
    {"settings", {"train/seed"}, {"1.5"}, "'seed'"},
    {"settings", {"train/family"}, {"\"newest\""}, "'family' is 'newest', which this version"},
    {"settings", {"train/family"}, {"null"}, "'family'"},
    {"settings", {"train/net"}, {"null"}, "'net'"},
    {"settings", {"invert/mode"}, {"null"}, "'mode'"},
    {"settings", {"invert/mode"}, {"\"sideways\""}, "'mode' is 'sideways'"},
    {"settings", {"train/hidden"}, {"\"4,x\""}, "hidden must be"},
    {"settings", {"train/hidden"}, {"\"5\""}, ".weight'"},
    {"settings", {"train/cooldown"}, {"7"}, "cooldown must be between 0 and 1"},
    {"settings", {"train/objective"}, {"\"elbow\""}, "'objective' is 'elbow'"},
    {"settings", {"observe"}, {"\"@/etc/passwd\""}, "another file"},
    {"settings", {"observe"}, {"\"q\""}, "q"},
    {"settings", {"set"}, {"[\"q=1\"]"}, "q"},
    {"settings", {"samples"}, {"-1"}, "'samples'"},
    {"inverse", {"perm/0"}, {"\"nobody\""}, "'perm'"},
    {"inverse", {"perm/0"}, {"7"}, "'perm'"},
    {"inverse", {"perm/2"}, {"\"y[2]\""}, "'perm'"},
    {"inverse", {"perm/0", "perm/4"}, {"\"y[3]\"", "\"z\""}, "'perm'"},
    {"inverse", {"perm"}, {"[\"z\", \"s\", \"y[1]\", \"y[2]\"]"}, "'perm'"},
    {"inverse",
     {"perm", "nuisance"},
     {"[\"z\", \"s\", \"y[1]\", \"y[2]\"]", "[\"y[3]\"]"},
     "'nuisance'"},
    {"inverse",
     {"perm", "barren"},
     {"[\"z\", \"s\", \"y[1]\", \"y[2]\"]", "[\"y[3]\"]"},
     "'barren'"},
    {"inverse", {"perm"}, {"{}"}, "'perm'"},
    {"inverse", {"latents"}, {"3"}, "'perm'"},
    {"inverse", {"latents"}, {"1"}, "'perm'"},
    {"inverse", {"latents"}, {"-1"}, "'latents'"},
    {"inverse", {"latents"}, {"9"}, "'latents'"},
    {"inverse", {"latents"}, {"2.0"}, "'latents'"},
    {"inverse", {"barren"}, {"[\"z\"]"}, "'barren'"},
    {"inverse", {"barren"}, {NULL}, "'barren'"},
    {"inverse", {"nuisance"}, {"[\"z\"]"}, "'nuisance'"},
    {"inverse", {"factors"}, {"[]"}, "'factors'"},
    {"inverse", {"factors/0/node"}, {"\"y[1]\""}, "'factors'"},
    {"inverse", {"factors/0/runs"}, {"[[0, 1]]"}, "'factors'"},         /* of itself */
    {"inverse", {"factors/1/runs"}, {"[[0, 1], [2, 3]]"}, "'factors'"}, /* a cycle */
    {"inverse", {"factors/1/runs"}, {"[[2, 3], [2, 1]]"}, "'factors'"}, /* twice */
    {"inverse", {"factors/1/runs"}, {"[[2, 4]]"}, "'factors'"},
    {"inverse", {"factors/1/runs"}, {"[[2, 2147483647]]"}, "'factors'"},
    {"inverse", {"factors/1/runs"}, {"[[-2, 1]]"}, "'factors'"},
    {"inverse", {"factors/1/runs"}, {"[[2, 0]]"}, "'factors'"},
    {"inverse", {"factors/1/runs"}, {"[[2]]"}, "'factors'"},
    {"inverse", {"factors/1/runs"}, {"[[2.5, 1]]"}, "'factors'"},
    {"inverse", {"factors/1/runs"}, {"[[\"2\", 1]]"}, "'factors'"},
    {"inverse", {"factors/1/runs"}, {NULL}, "'factors'"},
    {"inverse", {"method"}, {"\"magic\""}, "'method'"},
    {"inverse", {"mode"}, {"\"sideways\""}, "'mode'"},
    {"inverse", {"certificate/faithful"}, {"false"}, "'certificate'"},
    {"network", {"encodings"}, {"[]"}, "encodes 0 variables, but its model has 5"},
    {"network", {"encodings"}, {"{}"}, "encodes its variables"},
    {"network", {"encodings/0/node"}, {"\"q\""}, "encodes q (real) otherwise"},
    {"network", {"encodings/0/kind"}, {"\"states\""}, "(states) otherwise"},
    {"network", {"encodings/0/kind"}, {NULL}, "(?) otherwise"},
    {"network", {"encodings/0/sd/0"}, {"0"}, "otherwise"},
    {"network", {"encodings/0/sd/0"}, {"-1"}, "otherwise"},
    {"network", {"encodings/0/sd"}, {"[1, 2]"}, "otherwise"},
    {"network", {"encodings/0/mean/0"}, {"null"}, "otherwise"},
    {"network", {"encodings/0/mean"}, {NULL}, "otherwise"},
    {"network", {"outputs"}, {"[]"}, "0 output distributions, not 2"},
    {"network",
     {"outputs/1/family"},
     {"\"newest\""},
     "output distribution 2 of the network, 'newest'"},
    {"network", {"outputs/1/family"}, {"\"categorical\""}, "does not fit"},
    {"network", {"outputs/1/size"}, {"3"}, "does not fit"},
    {"network", {"outputs/1/size"}, {"-1"}, "output distribution 2"},
    {"network", {"outputs/1/size"}, {"1.5"}, "output distribution 2"},
    {"network", {"outputs/1/fixed"}, {"1"}, "does not fit"},
    {"network", {"outputs/1/shift"}, {"[]"}, "output distribution 2"},
    {"network", {"outputs/1/scale/0"}, {"\"x\""}, "output distribution 2"},
};

static void other_members(void **state)
{
    (void)state;
    struct str whole = {0};
    file_of(small, &all_learned, &quick, &whole);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        const struct edit *e = &edits[i];
        struct str out = {0}, what = {0};
        edited(&whole, e->name, e->at, e->value, &out);
        str_printf(&what, "%s: %s = %s", e->name, e->at[0], e->value[0] ? e->value[0] : "none");
        refused(out.s, out.n, e->why, what.s);
        str_free(&out);
        str_free(&what);
    }
    str_free(&whole);
}

/* Settings that a file lacks have their defaults. */
static void missing_settings(void **state)
{
    (void)state;
    struct str whole = {0}, out = {0};
    nami_trainer *t;
    nami_err err = {0};
    file_of(small, &all_learned, &quick, &whole);
    edited(&whole, "settings", (const char *const[]){"train/batch", "train/valid"},
           (const char *const[]){NULL, NULL}, &out);
    nami_network *a = network_of(&whole), *b = network_of(&out);
    same_log_q(a, b);
    must(nami_network_write(b, path, &err), &err);
    must(nami_trainer_read(path, NULL, &t, &err), &err);
    assert_int_equal(nami_trainer_batch(t), 250);
    nami_trainer_free(t);
    nami_network_free(a);
    nami_network_free(b);
    str_free(&whole);
    str_free(&out);
}

/* Numbers that no network has, and tensors of other shapes. */
static void other_weights(void **state)
{
    (void)state;
    static const struct {
        float x;
        const char *why;
    } row[] = {{NAN, "is NaN"}, {INFINITY, "is inf"}, {-INFINITY, "is -inf"}, {1e30F, "is 1e+30"}};
    struct str whole = {0};
    struct st st = {0};
    nami_err err = {0};
    file_of(small, &all_learned, &quick, &whole);
    must(st_parse(&st, whole.s, whole.n, &err), &err);
    for (size_t i = 0; i < st.tensor.n; i++) {
        struct st_tensor *t = &st.tensor.a[i], was = *t;
        if (strncmp(t->name, "nami.", 5) == 0 || !t->n) continue;
        float *x = malloc(t->n * sizeof *x);
        struct str out = {0};
        assert_non_null(x);
        memcpy(x, t->x, t->n * sizeof *x);
        t->x = x;
        for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
            out.n = 0;
            x[t->n - 1] = row[k].x;
            edit_print(&st, &out);
            refused(out.s, out.n, row[k].why, t->name);
            refused(out.s, out.n, t->name, t->name);
        }
        *t = was;
        free(x);
        out.n = 0;
        if (t->ndim == 2 && t->dim[0] != t->dim[1]) { /* transposed */
            t->dim[0] = was.dim[1], t->dim[1] = was.dim[0];
            edit_print(&st, &out);
            refused(out.s, out.n, t->name, "another shape");
        } else { /* as a matrix */
            t->ndim = t->ndim == 2 ? 1 : 2;
            t->dim[0] = t->n, t->dim[1] = 1;
            edit_print(&st, &out);
            refused(out.s, out.n, t->name, "another number of dimensions");
        }
        *t = was;
        out.n = 0;
        t->name = "other";
        edit_print(&st, &out);
        refused(out.s, out.n, was.name, "a tensor is missing");
        *t = was;
        str_free(&out);
    }
    st_free(&st);
    str_free(&whole);
}

/* ---- the inverse is the stored one ------------------------------------------------------ */

static void same_inverse(const nami_inverse *a, const nami_inverse *b)
{
    const int *u, *v;
    int n = nami_inverse_order(a, &u);
    assert_int_equal(nami_inverse_order(b, &v), n);
    assert_memory_equal(u, v, sizeof *u * (size_t)n);
    for (int i = 0; i < n; i++) {
        int p[40], q[40];
        int64_t k = nami_inverse_parents(a, u[i], p, 40);
        assert_int_equal(nami_inverse_parents(b, u[i], q, 40), k);
        for (int64_t j = 0; j < k; j++) assert_int_equal(p[j], q[j]);
    }
    assert_string_equal(nami_inverse_mode(a), nami_inverse_mode(b));
    assert_int_equal(nami_inverse_edges(a), nami_inverse_edges(b));
    assert_int_equal(nami_inverse_faithful(a), nami_inverse_faithful(b));
    assert_int_equal(nami_inverse_minimal(a), nami_inverse_minimal(b));
    assert_int_equal(nami_inverse_natural(a), nami_inverse_natural(b));
}

/* With another seed of ties, the model would be inverted otherwise. */
static void inverse_is_stored(void **state)
{
    (void)state;
    struct str whole = {0}, out = {0};
    nami_model *m = model_of(grid);
    nami_options invert = {.restarts = 3, .seed = 1, .exact = "none"};
    nami_inverse *fresh;
    nami_err err = {0};
    const int *u, *v;
    int n, other = 0;
    file_of(grid, &invert, &quick, &whole);
    nami_network *a = network_of(&whole);
    n = nami_inverse_order(nami_network_inverse(a), &u);
    for (uint64_t seed = 2; seed < 40 && !other; seed++) {
        invert.seed = seed;
        must(nami_invert(nami_model_structure(m), &invert, &fresh, &err), &err);
        assert_int_equal(nami_inverse_order(fresh, &v), n);
        other = memcmp(u, v, sizeof *u * (size_t)n) != 0;
        nami_inverse_free(fresh);
    }
    assert_true(other);
    char seed[24];
    snprintf(seed, sizeof seed, "%d", (int)invert.seed);
    edited(&whole, "settings", (const char *const[]){"invert/seed", NULL},
           (const char *const[]){seed, NULL}, &out);
    nami_network *b = network_of(&out);
    same_inverse(nami_network_inverse(a), nami_network_inverse(b));
    same_log_q(a, b);
    nami_network_free(a);
    nami_network_free(b);
    nami_model_free(m);
    str_free(&whole);
    str_free(&out);
}

static int64_t parents_of(const nami_network *net, const char *node, int *out)
{
    const nami_bn *bn = nami_model_structure(nami_network_model(net));
    return nami_inverse_parents(nami_network_inverse(net), nami_bn_find(bn, node), out, 10);
}

/* The first factor of the chain is x[1] given x[2] and y[1].  With a parent more, its network has
   more inputs than the file has weights; with another one, the network reads that. */
static void edited_inverse(void **state)
{
    (void)state;
    struct str whole = {0}, more = {0}, other = {0};
    nami_train_options opt = quick;
    double u[POINTS], v[POINTS];
    int had[10], has[10];
    opt.net = "mlp";
    opt.no_share = 1;
    file_of(chain, &all_learned, &opt, &whole);
    const char *const at[] = {"factors/0/runs", NULL};
    edited(&whole, "inverse", at, (const char *const[]){"[[1, 1], [8, 2]]", NULL}, &more);
    refused(more.s, more.n, "no usable 'x[1]/0.weight'", "an edge more");
    edited(&whole, "inverse", at, (const char *const[]){"[[1, 1], [8, 1]]", NULL}, &other);
    nami_network *a = network_of(&whole), *b = network_of(&other);
    assert_int_equal(parents_of(a, "x[1]", had), 2);
    assert_int_equal(parents_of(b, "x[1]", has), 2);
    const nami_bn *bn = nami_model_structure(nami_network_model(a));
    assert_true(had[0] == has[0] && had[1] == nami_bn_find(bn, "y[1]"));
    assert_int_equal(has[1], nami_bn_find(bn, "y[2]"));
    log_q(a, u);
    log_q(b, v);
    for (int i = 0; i < POINTS; i++) assert_true(isfinite(v[i]) && u[i] != v[i]);
    nami_network_free(a);
    nami_network_free(b);
    str_free(&whole);
    str_free(&more);
    str_free(&other);
}

/* ---- models of all kinds ----------------------------------------------------------------- */

static void check_kind_with(const nami_options *invert, const char *text, const char *data,
                            const nami_model_options *given, const char *learn)
{
    nami_model_options opt = *given;
    nami_train_options train = quick;
    nami_data *values = NULL, *sets = NULL;
    nami_err err = {0};
    char *bytes;
    size_t n;
    nami_network *a, *b;
    if (data) {
        must(nami_data_new(&values, &err), &err);
        must(nami_data_parse(values, data, strlen(data), &err), &err);
        opt.data = values;
    }
    if (learn) {
        must(nami_data_new(&sets, &err), &err);
        must(nami_data_parse(sets, learn, strlen(learn), &err), &err);
        train.data = sets;
        train.batch = 4;
    }
    nami_model *m = model_with(text, &opt);
    nami_trainer *t = trained(m, invert, &train);
    must(nami_trainer_network(t, &a, &err), &err);
    must(nami_trainer_print(t, &bytes, &n, &err), &err);
    nami_trainer_free(t);
    nami_model_free(m);
    nami_data_free(values);
    nami_data_free(sets);
    must(nami_network_parse(bytes, n, &one, &b, &err), &err);
    same_log_q(a, b);
    same_inverse(nami_network_inverse(a), nami_network_inverse(b));
    assert_int_equal(nami_data_size(nami_network_data(b)), data ? 1 : 0);
    nami_free(bytes);
    nami_network_free(a);
    nami_network_free(b);
}

/* With a network for all latents, and with exact factors. */
static void check_kind(const char *text, const char *data, const nami_model_options *given,
                       const char *learn)
{
    static const nami_options automatic = {.exact = "auto"};
    check_kind_with(&all_learned, text, data, given, learn);
    check_kind_with(&automatic, text, data, given, learn);
}

static void kinds(void **state)
{
    (void)state;
    static const nami_model_options none, as_bugs = {.dialect = "bugs"},
                                          others = {.observe = "y[1:2]"};
    static const char *const set[] = {"J=3"};
    static const nami_model_options sized = {.set = set, .num_set = 1};
    check_kind(small, NULL, &others, NULL);
    check_kind(
        "const J = 2\n const w[J]\n model { z ~ normal(0, 1)\n k ~ categorical(c(0.2, 0.8))\n"
        "v[1:2] ~ multi_normal(c(z, 0), diag(c(1, 2)))\n g ~ poisson(3)\n"
        "for (j in 1:J) { y[j] ~ normal(w[j] * z + k + v[1] + g, 1) }\n"
        "after ~ normal(z, 1) }\n observe y\n embed y { dense(2, tanh) }",
        "{\"w\": [0.1, 1e-300, 3]}", &sized, NULL);
    check_kind("model { mu ~ dnorm(0, 0.01)\n for (i in 1:3) { theta[i] ~ dnorm(mu, 1)\n"
               "y[i] ~ dpois(exp(theta[i] / 4)) } }",
               "{\"y\": [1, 4, 0]}", &as_bugs, NULL);
    check_kind("data { for (i in 1:3) { y[i] <- log(x[i]) } }\n"
               "model { mu ~ dnorm(0, 1)\n for (i in 1:3) { y[i] ~ dnorm(mu, 1) } }",
               "{\"x\": [1, 4, 2.5]}", &as_bugs, NULL);
    check_kind("model { b[1] <- 0\n for (j in 2:3) { b[j] ~ dnorm(0, 1) }\n c[1] ~ dnorm(0, 1)\n"
               "c[2] <- 2 * c[1]\n c[4] <- 7\n k[1] <- 3\n k[2] ~ dpois(2)\n"
               "for (i in 1:4) { y[i] ~ dnorm(b[g[i]] + c[1] + k[2], 1) } }",
               "{\"g\": [1, 2, 3, 2], \"y\": [1.5, 2, null, 3]}", &as_bugs, NULL);
    struct str many = {0};
    str_put(&many, "[");
    for (int i = 0; i < 60; i++)
        str_printf(&many, "%s{\"x\": [%g, %g, %g]}", i ? "," : "", sin(i), cos(i), sin(3 * i));
    str_put(&many, "]");
    check_kind("network dec : real[2] -> real[3] { dense(3) }\n"
               "model { for (k in 1:2) { z[k] ~ normal(0, 1) }\n a[1:3] <- dec(z[1:2])\n"
               "for (p in 1:3) { x[p] ~ normal(a[p], 0.5) } }\n observe x\n learn dec",
               NULL, &none, many.s);
    str_free(&many);
}

/* ---- the digest ---------------------------------------------------------------------------- */

/* By the processor's instructions, if it has them, and in plain C. */
static void check_sha(const char *text, size_t times, const char *want)
{
    for (int plain = 0; plain < 2; plain++) {
        struct sha256 s;
        char hex[SHA256_HEX + 1];
        sha256_init(&s);
        if (plain) s.blocks = sha256_blocks;
        for (size_t i = 0; i < times; i++) sha256_put(&s, text, strlen(text));
        sha256_end(&s, hex);
        assert_string_equal(hex, want);
    }
}

/* The examples of FIPS 180-4 and of NIST's test vectors. */
static void sha256_vectors(void **state)
{
    (void)state;
    static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                      million[] =
                          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
    check_sha("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_sha("abc", 1, abc);
    check_sha("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check_sha("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
              "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
              1, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    check_sha("a", 1000000, million);
    check_sha("aaaaaaaaaa", 100000, million);
    for (size_t n = 1; n < 300; n++) { /* in any pieces, the same; both ways */
        char text[300], one_piece[SHA256_HEX + 1], pieces[SHA256_HEX + 1];
        struct sha256 a, b;
        for (size_t i = 0; i < n; i++) text[i] = (char)(i * n);
        sha256_init(&a);
        sha256_put(&a, text, n);
        sha256_end(&a, one_piece);
        sha256_init(&b);
        b.blocks = sha256_blocks;
        for (size_t i = 0, k; i < n; i += k) {
            k = n - i < 1 + (i * 7 + n) % 90 ? n - i : 1 + (i * 7 + n) % 90;
            sha256_put(&b, text + i, k);
        }
        sha256_end(&b, pieces);
        assert_string_equal(one_piece, pieces);
    }
}

/* ---- memory --------------------------------------------------------------------------------- */

struct reading {
    struct str bytes;
};

static int read_all(void *ctx)
{
    struct reading *r = ctx;
    nami_network *net;
    nami_err err = {0};
    int rc = nami_network_parse(r->bytes.s, r->bytes.n, &one, &net, &err);
    assert_int_equal(rc, err.code);
    assert_true(!net == (rc != 0));
    nami_network_free(net);
    return rc;
}

static void check_memory(const char *exact)
{
    nami_options invert = {.exact = exact};
    struct reading r = {{0}};
    const char *why = NULL;
    long n = 1, harmless = 0;
    int more;
    file_of(small, &invert, &quick, &r.bytes);
    for (; (more = nomem_at(read_all, &r, n, &why)); n++) {
        if (more > 0) continue;
        if (strcmp(why, "a failed allocation without an error") != 0)
            fail_msg("allocation %ld: %s", n, why);
        harmless++; /* what is not needed to go on */
    }
    print_message("%ld allocations failed, %ld without harm\n", n - 1, harmless);
    assert_true(n > 200 && harmless < 4);
    str_free(&r.bytes);
}

static void no_memory(void **state)
{
    (void)state;
    check_memory("none");
    check_memory("z");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(round_trip),     cmocka_unit_test(without_state),
    cmocka_unit_test(every_setting),  cmocka_unit_test(infinite_limit),
    cmocka_unit_test(every_byte),     cmocka_unit_test(other_texts),
    cmocka_unit_test(other_members),  cmocka_unit_test(missing_settings),
    cmocka_unit_test(other_weights),  cmocka_unit_test(inverse_is_stored),
    cmocka_unit_test(edited_inverse), cmocka_unit_test(kinds),
    cmocka_unit_test(sha256_vectors), cmocka_unit_test(no_memory),
};

int main(int argc, char **argv)
{
    int fd = mkstemp(path);
    if (fd < 0) return 2;
    close(fd);
    int rc = run_cases(tests, sizeof tests / sizeof *tests, argc, argv);
    remove(path);
    return rc;
}
