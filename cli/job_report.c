/* job_report.c: writes a report, for 'nami report' and the end of 'nami run'. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jobs.h"

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

char *command_line(const char *command, int narg, char **arg, const struct opt_many *data)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f) return NULL;
    fprintf(f, "nami %s", command);
    for (int i = 0; i < narg; i++) fprintf(f, " %s", arg[i]);
    for (int i = 0; i < data->n; i++) fprintf(f, " --data %s", data->a[i]);
    return fclose(f) ? free(text), NULL : text;
}

int write_report(const nami_network *net, const nami_report_options *opt, const char *path)
{
    char *html = NULL;
    size_t size;
    nami_err err;
    if (nami_report_html(net, opt, &html, &size, &err)) return fail(RUNNING, NULL, &err);
    int rc = nami_file_write(path, html, size, &err) ? fail(WRITING, path, &err) : EXIT_YES;
    nami_free(html);
    return rc;
}

char *path_of(const char *path, int keep_folder, const char *ending)
{
    const char *slash = strrchr(path, '/'), *from = slash && !keep_folder ? slash + 1 : path;
    const char *dot = strrchr(slash ? slash : from, '.');
    int stem = (int)(dot && dot > from ? (size_t)(dot - from) : strlen(from));
    size_t size = (size_t)stem + strlen(ending) + 1;
    char *out = malloc(size);
    if (out) snprintf(out, size, "%.*s%s", stem, from, ending);
    return out;
}
