/* summary.h: posterior summary of one number from weighted draws. */
#ifndef INFER_SUMMARY_H
#define INFER_SUMMARY_H

#include <stddef.h>

#include "data/summary.h"
#include "nami.h"

/* Of n >= 1 draws x with log weights up to a constant (NULL: equal weights), with w the normalized
   weights:
       mean  m = sum w x
       sd    sum w (x - m)^2 / (1 - sum w^2): unbiased for weights that do not depend on x
       mcse  (n - 1)/n sum (w / (1 - w))^2 (x - m)^2: the jackknife.  Leaving out draw i changes the
   mean by w_i (m - x_i) / (1 - w_i), which remains large if one draw has nearly all the weight, so
   that m is close to x_i.  sd / sqrt n for equal weights ess   (sd / mcse)^2: specific to this
   number; at least 1, at most the effective sample size of the weights, 1 / sum w^2, which is at
   most n q     with n' = 1 / sum w^2 and h = (n' - 1) p, the mean of the quantile function of the
             weighted draws over (h, h + 1) / n': R's type 7 and NumPy's for equal weights
             (Akinshin 2023, arXiv 2304.07265)
   Draws of weight 0 do not count.  All are NaN if another x is NaN or all weights are 0; sd and mcse are NaN, and ess is 1, if one draw
   has all the weight (or n = 1). */
int summarise(size_t n, const double *x, const double *logw, struct summary *out, nami_err *err);

/* The weights of n draws, for the summaries of many numbers. */
struct draw_weight {
    double w, leave_one_out, rounding;
    double copies; /* per draw: w, if the draws are not resampled */
};
struct draw_weights {
    size_t per, n; /* draws; those that have a weight */
    int resampled;
    double sum2;
    size_t *draw;              /* (n) which */
    struct draw_weight *of;    /* (n) */
    double *x;                 /* workspace */
    struct weighted *point;    /* the same */
};
/* logw, copies: or NULL.  With copies (resample.h), mean, sd and q are those of the copies, n in
   total; mcse is that of the weighted draws, and the error of resampling, which is
   sum f (1 - f) (x - m)^2 / n^2 with f the fraction of n w; ess as above.  Call draw_weights_fini()
   also after an error. */
int draw_weights_init(struct draw_weights *d, size_t n, const double *logw, const unsigned *copies,
                      nami_err *err);
void draw_weights_fini(struct draw_weights *d);
void summarise_with(const struct draw_weights *d, const double *x, struct summary *out);

/* For draws in independent islands (infer/smc.h) that are dependent within islands: recomputes mcse
   and ess from the means of the islands, m_k, and their fractions W_k of the weights:
       mcse  (n - 1)/n sum (W_k / (1 - W_k))^2 (m_k - m)^2 over n islands; NaN, and ess is 1, if
             there is one, or one has all the weight
       ess   (sd / mcse)^2, at most what it was */
void summarise_islands(size_t n, const double *x, const double *logw, size_t islands,
                       struct summary *out);

/* ---- its parts, for digest.c -------------------------------------------------------- */

struct weighted {
    double x, w;
};

/* Sorts by x, increasing; tmp: space for n. Returns d or tmp, whichever contains the result. */
struct weighted *weighted_sort(size_t n, struct weighted *d, struct weighted *tmp);
double summary_leave_one_out(double w); /* (w / (1 - w))^2 */
/* (sd / mcse)^2, at least 1 and at most `most`, the effective sample size of the weights. */
double summary_effective(double sd, double mcse, double most);
double summary_rounding(double w, size_t n); /* f (1 - f) / n^2 */
/* Replaces mean and sd of weighted draws by those of n copies, s = sum copies (x - m)^2; r is the
   square of the error of resampling. */
void summary_copies(size_t n, double m, double s, double r, struct summary *out);
/* From n draws: m, s = sum w (x - m)^2, e = sum (w / (1 - w))^2 (x - m)^2 and sum2 = sum w^2. */
void summary_moments(size_t n, double m, double s, double e, double sum2, struct summary *out);
/* Of n >= 1 sorted points whose weights sum to 1; ess is n'. */
void summary_quantiles(size_t n, const struct weighted *d, double ess, struct summary *out);
void summary_unknown(struct summary *out); /* all are NaN */

#endif
