/* integral_normal_planning.h: the plan of an integral over linear Gaussian variables, while it is
   made. */
#ifndef EXACT_INTEGRAL_NORMAL_PLANNING_H
#define EXACT_INTEGRAL_NORMAL_PLANNING_H

#include "base/vec.h"
#include "exact/integral_normal.h"
#include "exact/reach.h"

/* The front of the first variable of a bundle, and the columns there that it reaches. */
struct slot {
    int front, end, run;
};

/* A term, to be sorted by variables. */
struct key {
    const int *scope;
    int num_vars, comp, is_matrix, term;
};

struct normal_planning {
    struct integral *g;
    struct normal *n;
    struct arena *mem;
    struct key *key;    /* (num_terms) sorted: bundles are runs */
    int *first_key;     /* (num_bundles + 1) before bundles are sorted by front: of each */
    struct slot *slot;  /* (num_bundles) bundle k is run slot[k].run */
    size_t *user_start; /* (num_vars + 1) variable v is in the lists user[user_start[v]] .. */
    int *user;
    struct reach reach; /* if there are matrices: what each row of the body reads */
    int has_reach;
    /* Lists of variables that one residual reads: variables of bundles, or of rows of the body. */
    vec(const int *) list;
    vec(int) list_size;
    int *matrix_of; /* (num_terms) */
};

/* Lists of variables: adds one, which is borrowed; user, user_start: those of each variable. */
int normal_add_list(struct normal_planning *p, const int *var, int num);
int normal_index_lists(struct normal_planning *p);
/* Colors of variables, and what is read from each run.  Bundles are complete. */
int normal_find_probes(struct normal_planning *p, nami_err *err);

/* The place of x in an ascending list that has it. */
static inline int place_of(const int *list, int num, int x)
{
    int low = 0;
    for (int high = num; high - low > 1;) {
        int middle = low + (high - low) / 2;
        if (list[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

#endif
