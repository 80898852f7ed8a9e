/* xmlbif.c: the XML form of the interchange format, 0.3, read with expat.

       <BIF VERSION="0.3"><NETWORK>
       <VARIABLE TYPE="nature"><NAME>tub</NAME><OUTCOME>yes</OUTCOME>...</VARIABLE>
       <DEFINITION><FOR>tub</FOR><GIVEN>asia</GIVEN><TABLE>0.05 0.95 ...</TABLE></DEFINITION>
       </NETWORK></BIF>

   The numbers of TABLE come in the order of struct cpt: the GIVENs in turn, the
   first slowest, and FOR fastest.  Elements that are not named here are skipped.
   The text is parsed twice, first for the variables, then for the definitions:
   their order in the file does not matter. */

#include <expat.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "io/format.h"
#include "io/scan.h"
#include "io/table.h"

enum { DEPTH_MAX = 64 }; /* XMLBIF needs 4 */

struct xml {
    XML_Parser parser;
    struct bn *bn;
    struct states states;
    unsigned char *defined; /* has it had its definition? */
    int tables;             /* which pass is this? */
    int depth, inside;      /* inside: the depth of the open VARIABLE or DEFINITION, or 0 */
    int leaf;               /* are we in an element whose text we keep? */
    struct str text;
    /* the element being read */
    int node; /* -1: not yet named */
    indices parent;
    numbers p;
    int has_table, line, col;
    int rc;
    nami_err *err;
};

static int here_line(const struct xml *m)
{
    XML_Size n = XML_GetCurrentLineNumber(m->parser);
    return n > INT_MAX ? INT_MAX : (int)n;
}

static int here_col(const struct xml *m)
{
    XML_Size n = XML_GetCurrentColumnNumber(m->parser);
    return n >= INT_MAX ? INT_MAX : (int)n + 1;
}

/* Handlers cannot return a code: it is kept, and the parser is stopped. */
static void stop(struct xml *m, int rc)
{
    if (!rc || m->rc) return;
    m->rc = rc;
    XML_StopParser(m->parser, XML_FALSE);
}

static void fault(struct xml *m, const char *what)
{
    stop(m, err_at(m->err, NAMI_EINPUT, here_line(m), here_col(m), "%s", what));
}

static int is(const char *a, const char *b) { return strcmp(a, b) == 0; }

static const char *attribute(const char **att, const char *name)
{
    for (; *att; att += 2)
        if (is(att[0], name)) return att[1];
    return "";
}

static void on_open(void *ctx, const char *tag, const char **att)
{
    struct xml *m = ctx;
    if (m->rc) return;
    if (m->depth == 0 && !is(tag, "BIF")) {
        fault(m, "this XML is not XMLBIF, whose outermost element is <BIF>; name another format");
    } else if (m->depth >= DEPTH_MAX) {
        fault(m, "elements are nested too deep for XMLBIF; is this another kind of XML?");
    } else if (m->leaf) {
        fault(m, "an element inside one that holds a name or numbers; close that one first");
    } else if (!m->inside && is(tag, m->tables ? "DEFINITION" : "VARIABLE")) {
        const char *type = attribute(att, "TYPE");
        if (!m->tables && (is(type, "decision") || is(type, "utility")))
            fault(m, "a decision or utility variable; NaMI needs a network of chance variables "
                     "only: remove it and its definition");
        m->inside = m->depth + 1;
        m->node = -1;
        m->parent.n = m->p.n = 0;
        m->has_table = 0;
        m->line = here_line(m);
        m->col = here_col(m);
    } else if (m->inside && m->depth == m->inside) {
        m->leaf = is(tag, "NAME") || is(tag, "OUTCOME") || is(tag, "VALUE") || is(tag, "FOR") ||
                  is(tag, "GIVEN") || is(tag, "TABLE");
        m->text.n = 0;
        str_putn(&m->text, "", 0);
    }
    m->depth++;
}

static void on_text(void *ctx, const char *s, int n)
{
    struct xml *m = ctx;
    if (!m->leaf || m->rc) return;
    str_putn(&m->text, s, (size_t)n);
    if (m->text.oom) stop(m, err_nomem(m->err));
}

/* "0.05<!-- yes -->0.95" is two numbers. */
static void on_comment(void *ctx, const char *s)
{
    (void)s;
    on_text(ctx, " ", 1);
}

