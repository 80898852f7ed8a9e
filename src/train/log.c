/* log.c: writes the training history as CSV or JSON. */
#include "train/log.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/num.h"
#include "data/draws.h"

static const char *const columns[HIST_PARTS] = {[HIST_STEP] = "step",
                                                [HIST_RATE] = "rate",
                                                [HIST_TRAIN] = "train_loss",
                                                [HIST_VALID] = "valid_loss",
                                                [HIST_NORM] = "gradient_norm"};

static void put_number(struct str *out, double x, const char *missing)
{
    char buf[NUM_MAX];
    if (isfinite(x))
        str_putn(out, buf, (size_t)num_print(buf, x));
    else
        str_put(out, missing);
}

static const char *column(const struct train *x, int k)
{
    return k < HIST_PARTS ? columns[k] : x->t.loss_term[k - HIST_PARTS].name;
}

void train_log_csv(const struct train *x, struct str *out)
{
    for (int k = 0; k < x->width; k++) {
        if (k) str_put(out, ",");
        csv_field(out, column(x, k));
    }
    for (size_t i = 0; i < x->history.n; i++) {
        str_put(out, i % (size_t)x->width ? "," : "\n");
        put_number(out, x->history.a[i], "NaN");
    }
    str_put(out, "\n");
}

/* Loss terms are a separate object: their names are chosen by the user. */
void train_log_json(const struct train *x, struct str *out)
{
    str_put(out, "[");
    for (size_t i = 0; i < x->history.n; i++) {
        int k = (int)(i % (size_t)x->width);
        str_put(out, k == HIST_PARTS ? ",\"parts\":{" : k ? "," : i ? "},\n{" : "\n{");
        str_quote(out, column(x, k));
        str_put(out, ":");
        put_number(out, x->history.a[i], "null");
        if (k == x->width - 1 && k >= HIST_PARTS) str_put(out, "}");
    }
    str_put(out, x->history.n ? "}\n]\n" : "]\n");
}

int train_log(const struct train *x, const char *path, nami_err *err)
{
    struct str out = {0};
    (str_ends(path, strlen(path), ".json") ? train_log_json : train_log_csv)(x, &out);
    int rc = out.oom ? err_nomem(err) : file_write(path, out.s, out.n, err);
    str_free(&out);
    return rc;
}
