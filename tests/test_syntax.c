/* test_syntax.c: the parser of the model language: trees, places, newlines, recovery; printing
   and reading again gives the same tree. */

#include "run.h"

#include <glob.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/rng.h"
#include "same_syntax.h"

/* ---- helpers ------------------------------------------------------------------------ */

struct program {
    struct syntax s;
    struct diags d;
    const char *text;
    size_t len;
};

static void read_text(struct program *p, const char *text, size_t len, enum dialect dialect)
{
    *p = (struct program){.text = text, .len = len};
    assert_int_equal(syntax_parse(&p->s, text, len, dialect, &p->d), 0);
}

static void done(struct program *p)
{
    syntax_free(&p->s);
    diags_free(&p->d);
}

static void no_errors(struct program *p, const char *what)
{
    struct str out = {0};
    if (!p->d.nerror) return;
    diags_print(&p->d, what, p->text, p->len, &out);
    fail_msg("%s\n%s", out.s, p->text);
}

/* (+ 1 (* 2 x[i])) */
static void put_tree(const struct syntax *s, const struct expr *x, struct str *out)
{
    if (x->kind == X_NUMBER) {
        str_printf(out, "%g", x->value);
        return;
    }
    if (x->kind == X_EMPTY) {
        str_put(out, "_");
        return;
    }
    if (x->kind == X_CALL) str_put(out, "(");
    str_put(out, syntax_name(s, x->name));
    if (x->kind == X_REF && x->narg) str_put(out, "[");
    for (int i = 0; i < x->narg; i++) {
        if (i || x->kind == X_CALL) str_put(out, " ");
        if (x->argname && x->argname[i] >= 0) str_printf(out, "%s=", syntax_name(s, x->argname[i]));
        put_tree(s, x->arg[i], out);
    }
    if (x->kind == X_REF && x->narg) str_put(out, "]");
    if (x->kind == X_CALL) str_put(out, ")");
}

/* ---- expressions -------------------------------------------------------------------- */

static const struct {
    const char *text, *tree, *printed; /* printed: NULL if as `text` */
} expressions[] = {
    {"1 + 2 * 3", "(+ 1 (* 2 3))", NULL},
    {"(1 + 2) * 3", "(* (+ 1 2) 3)", NULL},
    {"1 - 2 - 3", "(- (- 1 2) 3)", NULL},
    {"1 - (2 - 3)", "(- 1 (- 2 3))", NULL},
    {"a / b / c * d", "(* (/ (/ a b) c) d)", NULL},
    {"a / (b * c)", "(/ a (* b c))", NULL},
    {"-2^2", "(- (^ 2 2))", NULL},
    {"(-2)^2", "(^ (- 2) 2)", NULL},
    {"2^-2", "(^ 2 (- 2))", NULL},
    {"2^-x^2", "(^ 2 (- (^ x 2)))", NULL},
    {"2^3^2", "(^ 2 (^ 3 2))", NULL},
    {"(2^3)^2", "(^ (^ 2 3) 2)", NULL},
    {"2**3", "(^ 2 3)", "2^3"},
    {"--a", "(- (- a))", NULL},
    {"a - -b", "(- a (- b))", NULL},
    {"-a * b", "(* (- a) b)", NULL},
    {"-(a * b)", "(- (* a b))", NULL},
    {"-a:b", "(: (- a) b)", NULL},
    {"-(a:b)", "(- (: a b))", NULL},
    {"1:m+1", "(+ (: 1 m) 1)", "(1:m) + 1"},
    {"1:(m + 1)", "(: 1 (+ m 1))", NULL},
    {"2 * 1:3", "(* 2 (: 1 3))", "2 * (1:3)"},
    {"1:n^2", "(: 1 (^ n 2))", NULL},
    {"2^(d-1):n", "(: (^ 2 (- d 1)) n)", "2^(d - 1):n"},
    {"1:n %/% 2", "(%/% (: 1 n) 2)", "(1:n) %/% 2"},
    {"a %*% b %*% c", "(%*% (%*% a b) c)", NULL},
    {"a * b %% c", "(* a (%% b c))", NULL},
    {"a + b == c - d", "(== (+ a b) (- c d))", NULL},
    {"!a == b", "(! (== a b))", NULL},
    {"(!a) == b", "(== (! a) b)", NULL},
    {"!a && b", "(&& (! a) b)", NULL},
    {"!(a && b)", "(! (&& a b))", NULL},
    {"!!a", "(! (! a))", NULL},
    {"a || b && c", "(|| a (&& b c))", NULL},
    {"(a || b) && c", "(&& (|| a b) c)", NULL},
    {"a && b || c && d", "(|| (&& a b) (&& c d))", NULL},
    {"a + !b", "(+ a (! b))", "a + (!b)"},
    {"a < b && c >= d", "(&& (< a b) (>= c d))", NULL},
    {"(a < b) < c", "(< (< a b) c)", NULL},
    {"x[i, , 2:3]", "x[i _ (: 2 3)]", NULL},
    {"x[]", "x[_]", NULL},
    {"x[y[i], f(j)]", "x[y[i] (f j)]", NULL},
    {"f()", "(f)", NULL},
    {"f(a, sd = b + 1)", "(f a sd=(+ b 1))", NULL},
    {"f(x = 1, y = 2)", "(f x=1 y=2)", NULL},
    {"normal_lpdf(x | mu, sigma)", "(normal_lpdf x mu sigma)", "normal_lpdf(x, mu, sigma)"},
    {"f_lccdf(a || b | c)", "(f_lccdf (|| a b) c)", "f_lccdf(a || b, c)"},
    {"f_cdf(x | sd = 2) + logdensity.g(x, 1)", "(+ (f_cdf x sd=2) (logdensity.g x 1))",
     "f_cdf(x, sd = 2) + logdensity.g(x, 1)"},
    {"((a))", "a", "a"},
    {".5 + 1. + 1e3 + 1.5E-2", "(+ (+ (+ 0.5 1) 1000) 0.015)", "0.5 + 1 + 1000 + 0.015"},
    {"0.1", "0.1", NULL},
    {"1e300 * 3.14159265358979312", "(* 1e+300 3.14159)", "1e+300 * 3.1415926535897931"},
    {"T(1) + I", "(+ (T 1) I)", NULL},
};

