/* test_dist_reference.c: log densities, as a model has them, against numbers from elsewhere:
   dist_reference.inc, which tests/oracle/dist_reference.py writes with mpmath (60 digits). */
#include "model_at.h"

static const struct {
    const char *call; /* the right side of x ~ ... */
    int n;            /* elements of x */
    double x[9], logp;
} rows[] = {
#include "dist_reference.inc"
#include "model/model.h"
};

static void densities(void **state)
{
    (void)state;
    int bad = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct model m;
        struct str text = {0};
        double x[9], got;
        str_printf(&text, "const S[2, 2]; const L[2, 2]\nmodel { x ~ %s }", rows[i].call);
        build(&m, text.s, "{\"S\": [[2.5, 0.5], [0.5, 0.75]], \"L\": [[1.5, 0], [-0.5, 0.25]]}");
        assert_int_equal(m.ir.num_rows, rows[i].n);
        for (int k = 0; k < rows[i].n; k++) x[row_of(&m, "x", k)] = rows[i].x[k];
        logp(&m, 1, x, 1, (struct density){.logp = &got});
        if (!(fabs(got - rows[i].logp) <= 2e-13 * fmax(10, fabs(rows[i].logp)))) {
            fprintf(stderr, "%s at %g: %.17g, not %.17g\n", rows[i].call, rows[i].x[0], got,
                    rows[i].logp);
            bad++;
        }
        model_fini(&m);
        str_free(&text);
    }
    assert_int_equal(bad, 0);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(densities)};
RUN(tests)
