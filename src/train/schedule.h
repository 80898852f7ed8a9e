/* schedule.h: the learning rate of each step, and when training ends. */
#ifndef TRAIN_SCHEDULE_H
#define TRAIN_SCHEDULE_H

#include "train/train.h"

/* The learning rate of step number `step`, from 0, with the decay at the end. */
double schedule_rate(const struct train *x, uint64_t step);
/* After a validation, which was `better` than those before: the rate is cut, the decay begins, or
   training is done. */
void schedule_validated(struct train *x, int better);
/* After a step: are all steps made, or is the time over? */
void schedule_step(struct train *x);
/* The steps of the whole run, as far as they are known; 0: they are not. */
double schedule_total(const struct train *x);
/* The best weights again, at a lower rate. */
void schedule_cut(struct train *x);
/* The state of a run that was read from a file, for options that may have changed. */
void schedule_resume(struct train *x);
/* Steps between validations. */
int schedule_check(const struct train *x);

#endif
