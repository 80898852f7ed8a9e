/* simulator.c: functions shared by commands and plug-ins: storing rows, choosing between the two,
   describing the program.
 */
#include "data/simulator.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/data_impl.h"
#include "data/simulator_impl.h"

int sim_room(struct sim *m, size_t n)
{
    if (n <= m->cap) return 0;
    free(m->tmp);
    m->tmp = raw_array(double, n);
    m->cap = m->tmp ? n : 0;
    return m->tmp ? 0 : err_nomem(m->err);
}

int sim_in_row(struct sim *m, size_t row, const nami_err *e)
{
    if (e->code == NAMI_ENOMEM) return err_nomem(m->err);
    return err_set(m->err, e->code, SIM_NAME "failed in row %zu: %s", m->s->command, row + 1,
                   e->msg);
}

static int missing(struct sim *m, const struct draws_var *v, size_t row, size_t element)
{
    size_t sub[MAX_DIM];
    char path[PATH_MAX_LEN];
    for (int k = v->ndim - 1; k >= 0; element /= (size_t)v->dim[k--])
        sub[k] = element % (size_t)v->dim[k];
    return sim_bad(m, "gave no number for %s in row %zu; a simulator must give all of them",
                   m->s->command, element_path(path, v->name, v->ndim, sub), row + 1);
}

int sim_scatter(struct sim *m, const struct draws_var *v, size_t first, size_t k, const double *p)
{
    size_t size = draws_var_size(v);
    for (size_t i = 0; i < k; i++)
        for (size_t e = 0; e < size; e++) {
            double y = p[i * size + e];
            if (value_is_missing(y)) return missing(m, v, first + i, e);
            m->x[(v->base + e) * m->n + first + i] = y;
        }
    return 0;
}

/* A command may also end in .so: it then contains blanks, and no such file exists. */
static int is_plugin(const char *command)
{
    size_t n = strlen(command);
    return n > 3 && strcmp(command + n - 3, ".so") == 0 &&
           (!strpbrk(command, " \t\n") || access(command, F_OK) == 0);
}

int simulator_run(const struct simulator *s, size_t n, uint64_t seed, double *x, nami_err *err)
{
    struct sim m = {.s = s, .n = n, .seed = seed, .x = x, .err = err, .npy = -1};
    err_clear(err);
    if (n == 0) return 0;
    int rc = is_plugin(s->command) ? sim_plugin(&m) : sim_command(&m);
    free(m.tmp);
    str_free(&m.text);
    return rc;
}

/* ---- what would run ----------------------------------------------------------------- */

/* dir/path, or path if it begins at the root, without links; as it is, if there is no such file. */
static void put_path(const char *dir, const char *path, struct str *out)
{
    struct str s = {0};
    if (*path != '/') str_printf(&s, "%s/", dir ? dir : ".");
    str_put(&s, path);
    char *real = s.oom ? NULL : realpath(s.s, NULL);
    str_put(out, real ? real : s.oom ? path : s.s);
    free(real);
    str_free(&s);
}

/* The program that a shell would find for this name; 0 if there is none. */
static int put_found(const char *name, struct str *out)
{
    const char *path = getenv("PATH");
    for (size_t n; path && *path; path += n + (path[n] == ':')) {
        struct str s = {0};
        n = strcspn(path, ":");
        str_printf(&s, "%.*s/%s", (int)n, path, name);
        int found = n && !s.oom && access(s.s, X_OK) == 0;
        if (found) str_put(out, s.s);
        str_free(&s);
        if (found) return 1;
    }
    return 0;
}

/* The program that the first word of a command refers to; shell syntax is not interpreted. */
static void put_program(const struct simulator *s, struct str *out)
{
    const char *from = s->command + strspn(s->command, " \t\n");
    size_t n = strcspn(from, " \t\n"), plain = strcspn(from, "'\"`$\\=;&|<>(){}*?[]~#");
    struct str word = {0};
    str_putn(&word, from, n);
    if (word.oom || !n || plain < n)
        str_put(out, "/bin/sh");
    else if (strchr(word.s, '/'))
        put_path(s->dir, word.s, out);
    else if (!put_found(word.s, out))
        str_put(out, "/bin/sh");
    str_free(&word);
}

/* Replaces control characters, also non-ASCII ones, by '?': a command from an untrusted file must
   not control the terminal. */
static void make_plain(char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i], next = i + 1 < n ? (unsigned char)s[i + 1] : 0;
        if (c < 0x20 || c == 0x7f) s[i] = '?';
        if (c == 0xc2 && next >= 0x80 && next < 0xa0) s[i] = s[i + 1] = '?';
    }
}

void simulator_describe(const struct simulator *s, struct str *out)
{
    enum { SHOWN = 200 };
    size_t from = out->n, n = strlen(s->command);
    str_printf(out, "'%.*s'%s (", SHOWN, s->command, n > SHOWN ? ", which goes on," : "");
    if (is_plugin(s->command)) {
        put_path(s->dir, s->command, out);
    } else {
        put_program(s, out);
        str_put(out, ", in ");
        put_path(s->dir, ".", out);
    }
    str_put(out, ")");
    if (!out->oom) make_plain(out->s + from, out->n - from);
}
