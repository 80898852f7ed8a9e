/* parse_decl.c: parses declarations: const, var, observe, infer, stages, learn, network, embed,
   simulator, function, train. */

#include <string.h>

#include "model/lang/parse.h"

static const char *const words[NDECL] = {
    [D_CONST] = "const",       [D_VAR] = "var",      [D_OBSERVE] = "observe",
    [D_INFER] = "infer",       [D_STAGE] = "stages", [D_LEARN] = "learn",
    [D_NETWORK] = "network",   [D_EMBED] = "embed",  [D_SIMULATOR] = "simulator",
    [D_FUNCTION] = "function", [D_TRAIN] = "train",
};

int decl_kind_of(const struct parser *p, const struct token *t)
{
    for (int k = 0; k < NDECL; k++)
        if (is_name(p, t, words[k])) return k;
    return -1;
}

static int push(struct parser *p, struct decl d) { return vec_push(&p->s->decl, d) ? nomem(p) : 0; }

/* d or w[n] or d = 5 or d in 1:100 */
static int parse_const(struct parser *p, struct decl d)
{
    const struct token *t;
    if (!(d.ref = parse_ref(p))) return -1;
    t = now(p);
    if (continues(p) && (is_op(t, '=') || is_op(t, OP2('<', '-')))) {
        next(p);
        if (!(d.value = parse_expr(p))) return -1;
    } else if (continues(p) && is_name(p, t, "in")) {
        next(p);
        int first = p->i;
        if (!(d.range = parse_expr(p))) return -1;
        if (d.range->kind != X_CALL || strcmp(syntax_name(p->s, d.range->name), ":") != 0) {
            fail_at(p, span(p, first, p->i - 1), "write const J in 1:100", "this is no range");
            return -1;
        }
    } else if (continues(p) && is_op(t, '~')) {
        fail_at(p, t->at,
                "write const x = value, or the relation inside of model { } without const",
                "a constant has a value, not a distribution");
        return -1;
    } else if (continues(p) &&
               (is_op(t, OP2('=', '=')) || is_op(t, OP2(':', '=')) || is_op(t, ':'))) {
        fail_at(p, t->at, "write =", "'%s' defines nothing", quote(p, p->i, p->i));
        return -1;
    }
    return push(p, d);
}

static int parse_item(struct parser *p, struct decl d)
{
    if (d.kind == D_CONST) return parse_const(p, d);
    return (d.ref = parse_ref(p)) ? push(p, d) : -1;
}

/* After the ; of stages: the next stage, or another declaration? */
static int has_stage(const struct parser *p)
{
    const struct token *t = now(p);
    return t->kind != TOKEN_END && !t->newline && !looks_like_decl(p, p->i) &&
           !(t->kind == TOKEN_NAME && is_op(ahead(p), '{'));
}

static void no_item(struct parser *p, int kind)
{
    if (now(p)->kind != TOKEN_OP || !continues(p))
        unexpected(p, "a name");
    else
        fail_at(p, now(p)->at, diag_text(p->d, "write %s x", words[kind]),
                "expected a name, but found '%s'", quote(p, p->i, p->i));
}

/* a, b[1:3] and, for stages, z ; y, w */
static int parse_items(struct parser *p, struct decl d)
{
    do {
        if ((!continues(p) && !is_op(now(p) - 1, ',')) || now(p)->kind != TOKEN_NAME) {
            no_item(p, d.kind);
            return -1;
        }
        d.at = now(p)->at;
        if (parse_item(p, d)) return -1;
        if (d.kind == D_STAGE && continues(p) && is_op(now(p), ';')) {
            next(p);
            if (!has_stage(p)) return 1;
            d.stage++;
        } else if (!continues(p) || !accept(p, ',')) {
            return 0;
        }
    } while (1);
}

/* ---- network f : real[2] -> real[1] { dense(8, tanh); dense(1) } -------------------
   ---- embed y : real[28, 28] { conv(8, 5, 2, relu); dense(16) } --------------------- */

static const struct {
    const char *what, *form;
} networks[NDECL] = {
    [D_NETWORK] = {"a network",
                   "write network f : real[2] -> real[1] { dense(8, tanh); dense(1) }"},
    [D_EMBED] = {"an embedding",
                 "write embed y { dense(16) } or embed y : real[28, 28] { dense(16) }"},
};

static int expect(struct parser *p, const struct decl *d, int op, const char *what)
{
    if (accept(p, op)) return 0;
    if (now(p)->kind == TOKEN_BAD || now(p)->kind == TOKEN_END || !continues(p))
        unexpected(p, what);
    else
        fail_at(p, now(p)->at, networks[d->kind].form, "expected %s, but found '%s'", what,
                quote(p, p->i, p->i));
    return -1;
}