static void precedence(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        struct syntax s = {0};
        struct diags d = {0};
        struct str tree = {0}, text = {0};
        const char *e = expressions[i].text, *want = expressions[i].printed;
        struct expr *x = syntax_parse_expr(&s, e, strlen(e), &d);
        if (!x) fail_msg("%s: %s", e, d.list.n ? d.list.a[0].msg : "nothing said");
        put_tree(&s, x, &tree);
        syntax_put_expr(&s, x, &text);
        assert_string_equal(tree.s, expressions[i].tree);
        assert_string_equal(text.s, want ? want : e);
        struct expr *y = syntax_parse_expr(&s, text.s, text.n, &d);
        assert_true(y && same_expr(&s, x, &s, y));
        str_free(&tree);
        str_free(&text);
        syntax_free(&s);
        diags_free(&d);
    }
}

static void wrong_expressions(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",          "1 +",    "(1",   "1)",      "a b",        "f(",    "x[1",
        "a < b < c", "1:2:3",  "f(,)", "f(1,)",   "a ! b",      "+1",    "\"a\"",
        "x <- 3",    "a =< b", "1..2", "x[1][2]", "f(a, b = )", "()",    "{1}",
        "a &",       "a -> b", "%*%",  "a %o% b", "$",          "1e999", "a\xC3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct syntax s = {0};
        struct diags d = {0};
        if (syntax_parse_expr(&s, wrong[i], strlen(wrong[i]), &d))
            fail_msg("'%s' is read", wrong[i]);
        if (d.nerror != 1) fail_msg("'%s': %d errors", wrong[i], d.nerror);
        syntax_free(&s);
        diags_free(&d);
    }
}

/* Any tree with all parentheses: as text without the needless ones it is the same. */
static void put_random(struct rng *r, int depth, struct str *out)
{
    static const char *const two[] = {"+", "-", "*",  "/",  "^",  ":",  "%*%", "%/%", "%%",
                                      "<", ">", "<=", ">=", "==", "!=", "&&",  "||"};
    uint32_t k = rng_below(r, depth > 0 ? 12 : 2);
    if (k == 0) {
        str_printf(out, "%u", rng_below(r, 9));
    } else if (k == 1) {
        str_put(out, rng_below(r, 2) ? "x" : "y");
    } else if (k == 2) {
        str_put(out, rng_below(r, 2) ? "f(" : "f(a = ");
        put_random(r, depth - 1, out);
        str_put(out, ")");
    } else if (k == 3) {
        str_put(out, "x[");
        put_random(r, depth - 1, out);
        str_put(out, rng_below(r, 2) ? "]" : ",]");
    } else if (k < 6) {
        str_put(out, k == 4 ? "(-" : "(!");
        put_random(r, depth - 1, out);
        str_put(out, ")");
    } else {
        str_put(out, "(");
        put_random(r, depth - 1, out);
        str_printf(out, " %s ", two[rng_below(r, sizeof two / sizeof *two)]);
        put_random(r, depth - 1, out);
        str_put(out, ")");
    }
}

static void random_expressions(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 1, 0);
    for (int i = 0; i < 20000; i++) {
        struct syntax s = {0};
        struct diags d = {0};
        struct str full = {0}, text = {0};
        put_random(&r, 1 + i % 6, &full);
        struct expr *x = syntax_parse_expr(&s, full.s, full.n, &d);
        if (!x) fail_msg("%s", full.s);
        assert_int_equal(d.list.n, 0); /* in parentheses, no range earns a warning */
        syntax_put_expr(&s, x, &text);
        struct expr *y = syntax_parse_expr(&s, text.s, text.n, &d);
        if (!y || !same_expr(&s, x, &s, y) || d.list.n) fail_msg("%s\n%s", full.s, text.s);
        str_free(&full);
        str_free(&text);
        syntax_free(&s);
        diags_free(&d);
    }
}

