# fit.R: the answer for one data set or several: draws, summaries, verdicts.

# Draws of an NPZ file, a posterior::draws_df for each data set; `sets` says how many chains they are.
draws_of <- function(arrays, sets) {
  latent <- !grepl("/", names(arrays), fixed = TRUE)
  arrays <- c(list(lp__ = arrays$log_p, lp_approx__ = arrays$log_q, .log_weight = arrays$log_weight),
              arrays[latent & !names(arrays) %in% c("log_p", "log_q", "log_weight")])
  arrays <- arrays[!vapply(arrays, is.null, FALSE)]
  lapply(seq_along(sets), function(k) {
    num_draws <- sets[[k]]$draws
    columns <- lapply(names(arrays), function(name) {
      x <- arrays[[name]]
      if (length(sets) > 1) { # the first dimension is the data set
        dims <- dim(x)
        x <- array(matrix(x, dims[1])[k, ], dims[-1])
      }
      matrix(x, num_draws, dimnames = list(NULL, element_names(name, dim(x)[-1])))
    })
    x <- as.data.frame(do.call(cbind, columns), optional = TRUE)
    chain <- first(sets[[k]]$chains, 1L)
    x$.chain <- rep(seq_len(chain), each = num_draws / chain)
    x$.iteration <- rep(seq_len(num_draws / chain), chain)
    x$.draw <- seq_len(num_draws)
    posterior::as_draws_df(x)
  })
}

# x[1,1], x[2,1], ...: the first subscript runs fastest, as in arrays of R
element_names <- function(name, dims) {
  if (!length(dims)) return(name)
  at <- do.call(expand.grid, lapply(dims, seq_len))
  paste0(name, "[", do.call(paste, c(unname(as.list(at)), sep = ",")), "]", recycle0 = TRUE)
}

new_fit <- function(answer, npz, network, page) {
  sets <- parse_json(answer$out)$sets
  arrays <- read_npz(npz)
  draws <- draws_of(arrays, sets)
  arrays <- arrays[grepl("/", names(arrays), fixed = TRUE)]
  verdict <- verdict_of(sets)
  fit <- structure(class = "nami_fit", list(
    draws = function(variables = NULL, set = NULL) {
      x <- if (is.null(variables)) draws else lapply(draws, posterior::subset_draws, variable = variables)
      if (is.null(set) && length(x) > 1) x else x[[which_set(first(set, 1), length(x))]]
    },
    summary = function(variables = NULL, ..., set = 1) {
      set <- which_set(set, length(draws))
      table <- summary_of(sets[[set]]$variables)
      keep <- if (is.null(variables)) table$variable else posterior::variables(posterior::subset_draws(draws[[set]], variables))
      if (...length()) return(posterior::summarise_draws(posterior::subset_draws(draws[[set]], keep), ...))
      table[match(keep, table$variable), ]
    },
    verdict = function() verdict,
    arrays = function(group = "posterior_predictive") group_of(arrays, group),
    plot = function(kind = "marginals", variables = NULL, set = 1) {
      set <- which_set(set, length(draws))
      if (is.null(variables)) variables <- summary_of(sets[[set]]$variables)$variable
      plot_draws(draws[[set]], kind, variables)
    },
    report = function(file = NULL) {
      path <- if (is.null(file)) tempfile(fileext = ".html") else path.expand(file)
      if (identical(page(path), FALSE)) fail("cannot write ", path, ", or the session that made the report has ended")
      if (is.null(file) && interactive()) utils::browseURL(path)
      invisible(path)
    },
    network = network))
  warn_verdict(verdict$verdict, verdict$reason)
  fit
}

which_set <- function(set, many) {
  if (!is.numeric(set) || length(set) != 1 || !set %in% seq_len(many))
    fail("`set` must be the number of a data set, from 1 to ", many)
  set
}

verdict_of <- function(sets) {
  column <- function(name, missing) vapply(sets, function(s) first(s[[name]], missing), missing)
  data.frame(set = column("set", 0L), verdict = column("verdict", ""), reason = column("reason", ""),
             method = column("method", ""), khat = as.numeric(column("khat", NA_real_)),
             rhat = column("rhat", NA_real_), ess = column("ess", NA_real_),
             log_evidence = column("log_evidence", NA_real_), se = column("log_evidence_se", NA_real_),
             row.names = NULL)
}

warn_verdict <- function(verdict, reason) {
  bad <- which(verdict == "no")
  if (!length(bad)) return()
  several <- length(verdict) > 1
  alert("nami_not_trusted", "not trusted: ", reason[bad[1]],
        if (several) paste0(" (data set ", bad[1], "; ", length(bad), " of ", length(verdict), " are not trusted)"))
}

# The command's own table
summary_of <- function(variables) {
  name <- c("mean", "sd", "q5", "q25", "q50", "q75", "q95", "mcse", "ess")
  column <- lapply(name, function(n) vapply(variables, function(v) as.numeric(first(v[[n]], NA)), 0, USE.NAMES = FALSE))
  names(column) <- name
  data.frame(variable = as.character(names(variables)), column)
}

# Arrays of NPZ whose names begin with "GROUP/"
group_of <- function(arrays, group) {
  member <- startsWith(names(arrays), paste0(group, "/"))
  if (!any(member))
    fail("there are no arrays of ", group, "; nami_sample() makes them with predict = TRUE, loo = TRUE (log_likelihood) ",
         "or prior = 1000 (prior, prior_predictive)")
  x <- arrays[member]
  names(x) <- sub("^[^/]*/", "", names(x))
  x
}

print.nami_fit <- function(x, ...) {
  verdict <- x$verdict()
  table <- x$summary()
  shown <- c("variable", "mean", "sd", "q5", "q50", "q95", "ess")
  print(utils::head(table[, shown], 50), digits = 3, row.names = FALSE)
  if (nrow(table) > 50) cat("... and", nrow(table) - 50, "more\n")
  if (nrow(verdict) > 1) cat("(the first of ", nrow(verdict), " data sets)\n", sep = "")
  word <- c(trusted = "trusted", care = "with care", no = "not trusted")[verdict$verdict[1]]
  cat("\nverdict: ", word, ": ", verdict$reason[1], "\n", sep = "")
  invisible(x)
}

summary.nami_fit <- function(object, ...) object$summary(...)
