# R
"x" <- c(1,2,NA)
`y z` <- -5L; w = rep(1:2, each = 2, length.out = 3)
m <- structure(c(1, 2, 3, 4), .Dim = as.integer(c(2, 2)), .Dimnames = list(NULL, "a"))
b <- matrix(c(1, 2, 3, 4), nrow = 2, byrow = TRUE)
a <- array(0, dim = c(2, 1))
