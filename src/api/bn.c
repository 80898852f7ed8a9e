/* bn.c: copies of structures, and the small questions of nami.h about them. */
#include <string.h>

#include "base/err.h"
#include "model/bn.h"

int nami_bn_copy(const nami_bn *bn, nami_bn **out, nami_err *err)
{
    err_clear(err);
    *out = bn_copy(bn);
    return *out ? 0 : err_nomem(err);
}

void nami_bn_free(nami_bn *bn) { bn_free(bn); }

int nami_bn_size(const nami_bn *bn) { return bn_n(bn); }

static int is_node(const nami_bn *bn, int node) { return node >= 0 && node < bn_n(bn); }

const char *nami_bn_name(const nami_bn *bn, int node)
{
    return is_node(bn, node) ? bn_name(bn, node) : NULL;
}

int nami_bn_find(const nami_bn *bn, const char *name) { return bn_find(bn, name, strlen(name)); }

int nami_bn_parents(const nami_bn *bn, int node, const int **parents)
{
    if (!is_node(bn, node)) return NAMI_EUSAGE;
    if (parents) *parents = bn->dag.p + bn->dag.pp[node];
    return bn->dag.pp[node + 1] - bn->dag.pp[node];
}

int nami_bn_observed(const nami_bn *bn, int node)
{
    return is_node(bn, node) && bn->node.a[node].observed;
}