static void on_entity(void *ctx, const char *name, int is_parameter, const char *value, int n,
                      const char *base, const char *system_id, const char *public_id,
                      const char *notation)
{
    (void)name, (void)is_parameter, (void)value, (void)n;
    (void)base, (void)system_id, (void)public_id, (void)notation;
    fault(ctx, "the file defines an entity, which can grow without bounds; write its text instead");
}

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void trim(struct str *t)
{
    size_t i = 0;
    while (t->n && is_blank(t->s[t->n - 1])) t->n--;
    while (i < t->n && is_blank(t->s[i])) i++;
    memmove(t->s, t->s + i, t->n - i);
    t->s[t->n -= i] = 0;
}

/* ---- the parts of VARIABLE ----------------------------------------------- */

static int close_name(struct xml *m)
{
    if (m->node >= 0)
        return err_at(m->err, NAMI_EINPUT, here_line(m), here_col(m),
                      "a second <NAME> of '%s'; remove one of them", bn_name(m->bn, m->node));
    int v = bn_declare(m->bn, m->text.s, m->text.n, m->line, m->col, m->err);
    if (v < 0) return v;
    m->node = v;
    return 0;
}

static int close_outcome(struct xml *m)
{
    int line = here_line(m), col = here_col(m);
    if (m->node < 0)
        return err_at(m->err, NAMI_EINPUT, line, col,
                      "an outcome before the <NAME> of its variable; "
                      "put the name first");
    return states_add(&m->states, m->bn, m->node, m->text.s, m->text.n, line, col, m->err);
}

static int close_variable(struct xml *m)
{
    if (m->node < 0)
        return err_at(m->err, NAMI_EINPUT, m->line, m->col, "a variable without <NAME>; add one");
    return states_done(&m->states, m->bn, m->node, m->err);
}

/* ---- the parts of DEFINITION --------------------------------------------- */

static int close_for(struct xml *m)
{
    int line = here_line(m), col = here_col(m);
    int v = node_known(m->bn, m->text.s, m->text.n, line, col, m->err);
    if (v < 0) return v;
    if (m->node >= 0)
        return err_at(m->err, NAMI_EINPUT, line, col,
                      "a definition of several variables; NaMI needs one for each");
    if (m->defined[v])
        return err_at(m->err, NAMI_EINPUT, line, col,
                      "a second definition of '%s'; remove one of them", bn_name(m->bn, v));
    m->defined[v] = 1;
    m->node = v;
    return 0;
}

static int close_given(struct xml *m)
{
    int v = node_known(m->bn, m->text.s, m->text.n, here_line(m), here_col(m), m->err);
    if (v < 0) return v;
    return vec_push(&m->parent, v) ? err_nomem(m->err) : 0;
}

static int close_table(struct xml *m)
{
    static const struct scan_rules rules = {.word = ".+-"};
    struct scan x;
    double d;
    int line = here_line(m), col = here_col(m);
    if (m->has_table++)
        return err_at(m->err, NAMI_EINPUT, line, col, "a second <TABLE>; remove one of them");
    for (scan_init(&x, m->text.s, m->text.n, &rules); x.tok != TOK_END;) {
        int n = x.n > 40 ? 40 : (int)x.n;
        const char *t = x.t;
        if (scan_double(&x, &d, NULL))
            return err_at(m->err, NAMI_EINPUT, line, col,
                          "this <TABLE> has '%.*s' where a number should be", n, t);
        if (vec_push(&m->p, d)) return err_nomem(m->err);
        scan_accept(&x, ",");
    }
    return 0;
}

static int close_definition(struct xml *m)
{
    if (m->node < 0)
        return err_at(m->err, NAMI_EINPUT, m->line, m->col, "a definition without <FOR>; add it");
    return m->p.n ? table_set(m->bn, m->node, &m->parent, &m->p, m->line, m->col, m->err)
                  : parents_set(m->bn, m->node, &m->parent, m->line, m->col, m->err);
}

static int close_leaf(struct xml *m, const char *tag)
{
    if (!is(tag, "TABLE")) trim(&m->text);
    if (m->tables)
        return is(tag, "FOR")     ? close_for(m)
               : is(tag, "GIVEN") ? close_given(m)
               : is(tag, "TABLE") ? close_table(m)
                                  : 0;
    return is(tag, "NAME")                          ? close_name(m)
           : is(tag, "OUTCOME") || is(tag, "VALUE") ? close_outcome(m)
                                                    : 0;
}

