/* train.c: trains an inference network for a model, with a loop of its own and nothing but nami.h:

       train tree.net tree.nami tree.json

   The gradients of several machines would be averaged between nami_trainer_gradient and
   nami_trainer_apply: nami_trainer_size(t) floats at nami_trainer_grads(t).  All latents are
   learned, also those that could be integrated out. */
#include <math.h>
#include <nami.h>
#include <stdio.h>

enum { STEPS = 500 };

static int train(nami_trainer *t, nami_err *err)
{
    for (int step = 0; step <= STEPS; step++) {
        double loss, rate = 0.002 * (1 - (double)step / STEPS);
        int rc = 0;
        if (step % 100 == 0) {
            if ((rc = nami_trainer_loss(t, 0, NULL, &loss, err))) return rc;
            printf("step %4d   loss %8.4f\n", step, loss);
        }
        if ((rc = nami_trainer_gradient(t, 0, NULL, &loss, err))) return rc;
        if (isfinite(loss)) rc = nami_trainer_apply(t, rate, err);
        if (rc) return rc;
    }
    for (int i = 0; i < nami_trainer_parts(t); i++)
        printf("%-10s %8.4f\n", nami_trainer_part_name(t, i), nami_trainer_part_loss(t, i));
    return 0;
}

int main(int argc, char **argv)
{
    nami_err err = {.msg = "which network, and which model?"};
    nami_model_options data = {0};
    nami_data *values = NULL;
    nami_options invert = {.exact = "none"};
    nami_train_options opt = {.hidden = "64,64", .batch = 128, .valid = 2048, .seed = 1};
    nami_model *m = NULL;
    nami_trainer *t = NULL;
    int rc = argc < 3 ? NAMI_EUSAGE : nami_data_new(&values, &err);
    for (int i = 3; i < argc && !rc; i++) rc = nami_data_read(values, argv[i], &err);
    data.data = values;
    if (!rc) rc = nami_model_read(argv[2], &data, &m, &err);
    if (!rc) rc = nami_trainer_new(m, &invert, &opt, &t, &err);
    if (!rc) rc = train(t, &err);
    if (!rc) rc = nami_trainer_save(t, argv[1], &err);
    if (rc) fprintf(stderr, "%s\n", err.msg);
    nami_trainer_free(t);
    nami_model_free(m);
    nami_data_free(values);
    return rc ? 2 : 0;
}
