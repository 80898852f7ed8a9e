/* test_embed.c: embeddings read the right elements, each layer has the right shape, and
   only observed arrays can have one. */
#include "model/model.h"
#include "model_at.h"
#include "tensor/product.h"

/* A model with an observed s[24], v[6,4], x[4,3,2], q[4,3,2,2] and y. */
#define MODEL                                                                                      \
    "const n = 2\n const s2 = 2\n model {\n z ~ normal(0, 1)\n y ~ normal(z, 1)\n"                 \
    "for (i in 1:24) { s[i] ~ normal(z, 1) }\n"                                                    \
    "for (i in 1:6) { v[i,1:4] ~ multi_normal(rep(z, 4), diag(rep(1, 4))) }\n"                     \
    "for (i in 1:4) { for (j in 1:3) { for (k in 1:2) { x[i,j,k] ~ normal(z, 1)\n"                 \
    "for (l in 1:2) { q[i,j,k,l] ~ normal(z, 1) } } } } }\n"                                       \
    "observe y, s, v, x, q\n"

/* "6x4x1; conv 3x2x5 2/2 relu; dense 7x1x1 linear": what it sees, then what each layer gives, a
   conv with its size/stride */
static void put_embed(const struct embed *e, struct str *out)
{
    str_printf(out, "%dx%dx%d", e->dim[0], e->dim[1], e->dim[2]);
    for (int i = 0; i < e->nlayer; i++) {
        const struct layer *l = &e->layer[i];
        static const char *const kinds[] = {"dense", "conv", "whiten"};
        str_printf(out, "; %s %dx%dx%d", kinds[l->kind], l->dim[0], l->dim[1], l->dim[2]);
        if (l->kind == LAYER_WHITEN) continue;
        if (l->kind == LAYER_CONV) str_printf(out, " %d/%d", l->size, l->stride);
        str_printf(out, " %s", act_names[l->act]);
        assert_int_equal(l->out, l->kind == LAYER_CONV ? l->dim[2] : l->dim[0]);
    }
}

static const struct {
    const char *text, *want;
} shapes[] = {
    {"embed y { dense(3) }", "1x1x1; dense 3x1x1 linear"},
    {"embed s { dense(64, relu); dense(16) }", "24x1x1; dense 64x1x1 relu; dense 16x1x1 linear"},
    {"embed v { dense(n^3, tanh) }", "6x4x1; dense 8x1x1 tanh"},
    {"embed x { dense(size = 3, act = softplus) }", "4x3x2; dense 3x1x1 softplus"},
    {"embed q { dense(5) }", "48x1x1; dense 5x1x1 linear"}, /* four dimensions are a vector */
    {"embed q : real[4, 3, 4] { conv(2, 2) }", "4x3x4; conv 3x2x2 2/1 linear"},
    {"embed s : real[n * 2, 6] { conv(5, 3, 1, relu); dense(7) }",
     "4x6x1; conv 2x4x5 3/1 relu; dense 7x1x1 linear"},
    {"embed s { conv(4, 5, 3) }", "24x1x1; conv 7x1x4 5/3 linear"}, /* a series */
    {"embed s : real[12, 1, 2] { conv(4, 5, 2, tanh); conv(1, 4) }",
     "12x1x2; conv 4x1x4 5/2 tanh; conv 1x1x1 4/1 linear"},
    {"embed v { conv(8, 3, relu) }", "6x4x1; conv 4x2x8 3/1 relu"},
    {"embed v { conv(8, 3, act = relu) }", "6x4x1; conv 4x2x8 3/1 relu"},
    {"embed v { conv(8, 3, s2) }", "6x4x1; conv 2x1x8 3/2 linear"}, /* a constant is a stride */
    {"embed v { conv(size = 2, stride = 2, channels = 3, act = sigmoid); dense(1) }",
     "6x4x1; conv 3x2x3 2/2 sigmoid; dense 1x1x1 linear"},
    {"embed v { conv(8, 4, 2); conv(3, 2) }", /* an image of width 1 goes on as a series */
     "6x4x1; conv 2x1x8 4/2 linear; conv 1x1x3 2/1 linear"},
    {"embed x { conv(5, 3, 7) }", "4x3x2; conv 1x1x5 3/7 linear"}, /* the rest is not seen */
    {"embed x { conv(5, 1) }", "4x3x2; conv 4x3x5 1/1 linear"},
    {"embed x { whiten() }", "4x3x2; whiten 4x3x2"},
    {"embed v : real[6, 1, 4] { whiten(); conv(5, 1); dense(2) }",
     "6x1x4; whiten 6x1x4; conv 6x1x5 1/1 linear; dense 2x1x1 linear"},
};

