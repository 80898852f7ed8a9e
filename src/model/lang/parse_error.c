/* parse_error.c: syntax error messages and error recovery. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/lang/parse.h"

int nomem(struct parser *p)
{
    p->oom = p->quiet = 1;
    return -1;
}

void fail_at(struct parser *p, struct place at, const char *advice, const char *fmt, ...)
{
    va_list ap;
    char buf[256];
    if (p->quiet) return;
    p->quiet = 1;
    va_start(ap, fmt);
    vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    diag_error(p->d, at, advice, "%s", buf);
}

struct place behind(const struct parser *p)
{
    struct place at = p->t[p->i ? p->i - 1 : 0].at;
    if (p->i) at.col += at.len;
    at.len = 1;
    return at;
}

struct place span(const struct parser *p, int a, int b)
{
    struct place at = p->t[a].at;
    int lo = a, hi = b; /* the last token on a's line is in lo..hi */
    while (lo < hi) {
        int mid = hi - (hi - lo) / 2;
        if (p->t[mid].at.line == at.line)
            lo = mid;
        else
            hi = mid - 1;
    }
    if (lo > a) at.len = p->t[lo].at.col + p->t[lo].at.len - at.col;
    return at;
}

const char *quote(struct parser *p, int a, int b)
{
    int from = p->t[a].off, n = p->t[b].off + p->t[b].len - from, most = 40;
    const char *s = NULL;
    if (p->t[a].at.line != p->t[b].at.line) n = p->t[a].len;
    if (n > most) { /* whole characters only */
        for (n = 0; n < most - 3;) n += (int)str_char(p->text + from + n, 8);
        s = diag_text(p->d, "%.*s...", n, p->text + from);
    } else {
        s = diag_text(p->d, "%.*s", n, p->text + from);
    }
    return s ? s : "";
}

/* Constructs of other languages. */
static const struct foreign {
    int op;
    const char *advice;
} foreign[] = {
    {OP2('=', '<'), "write <="},
    {OP2('=', '>'), "write >="},
    {OP2('<', '<'), "write <- for a value, < to compare"},
    {OP2('>', '>'), "write > to compare"},
    {OP2('-', '>'), "write the name on the left: x <- value"},
    {OP2(':', '='), "write <-"},
    {OP2('<', '-'), "a relation has one name on its left, and one <-"},
    {OP2('~', '='), "write !="},
    {'~', "a relation has one name on its left, and one ~"},
    {'&', "write &&"},
    {'|', "write ||"},
    {'=', "write == to compare"},
    {'?', "use ifelse(condition, a, b)"},
    {'$', "use the bare name"},
    {'\\', "a line needs no mark to go on"},
};

static const char *advice_for(const struct token *t)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (is_op(t, foreign[i].op)) return foreign[i].advice;
    return NULL;
}

void unexpected(struct parser *p, const char *what)
{
    const struct token *t = now(p);
    if (t->kind == TOKEN_BAD || (t->kind == TOKEN_END && p->cut))
        p->quiet = 1; /* already reported */
    else if (t->kind == TOKEN_END)
        fail_at(p, t->at, NULL, "expected %s, but the file ends", what);
    else if (t->newline && p->line_ends)
        fail_at(p, behind(p), NULL, "expected %s, but the line ends", what);
    else if (t->kind == TOKEN_STRING)
        fail_at(p, t->at, NULL, "expected %s, but found a string", what);
    else
        fail_at(p, t->at, advice_for(t), "expected %s, but found '%s'", what, quote(p, p->i, p->i));
}

void missing(struct parser *p, const char *what, const struct token *opened)
{
    const char *advice = NULL;
    if (p->cut && now(p)->kind == TOKEN_END) {
        p->quiet = 1;
        return;
    }
    if (opened->at.line != behind(p).line)
        advice = diag_text(p->d, "close the '%c' of line %d", opened->op, opened->at.line);
    else
        advice = diag_text(p->d, "close the '%c' of column %d", opened->op, opened->at.col);
    fail_at(p, behind(p), advice, "missing %s", what);
}

/* ---- statements, by a look at their beginning ---------------------------------- */

/* The token after the bracket that opens at i; i itself if it is long or unterminated. */
static int behind_bracket(const struct parser *p, int i)
{
    int depth = 0;
    for (int k = i; k < i + 300; k++) {
        const struct token *t = &p->t[k];
        if (t->kind == TOKEN_END || is_op(t, '~') || is_op(t, ';') || is_op(t, '{') ||
            is_op(t, '}') || is_op(t, OP2('<', '-')))
            return i;
        depth += is_op(t, '[') || is_op(t, '(');
        depth -= is_op(t, ']') || is_op(t, ')');
        if (depth == 0) return k + 1;
    }
    return i;
}

int looks_like_relation(const struct parser *p, int i)
{
    if (p->t[i].kind != TOKEN_NAME) return 0;
    i++;
    if (is_op(&p->t[i], '[') || is_op(&p->t[i], '(')) i = behind_bracket(p, i);
    return is_op(&p->t[i], '~') || is_op(&p->t[i], OP2('<', '-')) || is_op(&p->t[i], '=');
}

/* A keyword and a name on its line. */
int looks_like_decl(const struct parser *p, int i)
{
    const struct token *t = &p->t[i];
    return decl_kind_of(p, t) >= 0 && (t[1].kind == TOKEN_NAME || t[1].kind == TOKEN_STRING) &&
           !t[1].newline && !looks_like_relation(p, i);
}

int begins_statement(const struct parser *p, int i)
{
    const struct token *t = &p->t[i];
    if (t->kind == TOKEN_END || is_op(t, '}')) return 1;
    if (t->kind != TOKEN_NAME) return 0;
    if (is_name(p, t, "for") &&
        (is_op(&t[1], '(') || is_name(p, &t[1 + (t[1].kind != TOKEN_END)], "in")))
        return 1;
    if ((is_name(p, t, "model") || is_name(p, t, "data")) && is_op(&t[1], '{')) return 1;
    if (!p->in_block && t->newline && decl_kind_of(p, t) >= 0) return 1;
    return looks_like_relation(p, i) || looks_like_decl(p, i);
}

void recover(struct parser *p)
{
    int depth = 0;
    for (; now(p)->kind != TOKEN_END; next(p)) {
        const struct token *t = now(p);
        if (depth == 0 && (is_op(t, '}') || (t->newline && begins_statement(p, p->i)))) return;
        depth += is_op(t, '{');
        depth -= is_op(t, '}');
        if (depth == 0 && (is_op(t, ';') || is_op(t, '}'))) {
            next(p);
            return;
        }
    }
}
