/* study.c: a study: its settings, its jobs and their result files; the table of experiments. */
#include "study/study.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/json.h"

const struct experiment *const experiments[] = {
#define STUDY(id) &study_##id,
#include "study/study.def"
#undef STUDY
    NULL};

const struct experiment *experiment_by_name(const char *name)
{
    for (int i = 0; experiments[i]; i++)
        if (strcmp(experiments[i]->name, name) == 0) return experiments[i];
    return NULL;
}

int study_count(const struct measure *m)
{
    int n = 0;
    while (m[n].name) n++;
    return n;
}

int measure_find(const struct measure *m, const char *name)
{
    for (int i = 0; m[i].name; i++)
        if (strcmp(m[i].name, name) == 0) return i;
    return -1;
}

void job_end(struct job *j, const char *name, double value)
{
    int k = measure_find(j->x->end, name);
    if (k >= 0) j->end[k] = value;
}

/* ---- a job's file: JSON ------------------------------------------------------------------- */

static void put_number(struct str *out, double x)
{
    if (isfinite(x))
        str_printf(out, "%.17g", x);
    else
        str_put(out, "null");
}

int job_save(const struct study *s, const struct job *j, nami_err *err)
{
    struct str out = {0};
    size_t rows = job_epochs(s, j), n = (size_t)s->nepoch;
    str_put(&out, "{\"variant\":");
    str_quote(&out, j->v->name);
    str_printf(&out, ",\"run\":%d,\"seed\":%llu,\n\"epoch\":{", j->run,
               (unsigned long long)j->seed);
    for (int k = 0; k < s->nepoch; k++) {
        str_printf(&out, "%s\n\"%s\":[", k ? "," : "", s->x->epoch[k].name);
        for (size_t i = 0; i < rows; i++) {
            if (i) str_put(&out, ",");
            put_number(&out, j->epoch.a[i * n + (size_t)k]);
        }
        str_put(&out, "]");
    }
    str_put(&out, "},\n\"end\":{");
    for (int k = 0; k < s->nend; k++) {
        str_printf(&out, "%s\"%s\":", k ? "," : "", s->x->end[k].name);
        put_number(&out, j->end[k]);
    }
    str_put(&out, "}}\n");
    int rc = out.oom ? err_nomem(err) : file_save(j->path, out.s, out.n, err);
    if (!rc) unlink(j->part_path);
    str_free(&out);
    return rc;
}

static double number_of(const json_t *x) { return json_is_number(x) ? json_number_value(x) : NAN; }

/* 1 if it is not a result of this study. */
static int take(const struct study *s, struct job *j, const json_t *o)
{
    const json_t *epoch = json_object_get(o, "epoch"), *end = json_object_get(o, "end");
    size_t rows = (size_t)s->s.epochs, n = (size_t)s->nepoch;
    if (json_integer_value(json_object_get(o, "seed")) != (json_int_t)j->seed) return 1;
    if (vec_reserve(&j->epoch, rows * n + 1)) return NAMI_ENOMEM;
    for (int k = 0; k < s->nepoch; k++) {
        const json_t *a = json_object_get(epoch, s->x->epoch[k].name);
        if (json_array_size(a) != rows) return 1;
        for (size_t i = 0; i < rows; i++)
            j->epoch.a[i * n + (size_t)k] = number_of(json_array_get(a, i));
    }
    for (int k = 0; k < s->nend; k++) {
        const json_t *x = json_object_get(end, s->x->end[k].name);
        if (!x) return 1;
        j->end[k] = number_of(x);
    }
    j->epoch.n = rows * n;
    return 0;
}

int job_load(const struct study *s, struct job *j, nami_err *err)
{
    struct str text = {0};
    int rc = access(j->path, F_OK) ? 1 : file_read(j->path, &text, err);
    if (!rc) {
        struct json_why why;
        json_t *o = json_read(text.s ? text.s : "", text.n, 0, &why);
        rc = o ? take(s, j, o) : why.code == json_error_out_of_memory ? NAMI_ENOMEM : 1;
        json_decref(o);
        if (rc < 0) err_nomem(err);
    }
    str_free(&text);
    return rc;
}

