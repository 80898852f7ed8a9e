/* job_sample.c: posterior inference with a network: writes draws to files, and a summary as a table
   or JSON. */
#include <stdio.h>

#include "jobs.h"
#include "watch.h"

static volatile sig_atomic_t interrupted;
static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

static int open_files(nami_posterior *post, const struct opt_many *files)
{
    nami_err err;
    for (int i = 0; i < files->n; i++)
        if (nami_posterior_write(post, files->a[i], &err))
            return fail(err.code == NAMI_EUSAGE ? RUNNING : WRITING, files->a[i], &err);
    return EXIT_YES;
}

/* EXIT_NO if one of the answers is not trusted. */
static int judge(const nami_posterior *post)
{
    nami_verdict v;
    for (size_t s = 0; s < nami_posterior_sets(post); s++)
        if (nami_posterior_verdict(post, s, &v, NULL) || v.verdict == NAMI_NOT_TRUSTED)
            return EXIT_NO;
    return EXIT_YES;
}

/* Warns even if nothing else is printed. */
static void warn_untrusted(const nami_posterior *post)
{
    size_t sets = nami_posterior_sets(post), bad = 0;
    nami_verdict v, first = {0};
    for (size_t s = 0; s < sets; s++) {
        if (nami_posterior_verdict(post, s, &v, NULL) || v.verdict != NAMI_NOT_TRUSTED) continue;
        if (!bad++) first = v;
    }
    if (bad && sets == 1)
        warn("the answer is not trusted: %s", first.reason);
    else if (bad)
        warn("%zu of %zu answers are not trusted; the first: %s", bad, sets, first.reason);
}

static int print_answer(const nami_posterior *post, const struct sample_job *j)
{
    int code = judge(post);
    nami_err err;
    char *text;
    if (j->quiet && !j->json) {
        warn_untrusted(post);
        return code;
    }
    if (nami_posterior_describe(post, j->json ? "json" : "text", &text, &err))
        return fail(RUNNING, NULL, &err);
    fputs(text, stdout);
    nami_free(text);
    for (int i = 0; i < j->out.n && !j->json; i++)
        printf("%s%s\n", i ? "             " : "written      ", j->out.a[i]);
    return finish_output(code);
}

/* Writes the files and draws. Ctrl-C and SIGTERM cancel it, and no unfinished file is left. */
static int draw(nami_posterior *post, const struct sample_job *j, struct watch *w)
{
    struct sigaction old_int, old_term;
    nami_err err;
    w->stop = &interrupted;
    catch_signal(SIGINT, interrupt, &old_int);
    catch_signal(SIGTERM, interrupt, &old_term);
    int rc = open_files(post, &j->out);
    if (!rc && nami_posterior_run(post, &err)) {
        watch_end(w);
        rc = fail(err.code == NAMI_EFILE ? WRITING : RUNNING, NULL, &err);
    }
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    return rc;
}

int sample_network(const nami_network *net, const nami_data *data, const struct sample_job *j)
{
    nami_query query = j->query;
    nami_posterior *post = NULL;
    nami_err err;
    struct watch w;
    int rc = EXIT_YES;
    watch_begin(&w, j->quiet);
    query.watch = &w.library;
    if (nami_posterior_new(net, data, &query, &post, &err))
        rc = fail(err.code == NAMI_EINPUT ? READING : RUNNING,
                  err.code == NAMI_EINPUT && j->data.n == 1 ? file_name(j->data.a[0]) : NULL, &err);
    if (!rc) rc = draw(post, j, &w);
    watch_end(&w);
    if (!rc) rc = print_answer(post, j);
    nami_posterior_free(post);
    return rc;
}