/* ---- programs ----------------------------------------------------------------------- */

static void round_trip(const char *path)
{
    struct program p, q;
    struct str text = {0}, out = {0};
    nami_err err;
    enum dialect dialect = strstr(path, ".bug") ? BUGS : NATIVE;
    if (file_read(path, &text, &err)) fail_msg("%s: %s", path, err.msg);
    read_text(&p, text.s, text.n, dialect);
    no_errors(&p, path);
    syntax_put(&p.s, dialect, &out);
    read_text(&q, out.s, out.n, dialect);
    no_errors(&q, path);
    if (!same_syntax(&p.s, &q.s)) fail_msg("%s: another tree\n%s", path, out.s);
    done(&q);
    out.n = 0; /* what a JAGS file can hold is no error in one */
    syntax_put(&p.s, BUGS, &out);
    read_text(&q, out.s, out.n, BUGS);
    no_errors(&q, path);
    done(&q);
    done(&p);
    str_free(&text);
    str_free(&out);
}

static void models(void **state)
{
    (void)state;
    static const char *const where[] = {"tests/models/good/*.nami", "tests/models/good/*.bug",
                                        "examples/*.nami", "examples/*.bug",
                                        "../shared/data/bugs/*/*/*.bug"};
    size_t n = 0;
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        char pattern[512];
        glob_t g;
        snprintf(pattern, sizeof pattern, "%s/%s", SOURCE_DIR, where[i]);
        if (glob(pattern, 0, NULL, &g)) continue;
        for (size_t k = 0; k < g.gl_pathc; k++) round_trip(g.gl_pathv[k]);
        n += g.gl_pathc;
        globfree(&g);
    }
    print_message("%zu models\n", n);
    assert_true(n >= 4);
}

static void as_jags(void **state)
{
    (void)state;
    static const char text[] = "const n = 3\nconst w[n] = rep(1, n)\nobserve y\n"
                               "model { y ~ dnorm(w[n %/% 2] * (n %% 2), 1) }\n";
    struct program p;
    struct str out = {0};
    read_text(&p, text, strlen(text), NATIVE);
    syntax_put(&p.s, BUGS, &out);
    assert_string_equal(out.s,
                        "data {\n  n <- 3\n  w[1:n] <- rep(1, n)\n}\n"
                        "model {\n  y ~ dnorm(w[trunc(n / 2)] * (n - 2 * trunc(n / 2)), 1)\n}\n");
    str_free(&out);
    done(&p);
}

static void assert_place(struct place at, int line, int col, int len)
{
    assert_int_equal(at.line, line);
    assert_int_equal(at.col, col);
    assert_int_equal(at.len, len);
}

