/* test_view.c: what the view says of a model fits together; a model that was read stays as it is,
   whatever is asked of it, and threads may ask at the same time. */
#include <glob.h>
#include <unistd.h>

#include "base/parallel.h"
#include "model/check.h"
#include "model/export.h"
#include "model_at.h"

static void for_examples(void (*f)(struct model *m))
{
    glob_t g;
    assert_int_equal(glob(SOURCE_DIR "/examples/models/*.nami", 0, NULL, &g), 0);
    assert_true(g.gl_pathc >= 10);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        const char *path = g.gl_pathv[i];
        char data[512];
        const char *const files[] = {data};
        struct model m = {0};
        nami_err err = {0};
        snprintf(data, sizeof data, "%.*s.json", (int)(strlen(path) - 5), path);
        if (model_read(&m, path, files, access(data, R_OK) == 0, NULL, &err))
            fail_msg("%s: %s", path, err.msg);
        f(&m);
        model_fini(&m);
    }
    globfree(&g);
}

/* ---- it fits together ----------------------------------------------------------------------- */

static void check_arrays(const struct model *m)
{
    int n = 0;
    for (int a = 0; a < model_num_arrays(m); a++) {
        const char *name = array_name(m, a);
        assert_int_equal(model_find_array(m, name, strlen(name)), a);
        for (int e = array_first(m, a); e < array_first(m, a) + array_size(m, a); e++, n++)
            assert_int_equal(element_array(m, e), a);
    }
    assert_int_equal(n, model_num_elements(m));
    assert_int_equal(model_find_array(m, "no such name", 12), -1);
}

static void check_instances(const struct model *m)
{
    int nodes = 0, instances = 0;
    for (int s = 0; s < model_num_statements(m); s++)
        instances += model_statement(m, s).num_instances;
    assert_int_equal(instances, model_num_instances(m));
    for (int k = 0; k < model_num_instances(m); k++) {
        struct statement s = model_statement(m, instance_statement(m, k));
        nodes += instance_node(m, k) >= 0;
        assert_int_equal(instance_node(m, k) >= 0, s.stochastic);
        for (int j = 0; j < instance_size(m, k); j++) {
            int e = instance_elements(m, k)[j];
            assert_int_equal(element_instance(m, e), k);
            assert_int_equal(element_node(m, e), instance_node(m, k));
            assert_ptr_equal(element_dist(m, e), s.dist);
        }
    }
    assert_int_equal(nodes, bn_n(model_bn(m)));
}

/* Each row belongs to one element; what is known of it is settled. */
static void check_rows(const struct model *m)
{
    int n = 0;
    unsigned char *seen = calloc((size_t)model_num_rows(m) + 1, 1);
    assert_non_null(seen);
    for (int e = 0; e < model_num_elements(m); e++) {
        double lo, hi;
        int row = element_row(m, e);
        assert_true(m->ir.state[e] != E_UNKNOWN && m->ir.state[e] != E_BUSY);
        model_support(m, e, &lo, &hi);
        assert_true(lo <= hi);
        if (row < 0 || row >= model_num_rows(m)) continue;
        assert_int_equal(seen[row]++, 0);
        n++;
    }
    assert_int_equal(n, model_num_rows(m));
    free(seen);
}

static void check_all(struct model *m)
{
    check_arrays(m);
    check_instances(m);
    check_rows(m);
}

static void test_fits_together(void **state)
{
    (void)state;
    for_examples(check_all);
}

/* ---- it stays as it is ---------------------------------------------------------------------- */

enum { DRAWS = 16 };

