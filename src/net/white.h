/* white.h: whitening layers: the inputs of networks are decorrelated.

   The information about a latent is often in a small difference of large, correlated numbers: the
   noise of a series is what remains after its level and its slope are removed.  A network that
   sees each number on its own scale learns such directions late, or never.  A linear layer whose
   weights start at the inverse square root of the prior covariance of its inputs gives all
   directions variance 1.  This changes the inputs as little as possible, and treats exchangeable
   inputs alike.  The layer is trained like any other. */
#ifndef NET_WHITE_H
#define NET_WHITE_H

#include "net/qnet.h"

/* A layer of n instances with as many outputs as inputs: features from (n, in).  Its name is
   `name`/white.  Returns the first unit, or -1. */
int net_white(struct qnet *q, int n, int in, const int *from, const char *name);

#endif