static void embeds(void **state)
{
    (void)state;
    static const char text[] = "embed y{dense(64,relu);dense(16)}\n"
                               "embed x:real[28,d*2] {\n conv(8,5,2,act=relu)\n conv(8,5,relu) }\n"
                               "model {\n  y ~ d()\n}\n";
    struct program p, q;
    struct str out = {0};
    read_text(&p, text, strlen(text), NATIVE);
    no_errors(&p, "embeds");
    const struct decl *d = p.s.decl.a;
    assert_int_equal(d[0].kind, D_EMBED);
    assert_int_equal(d[0].nin, 0);
    assert_int_equal(d[1].nin, 2);
    assert_int_equal(d[1].nlayer, 2);
    assert_place(d[1].at, 2, 7, 1);
    syntax_put(&p.s, NATIVE, &out);
    assert_string_equal(
        out.s, "embed y { dense(64, relu); dense(16) }\n"
               "embed x : real[28, d * 2] { conv(8, 5, 2, act = relu); conv(8, 5, relu) }\n"
               "model {\n  y ~ d()\n}\n");
    read_text(&q, out.s, out.n, NATIVE);
    assert_true(same_syntax(&p.s, &q.s));
    done(&q);
    out.n = 0;
    syntax_put(&p.s, BUGS, &out);
    assert_string_equal(out.s, "model {\n  y ~ d()\n}\n");
    str_free(&out);
    done(&p);
}

static void places(void **state)
{
    (void)state;
    static const char text[] = "# größe\nmodel {\r\n\tfor (i in 1:10) {\n"
                               "    /* é */ y[i] ~ normal(mu +\n 2 * x, 1) T(0,)\n  }\n}\n";
    struct program p;
    read_text(&p, text, strlen(text), NATIVE);
    no_errors(&p, "places");
    assert_int_equal(p.s.rel.n, 1);
    const struct rel *r = &p.s.rel.a[0];
    assert_place(r->at, 4, 18, 1);
    assert_place(r->lhs->at, 4, 13, 1);
    assert_place(r->lhs->all, 4, 13, 4);
    assert_place(r->rhs->at, 4, 20, 6);
    assert_place(r->rhs->all, 4, 20, 11); /* to the end of the line */
    assert_place(r->rhs->arg[0]->at, 4, 30, 1);
    assert_place(r->rhs->arg[0]->arg[1]->all, 5, 2, 5);
    assert_place(r->trunc_at, 5, 12, 1);
    assert_place(p.s.loop.a[r->loop].at, 3, 7, 1);
    assert_place(p.s.loop.a[r->loop].range->all, 3, 12, 4);
    done(&p);
}

/* ---- newlines, keywords ------------------------------------------------------------- */

static void counts(const char *text, enum dialect dialect, int nerror, size_t nrel, size_t ndecl)
{
    struct program p;
    struct str out = {0};
    read_text(&p, text, strlen(text), dialect);
    if (p.d.nerror != nerror || p.s.rel.n != nrel || p.s.decl.n != ndecl) {
        diags_print(&p.d, "text", text, strlen(text), &out);
        fail_msg("%s\n%d errors, %zu relations, %zu declarations\n%s", text, p.d.nerror, p.s.rel.n,
                 p.s.decl.n, out.n ? out.s : "");
    }
    done(&p);
}

static void newlines(void **state)
{
    (void)state;
    counts("model { x ~ d(0,1) y ~ d(x\n,\n1) z\n<-\n3 }", BUGS, 0, 3, 0);
    counts("model{x<-a\n+b\n-c y~d()}", BUGS, 0, 2, 0);
    counts("const a = 1; const b = 2 ; observe y, z;\nmodel {}", NATIVE, 0, 0, 4);
    counts("const a = 1 +\n 2\nconst b = (1\n + 2)\nobserve y,\n z\nmodel {}", NATIVE, 0, 0, 4);
    counts("const a = 1\n+ 2\nmodel {}", NATIVE, 1, 0, 1);
    counts("stages a ; b, c ; d\nmodel {}", NATIVE, 0, 0, 4);
    counts("stages a ; b ;\nobserve c\nmodel {}", NATIVE, 0, 0, 3);
    counts("stages a ; model { x ~ d() }", NATIVE, 0, 1, 1);
    counts("model { x ~ d() }; observe x;", NATIVE, 0, 1, 1);
    counts("\xEF\xBB\xBFmodel {\r  x ~ d()\r\r}\r", BUGS, 0, 1, 0);
    counts("var x, y\n, z model { x ~ d() }", BUGS, 0, 1, 3);
}

