asia <- 2
dyspnoea <- 2
p.tuberculosis <- structure(c(0.99, 0.95, 0.01, 0.05), .Dim = c(2, 2))
p.bronchitis <- structure(c(0.7, 0.4, 0.3, 0.6), .Dim = c(2, 2))
p.smoking <- c(0.5, 0.5)
p.lung.cancer <- structure(c(0.99, 0.9, 0.01, 0.1), .Dim = c(2, 2))
p.xray <- structure(c(0.95, 0.02, 0.05, 0.98), .Dim = c(2, 2))
p.dyspnoea <- structure(c(0.9, 0.3, 0.2, 0.1, 0.1, 0.7, 0.8, 0.9), .Dim = c(2, 2, 2))
p.asia <- c(0.99, 0.01)