/* real[sizes]; a bare real has none */
static int parse_type(struct parser *p, const struct decl *d, int *n, struct expr ***size)
{
    const char *form = networks[d->kind].form;
    if (!is_name(p, now(p), "real")) {
        fail_at(p, now(p)->kind == TOKEN_END ? behind(p) : now(p)->at, form, "%s real[...]",
                d->kind == D_EMBED ? "an embedding sees" : "a network takes and gives");
        return -1;
    }
    struct expr *x = parse_ref(p);
    if (!x) return -1;
    for (int i = 0; i < x->narg; i++)
        if (x->arg[i]->kind == X_EMPTY) {
            fail_at(p, x->all, form, "a size is missing");
            return -1;
        }
    if (d->kind == D_EMBED && (x->narg < 1 || x->narg > 3)) {
        fail_at(p, x->all, "write real[n], real[height, width] or real[height, width, channels]",
                "an embedding sees one to three dimensions");
        return -1;
    }
    *n = x->narg;
    *size = x->arg;
    return 0;
}

static int parse_layer(struct parser *p)
{
    int first = p->i;
    struct expr *x = parse_expr(p);
    if (!x) return -1;
    if (x->kind != X_CALL || is_operator(p->s, x) || x == p->paren) {
        fail_at(p, span(p, first, p->i - 1), "write it as dense(200, tanh)",
                "a layer is written like a call");
        return -1;
    }
    if (vec_push(&p->arg, x)) return nomem(p);
    if (now(p)->newline || is_op(now(p), ';') || is_op(now(p), '}')) return 0;
    fail_at(p, now(p)->at, "separate the layers by ; or new lines",
            "expected the end of the layer, but found '%s'", quote(p, p->i, p->i));
    return -1;
}

static int parse_layers(struct parser *p, struct decl *d)
{
    const struct token *brace = now(p);
    size_t base = p->arg.n;
    if (!is_op(brace, '{')) {
        fail_at(p, behind(p), networks[d->kind].form, "%s needs its layers in braces",
                networks[d->kind].what);
        return -1;
    }
    next(p);
    while (!is_op(now(p), '}')) {
        if (accept(p, ';')) continue;
        if (now(p)->kind == TOKEN_END || (now(p)->newline && begins_statement(p, p->i))) {
            if (!p->cut) fail_at(p, brace->at, "add a }", "this '{' has no '}'");
            p->quiet = 1;
            goto fail;
        }
        if (parse_layer(p)) goto fail;
    }
    next(p);
    if (p->arg.n == base) {
        fail_at(p, brace->at, networks[d->kind].form, "%s needs at least one layer",
                networks[d->kind].what);
        goto fail;
    }
    d->layer = take_args(p, base, &d->nlayer);
    return d->layer ? 0 : -1;
fail:
    p->arg.n = base;
    while (!is_op(now(p), '}') && now(p)->kind != TOKEN_END &&
           !(now(p)->newline && begins_statement(p, p->i)))
        next(p);
    accept(p, '}');
    return -1;
}

static int parse_network(struct parser *p, struct decl d)
{
    d.at = now(p)->at;
    if (now(p)->kind != TOKEN_NAME || !continues(p)) {
        unexpected(p, "the name of a network");
        return -1;
    }
    if ((d.name = intern(p, now(p))) < 0) return nomem(p);
    next(p);
    if (expect(p, &d, ':', "':'") || parse_type(p, &d, &d.nin, &d.in) ||
        expect(p, &d, OP2('-', '>'), "'->'") || parse_type(p, &d, &d.nout, &d.out) ||
        parse_layers(p, &d))
        return -1;
    return push(p, d);
}

static int parse_embed(struct parser *p, struct decl d)
{
    int name = p->i;
    d.at = now(p)->at;
    if (now(p)->kind != TOKEN_NAME || !continues(p)) {
        unexpected(p, "the name of what is observed");
        return -1;
    }
    if ((d.name = intern(p, now(p))) < 0) return nomem(p);
    next(p);
    if (is_op(now(p), '[') && continues(p)) {
        fail_at(p, now(p)->at, diag_text(p->d, "write embed %s", quote(p, name, name)),
                "an embedding sees all of an array");
        return -1;
    }
    if (!is_op(now(p), '{') && continues(p) &&
        (expect(p, &d, ':', "':' or '{'") || parse_type(p, &d, &d.nin, &d.in)))
        return -1;
    return parse_layers(p, &d) ? -1 : push(p, d);
}

/* ---- simulator "command" ------------------------------------------------------------ */

