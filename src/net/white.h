/* white.h: inputs of networks without their correlations.

   What tells about a latent is often a small difference of large numbers that go together: the
   noise of a series is what is left when its level and its slope are gone.  A network that sees
   each number on its own scale finds such directions late, or never.  A linear layer whose weights
   begin at the inverse square root of the covariance of its inputs under the prior gives all
   directions the variance 1.  It changes the inputs as little as possible, and inputs that are
   exchangeable alike.  It is trained like any other layer. */
#ifndef NET_WHITE_H
#define NET_WHITE_H

#include "net/qnet.h"

/* A layer of n instances with as many outputs as inputs: features from (n, in).  Its name is
   `name`/white.  Returns the first unit, or -1. */
int net_white(struct qnet *q, int n, int in, const int *from, const char *name);

#endif