static void keywords(void **state)
{
    (void)state;
    counts("model { const <- 3; infer[1] ~ d(); network ~ d(learn); T <- I }", NATIVE, 0, 4, 0);
    counts("model { embed <- 3; embed[1] ~ d(conv); conv ~ d(embed) }", NATIVE, 0, 3, 0);
    counts("stages a ; embed y { dense(1) }; embed embed\n{ conv(1, 2) }\nmodel {}", NATIVE, 0, 0,
           3);
    counts("const observe = 3\nobserve infer\ninfer const[1:3]\nmodel {}", NATIVE, 0, 0, 3);
    counts("model { for <- 3 if ~ d() }", NATIVE, 0, 2, 0);
    counts("model { for (in in 1:3) { in[in] ~ d() } }", BUGS, 0, 1, 0);
    counts("infer <- 3", NATIVE, 1, 1, 0); /* a relation, outside of model */
    counts("const a = 3\nobserve y\nlearn f\nmodel { x ~ d() }", BUGS, 1, 1, 3);
    counts("simulator \"x\"", NATIVE, 0, 0, 1); /* needs no model */
}

/* ---- recovery: one mistake, one message --------------------------------------------- */

static const char *const once[] = {
    "x ~ d(0, 1",
    "x[1 ~ d()",
    "x ~ d(f(0, 1)",
    "x ~ ",
    "x <- ",
    "x",
    "x ~ 3",
    "x == 3",
    "x ~ d(0 1)",
    "x <- (a + b",
    "x <- a + ",
    "5 ~ d()",
    "x ~ d()) ",
    "x <- a ]",
    "x ~~ d()",
    "x <- - ",
    "if (a) { b ~ d() }",
    "x ~ d(1,)",
    "x << 3",
    "x -> 3",
    "x[1)] ~ d()",
    "x <- {3}",
    "x ~ d(\"a\")",
    "x ~ d(a $ b)",
    "x <- a b",
    "x ~ d() d()",
    "for (i in 1:3) ",
    "for (i in 1:3 { z[i] ~ d() }",
    "for i in 1:3 { z[i] ~ d() }",
    "for (i 1:3) { z[i] ~ d() }",
    "for (in 1:3) { z ~ d() }",
    "for () { z[1] ~ d() }",
    "while (1) z ~ d()",
    "x <- if (a) b else c",
    "x += 1",
    "real x;",
    "x ~ d(1;",
    "x ~ d(1, 2}",
    "x <- 'a'",
    "x <- a = b",
    "x <- f(a, = 3)",
    "x ~ d() T(1)",
    "x <- 1.2.3",
    "x <- @",
    "observe y",
    "(x) ~ d()",
    "-x ~ d()",
    "x y ~ d()",
};

static void recovery(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof once / sizeof *once; i++) {
        struct str t = {0};
        struct program p;
        str_printf(
            &t,
            "model {\n  a1 ~ d()\n  %s\n  a2 ~ d()\n  for (k in 1:2) {\n    a3[k] ~ d()\n  }\n}\n",
            once[i]);
        int closes = strcmp(once[i], "x ~ d(1, 2}") == 0; /* it ends the model */
        read_text(&p, t.s, t.n, BUGS);
        if (p.d.nerror != 1 + closes) {
            struct str out = {0};
            diags_print(&p.d, "text", t.s, t.n, &out);
            fail_msg("%s: %d errors\n%s", once[i], p.d.nerror, out.n ? out.s : "");
        }
        int found = 0;
        for (size_t k = 0; k < p.s.rel.n; k++)
            found += syntax_name(&p.s, p.s.rel.a[k].lhs->name)[0] == 'a';
        if (found != 3) fail_msg("%s: %d of 3 other relations were read", once[i], found);
        done(&p);
        str_free(&t);
    }
}

/* ---- limits ------------------------------------------------------------------------- */

static void repeat(struct str *t, const char *s, int n)
{
    for (int i = 0; i < n; i++) str_put(t, s);
}

