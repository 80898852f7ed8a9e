/* request.c: parses the head of a request: path, parameters, form of the answer, token. */
#include "request.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct route_row routes[NUM_ROUTES] = {
#define ROUTE(id, method, path, access, forms, what) {#id, method, path, access, forms, what},
#include "route.def"
#undef ROUTE
};

const struct form_row forms[NUM_FORMS] = {
#define FORM(id, type) {#id, type},
#include "form.def"
#undef FORM
};

int refuse(struct refusal *why, int status, const char *fmt, ...)
{
    va_list ap;
    *why = (struct refusal){.status = status};
    va_start(ap, fmt);
    vsnprintf(why->message, sizeof why->message, fmt, ap);
    va_end(ap);
    return status;
}

/* ---- percent-encoding ----------------------------------------------------------------------- */

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes n characters to `to`, which ends with a NUL; nonzero if there is no room, an escape is
   broken, or a NUL or control character is hidden in one. */
static int decode(const char *from, size_t n, int plus, char *to, size_t room)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        int c = (unsigned char)from[i];
        if (k + 1 >= room) return 1;
        if (c == '%') {
            if (n - i < 3 || hex(from[i + 1]) < 0 || hex(from[i + 2]) < 0) return 1;
            c = 16 * hex(from[i + 1]) + hex(from[i + 2]);
            i += 2;
        } else if (c == '+' && plus)
            c = ' ';
        if (c < 32 || c == 127) return 1;
        to[k++] = (char)c;
    }
    to[k] = 0;
    return 0;
}

/* ---- the path ------------------------------------------------------------------------------- */

int request_name_ok(const char *name)
{
    size_t n = strlen(name);
    if (!n || n > NETWORK_NAME || name[0] == '.') return 0;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i])) return 0;
    return 1;
}

/* Does the path fit the pattern?  {name} is one part of it. */
static int path_fits(const char *pattern, const char *path, char *name)
{
    const char *hole = strstr(pattern, "{name}");
    name[0] = 0;
    if (!hole) return strcmp(pattern, path) == 0;
    size_t lead = (size_t)(hole - pattern);
    if (strncmp(pattern, path, lead) != 0) return 0;
    size_t n = strcspn(path + lead, "/");
    if (!n || n > NETWORK_NAME || strcmp(hole + 6, path + lead + n) != 0) return 0;
    memcpy(name, path + lead, n);
    name[n] = 0;
    return 1;
}

static int find_route(const char *method, const char *path, struct request *out,
                      struct refusal *why)
{
    const char *allowed = NULL;
    for (int r = 0; r < NUM_ROUTES; r++) {
        char name[NETWORK_NAME + 1];
        if (!path_fits(routes[r].path, path, name)) continue;
        allowed = routes[r].method;
        out->route = (enum route)r;
        strcpy(out->name, name);
        if (strcmp(method, allowed) == 0 || (strcmp(method, "HEAD") == 0 && allowed[0] == 'G'))
            return 0;
    }
    if (allowed) return refuse(why, 405, "use %s for this path", allowed);
    return refuse(why, 404, "there is nothing at this path; /openapi.json describes all of them");
}

/* ---- the form of the answer ----------------------------------------------------------------- */

static int form_offered(enum route route, enum form form)
{
    const char *at = routes[route].forms, *id = forms[form].id;
    for (size_t n; *at; at += n + (at[n] == ' ')) {
        n = strcspn(at, " ");
        if (n == strlen(id) && strncmp(at, id, n) == 0) return 1;
    }
    return 0;
}

static enum form first_form(enum route route)
{
    size_t n = strcspn(routes[route].forms, " ");
    for (int f = 0; f < NUM_FORMS; f++)
        if (strlen(forms[f].id) == n && strncmp(routes[route].forms, forms[f].id, n) == 0)
            return (enum form)f;
    return FORM_json;
}

