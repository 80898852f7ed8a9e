/* arena.h: arena allocator: memory of one phase that is freed all at once. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena {
    struct arena_block *head;
};

/* Zeroed memory, aligned for any type; NULL: out of memory. */
void *arena_alloc(struct arena *a, size_t size);
char *arena_strndup(struct arena *a, const char *s, size_t n);
void arena_free(struct arena *a);

#define arena_array(a, T, n) ((T *)arena_alloc_array(a, (size_t)(n), sizeof(T)))
void *arena_alloc_array(struct arena *a, size_t n, size_t size);

#endif