static void nesting(void **state)
{
    (void)state;
    static const char *const open[] = {"(", "f(", "x[", "-", "!", "2^", "(1 + ", "f(a = -("};
    static const char *const close[] = {")", ")", "]", "", "", "", ")", "))"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        for (int big = 0; big < 2; big++) {
            struct str t = {0};
            struct program p;
            int n = big ? 100000 : 60;
            str_put(&t, "model { x <- ");
            repeat(&t, open[i], n);
            str_put(&t, "1");
            repeat(&t, close[i], n);
            str_put(&t, " }");
            read_text(&p, t.s, t.n, NATIVE);
            if (p.d.nerror != big) fail_msg("%s: %d errors", open[i], p.d.nerror);
            done(&p);
            str_free(&t);
        }
    for (int n = 60; n < 200000; n *= 1000) { /* loops, and a long sum */
        struct str t = {0};
        struct program p;
        str_put(&t, "model { ");
        repeat(&t, "for (i in 1:2) { ", n);
        str_put(&t, "x ~ d(");
        repeat(&t, "1 + ", n == 60 ? 900 : n);
        str_put(&t, "1) ");
        repeat(&t, "} ", n);
        str_put(&t, "}");
        read_text(&p, t.s, t.n, NATIVE);
        assert_int_equal(p.d.nerror, n == 60 ? 0 : 1);
        done(&p);
        str_free(&t);
    }
}

/* Time grows with the length of the file, whatever is in it. */
static void large(void **state)
{
    (void)state;
    static const char *const part[] = {"x ~ d(1)\n",
                                       "x ~ d(1) ",
                                       "x ~ d(1\n",
                                       "5 ",
                                       "5; ",
                                       "} ",
                                       "{ ",
                                       "x[",
                                       "x[1\n",
                                       "f(x\n",
                                       "for (i in 1:2) { x ~ d() } ",
                                       "for (i in 1:2) { x ~ d() }\n",
                                       "\xE2\x88\x92",
                                       "\"",
                                       "'",
                                       "/*",
                                       "x y\n",
                                       "1:2+",
                                       "1:m+1\n",
                                       "= ",
                                       "a = (\n",
                                       "if (",
                                       "x <-\n",
                                       "network f : real[2] -> real { ",
                                       "stages a;",
                                       "const a = 1\n"};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        for (int inside = 0; inside < 2; inside++) {
            struct str t = {0}, out = {0};
            struct program p;
            if (inside) str_put(&t, "model {\n");
            repeat(&t, part[i], 30000);
            if (inside) str_put(&t, "}\n");
            read_text(&p, t.s, t.n, NATIVE);
            diags_print(&p.d, "large", t.s, t.n, &out);
            done(&p);
            str_free(&out);
            str_free(&t);
        }
}

/* ---- messages ---------------------------------------------------------------------------------
 */

static void message_order(void **state)
{
    (void)state;
    static const char text[] = "one\n\ttwo \xC3\xA9 three\nfour";
    struct diags d = {0};
    struct str out = {0};
    diag_error(&d, (struct place){0}, "do this", "no place");
    diag_error(&d, (struct place){3, 1, 99}, NULL, "third");
    diag_warning(&d, (struct place){2, 2, 3}, "two!", "first %d", 1);
    diag_error(&d, (struct place){2, 8, 5}, "three!", "second");
    diag_error(&d, (struct place){2, 8, 1}, NULL, "dropped: the same place");
    diag_error(&d, (struct place){2, 2, 1}, NULL, "kept: the other was a warning");
    diags_print(&d, "f", text, strlen(text), &out);
    assert_string_equal(out.s,
                        "f:2:2: warning: first 1\n    \ttwo \xC3\xA9 three\n    \t^~~ two!\n"
                        "f:2:2: error: kept: the other was a warning\n"
                        "    \ttwo \xC3\xA9 three\n    \t^\n"
                        "f:2:8: error: second\n    \ttwo \xC3\xA9 three\n    \t      ^~~~~ three!\n"
                        "f:3:1: error: third\n    four\n    ^~~~\n"
                        "f: error: no place\n    do this\n");
    assert_int_equal(d.nerror, 5);
    out.n = 0;
    for (int i = 0; i < 50; i++) diag_error(&d, (struct place){1, i + 1, 1}, NULL, "many");
    diags_print(&d, "f", text, strlen(text), &out);
    assert_non_null(strstr(out.s, "f: 35 more errors are not shown\n"));
    str_free(&out);
    diags_free(&d);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(precedence),
    cmocka_unit_test(wrong_expressions),
    cmocka_unit_test(random_expressions),
    cmocka_unit_test(models),
    cmocka_unit_test(as_jags),
    cmocka_unit_test(embeds),
    cmocka_unit_test(places),
    cmocka_unit_test(newlines),
    cmocka_unit_test(keywords),
    cmocka_unit_test(recovery),
    cmocka_unit_test(nesting),
    cmocka_unit_test(large),
    cmocka_unit_test(message_order),
};

RUN(tests)
