/* sim_plugin.c: runs a shared object as a simulator. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "data/simulator_impl.h"
#include "nami_plugin.h"

enum { CHUNK = 1024 }; /* rows a call */

typedef int abi_fn(void);
typedef int simulate_fn(uint64_t seed, uint64_t first, size_t n, const nami_plugin_var *var,
                        int nvar, double *const *out, char *err, size_t errlen);

/* dlopen searches for names without a slash where libraries are. */
static void *open_here(const char *dir, const char *path)
{
    struct str s = {0};
    void *so = NULL;
    if (*path == '/') return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    str_printf(&s, "%s/%s", dir ? dir : ".", path);
    if (!s.oom) so = dlopen(s.s, RTLD_NOW | RTLD_LOCAL);
    str_free(&s);
    return so;
}

static int load(struct sim *m, void **so, simulate_fn **f)
{
    abi_fn *abi;
    *so = open_here(m->s->dir, m->s->command);
    if (!*so) {
        const char *why = dlerror();
        return why ? err_set(m->err, NAMI_EFILE, SIM_NAME "cannot be loaded: %s", m->s->command,
                             why)
                   : err_nomem(m->err);
    }
    *(void **)&abi = dlsym(*so, "nami_plugin_abi");
    *(void **)f = dlsym(*so, "nami_plugin_simulate");
    if (!abi || !*f)
        return sim_bad(m, "has no function %s; see nami_plugin.h", m->s->command,
                       abi ? "nami_plugin_simulate" : "nami_plugin_abi");
    if (abi() != NAMI_PLUGIN_ABI)
        return sim_bad(m,
                       "is made for version %d of nami_plugin.h, but this is version %d; compile "
                       "it again",
                       m->s->command, abi(), NAMI_PLUGIN_ABI);
    return 0;
}

/* Rows first, ..., first + k - 1. */
static int chunk(struct sim *m, simulate_fn *f, const nami_plugin_var *var, double **out,
                 size_t first, size_t k)
{
    char why[256] = "";
    double *p = m->tmp;
    int rc = 0;
    for (int v = 0; v < m->s->nvar; p += k * var[v++].size) out[v] = p;
    for (double *q = m->tmp; q < p; q++) *q = value_missing();
    int code = f(m->seed, first, k, var, m->s->nvar, out, why, sizeof why);
    why[sizeof why - 1] = 0;
    if (code)
        return sim_bad(m, "failed at row %zu: %s (code %d)", m->s->command, first + 1,
                       why[0] ? why : "it does not say why", code);
    for (int v = 0; v < m->s->nvar && !rc; v++)
        rc = sim_scatter(m, &m->s->var[v], first, k, out[v]);
    return rc;
}

int sim_plugin(struct sim *m)
{
    size_t all = 0, rows = m->n < CHUNK ? m->n : CHUNK;
    void *so = NULL;
    simulate_fn *f = NULL;
    nami_plugin_var *var = new_array(nami_plugin_var, m->s->nvar);
    double **out = new_array(double *, m->s->nvar);
    int rc = var && out ? load(m, &so, &f) : err_nomem(m->err);
    for (int v = 0; v < m->s->nvar && !rc; v++) {
        const struct draws_var *w = &m->s->var[v];
        var[v] = (nami_plugin_var){w->name, w->ndim, w->dim, draws_var_size(w)};
        all += var[v].size;
    }
    if (!rc) rc = sim_room(m, all * rows);
    for (size_t i = 0; i < m->n && !rc; i += rows)
        rc = chunk(m, f, var, out, i, m->n - i < rows ? m->n - i : rows);
    if (so) dlclose(so);
    free(var);
    free(out);
    return rc;
}