static void on_close(void *ctx, const char *tag)
{
    struct xml *m = ctx;
    if (m->rc) return;
    m->depth--;
    if (m->leaf) {
        m->leaf = 0;
        stop(m, m->text.oom ? err_nomem(m->err) : close_leaf(m, tag));
    } else if (m->inside && m->depth < m->inside) {
        m->inside = 0;
        stop(m, m->tables ? close_definition(m) : close_variable(m));
    }
}

/* ---- reading ------------------------------------------------------------- */

static int xml_error(const struct xml *m)
{
    enum XML_Error e = XML_GetErrorCode(m->parser);
    if (e == XML_ERROR_NO_MEMORY) return err_nomem(m->err);
    const char *advice = e == XML_ERROR_UNKNOWN_ENCODING || e == XML_ERROR_INCORRECT_ENCODING
                             ? "save the file as UTF-8"
                         : e == XML_ERROR_NO_ELEMENTS || e == XML_ERROR_UNCLOSED_TOKEN
                             ? "is the file cut off?"
                             : "correct it here";
    return err_at(m->err, NAMI_EINPUT, here_line(m), here_col(m), "bad XML: %s; %s",
                  XML_ErrorString(e), advice);
}

static int pass(struct xml *m, const char *text, size_t len, int tables)
{
    /* Named here, so that a test that makes allocation fail reaches into expat. */
    static const XML_Memory_Handling_Suite mem = {malloc, realloc, free};
    enum { CHUNK = 1 << 30 };
    m->tables = tables;
    m->depth = m->inside = m->leaf = 0;
    if (!(m->parser = XML_ParserCreate_MM(NULL, &mem, NULL))) return err_nomem(m->err);
    XML_SetUserData(m->parser, m);
    XML_SetElementHandler(m->parser, on_open, on_close);
    XML_SetCharacterDataHandler(m->parser, on_text);
    XML_SetCommentHandler(m->parser, on_comment);
    XML_SetEntityDeclHandler(m->parser, on_entity);
    int last = 0, rc = 0;
    while (!last && !rc) {
        int n = len > CHUNK ? CHUNK : (int)len;
        last = (size_t)n == len;
        if (XML_Parse(m->parser, text, n, last) != XML_STATUS_OK) rc = m->rc ? m->rc : xml_error(m);
        text += n;
        len -= (size_t)n;
    }
    XML_ParserFree(m->parser);
    return rc;
}

static int xmlbif_read(struct bn *bn, const char *text, size_t len, nami_err *err)
{
    struct xml m = {.bn = bn, .err = err};
    int rc = pass(&m, text, len, 0);
    if (!rc && !(m.defined = new_array(unsigned char, bn_n(bn)))) rc = err_nomem(err);
    if (!rc) rc = pass(&m, text, len, 1);
    states_free(&m.states);
    str_free(&m.text);
    vec_free(&m.parent);
    vec_free(&m.p);
    free(m.defined);
    return rc;
}

static int has(const char *text, size_t len, const char *what)
{
    size_t n = strlen(what);
    for (size_t i = 0; i + n <= len; i++)
        if (memcmp(text + i, what, n) == 0) return 1;
    return 0;
}

/* <BIF may come late, behind comments and the document type. */
static int xmlbif_sniff(const char *text, size_t len)
{
    if (len > 1 << 14) len = 1 << 14;
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3, len -= 3;
    while (len && is_blank(*text)) text++, len--;
    if (!len || *text != '<') return 0;
    if (has(text, len, "<BIF") || has(text, len, "<!DOCTYPE BIF")) return 95;
    return has(text, len < 5 ? len : 5, "<?xml") ? 20 : 0;
}

/* ---- writing ------------------------------------------------------------- */

/* The length of the UTF-8 character at s if XML can hold it, else 0. */
static int xml_char(const char *str)
{
    const unsigned char *s = (const unsigned char *)str;
    if (s[0] < 0x80) return s[0] >= 32 || is_blank((char)s[0]);
    int n = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned c = s[0] & (0xFFu >> (n + 1));
    if (s[0] < 0xC2 || s[0] > 0xF4) return 0;
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        c = c << 6 | (s[i] & 0x3F);
    }
    return c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000) || c == 0xFFFE || c == 0xFFFF
               ? 0
               : n;
}

