mu <- c(5, 2, -6)
tau <- structure(c(20, 0, 0, 0, 20, 0, 0, 0, 20), .Dim = c(3, 3))
tauC <- 0.02
theta <- structure(c(5, 5, 5, 5, 5, 2, 2, 2, 2, 2, -6, -6, -6, -6, -6), .Dim = c(5, 3))
