/* invert.c: the inverse of a structure, with nothing but nami.h:  invert student.json */
#include <nami.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    nami_err err = {.msg = "which file?"};
    nami_bn *bn = NULL;
    nami_inverse *inv = NULL;
    const int *order;
    if (argc < 2 || nami_bn_read(argv[1], NULL, &bn, &err) || nami_invert(bn, NULL, &inv, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        nami_bn_free(bn);
        return 2;
    }
    int n = nami_inverse_order(inv, &order);
    int *parent = calloc((size_t)nami_bn_size(bn), sizeof *parent);
    for (int i = 0; parent && i < n; i++) {
        int64_t k = nami_inverse_parents(inv, order[i], parent, nami_bn_size(bn));
        printf("q(%s |", nami_bn_name(bn, order[i]));
        for (int64_t j = 0; j < k; j++) printf(" %s", nami_bn_name(bn, parent[j]));
        puts(")");
    }
    puts(nami_inverse_faithful(inv) == 1 ? "faithful" : "not shown to be faithful");
    free(parent);
    nami_inverse_free(inv);
    nami_bn_free(bn);
    return 0;
}
