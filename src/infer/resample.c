/* resample.c: systematic resampling of weighted draws, block by block. */
#include "infer/resample.h"

#include <math.h>

/* Draw i has those of the points (k + 1/2) / per, k = 0, 1, ..., that lie between the weight of the
   draws before it and that of the draws up to it. */
int resample(struct resample *r, size_t per, size_t n, const double *logw, unsigned *copies)
{
    int once = 1;
    for (size_t i = 0; i < n; i++) {
        r->below += exp(logw[i]);
        r->seen++;
        double upto = floor(r->below * (double)per + 0.5);
        size_t end = upto < (double)per && r->seen < per ? (size_t)upto : per;
        copies[i] = end > r->given ? (unsigned)(end - r->given) : 0;
        r->given += copies[i];
        once &= copies[i] == 1;
    }
    return once;
}
