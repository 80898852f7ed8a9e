#include "infer/spd.h"

#include <math.h>
#include <stddef.h>

int spd_factor(int n, double *a)
{
    for (int j = 0; j < n; j++) {
        double *u = a + (size_t)j * (size_t)n, pivot = u[j];
        if (!(pivot > 0) || !isfinite(pivot)) return -1;
        double s = 1 / sqrt(pivot);
        for (int i = j; i < n; i++) u[i] *= s;
        for (int i = j + 1; i < n; i++) { /* A_i. -= U_ji U_j. */
            double *ai = a + (size_t)i * (size_t)n, c = u[i];
            for (int l = i; l < n; l++) ai[l] -= c * u[l];
        }
    }
    return 0;
}

void spd_forward(int n, const double *u, double *x)
{
    for (int j = 0; j < n; j++, u += n) {
        x[j] /= u[j];
        for (int i = j + 1; i < n; i++) x[i] -= u[i] * x[j];
    }
}

void spd_back(int n, const double *u, double *x)
{
    for (int j = n; j-- > 0;) {
        const double *uj = u + (size_t)j * (size_t)n;
        for (int i = j + 1; i < n; i++) x[j] -= uj[i] * x[i];
        x[j] /= uj[j];
    }
}
