/* job_sample.c: posterior inference with a network: writes draws to files, and a summary as a table
   or JSON. */
#include <stdio.h>
#include <string.h>

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
    nami_err err;
    int no = 0;
    for (size_t s = 0; s < nami_posterior_sets(post); s++) {
        if (nami_posterior_verdict(post, s, &v, &err)) return fail(RUNNING, NULL, &err);
        no |= v.verdict == NAMI_NOT_TRUSTED;
    }
    return no ? EXIT_NO : EXIT_YES;
}

static int all_trusted(const nami_posterior *post)
{
    nami_verdict v;
    int good = 1;
    for (size_t s = 0; s < nami_posterior_sets(post); s++)
        good &= !nami_posterior_verdict(post, s, &v, NULL) && v.verdict == NAMI_TRUSTED;
    return good;
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

/* One of several answers, {"sets":[{"set":1,...}]} each, as an item of one list. */
static void print_in_list(const char *text, const struct sample_job *j)
{
    static const char begin[] = "{\"sets\":[{\"set\":1";
    size_t n = strlen(text), first = strlen(begin);
    while (n && text[n - 1] != ']') n--;
    printf("%s{\"set\":%zu%.*s%s", j->number == 1 ? "{\"sets\":[" : ",\n", j->number,
           (int)(n - first - 1), text + first, j->last ? "]}\n" : "");
}

int print_answer(const nami_posterior *post, const struct sample_job *j)
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
    if (j->json && j->number)
        print_in_list(text, j);
    else
        fputs(text, stdout);
    nami_free(text);
    for (int i = 0; i < j->out.n && !j->json; i++)
        printf("%s%s\n", i ? "             " : "written      ", j->out.a[i]);
    if (j->report && !j->json) printf("report       %s\n", j->report);
    return finish_output(code);
}

/* What the method cannot answer is no failure if other ways are left. */
static int give_up(const struct sample_job *j, int what, const char *path, const nami_err *err)
{
    return j->untrusted && err->code == NAMI_EINPUT ? EXIT_NO : fail(what, path, err);
}

/* How long it took, for the reader of the report. */
static int report_on(const nami_network *net, const nami_posterior *post,
                     const struct sample_job *j, double seconds)
{
    char notes[120];
    nami_report_options opt = {.posterior = post, .command = j->command, .notes = notes};
    snprintf(notes, sizeof notes, "times        training %.1f s, posterior draws %.1f s\n",
             j->train_seconds, seconds);
    return write_report(net, &opt, j->report);
}

/* Writes the files and draws. Ctrl-C and SIGTERM cancel it, and no unfinished file is left. */
static int draw(nami_posterior *post, const struct sample_job *j, struct watch *w)
{
    struct sigaction old_int, old_term;
    nami_err err;
    w->stop = &interrupted;
    catch_signal(SIGINT, interrupt, &old_int);
    catch_signal(SIGTERM, interrupt, &old_term);
    int rc = is_first() ? open_files(post, &j->out) : EXIT_YES;
    if (!rc && nami_posterior_run(post, &err)) {
        watch_end(w);
        rc = give_up(j, err.code == NAMI_EFILE ? WRITING : RUNNING, NULL, &err);
    }
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    return rc;
}

/* Sets of different sizes, of an open network: one query each.  JSON has them in one list. */
static int sample_each(const nami_network *net, const nami_data *data, const struct sample_job *j)
{
    size_t n = nami_data_size(data), most = (size_t)j->query.sets;
    int worst = EXIT_YES;
    if (j->out.n)
        return bad_usage("the data sets have different sizes, and '%s' can hold only one; query "
                         "them one by one, or print --json",
                         j->out.a[0]);
    if (most && most < n) n = most;
    for (size_t s = 0; s < n; s++) {
        struct sample_job one = *j;
        nami_data *set;
        nami_err err;
        one.number = s + 1;
        one.last = s + 1 == n;
        if (nami_data_one(data, s, &set, &err)) return fail(RUNNING, NULL, &err);
        if (!j->json && !j->quiet) printf("%sdata set %zu of %zu\n", s ? "\n" : "", s + 1, n);
        int rc = sample_network(net, set, &one);
        nami_data_free(set);
        if (rc > EXIT_NO) return rc;
        if (rc) worst = rc;
    }
    return worst;
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
    query.exchange = team.exchange;
    rc = nami_posterior_new(net, data, &query, &post, &err);
    if (rc == NAMI_EINPUT && !j->number && nami_network_is_open(net) && data &&
        nami_data_size(data) > 1) {
        watch_end(&w);
        return sample_each(net, data, j);
    }
    if (rc)
        rc = give_up(j, err.code == NAMI_EINPUT ? READING : RUNNING,
                     err.code == NAMI_EINPUT && j->data.n == 1 ? file_name(j->data.a[0]) : NULL,
                     &err);
    if (!rc && j->report && nami_posterior_keep(post, 0, &err)) rc = fail(RUNNING, NULL, &err);
    double start = seconds_now();
    if (!rc) rc = draw(post, j, &w);
    watch_end(&w);
    if (!rc && j->untrusted && !all_trusted(post)) {
        *j->untrusted = post;
        return EXIT_NO;
    }
    if (!rc && j->report && is_first()) rc = report_on(net, post, j, seconds_now() - start);
    if (!rc && is_first()) rc = print_answer(post, j);
    nami_posterior_free(post);
    return rc;
}
