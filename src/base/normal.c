/* normal.c: the quantile of the standard normal distribution by rational functions.

   z = Phi^-1(u) is odd in q = u - 1/2.  With p the smaller of u and 1 - u, which is exact, there
   are four pieces:

       center,    |q| <= 0.4:         z = q (sqrt(2 pi) + t R(0.4^2 - t)),  t = q^2
       shoulder,  2.3 < l <= 4.5:     |z| = 1.25 + R(l - 2.25),             l = -log p
       tail,      3 < r <= 8:         |z| = r - R(r - 3),                   r = sqrt(2 l)
       far tail,  8 < r < 39:         |z| = r - R(r - 8)

   Each R is a ratio of two polynomials of degree 7 that interpolates the true function at 15
   points, those of Chebyshev on a scale that suits the piece (scripts/normal_quantile.py finds it,
   with 50 digits).  All coefficients are positive, as are the arguments, so that no digits cancel;
   and R only corrects a leading term, which damps its rounding errors.  The shoulder does without
   the square root, whose rounding error z would magnify there.

   Relative error of z: below 3e-17 from R.  With rounding, the largest at 12 million random u of
   all sizes was 3.9e-16, near u = 0.013; the mean was 6e-17. */
#include "base/normal.h"

#include <math.h>

enum { DEGREE = 7 };

struct ratio {
    double above[DEGREE + 1], below[DEGREE + 1]; /* coefficients of s^0, s^1, ... */
};

static const struct ratio center = {
    {4.3578164951906295, 136.1983409013821, 1612.6657443631852, 9030.165712419599, 24336.2069226356,
     28396.543494414196, 10386.477676193064, 137.40743995260826},
    {1.0, 36.18244584389527, 515.0419405322137, 3665.1100260584635, 13702.13818755876,
     25884.350844638695, 21572.13483021364, 5548.396236265424}};
static const struct ratio shoulder = {
    {0.0013729290570322409, 0.5798909271537386, 0.6959517261177277, 0.312427578562948,
     0.06489236506923364, 0.006245260895449693, 0.00024181231025428217, 2.4585918484853614e-06},
    {1.0, 1.3406458355562922, 0.6904248410483961, 0.17138880759923733, 0.021061139079082872,
     0.0011756128879767585, 2.3127696156541255e-05, 6.847164465982053e-08}};
static const struct ratio tail = {
    {0.7133796618213903, 0.7787497543199636, 0.3408919289682942, 0.07325478599144138,
     0.007607741597246155, 0.00033150704294520147, 4.2919757406379e-06, 2.6824195397107647e-09},
    {1.0, 1.2892243611436667, 0.6864253973144879, 0.1903625860740538, 0.02847662440405833,
     0.0021603948428787173, 7.041326021516916e-05, 6.607478824527828e-07}};
static const struct ratio far_tail = {
    {0.3798001747447746, 0.11697299735122145, 0.013130695906431462, 0.0006649617066549509,
     1.5318000815353015e-05, 1.4281693753282852e-07, 3.8493843154938213e-10, 4.235157595806797e-14},
    {1.0, 0.3938824228010286, 0.05997509474764546, 0.004454065737762938, 0.00016795164768162166,
     3.0533110732459537e-06, 2.2925497980956564e-08, 4.8031675817500026e-11}};

static double at(const struct ratio *r, double s)
{
    double above = r->above[DEGREE], below = r->below[DEGREE];
    for (int k = DEGREE - 1; k >= 0; k--) {
        above = above * s + r->above[k];
        below = below * s + r->below[k];
    }
    return above / below;
}

double normal_quantile(double u)
{
    const double root = 2.5066282746310007, rest = -1.8328579980459167e-16; /* sqrt(2 pi) */
    double q = u - 0.5, t = q * q;
    if (fabs(q) <= 0.4) return q * root + q * (rest + t * at(&center, 0.16 - t));
    double p = q < 0 ? u : 1 - u;
    if (!(p > 0)) return p == 0 ? copysign(INFINITY, q) : NAN;
    double l = -log(p), r;
    if (l <= 4.5) return copysign(1.25 + at(&shoulder, l - 2.25), q);
    r = sqrt(2 * l);
    return copysign(r - (r <= 8 ? at(&tail, r - 3) : at(&far_tail, r - 8)), q);
}
