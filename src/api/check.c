/* check.c: the prior predictive check of nami.h. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/err.h"
#include "base/parallel.h"
#include "report/check.h"

struct nami_check {
    const nami_model *w;
    struct check c;
    struct str messages;
};

int nami_check_new(const nami_model *w, const nami_check_options *opt, nami_check **out,
                   nami_err *err)
{
    nami_check_options o;
    err_clear(err);
    *out = NULL;
    int rc = needs_model(w, err);
    if (!rc) rc = options_complete("check", opt, sizeof o, &o, err);
    if (rc) return rc;
    nami_check *check = new_array(nami_check, 1);
    if (!check) return err_nomem(err);
    check->w = w;
    tell_program(w, o.watch);
    rc = model_check(w->m, (size_t)o.draws, o.seed, o.training, parallel_threads(o.threads),
                     &check->c, err);
    if (!rc) {
        print_messages(w, &check->c.diags, &check->messages);
        if (check->messages.oom) rc = err_nomem(err);
    }
    if (rc)
        nami_check_free(check);
    else
        *out = check;
    return rc;
}

void nami_check_free(nami_check *check)
{
    if (!check) return;
    check_fini(&check->c);
    str_free(&check->messages);
    free(check);
}

int nami_check_problems(const nami_check *check) { return check->c.nproblem; }

const char *nami_check_messages(const nami_check *check)
{
    return check->messages.s ? check->messages.s : "";
}

int nami_check_describe(const nami_check *check, const char *as, char **text, nami_err *err)
{
    struct str out = {0};
    err_clear(err);
    *text = NULL;
    if (strcmp(as, "text") == 0)
        check_text(check->w->m, &check->c, &out);
    else if (strcmp(as, "json") == 0)
        check_json(check->w->m, &check->c, &out);
    else
        return no_such_form(as, "text, json", err);
    return give_text(&out, text, NULL, err);
}
