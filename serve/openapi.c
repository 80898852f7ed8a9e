/* openapi.c: the OpenAPI description, from the tables of routes, forms and query options. */
#include "openapi.h"

#include <string.h>

#include "request.h"

static void put_schema(struct text *out, const nami_option *o)
{
    const char *type = o->kind == NAMI_OPTION_FLAG                                   ? "boolean"
                       : o->kind == NAMI_OPTION_COUNT || o->kind == NAMI_OPTION_SEED ? "integer"
                                                                                     : "string";
    text_printf(out, "{\"type\":\"%s\"", type);
    if (type[0] == 'i') text_put(out, ",\"minimum\":0");
    if (strcmp(o->name, "draws") == 0) text_printf(out, ",\"default\":%d", DEFAULT_DRAWS);
    if (o->kind == NAMI_OPTION_SEED) text_put(out, ",\"default\":0");
    if (o->kind == NAMI_OPTION_WORD) {
        const char *word;
        text_put(out, ",\"enum\":[");
        for (int i = 0; (word = nami_option_word(o, i)); i++) {
            if (i) text_put(out, ",");
            text_quoted(out, word);
        }
        text_put(out, "]");
    }
    text_put(out, "}");
}

static void put_parameter(struct text *out, const char *name, const char *where, const char *what,
                          int first)
{
    text_printf(out, "%s\n{\"name\":\"%s\",\"in\":\"%s\",\"required\":%s,\"description\":",
                first ? "" : ",", name, where, where[0] == 'p' ? "true" : "false");
    text_quoted(out, what);
    text_put(out, ",\"schema\":");
}

static void put_parameters(struct text *out, const struct route_row *r, enum route route)
{
    const nami_option *o;
    int first = 1;
    text_put(out, ",\"parameters\":[");
    if (strstr(r->path, "{name}")) {
        put_parameter(out, "name", "path", "the name of a network", first);
        text_put(out, "{\"type\":\"string\"}}");
        first = 0;
    }
    if (strchr(r->forms, ' ')) {
        put_parameter(out, "as", "query", "form of the answer, instead of the Accept header",
                      first);
        text_put(out, "{\"type\":\"string\",\"enum\":[");
        for (const char *at = r->forms; *at;) {
            size_t n = strcspn(at, " ");
            text_printf(out, "%s\"%.*s\"", at == r->forms ? "" : ",", (int)n, at);
            at += n + (at[n] == ' ');
        }
        text_put(out, "]}}");
        first = 0;
    }
    for (int i = 0; request_is_query(route) && route != ROUTE_log_q && (o = request_option(i));
         i++) {
        put_parameter(out, o->name, "query", o->help, 0);
        put_schema(out, o);
        text_put(out, "}");
    }
    text_put(out, "]");
}

static void put_answers(struct text *out, const struct route_row *r, enum route route)
{
    static const struct {
        int status;
        const char *what;
    } other[] = {{400, "the path, a parameter or the body is malformed"},
                 {401, "the token is missing or wrong"},
                 {404, "there is no such network"},
                 {406, "no form of the answer is acceptable"},
                 {408, "the request came too slowly"},
                 {413, "the body is too large"},
                 {422, "the data do not fit the network, or too much is asked for"},
                 {429, "this client has too many queries under way"},
                 {503, "the service is busy, or stops; see Retry-After"}};
    text_put(out, ",\"responses\":{\"200\":{\"description\":");
    text_quoted(out, r->what);
    text_put(out, ",\"content\":{");
    for (const char *at = r->forms, *sep = ""; *at; sep = ",") {
        size_t n = strcspn(at, " ");
        for (int f = 0; f < NUM_FORMS; f++)
            if (strlen(forms[f].id) == n && strncmp(at, forms[f].id, n) == 0)
                text_printf(out, "%s\"%.*s\":{}", sep, (int)strcspn(forms[f].type, ";"),
                            forms[f].type);
        at += n + (at[n] == ' ');
    }
    text_put(out, "}}");
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        int status = other[i].status;
        if (status == 404   ? !strstr(r->path, "{name}")
            : status == 401 ? r->access == OPEN
                            : !request_is_query(route))
            continue;
        text_printf(
            out,
            ",\n\"%d\":{\"description\":\"%s\",\"content\":{\"application/json\":{\"schema\":"
            "{\"$ref\":\"#/components/schemas/Error\"}}}}",
            status, other[i].what);
    }
    text_put(out, "}");
}

static void put_operation(struct text *out, enum route route)
{
    const struct route_row *r = &routes[route];
    text_printf(out,
                "\"%s\":{\"operationId\":\"%s\",\"summary\":", r->method[0] == 'P' ? "post" : "get",
                r->id);
    text_quoted(out, r->what);
    put_parameters(out, r, route);
    if (r->access == TOKEN) text_put(out, ",\"security\":[{},{\"token\":[]}]");
    if (request_is_query(route))
        text_put(out, ",\"requestBody\":{\"required\":true,\"description\":\"data sets: an object "
                      "of named numbers "
                      "and arrays, a list of such objects, or one in each "
                      "line\",\"content\":{\"application/json\":"
                      "{\"schema\":{\"oneOf\":[{\"$ref\":\"#/components/schemas/"
                      "DataSet\"},{\"type\":\"array\","
                      "\"items\":{\"$ref\":\"#/components/schemas/DataSet\"}}]}}}}");
    put_answers(out, r, route);
    text_put(out, "}");
}

void openapi_put(struct text *out)
{
    text_printf(
        out,
        "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"NaMI\",\"version\":\"%s\",\"description\":"
        "\"Posteriors of trained inference networks.\"},\n\"paths\":{",
        nami_version());
    for (int r = 0; r < NUM_ROUTES; r++) {
        text_put(out, r ? ",\n" : "\n");
        text_quoted(out, routes[r].path);
        text_put(out, ":{");
        put_operation(out, (enum route)r);
        text_put(out, "}");
    }
    text_put(
        out,
        "},\n\"components\":{\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":"
        "\"bearer\"}},"
        "\"schemas\":{\"DataSet\":{\"type\":\"object\",\"description\":\"variables by name: "
        "numbers, or "
        "nested lists of them; null is missing\",\"additionalProperties\":true},"
        "\"Error\":{\"type\":\"object\",\"properties\":{\"error\":{\"type\":\"object\","
        "\"properties\":"
        "{\"status\":{\"type\":\"integer\"},\"message\":{\"type\":\"string\"},\"line\":{\"type\":"
        "\"integer\"},\"column\":{\"type\":\"integer\"}},\"required\":[\"status\",\"message\"]}}}}}"
        "}\n");
}