/* All that can be asked; the text of what was answered. */
static void ask(const struct model *m, struct str *out)
{
    struct arena mem = {0};
    struct layout layout;
    struct draws draws;
    struct check check;
    struct diags diags;
    struct prog p = {0};
    nami_err err = {0};
    double *x = calloc((size_t)model_num_rows(m) * DRAWS + 1, sizeof *x), lp[DRAWS];
    double *grad = calloc((size_t)model_num_rows(m) * DRAWS + 1, sizeof *grad);
    unsigned char *only = calloc((size_t)model_num_instances(m) + 1, 1);
    const struct density density = {.logp = lp, .grad = grad};
    assert_true(x && grad && only);
    if (model_simulate(m, 3, 0, DRAWS, 1, x, &err) || model_logp(m, DRAWS, x, 1, &density, &err) ||
        model_layout(m, NULL, 1, &mem, &layout, &err) ||
        model_draws(m, DRAWS, x, NULL, 1, &mem, &draws, &err) ||
        model_check(m, DRAWS, 1, 0, 1, &check, &err))
        fail_msg("%s", err.msg);
    for (int i = 0; i < DRAWS; i++) str_printf(out, "%.17g ", lp[i]);
    for (int v = 0; v < layout.nvar; v++) str_printf(out, "%s ", layout.var[v].name);
    for (size_t i = 0; i < check.diags.list.n; i++) str_put(out, check.diags.list.a[i].msg);
    check_fini(&check);
    for (int k = 0; k < model_num_instances(m); k++) only[k] = k % 2 ? 1 : COMPILE_NOT;
    assert_int_equal(model_program(m, &p, 1, only), 0);
    str_printf(out, "%zu instructions, %d rows\n", p.code.n, p.nrow);
    prog_free(&p);
    model_jags(m, NULL, out, &diags, NULL); /* or what JAGS cannot say */
    for (size_t i = 0; i < diags.list.n; i++) str_put(out, diags.list.a[i].msg);
    diags_free(&diags);
    arena_free(&mem);
    free(only);
    free(grad);
    free(x);
}

static void *copy_of(const void *from, size_t size)
{
    void *to = malloc(size + 1);
    assert_non_null(to);
    if (size) memcpy(to, from, size);
    return to;
}

static void compare(void *before, const void *now, size_t size)
{
    if (size) assert_memory_equal(before, now, size);
    free(before);
}

static void check_stays(struct model *m)
{
    if (m->source.simulator) return;
    size_t elements = (size_t)m->ir.num_elements;
    struct str first = {0}, again = {0};
    char *mark = arena_alloc(&m->mem, 16);
    void *whole = copy_of(m, sizeof *m), *state = copy_of(m->ir.state, elements);
    void *value = copy_of(m->ir.value, elements * sizeof *m->ir.value);
    void *arrays = copy_of(m->ir.arrays.a, m->ir.arrays.n * sizeof *m->ir.arrays.a);
    void *statements = copy_of(m->ir.statements.a, m->ir.statements.n * sizeof(struct stmt));
    ask(m, &first);
    ask(m, &again);
    assert_string_equal(first.s, again.s);
    compare(whole, m, sizeof *m);
    compare(state, m->ir.state, elements);
    compare(value, m->ir.value, elements * sizeof *m->ir.value);
    compare(arrays, m->ir.arrays.a, m->ir.arrays.n * sizeof *m->ir.arrays.a);
    compare(statements, m->ir.statements.a, m->ir.statements.n * sizeof(struct stmt));
    const struct arena_block *block = m->mem.head;
    char *next = arena_alloc(&m->mem, 16); /* nothing was taken in between */
    assert_true(next == mark + 16 || m->mem.head != block);
    str_free(&first);
    str_free(&again);
}

static void test_stays_as_it_is(void **state)
{
    (void)state;
    for_examples(check_stays);
}

/* ---- threads -------------------------------------------------------------------------------- */

enum { THREADS = 4 };

struct asked {
    const struct model *m;
    struct str out[THREADS];
};

static void ask_it(void *ctx, int worker)
{
    struct asked *a = ctx;
    ask(a->m, &a->out[worker]);
}

static void test_threads_share_a_model(void **state)
{
    struct model m;
    struct asked a = {.m = &m};
    (void)state;
    build(&m,
          "const N = 6\n"
          "model { p[1:2] ~ dirichlet(c(1, 1))\n mu ~ normal(0, 100)\n"
          "for (i in 1:N) { z[i] ~ categorical(p); m[i] <- mu * z[i]; y[i] ~ normal(m[i], 1) } }\n"
          "observe y",
          NULL);
    parallel_run(THREADS, ask_it, &a);
    for (int i = 1; i < THREADS; i++) assert_string_equal(a.out[0].s, a.out[i].s);
    for (int i = 0; i < THREADS; i++) str_free(&a.out[i]);
    model_fini(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_fits_together),
    cmocka_unit_test(test_stays_as_it_is),
    cmocka_unit_test(test_threads_share_a_model),
};
RUN(tests)
