alpha <- 0.5
beta <- c(-0.4, -1)
k <- 16
tau <- 500
