/* normal.h: the quantile of the standard normal distribution, for draws and for probit(). */
#ifndef BASE_NORMAL_H
#define BASE_NORMAL_H

/* The z with Phi(z) = u, with a relative error below 4e-16 (measured, see normal.c); -INFINITY at
   0, INFINITY at 1, NaN outside [0, 1].  normal_quantile(1 - u) is exactly -normal_quantile(u)
   where 1 - u is exact. */
__attribute__((const)) double normal_quantile(double u);

#endif
