/* log.h: the training history, one row for each validation: CSV, or JSON by its ending. */
#ifndef TRAIN_LOG_H
#define TRAIN_LOG_H

#include "base/str.h"
#include "train/train.h"

void train_log_csv(const struct train *x, struct str *out);
void train_log_json(const struct train *x, struct str *out); /* a list of objects */
/* By the ending of path, written at once. */
int train_log(const struct train *x, const char *path, nami_err *err);

#endif
