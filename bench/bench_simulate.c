/* bench_simulate MODEL DRAWS THREADS [--set NAME=VALUE]... [DATA]...: seconds for so many forward
   draws, the median of five, each draw into memory that is used again, as by one who looks at draws
   and forgets them. */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "model/eval.h"
#include "model/model.h"

enum { REPS = 5, MOST = 16 };

int main(int argc, char **argv)
{
    const char *data[MOST], *set[MOST];
    int ndata = 0;
    struct model_options opt = {.set = set};
    struct model m = {0};
    nami_err err = {0};
    double t[REPS];
    if (argc < 4 || argc > MOST) {
        fprintf(stderr,
                "usage: bench_simulate MODEL DRAWS THREADS [--set NAME=VALUE]... [DATA]...\n");
        return 2;
    }
    for (int i = 4; i < argc; i++) {
        if (strcmp(argv[i], "--set") == 0 && i + 1 < argc)
            set[opt.nset++] = argv[++i];
        else
            data[ndata++] = argv[i];
    }
    int rc = model_read(&m, argv[1], data, ndata, &opt, &err);
    for (int i = 0; i < REPS && !rc; i++) {
        t[i] = now(CLOCK_MONOTONIC);
        rc = model_simulate(&m, 0, 0, strtoul(argv[2], NULL, 10), atoi(argv[3]), NULL, &err);
        t[i] = now(CLOCK_MONOTONIC) - t[i];
    }
    if (rc)
        fprintf(stderr, "bench_simulate: %s\n", err.msg);
    else
        printf("%.6g\n", median(t, REPS));
    model_fini(&m);
    return rc ? 1 : 0;
}