/* ---- settings ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t at;
} numbers[] = {
#define ROW(field) {#field, offsetof(struct settings, field)},
    ROW(epochs) ROW(steps) ROW(batch) ROW(cut) ROW(size) ROW(sets) ROW(draws) ROW(judge) ROW(temps)
        ROW(chains) ROW(leapfrog) ROW(params) ROW(percent)
#undef ROW
};

/* "epochs=100" */
static int change(struct settings *s, const char *set, nami_err *err)
{
    size_t n = strcspn(set, "=");
    char *end = NULL;
    long x = set[n] ? strtol(set + n + 1, &end, 10) : 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strlen(numbers[i].name) == n && memcmp(numbers[i].name, set, n) == 0) {
            if (x < 1 || x > 1 << 30 || *end)
                return err_set(err, NAMI_EUSAGE, "%.40s: a number from 1 on is wanted", set);
            *(int *)((char *)s + numbers[i].at) = (int)x;
            return 0;
        }
    struct str all = {0};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        str_printf(&all, "%s%s", i ? ", " : "", numbers[i].name);
    int rc = all.oom ? err_nomem(err)
                     : err_set(err, NAMI_EUSAGE, "there is no setting '%.*s', but these: %s",
                               n < 40 ? (int)n : 40, set, all.s);
    str_free(&all);
    return rc;
}

static void put_variant(const struct variant *v, struct str *out)
{
    const struct net_options *n = &v->net;
    str_put(out, "{\"name\":");
    str_quote(out, v->name);
    str_printf(out, ",\"method\":\"%s\",\"mode\":\"%s\",\"added\":%d,\"net\":\"%s\",\"hidden\":[",
               v->method, v->mode ? v->mode : "best", v->added, arch_name(n->arch));
    for (int i = 0; i < n->nhidden && !v->fit; i++)
        str_printf(out, "%s%d", i ? "," : "", n->hidden[i]);
    str_printf(out, "],\"layers\":%d,\"fit\":%d,\"activation\":\"%s\",\"family\":\"%s\",",
               n->nhidden, v->fit, act_names[n->act], n->family ? n->family->name : "match");
    str_printf(out, "\"components\":%d,\"skip\":%d,\"shared\":%d}", n->size, n->skip, n->shared);
}

/* All settings that the result of a job depends on, except for the run. */
static void put_settings(const struct study *s, struct str *out)
{
    str_printf(out, "{\"experiment\":\"%s\",\n\"seed\":%llu,\n\"rate\":%.17g,\n", s->x->name,
               (unsigned long long)s->opt.seed, s->s.rate);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        str_printf(out, "\"%s\":%d,\n", numbers[i].name,
                   *(const int *)((const char *)&s->s + numbers[i].at));
    str_put(out, "\"variants\":[");
    for (int v = 0; v < s->nvariant; v++) {
        str_put(out, v ? ",\n" : "\n");
        put_variant(&s->x->variant[v], out);
    }
    str_put(out, "]}\n");
}

static int make_folder(const char *path, nami_err *err)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return 0;
    return err_set(err, NAMI_EFILE, "cannot make the folder %.300s: %s", path, strerror(errno));
}

