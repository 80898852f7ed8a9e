# plot.R: figures of draws, by bayesplot if it is installed and has them without other packages, else by base graphics.

plot_draws <- function(draws, kind, variables) {
  kinds <- c("marginals", "forest", "pairs", "trace", "rank")
  if (!is.character(kind) || length(kind) != 1 || !kind %in% kinds)
    fail("no figure is called '", kind[1], "'; there are ", paste(kinds, collapse = ", "))
  most <- c(marginals = 12, forest = 60, pairs = 6, trace = 12, rank = 12)[[kind]]
  draws <- posterior::subset_draws(draws, variable = variables)
  names <- utils::head(posterior::variables(draws), most)
  draws <- posterior::subset_draws(draws, variable = names)
  if (kind %in% c("trace", "rank") && posterior::nchains(draws) < 2)
    fail("the draws are not of Markov chains: there is no figure '", kind, "'; method = \"mcmc\" makes chains")
  make <- if (requireNamespace("bayesplot", quietly = TRUE)) {
    switch(kind, marginals = bayesplot::mcmc_hist, forest = bayesplot::mcmc_intervals, trace = bayesplot::mcmc_trace,
           rank = bayesplot::mcmc_rank_overlay)
  }
  if (is.null(make)) base_figure(draws, kind) else make(draws)
}

base_figure <- function(draws, kind) {
  x <- posterior::as_draws_matrix(draws)
  class(x) <- "matrix"
  names <- colnames(x)
  chain <- unclass(posterior::as_draws_array(draws)) # iteration, chain, variable
  switch(kind,
         marginals = panels(names, function(n) histogram(x[, n], n)),
         forest = forest(x),
         pairs = pairs(x[thin(nrow(x), 2000), , drop = FALSE], pch = 16, cex = 0.3, gap = 0.3, labels = names),
         trace = panels(names, function(n) traces(chain[, , n], n)),
         rank = panels(names, function(n) ranks(chain[, , n], n)))
  invisible(NULL)
}

thin <- function(n, most) unique(round(seq(1, n, length.out = min(n, most))))

# A panel for each name, as square as possible
panels <- function(names, draw) {
  columns <- ceiling(sqrt(length(names)))
  old <- par(mfrow = c(ceiling(length(names) / columns), columns), mar = c(2.5, 2.5, 2, 0.8), mgp = c(1.5, 0.5, 0))
  on.exit(par(old))
  for (n in names) draw(n)
}

blue <- "#3b6fb5"

histogram <- function(x, name) {
  x <- x[is.finite(x)]
  if (!length(x)) return(plot(0, 0, type = "n", main = name, xlab = "", ylab = "", axes = FALSE))
  hist(x, breaks = 40, col = "#c7d7ec", border = "white", freq = FALSE, main = name, xlab = "", ylab = "", yaxt = "n")
  abline(v = quantile(x, c(0.05, 0.5, 0.95)), lty = c(3, 1, 3), col = blue)
}

# Medians, with central 50 % and 90 % intervals
forest <- function(x) {
  q <- apply(x, 2, quantile, c(0.05, 0.25, 0.5, 0.75, 0.95), na.rm = TRUE)
  at <- rev(seq_len(ncol(x)))
  old <- par(mar = c(3, 2 + 0.6 * max(nchar(colnames(x))), 1, 1))
  on.exit(par(old))
  plot(range(q[is.finite(q)]), range(at) + c(-0.5, 0.5), type = "n", xlab = "", ylab = "", yaxt = "n", bty = "n")
  abline(v = 0, col = "gray85")
  axis(2, at, colnames(x), las = 1, tick = FALSE)
  segments(q[1, ], at, q[5, ], at, col = blue)
  segments(q[2, ], at, q[4, ], at, col = blue, lwd = 4)
  points(q[3, ], at, pch = 21, bg = "white", col = blue)
}

traces <- function(x, name) {
  plot(range(seq_len(nrow(x))), range(x[is.finite(x)]), type = "n", main = name, xlab = "iteration", ylab = "")
  for (k in seq_len(ncol(x))) lines(x[, k], col = grDevices::hcl.colors(ncol(x), alpha = 0.6)[k])
}

# Counts of the ranks of each chain's draws among all: level if the chains agree
ranks <- function(x, name) {
  rank <- matrix(rank(x), nrow(x))
  count <- apply(rank, 2, function(r) tabulate(pmin(20, ceiling(20 * r / length(x))), 20))
  plot(c(0, 20), range(0, count), type = "n", main = name, xlab = "rank", ylab = "", xaxt = "n")
  abline(h = nrow(x) / 20, lty = 3)
  for (k in seq_len(ncol(count)))
    lines(seq(0, 20), c(count[, k], count[20, k]), type = "s", col = grDevices::hcl.colors(ncol(count), alpha = 0.6)[k])
}

plot.nami_fit <- function(x, ...) x$plot(...)

#' Histograms of ranks, with the interval that holds 99 % of the counts of a calibrated network.
plot.nami_calibration <- function(x, ...) {
  scalars <- utils::head(x$details$scalars, 20)
  names(scalars) <- vapply(scalars, function(s) s$name, "")
  panels(names(scalars), function(n) {
    count <- unlist(scalars[[n]]$ranks)
    band <- qbinom(c(0.005, 0.995), sum(count), 1 / length(count))
    at <- barplot(count, space = 0, col = "#c7d7ec", border = "white", ylim = c(0, max(count, band) * 1.1), main = n,
                  names.arg = NULL)
    polygon(c(0, rep(length(count), 2), 0), rep(band, each = 2), col = "#00000018", border = NA)
    abline(h = sum(count) / length(count), lty = 3)
    at
  })
  invisible(x)
}
