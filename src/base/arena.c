/* arena.c: a list of blocks; each allocation is cut from the newest, and all are freed at
   once. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    alignas(max_align_t) unsigned char data[];
};

enum { BLOCK = 1 << 16, ALIGN = alignof(max_align_t) };

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > SIZE_MAX / 2) return NULL;
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    struct arena_block *b = a->head;
    if (!b || b->size - b->used < size) {
        size_t room = size > BLOCK ? size : BLOCK;
        b = calloc(1, sizeof *b + room);
        if (!b) return NULL;
        b->size = room;
        b->next = a->head;
        a->head = b;
    }
    void *p = b->data + b->used;
    b->used += size;
    return p;
}

void *arena_alloc_array(struct arena *a, size_t n, size_t size)
{
    return size && n > SIZE_MAX / 2 / size ? NULL : arena_alloc(a, n * size);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *p = arena_alloc(a, n + 1);
    if (p) memcpy(p, s, n);
    return p;
}

void arena_free(struct arena *a)
{
    for (struct arena_block *b = a->head, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    a->head = NULL;
}
