/* answer.c: writes answers as JSON and CSV. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "job.h"

static const char *const verdict_words[] = {"trusted", "care", "no"};

/* ---- refusals ---------------------------------------------------------------------------------
 */

void reply_refusal(struct reply *reply, const struct refusal *why)
{
    text_free(&reply->body);
    reply->status = why->status;
    reply->type = forms[FORM_json].type;
    if (why->status == 429 || why->status == 503) reply->retry = 1;
    text_printf(&reply->body, "{\"error\":{\"status\":%d,\"message\":", why->status);
    text_quoted(&reply->body, why->message);
    if (why->line) text_printf(&reply->body, ",\"line\":%d,\"column\":%d", why->line, why->col);
    text_put(&reply->body, "}}\n");
}

void reply_simple(struct reply *reply, int status, const char *fmt, ...)
{
    struct refusal why = {.status = status};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why.message, sizeof why.message, fmt, ap);
    va_end(ap);
    reply_refusal(reply, &why);
}

void reply_error(struct reply *reply, const nami_err *err)
{
    struct refusal why = {.line = err->line, .col = err->col};
    why.status = err->code == NAMI_EINPUT || err->code == NAMI_ELIMIT    ? 422
                 : err->code == NAMI_EUSAGE                              ? 400
                 : err->code == NAMI_ENOMEM || err->code == NAMI_ECANCEL ? 503
                 : err->code == NAMI_EFILE                               ? 507
                                                                         : 500;
    if (err->code == NAMI_ECANCEL)
        strcpy(why.message, "the query took too long; ask for fewer draws or data sets");
    else if (err->code == NAMI_EFILE) /* says nothing about the machine */
        strcpy(why.message,
               "the answer could not be written to a temporary file; the disk may be full");
    else
        memcpy(why.message, err->msg, sizeof err->msg);
    reply_refusal(reply, &why);
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

static void put_member(struct text *out, const char *name, double x)
{
    text_printf(out, ",\"%s\":", name);
    text_number(out, x, "null");
}

static void put_list(struct text *out, const char *name, const double *x, size_t n)
{
    if (!x) return;
    text_printf(out, ",\n\"%s\":[", name);
    for (size_t i = 0; i < n; i++) {
        if (i) text_bytes(out, ",", 1);
        text_number(out, x[i], "null");
    }
    text_bytes(out, "]", 1);
}

struct column {
    const char *name;
    double value;
};
enum { NUM_COLUMNS = 9 };
static void columns_of(const nami_summary *s, struct column c[NUM_COLUMNS])
{
    struct column all[] = {{"mean", s->mean}, {"sd", s->sd},     {"q5", s->q5},
                           {"q25", s->q25},   {"q50", s->q50},   {"q75", s->q75},
                           {"q95", s->q95},   {"mcse", s->mcse}, {"ess", s->ess}};
    memcpy(c, all, sizeof all);
}

/* ---- JSON ---------------------------------------------------------------------------------------
 */

static int put_summaries(struct text *out, const nami_posterior *post, const struct view *view,
                         size_t set, nami_err *err)
{
    int rc = 0;
    text_put(out, ",\"variables\":{");
    for (size_t k = 0; k < view->num_scalars && !rc; k++) {
        nami_summary s;
        struct column c[NUM_COLUMNS];
        if ((rc = nami_posterior_summary(post, set, view->name[k], &s, err))) break;
        columns_of(&s, c);
        text_put(out, k ? ",\n" : "\n");
        text_quoted(out, view->name[k]);
        text_put(out, ":{");
        for (int i = 0; i < NUM_COLUMNS; i++) {
            if (i) text_bytes(out, ",", 1);
            text_bytes(out, "\"", 1);
            text_put(out, c[i].name);
            text_bytes(out, "\":", 2);
            text_number(out, c[i].value, "null");
        }
        text_put(out, "}");
    }
    text_put(out, "}");
    return rc;
}

static void put_draws(struct text *out, const struct view *view, const struct kept *kept,
                      size_t first, size_t n)
{
    text_put(out, ",\"variables\":{");
    for (size_t k = 0; k < view->num_scalars; k++) {
        const double *x = kept->values + k * kept->num_draws + first;
        text_put(out, k ? ",\n" : "\n");
        text_quoted(out, view->name[k]);
        text_put(out, ":[");
        for (size_t i = 0; i < n; i++) {
            if (i) text_bytes(out, ",", 1);
            text_number(out, x[i], "null");
        }
        text_put(out, "]");
    }
    text_put(out, "}");
    put_list(out, "log_q", kept->log_q + first, n);
    put_list(out, "log_p", kept->log_p ? kept->log_p + first : NULL, n);
}

static int write_json(struct job *job, const nami_posterior *post, const struct view *view,
                      const struct kept *kept, size_t first, size_t end, int *worst, nami_err *err)
{
    struct text *out = &job->reply.body;
    size_t draws = nami_posterior_draws(post);
    int rc = 0;
    text_put(out, "{\"network\":");
    text_quoted(out, job->request.name);
    text_printf(out, ",\"version\":%d,\"method\":\"%s\",\"draws\":%zu,\"seed\":%llu,\"sets\":[",
                job->version->number, nami_posterior_method(post), draws,
                (unsigned long long)job->request.query.seed);
    for (size_t set = first; set < end && !rc; set++) {
        nami_verdict v;
        if ((rc = nami_posterior_verdict(post, set, &v, err))) break;
        if (v.verdict > *worst) *worst = v.verdict;
        text_printf(out, "%s\n{\"set\":%zu,\"verdict\":\"%s\",\"reason\":", set > first ? "," : "",
                    set - first + 1, verdict_words[v.verdict]);
        text_quoted(out, v.reason);
        put_member(out, "khat", v.khat), put_member(out, "ess", v.ess);
        put_member(out, "log_evidence", v.log_evidence);
        put_member(out, "log_evidence_se", v.log_evidence_se), put_member(out, "ood_p", v.ood_p);
        if (job->request.route == ROUTE_summary) rc = put_summaries(out, post, view, set, err);
        if (job->request.route == ROUTE_draws) put_draws(out, view, kept, set * draws, draws);
        text_put(out, "}");
    }
    text_put(out, "]}\n");
    return rc;
}

/* ---- CSV ----------------------------------------------------------------------------------------
 */

static int write_summary_csv(struct job *job, const nami_posterior *post, const struct view *view,
                             size_t first, size_t end, int *worst, nami_err *err)
{
    struct text *out = &job->reply.body;
    int rc = 0;
    text_put(out, "set,variable,mean,sd,q5,q25,q50,q75,q95,mcse,ess\n");
    for (size_t set = first; set < end && !rc; set++) {
        nami_verdict v;
        if ((rc = nami_posterior_verdict(post, set, &v, err))) break;
        if (v.verdict > *worst) *worst = v.verdict;
        for (size_t k = 0; k < view->num_scalars && !rc; k++) {
            nami_summary s;
            struct column c[NUM_COLUMNS];
            if ((rc = nami_posterior_summary(post, set, view->name[k], &s, err))) break;
            columns_of(&s, c);
            text_printf(out, "%zu,", set - first + 1);
            text_csv(out, view->name[k]);
            for (int i = 0; i < NUM_COLUMNS; i++) {
                text_bytes(out, ",", 1);
                text_number(out, c[i].value, "NA");
            }
            text_put(out, "\n");
        }
    }
    return rc;
}

static int write_evidence_csv(struct job *job, const nami_posterior *post, size_t first, size_t end,
                              int *worst, nami_err *err)
{
    struct text *out = &job->reply.body;
    int rc = 0;
    text_put(out, "set,log_evidence,log_evidence_se,khat,ess,ood_p,verdict\n");
    for (size_t set = first; set < end && !rc; set++) {
        nami_verdict v;
        if ((rc = nami_posterior_verdict(post, set, &v, err))) break;
        double x[] = {v.log_evidence, v.log_evidence_se, v.khat, v.ess, v.ood_p};
        if (v.verdict > *worst) *worst = v.verdict;
        text_printf(out, "%zu,", set - first + 1);
        for (int i = 0; i < 5; i++) text_number(out, x[i], "NA"), text_put(out, ",");
        text_printf(out, "%s\n", verdict_words[v.verdict]);
    }
    return rc;
}

int answer_write(struct job *job, const nami_posterior *post, const struct view *view,
                 const struct kept *kept, size_t first, size_t end, nami_err *err)
{
    int worst = 0, rc;
    if (job->request.form == FORM_json)
        rc = write_json(job, post, view, kept, first, end, &worst, err);
    else if (job->request.route == ROUTE_summary)
        rc = write_summary_csv(job, post, view, first, end, &worst, err);
    else
        rc = write_evidence_csv(job, post, first, end, &worst, err);
    if (rc) return rc;
    job->reply.status = 200;
    job->reply.type = forms[job->request.form].type;
    job->reply.verdict = verdict_words[worst];
    return 0;
}

void answer_log_q(struct job *job, const double *log_q, size_t num_points)
{
    struct text *out = &job->reply.body;
    int csv = job->request.form == FORM_csv;
    if (csv)
        text_put(out, "set,log_q\n");
    else {
        text_put(out, "{\"network\":");
        text_quoted(out, job->request.name);
        text_put(out, ",\"log_q\":[");
    }
    for (size_t i = 0; i < num_points; i++) {
        if (csv)
            text_printf(out, "%zu,", i + 1);
        else if (i)
            text_put(out, ",");
        text_number(out, log_q[i], csv ? "NA" : "null");
        if (csv) text_put(out, "\n");
    }
    if (!csv) text_put(out, "]}\n");
    job->reply.status = 200;
    job->reply.type = forms[job->request.form].type;
}
