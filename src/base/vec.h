/* vec.h: dynamic arrays.

       vec(int) v = {0};
       if (vec_push(&v, 7)) goto nomem;
       vec_free(&v);

   vec_push and vec_reserve return 0, or -1 if out of memory (the array is then unchanged). */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stddef.h>

#define vec(T)                                                                                     \
    struct {                                                                                       \
        T *a;                                                                                      \
        size_t n, cap;                                                                             \
    }

int vec_grow_(void **a, size_t *cap, size_t need, size_t size);

#define vec_reserve(v, need)                                                                       \
    ((need) <= (v)->cap ? 0 : vec_grow_((void **)&(v)->a, &(v)->cap, (need), sizeof *(v)->a))
#define vec_push(v, x) (vec_reserve(v, (v)->n + 1) ? -1 : ((v)->a[(v)->n++] = (x), 0))
#define vec_free(v)    (free((v)->a), (v)->a = NULL, (v)->n = (v)->cap = 0)

/* calloc of n objects, never of zero bytes, so that NULL always indicates failure. */
void *mem_zero(size_t n, size_t size);
#define new_array(T, n) ((T *)mem_zero((size_t)(n), sizeof(T)))
/* The same without clearing, for arrays that are written before they are read. */
void *mem_raw(size_t n, size_t size);
#define raw_array(T, n) ((T *)mem_raw((size_t)(n), sizeof(T)))
/* The same, aligned to a cache line; *to_free is the pointer for free(). */
void *mem_lines(size_t n, size_t size, void **to_free);
#define line_array(T, n, to_free) ((T *)mem_lines((size_t)(n), sizeof(T), to_free))

void sort_ints(int *a, size_t n);       /* in increasing order; fast for short arrays */
void sort_doubles(double *a, size_t n); /* in increasing order; must not contain NaN */

#endif