static int set_form(struct request *out, const char *as, struct refusal *why)
{
    for (int f = 0; f < NUM_FORMS; f++)
        if (strcmp(forms[f].id, as) == 0 && form_offered(out->route, (enum form)f)) {
            out->form = (enum form)f;
            return 0;
        }
    return refuse(why, 400, "as=%.20s is not possible here; choose from: %s", as,
                  routes[out->route].forms);
}

/* The part of an Accept header at `range`: does it include the media type?  Its quality, 0 .. 1000.
 */
static int quality(const char *range, size_t n, const char *type)
{
    size_t len = strcspn(type, ";"), k = 0;
    while (k < n && range[k] != ';' && range[k] != ' ' && range[k] != '\t') k++;
    int fits = (k == 3 && strncmp(range, "*/*", 3) == 0) ||
               (k > 2 && range[k - 1] == '*' && range[k - 2] == '/' && k - 1 <= len &&
                strncasecmp(range, type, k - 1) == 0) ||
               (k == len && strncasecmp(range, type, len) == 0);
    if (!fits) return -1;
    for (size_t i = k; i + 2 < n; i++)
        if ((range[i] == 'q' || range[i] == 'Q') && range[i + 1] == '=') {
            int q = range[i + 2] == '1' ? 1000 : 0, scale = 100;
            if (i + 3 < n && range[i + 3] == '.' && !q)
                for (size_t d = i + 4; d < n && isdigit((unsigned char)range[d]) && scale;
                     d++, scale /= 10)
                    q += (range[d] - '0') * scale;
            return q;
        }
    return 1000;
}

/* The offered form that the client likes best; of equals, the first that the route offers. */
static int choose_form(struct request *out, const char *accept, struct refusal *why)
{
    int best = 0;
    out->form = first_form(out->route);
    if (!accept || !*accept) return 0;
    for (const char *offer = routes[out->route].forms; *offer;) {
        size_t len = strcspn(offer, " ");
        for (int f = 0; f < NUM_FORMS; f++) {
            if (strlen(forms[f].id) != len || strncmp(offer, forms[f].id, len) != 0) continue;
            int exact = -1, star = -1;
            for (const char *at = accept; *at;) {
                size_t n = strcspn(at, ",");
                const char *range = at + strspn(at, " \t");
                size_t skipped = (size_t)(range - at);
                int q = skipped <= n ? quality(range, n - skipped, forms[f].type) : -1;
                int wild = skipped < n && memchr(range, '*', n - skipped) != NULL;
                if (q >= 0 && wild && q > star) star = q;
                if (q >= 0 && !wild && q > exact) exact = q;
                at += n + (at[n] == ',');
            }
            int q = exact >= 0 ? exact : star;
            if (q > best) best = q, out->form = (enum form)f;
        }
        offer += len + (offer[len] == ' ');
    }
    /* what has no other form is given whatever the client likes: pages and scripts are harmless */
    if (best || !request_is_query(out->route)) return 0;
    return refuse(why, 406, "no form of this answer is acceptable; there are: %s",
                  routes[out->route].forms);
}

/* ---- parameters ----------------------------------------------------------------------------- */

const nami_option *request_option(int i)
{
    static const char *const not_here[] = {"threads", "sets"};
    const nami_option *o;
    for (int k = 0; (o = nami_option_at("query", k)); k++) {
        int hidden = 0;
        for (size_t j = 0; j < sizeof not_here / sizeof *not_here; j++)
            hidden |= strcmp(o->name, not_here[j]) == 0;
        if (!hidden && i-- == 0) return o;
    }
    return NULL;
}

int request_is_query(enum route route)
{
    return route < NUM_ROUTES && routes[route].method[0] == 'P';
}

