/* lbfgs.h: minimisation by L-BFGS (Nocedal 1980; Liu, Nocedal 1989), a point at a time: the caller
   computes f and its gradient at `to`, tells them, and goes on while state is LBFGS_ASKS.  So many
   searches can share one evaluation.

       lbfgs_start(&b, x);
       while (b.state == LBFGS_ASKS) {
           ... f and g at b.to
           lbfgs_tell(&b, f, g);
       } */
#ifndef INFER_LBFGS_H
#define INFER_LBFGS_H

enum lbfgs_state {
    LBFGS_ASKS,
    LBFGS_FOUND, /* the gradient is 0, within rounding, and so is the next step */
    LBFGS_FLAT,  /* the gradient is 0, but the next step is not: f falls slowly, for ever */
    LBFGS_FALLS, /* f has no lower bound, as far as one can see */
    LBFGS_STOPS  /* too many steps, no smaller f in sight, or f is not finite where it began */
};

enum { LBFGS_PAIRS = 20, LBFGS_STEPS = 10000 };

struct lbfgs {
    enum lbfgs_state state;
    int n;
    double *x, *g;  /* (n): the best point, and the gradient there */
    double *to;     /* (n): where f is wanted */
    double f, size; /* at x; the largest element of g */
    int steps;
    /* private: */
    double *d, *s, *y, *rho, *alpha; /* s, y: (LBFGS_PAIRS, n), a ring */
    int pairs, last;
    double slope, t, lo, hi; /* on the line: df/dt at 0; where we are; brackets */
    int trials, idle;
    double least; /* of f so far: rounding may make it larger */
    double *mem;
};

int lbfgs_init(struct lbfgs *b, int n); /* 0 or NAMI_ENOMEM; lbfgs_fini() in any case */
void lbfgs_fini(struct lbfgs *b);
void lbfgs_start(struct lbfgs *b, const double *x);
void lbfgs_tell(struct lbfgs *b, double f, const double *g);

#endif