static int settle(const struct study *s, nami_err *err)
{
    struct str want = {0}, have = {0}, path = {0}, runs = {0};
    put_settings(s, &want);
    str_printf(&path, "%s/settings.json", s->opt.dir);
    str_printf(&runs, "%s/runs", s->opt.dir);
    int rc = want.oom || path.oom || runs.oom ? err_nomem(err) : make_folder(s->opt.dir, err);
    if (!rc) rc = make_folder(runs.s, err);
    if (!rc && access(path.s, F_OK)) {
        rc = file_save(path.s, want.s, want.n, err);
    } else if (!rc && !(rc = file_read(path.s, &have, err))) {
        if (have.n != want.n || memcmp(have.s, want.s, want.n) != 0)
            rc = err_set(
                err, NAMI_EUSAGE,
                "%.200s holds results of other settings (settings.json); give another folder, "
                "or the options that it was made with",
                s->opt.dir);
    }
    str_free(&want);
    str_free(&have);
    str_free(&path);
    str_free(&runs);
    return rc;
}

/* ---- all ------------------------------------------------------------------------------------ */

/* Is the name in the list? */
static int is_in(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
        if (strcspn(list, ",") == n && memcmp(list, name, n) == 0) return 1;
    return 0;
}

static int check_only(const struct study *s, nami_err *err)
{
    int n = 0, commas = 0;
    if (!s->opt.only) return 0;
    for (const char *c = s->opt.only; *c; c++) commas += *c == ',';
    for (int v = 0; v < s->nvariant; v++) n += is_in(s->opt.only, s->x->variant[v].name);
    if (n == commas + 1) return 0;
    struct str all = {0};
    for (int v = 0; v < s->nvariant; v++)
        str_printf(&all, "%s%s", v ? ", " : "", s->x->variant[v].name);
    int rc = all.oom
                 ? err_nomem(err)
                 : err_set(err, NAMI_EUSAGE, "the variants of %s are %.400s", s->x->name, all.s);
    str_free(&all);
    return rc;
}

static int add_job(struct study *s, int run, const struct variant *v, nami_err *err)
{
    struct job *j = &s->job[s->njob++];
    struct str path = {0}, part = {0};
    *j = (struct job){.x = s->x, .v = v, .s = &s->s, .data = s->opt.data, .run = run, .in = s};
    j->seed = s->opt.seed + (uint64_t)run;
    j->end = arena_array(&s->mem, double, s->nend + 1);
    str_printf(&path, "%s/runs/%s-%02d.json", s->opt.dir, v->name, run);
    str_printf(&part, "%s/runs/%s-%02d.part", s->opt.dir, v->name, run);
    j->path = path.oom ? NULL : arena_strndup(&s->mem, path.s, path.n);
    j->part_path = part.oom ? NULL : arena_strndup(&s->mem, part.s, part.n);
    str_free(&path);
    str_free(&part);
    if (!j->end || !j->path || !j->part_path) return err_nomem(err);
    int rc = job_load(s, j, err);
    j->done = rc == 0;
    j->left_out = s->opt.only && !is_in(s->opt.only, v->name);
    if (rc < 0) return rc;
    for (int k = 0; k < s->nend && rc; k++) j->end[k] = NAN;
    return 0;
}

int study_new(const struct experiment *x, const struct study_options *opt, struct study **out,
              nami_err *err)
{
    struct study *s = *out = new_array(struct study, 1);
    if (!s) return err_nomem(err);
    *s = (struct study){.x = x, .opt = *opt, .s = opt->quick ? x->quick : x->full};
    while (x->variant[s->nvariant].name) s->nvariant++;
    s->nepoch = study_count(x->epoch);
    s->nend = study_count(x->end);
    int rc = 0;
    for (int i = 0; i < opt->nset && !rc; i++) rc = change(&s->s, opt->set[i], err);
    if (!rc) rc = check_only(s, err);
    if (!rc) rc = settle(s, err);
    if (rc) return rc;
    s->job = arena_array(&s->mem, struct job, (size_t)opt->runs * (size_t)s->nvariant + 1);
    if (!s->job) return err_nomem(err);
    for (int r = 1; r <= opt->runs && !rc; r++)
        for (int v = 0; v < s->nvariant && !rc; v++) rc = add_job(s, r, &x->variant[v], err);
    return rc;
}
