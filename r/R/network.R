# network.R: trained networks, which are files, and queries of them.

nami_network <- function(file) {
  if (inherits(file, "nami_network")) return(file)
  if (!is.character(file) || length(file) != 1 || is.na(file)) fail("a network is the name of a file")
  if (!file.exists(file)) fail("there is no network file '", file, "'")
  file <- normalizePath(file)
  structure(class = "nami_network", list(
    file = file,
    save = function(to) {
      if (!file.exists(file)) fail(gone(file))
      if (!file.copy(file, to, overwrite = TRUE)) fail("cannot write ", to, code = 3L)
      nami_network(to)
    }))
}

gone <- function(file) paste0("the network file '", file, "' is gone: networks of nami_train() without `file` live as ",
                              "long as the session; $save(\"x.safetensors\") keeps them")

print.nami_network <- function(x, ...) {
  cat("inference network in ", x$file, "\n", sep = "")
  invisible(x)
}

network_options <- function(network, data, dir) {
  network <- nami_network(network)
  if (!file.exists(network$file)) fail(gone(network$file))
  c(network$file, data_option(data, dir))
}

nami_sample <- function(network, data = NULL, progress = FALSE, ...) {
  network <- nami_network(network)
  dir <- new_dir()
  on.exit(unlink(dir, recursive = TRUE))
  options <- list(...)
  npz <- file.path(dir, "draws.npz")
  args <- c("sample", network_options(network, data, dir), as_options(options), "--output", npz, "--json")
  answer <- call_nami(args, progress)
  page <- function(file) {
    dir <- new_dir()
    on.exit(unlink(dir, recursive = TRUE))
    call_nami(c("report", network_options(network, data, dir),
                as_options(options[intersect(names(options), of_report)]), "--output", file))
  }
  new_fit(answer, npz, network, page)
}

# Options of `nami sample` that `nami report` has, too
of_report <- c("draws", "method", "all", "seed", "threads", "weighted", "prior", "loo", "ppc")

nami_evidence <- function(network, data = NULL, ...) {
  dir <- new_dir()
  on.exit(unlink(dir, recursive = TRUE))
  answer <- call_nami(c("evidence", network_options(network, data, dir), as_options(list(...)), "--json"))
  sets <- parse_json(answer$out)
  row <- function(name, missing) vapply(sets, function(s) first(s[[name]], missing), missing)
  x <- data.frame(set = row("set", 0L), log_evidence = row("log_evidence", NA_real_),
                  se = row("log_evidence_se", NA_real_), khat = row("khat", NA_real_), ess = row("ess", NA_real_),
                  method = row("method", ""), verdict = row("verdict", ""))
  warn_verdict(x$verdict, rep("its evidence", nrow(x)))
  x
}

nami_calibrate <- function(network, file = NULL, data = NULL, progress = FALSE, ...) {
  dir <- new_dir()
  on.exit(unlink(dir, recursive = TRUE))
  args <- c("calibrate", network_options(network, data, dir), as_options(list(...)), "--json")
  if (!is.null(file)) args <- c(args, "--output", path.expand(file))
  x <- parse_json(call_nami(args, progress)$out)
  name <- c("verdict", "p", "coverage50", "coverage90", "corr", "contraction", "z_mean", "z_sd")
  column <- lapply(name, function(n) vapply(x$scalars, function(s) first(s[[n]], NA), if (n == "verdict") "" else 0))
  names(column) <- name
  scalars <- data.frame(variable = vapply(x$scalars, function(s) s$name, ""), column)
  structure(class = "nami_calibration", list(calibrated = x$calibrated, scalars = scalars, details = x))
}

print.nami_calibration <- function(x, ...) {
  print(x$scalars, digits = 3, row.names = FALSE)
  cat(if (x$calibrated) "\ncalibrated\n" else "\nnot calibrated\n")
  invisible(x)
}
