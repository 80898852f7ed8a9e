alpha <- 2.5
beta <- 1
gamma <- 0.85
tau <- 50
