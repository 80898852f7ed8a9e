/* simulate.c: draws from a model and their densities, with nothing but nami.h:

       simulate schools.nami schools.json */
#include <nami.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    enum { N = 1000 };
    nami_err err = {.msg = "which model?"};
    nami_model_options opt = {0};
    nami_data *values = NULL;
    nami_model *m = NULL;
    int rc = argc < 2 ? NAMI_EUSAGE : nami_data_new(&values, &err);
    for (int i = 2; i < argc && !rc; i++) rc = nami_data_read(values, argv[i], &err);
    opt.data = values;
    if (rc || nami_model_read(argv[1], &opt, &m, &err)) {
        const char *all = m ? nami_model_messages(m) : "";
        fprintf(stderr, "%s%s", *all ? all : err.msg, *all ? "" : "\n");
        nami_model_free(m);
        nami_data_free(values);
        return 2;
    }
    int size = nami_model_size(m);
    double *x = calloc((size_t)size * N, sizeof *x), logp[N], mean = 0;
    rc = x ? nami_model_simulate(m, 1, N, 0, x, &err) : NAMI_ENOMEM;
    for (int s = 0; s < size && !rc; s++) { /* scalar s of draw i is x[s * N + i] */
        double sum = 0;
        for (int i = 0; i < N; i++) sum += x[s * N + i];
        printf("%-10s %8.3f\n", nami_model_scalar_name(m, s), sum / N);
    }
    if (!rc) rc = nami_model_logp(m, N, x, 0, logp, NULL, &err);
    for (int i = 0; i < N && !rc; i++) mean += logp[i] / N;
    if (rc)
        fprintf(stderr, "%s\n", err.msg);
    else
        printf("E log p    %8.3f\n", mean);
    free(x);
    nami_model_free(m);
    nami_data_free(values);
    return rc ? 2 : 0;
}
