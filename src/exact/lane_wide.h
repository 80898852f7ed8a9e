/* lane_wide.h: groups of lanes that kernels of dense matrices process at a time. */
#ifndef EXACT_LANE_WIDE_H
#define EXACT_LANE_WIDE_H

#include <stdint.h>

#include "base/simd.h"

/* Functions that return groups are always inlined: their ABI does not matter. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

enum { WIDTH = 4 };
typedef double wide __attribute__((vector_size(WIDTH * sizeof(double)), may_alias));
typedef int64_t mask __attribute__((vector_size(WIDTH * sizeof(int64_t))));
#define AT(p) (*(wide *)(p))
#define OF(p) (*(const wide *)(p))

#endif
