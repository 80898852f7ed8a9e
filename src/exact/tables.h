/* tables.h: plans a sum over discrete variables: the order of elimination, a table for each step
   (cluster), and the runs of the body that fill the tables.

   Step i of the elimination removes a variable: its table has an entry for each configuration of
   that variable and of its separator, the variables removed later with which it shares a term or a
   message.  The sum over the variable is a message, a table of the separator, which is added to the
   table of the parent: the step that removes the first variable of the separator.

   The terms are computed by the body, all of them in one run.  Variables that share a term have
   different colors; a run gives all variables of a color the same state.  The entries of the terms
   whose variables have a given set of colors can so be read from the runs with all joint states of
   these colors, whatever the states of the others: a few runs serve all terms. */
#ifndef EXACT_TABLES_H
#define EXACT_TABLES_H

#include "exact/integral.h"

enum {
    TABLES_RUNS = 4096,       /* at most, for each draw */
    TABLES_ENTRIES = 1 << 24, /* at most, of all tables */
    TABLES_AXES = 25          /* of a table: variables with one state are not among them */
};

struct cluster {
    int var, states; /* the variable that is removed, and its number of states */
    int component;   /* of the integral */
    int parent;      /* -1: its message is a factor of the result */
    int num_sep;     /* the clusters that remove the variables of its separator, ascending; the */
    const int *sep;  /* table is (states, states of sep[0], ...), row by row */
    size_t sep_size; /* entries of the message */
    size_t first;    /* the number of entries of all tables before it */
};

struct table_term {
    int term;    /* of the integral */
    int cluster; /* to whose table it is added; ~c: it is a constant factor of component c */
    int num_scope;
    const int *scope; /* the clusters that remove its variables, ascending */
};

struct tables {
    int num_clusters;
    struct cluster *cluster; /* in the order of elimination */
    size_t entries;          /* of all tables */
    size_t max_message;      /* entries of the largest message */
    struct table_term *term; /* (num_terms) by the set of their colors: those of set k are */
    int num_sets;            /* term[set_start[k]] .. term[set_start[k + 1] - 1] */
    int *set_start;
    int num_colors, *color; /* color[variable] */
    int num_runs, *state;   /* (num_runs, num_colors) */
    int *read_start, *read; /* run r is read by the terms of the sets read[read_start[r]] .. */
};

/* Memory is taken from the arena of the body. */
int tables_plan(struct integral *g, struct tables **out, nami_err *err);

/* ---- walks over entries -------------------------------------------------------------- */

/* All configurations of some variables, the last one fastest, and the place of each in a table. */
struct walk {
    int num, states[TABLES_AXES], at[TABLES_AXES];
    size_t step[TABLES_AXES], place;
};
/* The entries of a term's cluster that agree with the states that run r gives its variables; 0 if
   one of them does not have that state. */
int walk_term(const struct tables *t, const struct table_term *term, int run, struct walk *w);
/* All entries of the parent's table, one by one; place: in the message of cluster i. */
void walk_message(const struct tables *t, int i, struct walk *w);
/* 0 behind the last. */
static inline int walk_next(struct walk *w)
{
    for (int k = w->num; k-- > 0;) {
        w->place += w->step[k];
        if (++w->at[k] < w->states[k]) return 1;
        w->place -= w->step[k] * (size_t)w->states[k];
        w->at[k] = 0;
    }
    return 0;
}

#endif
