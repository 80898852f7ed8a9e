/* test_jags.c: export to JAGS covers every row of dist.def and survives failing allocations.
   test_export.sh checks the exported programs. */

#include "run.h"

#include <string.h>

#include "malloc_fail.h"
#include "model/export.h"
#include "model/model.h"

/* Each distribution can be exported or is refused with advice; meanings are calls in our grammar.
 */
static void test_table(void **state)
{
    (void)state;
    for (int i = 0; dists[i]; i++) {
        int rows = 0;
        for (const struct dist_export *e = dist_exports; e->name; e++) {
            if (strcmp(e->name, dists[i]->name) != 0) continue;
            rows++;
            assert_true(!e->meaning != !e->advice);
        }
        assert_int_equal(rows, 1);
    }
    for (const struct dist_export *e = dist_exports; e->name; e++) {
        struct syntax s = {0};
        struct diags d = {0};
        const char *cut = e->meaning ? strstr(e->meaning, " T(0,)") : NULL;
        assert_non_null(dist_find(e->name, strlen(e->name)));
        if (!e->meaning) continue;
        struct expr *x = syntax_parse_expr(
            &s, e->meaning, cut ? (size_t)(cut - e->meaning) : strlen(e->meaning), &d);
        if (!x || x->kind != X_CALL) fail_msg("%s", e->meaning);
        diags_free(&d);
        syntax_free(&s);
    }
    for (int i = 0; ops[i]; i++) {
        struct syntax s = {0};
        struct diags d = {0};
        const char *t = ops[i]->jags;
        if (!t || !strchr(t, '(')) continue;
        if (!syntax_parse_expr(&s, t, strlen(t), &d)) fail_msg("%s", t);
        diags_free(&d);
        syntax_free(&s);
    }
}

static const char text[] =
    "const N = 3; const k = N + 1; const S[2, 2] = diag(1, 2)\n"
    "model {\n"
    "  m[1:2] ~ multi_normal(c(0, 0), diag(4, N))\n"
    "  s ~ half_normal(sigma = 2) T(k / 9, )\n"
    "  u ~ dnorm(0, sd = 2)\n"
    "  v ~ dbin(n = k, p = 0.5)\n"
    "  for (i in 1:N) { x[i] ~ normal(square(m[1]) + i %/% 2 + u %% 2, s) }\n"
    "}\n"
    "observe x[1:2]\ninfer s, m\nstages s ; m\n";

static const char data[] = "{\"x\": [1, null, 3]}";

static int setup(struct model *m, nami_err *err)
{
    int rc = data_parse(&m->source.data, data, strlen(data), err);
    return rc ? rc : model_parse(m, "test", text, strlen(text), NATIVE, NULL, err);
}

/* With a model of its own, since the constants that it evaluates stay in the model's memory. */
static int jags(void *ctx)
{
    struct model m = {0};
    struct str out = {0};
    nami_err err;
    int rc = setup(&m, &err);
    (void)ctx;
    struct diags diags = {0};
    if (!rc) rc = model_jags(&m, NULL, &out, &diags, &err);
    diags_free(&diags);
    str_free(&out);
    model_fini(&m);
    return rc;
}

static int rdump(void *ctx)
{
    struct str out = {0};
    nami_err err;
    int rc = model_rdump(ctx, NULL, &out, &err);
    str_free(&out);
    return rc;
}

static int json(void *ctx)
{
    struct str out = {0};
    nami_err err;
    int rc = model_json(ctx, &out, &err);
    str_free(&out);
    return rc;
}

static void test_nomem(void **state)
{
    static int (*const export[])(void *) = {jags, rdump, json};
    struct model m = {0};
    nami_err err;
    (void)state;
    if (setup(&m, &err)) fail_msg("%s", err.msg);
    for (int i = 0; i < 3; i++) {
        const char *why = "nothing was allocated";
        if (nomem_each(export[i], &m, &why) <= 0) fail_msg("export %d: %s", i, why);
    }
    struct str out = {0};
    assert_int_equal(model_rdump(&m, NULL, &out, &err), 0);
    assert_string_equal(out.s, "\"x\" <- c(1, NA, NA)\n");
    str_free(&out);
    model_fini(&m);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_table),
                                          cmocka_unit_test(test_nomem)};

RUN(tests)
