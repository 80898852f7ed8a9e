/* fuzz_request.c: fuzzes the parsing of requests of the service: line, headers, body.  The input is
   a request as it comes: "POST /path?query", lines "name: value", an empty line, the body. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Cuts a line off the text: its end becomes a NUL. */
static char *next_line(char **text)
{
    char *line = *text, *end = strchr(line, '\n');
    *text = end ? end + 1 : line + strlen(line);
    if (end) *end = 0;
    if (end && end > line && end[-1] == '\r') end[-1] = 0;
    return line;
}

static char *value_of(char *line, const char *name)
{
    size_t n = strlen(name);
    return strncmp(line, name, n) == 0 ? line + n : NULL;
}

static void check(const struct request *r, int status, const struct refusal *why)
{
    if (status && (why->status != status || !why->message[0] || status < 400 || status > 599))
        abort();
    if (status) return;
    if (r->route >= NUM_ROUTES || r->form >= NUM_FORMS || r->query.draws < 1) abort();
    if (strstr(routes[r->route].path, "{name}") ? !r->name[0] : r->name[0]) abort();
    for (const char *s = r->query.only ? r->query.only : ""; *s; s++)
        if ((unsigned char)*s < 32) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text = malloc(len + 1), *at = text, *line;
    struct request_head head = {.method = "GET", .target = "/"};
    const char *authorization = NULL, *host = NULL;
    struct request r;
    struct refusal why;
    if (!text) abort();
    if (len) memcpy(text, bytes, len);
    text[len] = 0;
    line = next_line(&at);
    char *target = strchr(line, ' ');
    if (target) *target++ = 0, head.method = line, head.target = target;
    while (*(line = next_line(&at))) {
        char *v;
        if ((v = value_of(line, "Accept: "))) head.accept = v;
        if ((v = value_of(line, "Content-Encoding: "))) head.encoding = v;
        if ((v = value_of(line, "Authorization: "))) authorization = v;
        if ((v = value_of(line, "Host: "))) host = v;
    }
    check(&r, request_parse(&head, &r, &why), &why);
    if (request_token_ok(authorization, "secret") && strcmp(authorization + 7, "secret") != 0)
        abort();
    request_host_is_local(host);
    nami_data *body = NULL;
    nami_err err;
    if (!nami_data_new(&body, &err)) nami_data_parse(body, at, strlen(at), &err);
    nami_data_free(body);
    free(text);
    return 0;
}