static void test_shapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct model m;
        struct str text = {0}, got = {0};
        str_printf(&text, MODEL "%s", shapes[i].text);
        build(&m, text.s, NULL);
        assert_int_equal(m.ir.embeddings.n, 1);
        const struct embed *e = &m.ir.embeddings.a[0];
        put_embed(e, &got);
        if (strcmp(got.s, shapes[i].want) != 0)
            fail_msg("%s\nexpected %s\nbut got  %s", shapes[i].text, shapes[i].want, got.s);
        const int *dim = e->layer[e->nlayer - 1].dim;
        assert_int_equal(e->out, dim[0] * dim[1] * dim[2]);
        assert_int_equal(m.ir.arrays.a[e->array].n, e->dim[0] * e->dim[1] * e->dim[2]);
        str_free(&text);
        str_free(&got);
        model_fini(&m);
    }
}

/* Several, before and behind the model, in the order of the file; constants may be set. */
static void test_several(void **state)
{
    (void)state;
    struct model m;
    const char *const set[] = {"n=3"};
    build_opt(&m, NATIVE,
              "embed x : real[n, 2] { conv(n, 2); dense(n) }\n const n = 1\n"
              "model { z ~ normal(0, 1); y ~ normal(z, 1); for (i in 1:(2 * n)) { x[i] ~ normal(z, "
              "1) } }\n"
              "observe x, y\n embed y { dense(length(x)) }",
              NULL, &(struct model_options){.set = set, .nset = 1});
    assert_int_equal(m.ir.embeddings.n, 2);
    assert_int_equal(m.ir.embeddings.a[0].array, array_find(&m, "x"));
    assert_int_equal(m.ir.embeddings.a[0].out, 3);
    assert_int_equal(m.ir.embeddings.a[1].array, array_find(&m, "y"));
    assert_int_equal(m.ir.embeddings.a[1].out, 6);
    model_fini(&m);
}

/* ---- roles -------------------------------------------------------------------------- */

/* The first message, or NULL. */
static void says(const char *text, const char *data, const char *observe, const char *want)
{
    struct model m = {0};
    int rc = build_with(&m, NATIVE, text, data, &(struct model_options){.observe = observe});
    const char *got = m.source.diags.nerror ? m.source.diags.list.a[0].msg : "nothing";
    if (rc != (want ? NAMI_EINPUT : 0) || strcmp(got, want ? want : "nothing") != 0)
        fail_msg("%s\ncode %d, %s", text, rc, got);
    model_fini(&m);
}

static void test_observed(void **state)
{
    (void)state;
#define MODEL2 "model { z ~ normal(0, 1); for (i in 1:3) { y[i] ~ normal(z, 1) } }\n"
    static const char plain[] = MODEL2 "embed y { dense(1) }";
    static const char declared[] = MODEL2 "observe y\n embed y { dense(1) }";
    static const char vector[] =
        "model { z ~ normal(0, 1); y[1:2] ~ multi_normal(c(z, 0), diag(c(1, 1))) }\n"
        "observe y\n embed y { dense(1) }";
    says(declared, NULL, NULL, NULL);
    says(plain, NULL, NULL, "y is not observed");
    says(plain, "{\"y\": [1, 2, 3]}", NULL, NULL);
    says(plain, "{\"y\": [1, null, 3]}", NULL, "y is observed in part: 2 of 3 elements");
    says(plain, NULL, "y", NULL);
    says(plain, NULL, "sinks", NULL);
    says(plain, NULL, "y[1]", "y is observed in part: 1 of 3 elements");
    says(declared, NULL, "z", "y is not observed");
    says(plain, "{\"y\": [1, 2, 3]}", "z", "y is not observed");
    says(declared, "{\"y\": [1, null, 3]}", NULL, NULL);
    says(vector, NULL, NULL, NULL);
    says("data { for (i in 1:3) { y[i] <- i / 2 } }\n" MODEL2 "embed y { dense(1) }", NULL, NULL,
         NULL);
    says(MODEL2 "observe y\n embed y { dense(2); whiten() }", NULL, NULL,
         "whiten() sees an array as it is");
    says(MODEL2 "observe y\n embed y { whiten(3) }", NULL, NULL,
         "whiten() takes no arguments, not 1");
    says("model { z ~ normal(0, 1); for (i in 1:600) { y[i] ~ normal(z, 1) } }\n"
         "observe y\n embed y { whiten() }",
         NULL, NULL, "whiten() takes up to 512 numbers, not 600");
    /* who asks for the structure alone may decide later */
    nami_err err = {0};
    struct bn *bn = bn_new();
    assert_non_null(bn);
    assert_int_equal(model_structure(plain, strlen(plain), NATIVE, bn, &err), 0);
    bn_free(bn);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_shapes),
    cmocka_unit_test(test_several),
    cmocka_unit_test(test_observed),
};
RUN(tests)