static int parse_simulator(struct parser *p, struct decl d)
{
    const struct token *t = now(p);
    const char *s = p->text + t->off;
    p->nsimulator++;
    if (t->kind != TOKEN_STRING) {
        if (t->kind == TOKEN_BAD)
            p->quiet = 1;
        else
            fail_at(p, continues(p) ? t->at : behind(p), "write simulator \"./command\"",
                    "expected a command in double quotes");
        return -1;
    }
    char *text = arena_alloc(&p->s->mem, (size_t)t->len + 1);
    if (!text) return nomem(p);
    d.text = text;
    d.at = t->at;
    for (int i = 0; i < t->len; i++) {
        if (s[i] == '\\' && i + 1 < t->len && (s[i + 1] == '"' || s[i + 1] == '\\')) i++;
        *text++ = s[i];
    }
    next(p);
    return push(p, d);
}

/* ---- function f(x, y) = x^2 + y ------------------------------------------------------ */

static int parse_function(struct parser *p, struct decl d)
{
    static const char *const form = "write function f(x, y) = x^2 + y";
    int first = p->i;
    if (now(p)->kind != TOKEN_NAME || !continues(p)) {
        unexpected(p, "the name of a function");
        return -1;
    }
    d.at = now(p)->at;
    if (!(d.ref = parse_primary(p))) return -1;
    int bad = d.ref->kind != X_CALL || d.ref->argname;
    for (int i = 0; i < d.ref->narg; i++) {
        const struct expr *x = d.ref->arg[i];
        bad |= x->kind != X_REF || x->narg;
        for (int k = 0; !bad && k < i; k++) bad |= d.ref->arg[k]->name == x->name;
    }
    if (bad) {
        fail_at(p, span(p, first, p->i - 1), form, "a function has different names as parameters");
        return -1;
    }
    if (!is_op(now(p), '=') && !is_op(now(p), OP2('<', '-'))) {
        fail_at(p, continues(p) ? now(p)->at : behind(p), form, "expected '=' and the definition");
        return -1;
    }
    next(p);
    if (is_op(now(p), '{')) {
        fail_at(p, now(p)->at, form, "a function is one expression, without braces");
        return -1;
    }
    return (d.value = parse_expr(p)) ? push(p, d) : -1;
}

/* ---- train mu ~ normal(0, 10); train { ... } ------------------------------------------ */

static void parse_train(struct parser *p, const struct token *keyword)
{
    p->in_train = 1;
    if (is_op(now(p), '{')) {
        p->in_block = 1;
        p->indent = keyword->newline ? keyword->at.col : 0;
        parse_block(p, keyword);
        p->in_block = 0;
        p->suspect.line = 0;
    } else if (now(p)->kind != TOKEN_NAME || now(p)->newline) {
        fail_at(p, behind(p), "write train x ~ normal(0, 10)",
                "expected a training distribution after 'train'");
        recover(p);
    } else {
        parse_statement(p);
    }
    p->in_train = 0;
}

/* ---- all ------------------------------------------------------------------------------ */

/* A declaration ends with its line, or with ; */
static int parse_end(struct parser *p, int kind)
{
    const struct token *t = now(p);
    if (kind == D_VAR && begins_statement(p, p->i)) return 0;
    if (accept(p, ';') || t->newline || t->kind == TOKEN_END) return 0;
    if (t->kind == TOKEN_BAD)
        p->quiet = 1;
    else if (t->kind == TOKEN_NAME && !networks[kind].what && !begins_statement(p, p->i))
        fail_at(p, t->at, "separate names by commas", "missing ',' before '%s'",
                quote(p, p->i, p->i));
    else
        fail_at(p, t->at,
                kind == D_STAGE ? "separate stages by ;" : "begin a new line, or write ; before it",
                "expected the end of the declaration, but found '%s'", quote(p, p->i, p->i));
    return begins_statement(p, p->i) ? 0 : -1;
}

void parse_decl(struct parser *p, int kind)
{
    const struct token *t = now(p);
    struct decl d = {.kind = (enum decl_kind)kind, .at = t->at, .name = -1};
    int rc;
    if (kind == D_TRAIN) { /* in both dialects: it does not change the model */
        next(p);
        parse_train(p, t);
        return;
    }
    if (kind != D_VAR && p->s->dialect == BUGS) {
        if (!p->native++)
            fail_at(p, t->at, "rename the file to .nami",
                    "'%s' is not part of the language of JAGS", words[kind]);
        p->quiet = 1;
    }
    next(p);
    p->line_ends = kind != D_VAR; /* as in JAGS */
    if (kind == D_NETWORK)
        rc = parse_network(p, d);
    else if (kind == D_EMBED)
        rc = parse_embed(p, d);
    else if (kind == D_SIMULATOR)
        rc = parse_simulator(p, d);
    else if (kind == D_FUNCTION)
        rc = parse_function(p, d);
    else
        rc = parse_items(p, d);
    if (rc == 0) rc = parse_end(p, kind);
    p->line_ends = 0;
    if (rc < 0) recover(p);
}