static int no_such_parameter(const char *key, struct refusal *why)
{
    const char *words[32] = {"as"}, *near;
    const nami_option *o;
    for (int i = 0; i < 30 && (o = request_option(i)); i++) words[i + 1] = o->name;
    near = nami_nearest(key, words);
    return refuse(why, 400, "no parameter is called '%.40s'%s%s%s", key,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int set_parameter(struct request *out, const char *key, const char *value, int *as,
                         struct refusal *why)
{
    nami_err err;
    const nami_option *o;
    if (strcmp(key, "as") == 0) {
        *as = 1;
        return set_form(out, value, why);
    }
    for (int i = 0; request_is_query(out->route) && (o = request_option(i)); i++) {
        if (strcmp(o->name, key) != 0) continue;
        if (o->kind == NAMI_OPTION_FLAG) {
            int no = strcmp(value, "0") == 0 || strcmp(value, "false") == 0;
            *(int *)((char *)&out->query + o->offset) = !no;
            return 0;
        }
        if (!nami_option_set(o, &out->query, value, &err)) return 0;
        return refuse(why, 400, "%s", err.msg);
    }
    return no_such_parameter(key, why);
}

/* "a=1&b=2": each is decoded to out->text, where values stay. */
static int parse_parameters(struct request *out, const char *query, int *as, struct refusal *why)
{
    char key[64];
    size_t used = 0;
    for (size_t n; *query; query += n + (query[n] == '&')) {
        n = strcspn(query, "&");
        if (!n) continue;
        size_t k = 0;
        while (k < n && query[k] != '=') k++;
        char *value = out->text + used;
        size_t begin = k < n ? k + 1 : n;
        if (decode(query, k, 1, key, sizeof key))
            return refuse(why, 400, "a parameter's name is too long, or badly encoded");
        if (decode(query + begin, n - begin, 1, value, sizeof out->text - used))
            return refuse(why, 400, "the value of '%s' is too long, or badly encoded", key);
        used += strlen(value) + 1;
        if (used >= sizeof out->text) used = sizeof out->text - 1;
        int status = set_parameter(out, key, value, as, why);
        if (status) return status;
    }
    return 0;
}

int request_parse(const struct request_head *head, struct request *out, struct refusal *why)
{
    char path[256];
    int as = 0;
    *out = (struct request){
        .route = NUM_ROUTES, .form = FORM_json, .query = {.size = sizeof out->query}};
    size_t n = strcspn(head->target, "?#");
    if (head->target[0] != '/' || decode(head->target, n, 0, path, sizeof path))
        return refuse(why, 400, "the path is too long, or badly encoded");
    int status = find_route(head->method, path, out, why);
    if (status) return status;
    if (head->encoding && *head->encoding && strcasecmp(head->encoding, "identity") != 0)
        return refuse(why, 415, "send the body without Content-Encoding");
    if (head->target[n] == '?') {
        const char *query = head->target + n + 1;
        status = parse_parameters(out, query, &as, why);
    }
    if (!status && !as) status = choose_form(out, head->accept, why);
    if (!out->query.draws) out->query.draws = DEFAULT_DRAWS;
    return status;
}

/* ---- who asks ---------------------------------------------------------------------------------
 */

int request_token_ok(const char *authorization, const char *token)
{
    unsigned differ = 0;
    size_t n = strlen(token);
    if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0) return 0;
    const char *given = authorization + 7;
    size_t m = strlen(given);
    for (size_t i = 0; i < m; i++)
        differ |= (unsigned char)given[i] ^ (unsigned char)token[n ? i % n : 0];
    return !(differ | (unsigned)(m != n)) && n > 0;
}

int request_host_is_local(const char *host)
{
    static const char *const local[] = {"localhost", "127.0.0.1", "[::1]"};
    if (!host) return 1; /* HTTP/1.0; browsers always send it */
    for (size_t i = 0; i < sizeof local / sizeof *local; i++) {
        size_t n = strlen(local[i]);
        if (strncasecmp(host, local[i], n) == 0 && (!host[n] || host[n] == ':')) return 1;
    }
    return 0;
}
