/* num.c: writes numbers as text, short and exact.
   Most numbers are m 2^e with 1e-11 <= |x| < 1e15: there, x 10^k = m 5^k 2^(e+k) is exact
   in 128 bits, and so are its rounding to p digits and the test that they read back as x.
   This is 20 times as fast as printf and strtod, which do the others. */
#include "base/num.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

static uint64_t power(uint64_t b, int k)
{
    uint64_t r = 1;
    for (; k > 0; k--) r *= b;
    return r;
}

/* Digits as %g has them: d.ddd, without zeros at the end; 10^e10 <= |x| < 10^(e10 + 1). */
static int layout(char *buf, int negative, uint64_t digits, int p, int e10)
{
    char d[24] = {0};
    int n = 0, point, k = p;
    for (; k > 1 && digits % 10 == 0; k--) digits /= 10;
    for (int i = k; i-- > 0; digits /= 10) d[i] = (char)('0' + digits % 10);
    if (negative) buf[n++] = '-';
    if (e10 < -4) {
        point = 1;
    } else if (e10 < 0) {
        buf[n++] = '0';
        buf[n++] = '.';
        for (int i = -1; i > e10; i--) buf[n++] = '0';
        point = k;
    } else {
        point = e10 + 1;
    }
    for (int i = 0; i < k || (i < point && e10 >= 0); i++) {
        if (i == point) buf[n++] = '.';
        buf[n] = '0';
        if (i < k) buf[n] = d[i];
        n++;
    }
    if (e10 < -4) {
        buf[n++] = 'e';
        buf[n++] = '-';
        buf[n++] = (char)('0' + -e10 / 10);
        buf[n++] = (char)('0' + -e10 % 10);
    }
    buf[n] = 0;
    return n;
}

/* x = m 2^e, rounded to p digits, half to even; 0 if these do not read back as x. */
static uint64_t round_to(uint64_t m, int e, int p, int *e10)
{
    int k = p - 1 - *e10, s = -(e + k); /* s > 0 in the range of exact() */
    uint64_t five = power(5, k), top = power(10, p);
    wide x = (wide)m * five, half = (wide)1 << (s - 1);
    uint64_t d = (uint64_t)(x >> s);
    wide rest = x - ((wide)d << s);
    if (rest > half || (rest == half && d % 2)) d++;
    wide back = (wide)d << s, gap = back > x ? back - x : x - back;
    /* reals nearer than half a unit of m are read as x; below a power of 2, a quarter */
    int quarter = m == (uint64_t)1 << 52 && back < x;
    if ((gap << (1 + quarter)) >= five) return 0;
    if (d == top) {
        d /= 10;
        ++*e10;
    }
    return d;
}

static int exact(char *buf, double x)
{
    uint64_t bits, m;
    memcpy(&bits, &x, 8);
    int e = (int)(bits >> 52 & 0x7FF) - 1075, e10;
    m = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    e10 = (int)floor((e + 52) * 0.30102999566398120); /* or one more */
    if (e10 < 14 && fabs(x) >= 1) {
        if ((double)power(10, e10 + 1) <= fabs(x)) e10++;
    } else if (fabs(x) < 1) {
        int k = -(e10 + 1); /* 10^-k <= |x|: m 5^k 2^(e+k) >= 1 */
        if (k >= 0 && (wide)m * power(5, k) >> -(e + k)) e10++;
    }
    for (int p = 15; p <= 17; p++) {
        int at = e10;
        uint64_t d = round_to(m, e, p, &at);
        if (d) return layout(buf, bits >> 63 != 0, d, p, at);
    }
    return 0;
}

/* |x| < 1e15; "-0" is a number of its own. */
static int whole(char *buf, double x)
{
    char d[16];
    int n = 0, k = 0;
    uint64_t a = (uint64_t)fabs(x);
    do d[k++] = (char)('0' + a % 10);
    while (a /= 10);
    if (signbit(x)) buf[n++] = '-';
    while (k > 0) buf[n++] = d[--k];
    buf[n] = 0;
    return n;
}

int num_print(char buf[NUM_MAX], double x)
{
    double a = fabs(x);
    int n = 0;
    if (a < 1e15 && a == floor(a)) return whole(buf, x);
    if (a >= 1e-11 && a < 1e15) n = exact(buf, x);
    for (int p = 15; !n && p <= 17; p++) {
        n = snprintf(buf, NUM_MAX, "%.*g", p, x);
        if (p < 17 && strtod(buf, NULL) != x) n = 0;
    }
    return n;
}
