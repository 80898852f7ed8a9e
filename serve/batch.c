/* batch.c: answers queries of one network, several by one evaluation.  Each data set has the seed
   of its request, so that its answer is the same, bit for bit, in any company (nami_query.seeds).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job.h"

static int same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Answers that the library writes to a file, and points, are made one by one. */
static int is_alone(const struct job *j)
{
    return j->request.route == ROUTE_log_q || j->request.form == FORM_nc ||
           j->request.form == FORM_npz ||
           (j->request.route == ROUTE_draws && j->request.form == FORM_csv);
}

int jobs_agree(const struct job *a, const struct job *b)
{
    const nami_query *p = &a->request.query, *q = &b->request.query;
    return a->version == b->version && !is_alone(a) && !is_alone(b) && p->draws == q->draws &&
           p->all == q->all && p->predict == q->predict && same_text(p->method, q->method) &&
           same_text(p->only, q->only);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static int too_many(struct job *j, const char *what, double asked, double most)
{
    if (asked <= most) return 0;
    reply_simple(&j->reply, 422, "%.0f %s are asked for, and at most %.0f are given at a time",
                 asked, what, most);
    return 1;
}

static int read_body(struct job *j, const struct serve_options *opt)
{
    nami_err err;
    struct refusal why;
    const char *text = j->body.bytes ? j->body.bytes : "";
    size_t blank = strspn(text, " \t\r\n");
    if (text[blank] != '{' && text[blank] != '[') {
        reply_simple(&j->reply, 400,
                     "the body must be data sets in JSON: an object such as {\"y\": [1, 2]}, a "
                     "list of them, or one in each line");
        return 1;
    }
    int rc = nami_data_new(&j->data, &err);
    if (!rc) rc = nami_data_parse(j->data, text, j->body.size, &err);
    if (rc == NAMI_EINPUT) {
        refuse(&why, 400, "%s", err.msg);
        why.line = err.line, why.col = err.col;
        reply_refusal(&j->reply, &why);
    } else if (rc)
        reply_error(&j->reply, &err);
    else if (!nami_data_size(j->data))
        reply_simple(&j->reply, 400, "the body has no data sets");
    if (j->reply.status) return 1;
    double sets = (double)nami_data_size(j->data);
    j->draws = j->request.route == ROUTE_log_q ? sets : sets * j->request.query.draws;
    double scalars = nami_model_size(nami_network_model(j->version->network));
    return too_many(j, "draws", j->draws, opt->max_draws) ||
           too_many(j, "numbers", j->draws * (scalars + 3), opt->max_values);
}

/* ---- draws ------------------------------------------------------------------------------------
 */

static int keep_init(struct kept *k, const struct view *view, size_t n)
{
    *k = (struct kept){.num_draws = n};
    k->values = malloc(sizeof(double) * (view->num_scalars * n + 1));
    k->log_q = malloc(sizeof(double) * (n + 1));
    k->log_p = malloc(sizeof(double) * (n + 1));
    return k->values && k->log_q && k->log_p ? 0 : NAMI_ENOMEM;
}

static void keep_fini(struct kept *k)
{
    free(k->values), free(k->log_q), free(k->log_p);
    *k = (struct kept){0};
}

/* Draws with equal weights, as files have them: copies[i] of draw i, or, NULL, one of each. */
static void keep_block(struct kept *k, const struct view *view, const nami_block *b,
                       const unsigned *copies)
{
    if (!b->log_p) free(k->log_p), k->log_p = NULL;
    for (size_t i = 0; i < b->num_draws; i++)
        for (unsigned c = copies ? copies[i] : 1; c > 0 && k->num_kept < k->num_draws; c--) {
            size_t to = k->num_kept++;
            for (size_t s = 0; s < view->num_scalars; s++)
                k->values[s * k->num_draws + to] = b->values[view->row[s] * b->num_draws + i];
            k->log_q[to] = b->log_q[i];
            if (k->log_p) k->log_p[to] = b->log_p[i];
        }
}

static int stop_late(const nami_progress *progress, void *user)
{
    (void)progress;
    return clock_seconds() > *(const double *)user;
}

static int make_draws(nami_posterior *post, const struct view *view, struct kept *kept,
                      nami_err *err)
{
    nami_block block;
    int rc;
    while ((rc = nami_posterior_next(post, &block, err)) > 0)
        if (kept->values) keep_block(kept, view, &block, nami_posterior_copies(post));
    return rc;
}

/* ---- one evaluation ---------------------------------------------------------------------------
 */

static int fail_memory(nami_err *err)
{
    *err =
        (nami_err){.code = NAMI_ENOMEM, .msg = "out of memory; ask for fewer draws or data sets"};
    return NAMI_ENOMEM;
}

/* The query of a job, with the service's own threads and default method. */
static nami_query query_of(const struct job *j, const nami_watch *watch)
{
    nami_query query = j->request.query;
    query.threads = 1;
    query.watch = watch;
    if (!query.method) query.method = j->version->method;
    return query;
}

/* Data of all jobs side by side, and their seeds. */
static int join(struct job **jobs, int n, nami_data **data, uint64_t **seeds, size_t *num_sets,
                nami_err *err)
{
    size_t at = 0;
    *num_sets = 0;
    for (int i = 0; i < n; i++) *num_sets += nami_data_size(jobs[i]->data);
    *seeds = malloc(sizeof **seeds * (*num_sets + 1));
    int rc = *seeds ? 0 : fail_memory(err);
    if (!rc && n > 1) rc = nami_data_new(data, err);
    for (int i = 0; i < n && !rc; i++) {
        for (size_t s = 0; s < nami_data_size(jobs[i]->data); s++)
            (*seeds)[at++] = jobs[i]->request.query.seed;
        if (n > 1) rc = nami_data_append(*data, jobs[i]->data, err);
    }
    return rc;
}

static int evaluate(struct job **jobs, int n, nami_err *err)
{
    const nami_network *network = jobs[0]->version->network;
    nami_data *joined = NULL;
    nami_posterior *post = NULL;
    uint64_t *seeds = NULL;
    struct view own = {0};
    struct kept kept = {0};
    size_t num_sets;
    double deadline = 0;
    int draws = 0;
    for (int i = 0; i < n; i++) {
        if (jobs[i]->deadline > deadline) deadline = jobs[i]->deadline;
        draws |= jobs[i]->request.route == ROUTE_draws;
    }
    nami_watch watch = {.progress = stop_late, .user = &deadline};
    nami_query query = query_of(jobs[0], &watch);
    int rc = join(jobs, n, &joined, &seeds, &num_sets, err);
    query.seeds = seeds;
    query.num_seeds = num_sets;
    if (!rc) rc = nami_posterior_new(network, joined ? joined : jobs[0]->data, &query, &post, err);
    const struct view *view = &jobs[0]->version->view;
    if (!rc && (!view->num_scalars || query.only || query.all)) {
        if (view_init(&own, nami_network_model(network), post)) rc = fail_memory(err);
        view = &own;
    }
    if (!rc && draws && keep_init(&kept, view, num_sets * nami_posterior_draws(post)))
        rc = fail_memory(err);
    if (!rc) rc = make_draws(post, view, &kept, err);
    size_t first = 0;
    for (int i = 0; i < n && !rc; i++) {
        size_t end = first + nami_data_size(jobs[i]->data);
        rc = answer_write(jobs[i], post, view, &kept, first, end, err);
        first = end;
    }
    nami_posterior_free(post);
    nami_data_free(joined);
    free(seeds);
    keep_fini(&kept);
    view_fini(&own);
    return rc;
}

/* ---- answers in files, and points -------------------------------------------------------------
 */

static int read_file(const char *path, struct text *out)
{
    char part[1 << 16];
    size_t n;
    FILE *f = fopen(path, "rb");
    if (!f) return NAMI_EFILE;
    while ((n = fread(part, 1, sizeof part, f)) > 0) text_bytes(out, part, n);
    int rc = ferror(f) ? NAMI_EFILE : out->failed ? NAMI_ENOMEM : 0;
    fclose(f);
    return rc;
}

/* The library names files by their ending, and some formats need a file to seek in. */
static int answer_file(struct job *j, nami_err *err)
{
    char folder[256], path[300];
    const char *tmp = getenv("TMPDIR");
    nami_watch watch = {.progress = stop_late, .user = &j->deadline};
    nami_query query = query_of(j, &watch);
    nami_posterior *post = NULL;
    snprintf(folder, sizeof folder, "%.200s/nami-serve-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(folder)) {
        *err = (nami_err){.code = NAMI_EFILE};
        return err->code;
    }
    snprintf(path, sizeof path, "%s/draws.%s", folder, forms[j->request.form].id);
    int rc = nami_posterior_new(j->version->network, j->data, &query, &post, err);
    if (!rc) rc = nami_posterior_write(post, path, err);
    if (!rc) rc = nami_posterior_run(post, err);
    if (!rc && (rc = read_file(path, &j->reply.body)))
        *err = (nami_err){.code = rc, .msg = "out of memory"};
    nami_posterior_free(post);
    unlink(path);
    rmdir(folder);
    if (rc) return rc;
    j->reply.status = 200;
    j->reply.type = forms[j->request.form].type;
    return 0;
}

/* The first scalar of point i that has a factor and no value; NULL if there is none. */
static const char *without_value(const nami_model *model, const double *x, size_t n, size_t i)
{
    for (int s = 0; s < nami_model_size(model); s++)
        if (nami_model_scalar_node(model, s) >= 0 && isnan(x[(size_t)s * n + i]))
            return nami_model_scalar_name(model, s);
    return NULL;
}

static int answer_points(struct job *j, nami_err *err)
{
    const nami_model *model = nami_network_model(j->version->network);
    size_t n = nami_data_size(j->data), size = (size_t)nami_model_size(model);
    double *x = malloc(sizeof *x * (size * n + 1)), *log_q = malloc(sizeof *log_q * (n + 1));
    const char *name = NULL;
    int rc = x && log_q ? 0 : fail_memory(err);
    for (size_t i = 0; i < size * n && !rc; i++) x[i] = NAN;
    for (size_t i = 0; i < n && !rc && !name; i++) {
        rc = nami_model_set_point(model, j->data, i, n, i, x, err);
        if (rc > 0) rc = 0;
        if (!rc) name = without_value(model, x, n, i);
        if (name)
            reply_simple(&j->reply, 422,
                         "data set %zu gives no value for %.80s; log q needs all observed "
                         "and latent variables",
                         i + 1, name);
    }
    if (!rc && !name) rc = nami_network_log_q(j->version->network, n, x, 1, log_q, err);
    if (!rc && !name) answer_log_q(j, log_q, n);
    free(x);
    free(log_q);
    return rc;
}

/* ---- all ---------------------------------------------------------------------------------------
 */

static void answer_one(struct job *j)
{
    nami_err err = {0};
    int rc = j->request.route == ROUTE_log_q ? answer_points(j, &err)
             : is_alone(j)                   ? answer_file(j, &err)
                                             : evaluate(&j, 1, &err);
    if (rc) reply_error(&j->reply, &err);
}

static int method_allowed(struct job *j, const struct serve_options *opt)
{
    const char *method = j->request.query.method;
    for (int i = 0; method && opt->methods[i]; i++)
        if (strcmp(method, opt->methods[i]) == 0) return 1;
    if (!method || j->request.route == ROUTE_log_q) return 1;
    struct text words = {0};
    for (int i = 0; opt->methods[i]; i++)
        text_printf(&words, "%s%s", i ? ", " : "", opt->methods[i]);
    reply_simple(&j->reply, 400,
                 "the method '%.30s' is not offered by this service; choose from: %s", method,
                 words.bytes ? words.bytes : "");
    text_free(&words);
    return 0;
}

void jobs_answer(struct job **jobs, int num_jobs, const struct serve_options *opt)
{
    nami_err err;
    int n = 0;
    double now = clock_seconds();
    for (int i = 0; i < num_jobs; i++) { /* those that can be evaluated come first */
        struct job *j = jobs[i];
        j->queued = now - j->arrived;
        j->batch = num_jobs;
        if (now > j->deadline)
            reply_simple(&j->reply, 503, "the query has waited too long: the service is busy");
        else if (method_allowed(j, opt) && !read_body(j, opt)) {
            jobs[i] = jobs[n];
            jobs[n++] = j;
        }
    }
    double draws = 0;
    for (int i = 0; i < n; i++) draws += jobs[i]->draws;
    /* together too large, or one of them is to blame: each alone */
    if (n > 1 && (draws > opt->max_draws || evaluate(jobs, n, &err)))
        for (int i = 0; i < n; i++) {
            text_free(&jobs[i]->reply.body);
            jobs[i]->reply = (struct reply){0};
            answer_one(jobs[i]);
        }
    else if (n == 1)
        answer_one(jobs[0]);
    for (int i = 0; i < num_jobs; i++) {
        nami_data_free(jobs[i]->data);
        jobs[i]->data = NULL;
        if (jobs[i]->reply.body.failed) reply_simple(&jobs[i]->reply, 503, "out of memory");
    }
}
