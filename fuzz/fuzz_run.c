/* fuzz_run.c: fuzzes whole runs: a model, its data, one step of training, the network's file with
   changes that the digest covers, and a query of what is read back.

   An input has parts, divided by lines "%%%%": the model, data as JSON, and changes of the file, a
   line each: TEXT OLD NEW    replaces a piece of a text (settings, network, inverse, model, data,
   file, ...) # WHICH VALUE   replaces number WHICH of all weights A network that was changed must
   be refused with a message, or answer: no crash, no hang, no other code. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { MOST_SCALARS = 40, MOST_TEXT = 3000 };

/* Bad input is refused so; anything else is a bug. */
static void must(int rc, const nami_err *err)
{
    int fine = rc >= 0 || rc == NAMI_EINPUT || rc == NAMI_ELIMIT || rc == NAMI_EUSAGE;
    if (fine && (rc >= 0 || err->msg[0])) return;
    fprintf(stderr, "code %d: %s\n", rc, err->msg);
    abort();
}

static char *cut(char *s, const char *mark)
{
    char *at = s ? strstr(s, mark) : NULL;
    if (!at) return NULL;
    *at = 0;
    return at + strlen(mark);
}

static void change_text(struct st *file, const char *name, const char *old, const char *new)
{
    const char *text = st_get(file, name), *at = text && *old ? strstr(text, old) : NULL;
    struct str changed = {0};
    nami_err err;
    if (!at) return;
    str_putn(&changed, text, (size_t)(at - text));
    str_put(&changed, new);
    str_put(&changed, at + strlen(old));
    st_set(file, name, changed.s, &err); /* or it stays, if this is not UTF-8 */
    str_free(&changed);
}

static void change_weight(struct st *file, size_t which, float value)
{
    for (size_t i = 0; i < file->tensor.n; i++) {
        struct st_tensor *t = &file->tensor.a[i];
        if (t->type == ST_F32 && which < t->n) ((float *)(uintptr_t)t->x)[which] = value;
        which -= t->type == ST_F32 && which >= t->n ? t->n : 0;
    }
}

/* The file with its changes, and the digest that belongs to it. */
static int change(char *bytes, size_t n, char *line, struct str *out)
{
    static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
    struct st file = {0};
    nami_err err;
    int rc = st_parse(&file, bytes, n, &err);
    for (char *next; line && !rc; line = next) {
        next = cut(line, "\n");
        char *old = cut(line, " "), *new = cut(old, " ");
        if (line[0] == '#' && new)
            change_weight(&file, strtoul(old, NULL, 10), strtof(new, NULL));
        else if (new)
            change_text(&file, line, old, new);
    }
    if (!rc) rc = st_set(&file, "sha256", zeros, &err);
    if (!rc) rc = network_print(&file, out, &err);
    st_free(&file);
    return rc;
}

static void ask(const nami_network *net, const nami_data *data, size_t number)
{
    static const char *const names[] = {"is", "direct", "smc", "adaptive"};
    nami_query query = {.draws = 20, .method = names[number % 4], .threads = 1, .seed = 1};
    nami_posterior *post = NULL;
    nami_block block;
    nami_err err = {0};
    int rc = nami_posterior_new(net, data, &query, &post, &err);
    while (rc >= 0 && post && (rc = nami_posterior_next(post, &block, &err)) > 0) continue;
    must(rc, &err);
    nami_posterior_free(post);
}

static void run(const nami_model *model, const nami_data *data, char *changes, size_t number)
{
    nami_train_options how = {
        .steps = 1, .hidden = "2", .batch = 8, .valid = 8, .seed = 1, .threads = 1};
    nami_network_options read = {.threads = 1};
    nami_network *net = NULL, *again = NULL;
    nami_err err = {0};
    char *bytes = NULL;
    size_t n = 0;
    struct str changed = {0};
    int rc = nami_train(model, NULL, &how, &net, &err);
    must(rc, &err);
    if (!rc && nami_network_print(net, &bytes, &n, &err)) abort();
    if (!rc && !change(bytes, n, changes, &changed)) {
        must(rc = nami_network_parse(changed.s, changed.n, &read, &again, &err), &err);
        if (!rc) ask(again, data, number);
    }
    nami_free(bytes);
    str_free(&changed);
    nami_network_free(again);
    nami_network_free(net);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
    char *text = malloc(len + 1);
    nami_data *data = NULL;
    nami_model *model = NULL;
    nami_err err = {0};
    if (!text) abort();
    if (len) memcpy(text, input, len);
    text[len] = 0;
    char *json = cut(text, "\n%%%%\n"), *changes = cut(json, "\n%%%%\n");
    int simulates =
        strstr(text, "simulator") || (changes && strstr(changes, "simulator")); /* runs nothing */
    if (!simulates && len < MOST_TEXT && !nami_data_new(&data, &err)) {
        int rc = json ? nami_data_parse(data, json, strlen(json), &err) : 0;
        nami_model_options with = {.data = data};
        must(rc, &err);
        if (!rc) must(rc = nami_model_parse(text, strlen(text), "f", &with, &model, &err), &err);
        if (!rc && nami_bn_size(nami_model_structure(model)) <= MOST_SCALARS)
            run(model, data, changes, len);
    }
    nami_model_free(model);
    nami_data_free(data);
    free(text);
    return 0;
}
