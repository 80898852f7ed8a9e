/* kind.c: what a file is: a model, a network. */
#include "model/model.h"
#include "train/training.h"

int nami_model_is(const char *path) { return model_file(path); }

int nami_network_is(const char *path) { return training_is(path); }
