/* lbfgs.h: minimization by L-BFGS (Nocedal 1980; Liu, Nocedal 1989) with reverse communication: the
   caller computes f and its gradient at `to`, passes them to lbfgs_tell, and continues while state
   is LBFGS_ASKS. Thus many searches can share one batched evaluation.

       lbfgs_start(&b, x);
       while (b.state == LBFGS_ASKS) {
           ... f and g at b.to
           lbfgs_tell(&b, f, g);
       } */
#ifndef INFER_LBFGS_H
#define INFER_LBFGS_H

enum lbfgs_state {
    LBFGS_ASKS,
    LBFGS_FOUND, /* converged: the gradient and the next step are 0 within rounding */
    LBFGS_FLAT,  /* the gradient is 0 but the next step is not: f decreases slowly without end */
    LBFGS_FALLS, /* f appears to be unbounded below */
    LBFGS_STOPS  /* too many steps, no smaller f found, or f is not finite at the start */
};

enum { LBFGS_PAIRS = 20, LBFGS_STEPS = 10000 };

struct lbfgs {
    enum lbfgs_state state;
    int n;
    double *x, *g;  /* (n): the best point, and the gradient there */
    double *to;     /* (n): where f is to be evaluated */
    double f, size; /* at x; the largest element of g */
    int steps;
    /* private: */
    double *d, *s, *y, *rho, *alpha; /* s, y: (LBFGS_PAIRS, n), a ring */
    int pairs, last;
    double slope, t, lo, hi; /* line search: df/dt at 0; current step; bracket */
    int trials, idle;
    double least; /* smallest f so far; rounding may make the current one larger */
    double *mem;
};

int lbfgs_init(struct lbfgs *b, int n); /* 0 or NAMI_ENOMEM; call lbfgs_fini() in any case */
void lbfgs_fini(struct lbfgs *b);
void lbfgs_start(struct lbfgs *b, const double *x);
void lbfgs_tell(struct lbfgs *b, double f, const double *g);

#endif