static int put_text(struct str *out, const char *open, const char *s, const char *shut,
                    nami_err *err)
{
    size_t len = strlen(s);
    if (len && (is_blank(s[0]) || is_blank(s[len - 1])))
        return err_set(err, NAMI_EINPUT,
                       "XMLBIF loses blanks at the ends of the name '%s'; rename it", s);
    str_put(out, open);
    for (int n; *s; s += n) {
        if (!(n = xml_char(s)))
            return err_set(err, NAMI_EINPUT,
                           "XML cannot hold the byte 0x%02x of a name; rename it, in UTF-8 without "
                           "control characters",
                           (unsigned char)*s);
        if (*s == '<' || *s == '&' || *s == '>' || (n == 1 && *s < 32))
            str_printf(out, "&#%d;", *s);
        else
            str_putn(out, s, (size_t)n);
    }
    str_put(out, shut);
    return 0;
}

static const char HEAD[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                           "<!DOCTYPE BIF [\n"
                           "  <!ELEMENT BIF ( NETWORK )*>\n"
                           "  <!ATTLIST BIF VERSION CDATA #REQUIRED>\n"
                           "  <!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>\n"
                           "  <!ELEMENT NAME (#PCDATA)>\n"
                           "  <!ELEMENT VARIABLE ( NAME, ( OUTCOME | PROPERTY )* )>\n"
                           "  <!ATTLIST VARIABLE TYPE (nature|decision|utility) \"nature\">\n"
                           "  <!ELEMENT OUTCOME (#PCDATA)>\n"
                           "  <!ELEMENT DEFINITION ( FOR | GIVEN | TABLE | PROPERTY )*>\n"
                           "  <!ELEMENT FOR (#PCDATA)>\n"
                           "  <!ELEMENT GIVEN (#PCDATA)>\n"
                           "  <!ELEMENT TABLE (#PCDATA)>\n"
                           "  <!ELEMENT PROPERTY (#PCDATA)>\n"
                           "]>\n"
                           "<BIF VERSION=\"0.3\">\n<NETWORK>\n<NAME>unknown</NAME>\n";

static int put_variable(const struct bn *bn, int v, struct str *out, nami_err *err)
{
    char buf[16];
    int rc =
        put_text(out, "<VARIABLE TYPE=\"nature\">\n  <NAME>", bn_name(bn, v), "</NAME>\n", err);
    for (int s = 0; s < bn->node.a[v].nstate && !rc; s++)
        rc = put_text(out, "  <OUTCOME>", state_name(bn, v, s, buf), "</OUTCOME>\n", err);
    str_put(out, "</VARIABLE>\n");
    return rc;
}

static int put_definition(const struct bn *bn, int v, struct str *out, nami_err *err)
{
    const struct cpt *t = bn->node.a[v].cpt;
    const int *parent;
    int n = parents_of(bn, v, &parent), k = bn->node.a[v].nstate;
    int rc = put_text(out, "<DEFINITION>\n  <FOR>", bn_name(bn, v), "</FOR>\n", err);
    for (int i = 0; i < n && !rc; i++)
        rc = put_text(out, "  <GIVEN>", bn_name(bn, parent[i]), "</GIVEN>\n", err);
    for (size_t r = 0; t && r < t->n; r += (size_t)k) {
        str_put(out, r ? "\n    " : "  <TABLE>");
        put_row(out, t->p + r, k, " ");
    }
    str_put(out, t ? "</TABLE>\n</DEFINITION>\n" : "</DEFINITION>\n");
    return rc;
}

static int xmlbif_write(const struct bn *bn, struct str *out, nami_err *err)
{
    int rc = 0;
    str_put(out, HEAD);
    for (int v = 0; v < bn_n(bn) && !rc; v++) rc = put_variable(bn, v, out, err);
    for (int v = 0; v < bn_n(bn) && !rc; v++) rc = put_definition(bn, v, out, err);
    str_put(out, "</NETWORK>\n</BIF>\n");
    return rc;
}

const struct format format_xmlbif = {
    .name = "xmlbif",
    .what = "XMLBIF 0.3, with tables",
    .ends = ".xmlbif .xml",
    .sniff = xmlbif_sniff,
    .read = xmlbif_read,
    .write = xmlbif_write,
};
