/* log.h: the training history, one row for each validation: CSV or JSON, by file extension. */
#ifndef TRAIN_LOG_H
#define TRAIN_LOG_H

#include "base/str.h"
#include "train/train.h"

void train_log_csv(const struct train *x, struct str *out);
void train_log_json(const struct train *x, struct str *out); /* a list of objects */
/* Writes the file atomically, in the format of its extension. */
int train_log(const struct train *x, const char *path, nami_err *err);

#endif
