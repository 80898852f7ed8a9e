/* spd.h: symmetric positive definite matrices, upper triangle by rows: a[i * n + j], j >= i. */
#ifndef INFER_SPD_H
#define INFER_SPD_H

/* a = U' U, in place.  -1 if a is not positive definite. */
int spd_factor(int n, double *a);
/* In place: x := U'^-1 x, so that its square is x' a^-1 x; then x := U^-1 x. */
void spd_forward(int n, const double *u, double *x);
void spd_back(int n, const double *u, double *x);

#endif
