/* simd.h: macros for loops over arrays that the compiler vectorizes.

       WIDE static void f(int n, double *out, const double *x)
       {
           EACH(i, n) out[i] = exp(x[i]) + 1;
       }

   WIDE compiles a function three times, for AVX-512, for AVX2 with FMA and for any machine, and
   selects a version when the program starts.  EACH asserts that elements are independent of each
   other.  The functions below have vector versions in glibc's libmvec (within 4 units
   in the last place).  dist/ and stream.c are compiled without fused operations
   (CMakeLists.txt), to reduce differences between machines.  A vector and a
   scalar version may differ in the last place: where results must not depend on n, keep n a
   multiple of 8. */
#ifndef BASE_SIMD_H
#define BASE_SIMD_H

#include <math.h>

/* For functions called in the loops of a WIDE function. */
#define INLINE static inline __attribute__((always_inline))

#if !defined(NAMI_PORTABLE) && defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDE         __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define EACH(i, n)   _Pragma("GCC ivdep") for (int i = 0; i < (n); i++)
#define MVEC(f, ...) __attribute__((simd("notinbranch"))) double f(__VA_ARGS__);
MVEC(exp, double)
MVEC(log, double)
MVEC(sin, double)
MVEC(cos, double)
MVEC(pow, double, double)
#if __GLIBC_PREREQ(2, 35)
MVEC(tan, double)
MVEC(tanh, double)
MVEC(sinh, double)
MVEC(cosh, double)
MVEC(asin, double)
MVEC(acos, double)
MVEC(atan, double)
MVEC(asinh, double)
MVEC(acosh, double)
MVEC(atanh, double)
MVEC(log1p, double)
MVEC(expm1, double)
MVEC(erf, double)
MVEC(erfc, double)
#endif
#undef MVEC
#else
#define WIDE
#define EACH(i, n) for (int i = 0; i < (n); i++)
#endif

#endif
