# model.R: models, and what is asked of them without a network.

nami_model <- function(model, observe = NULL, set = NULL, dialect = c("auto", "nami", "bugs")) {
  if (inherits(model, "nami_model")) return(model)
  dialect <- match.arg(dialect)
  if (!is.character(model) || !length(model) || anyNA(model)) fail("a model is the name of a file, or text")
  text <- file <- NULL
  if (length(model) == 1 && !grepl("[\n{~]", model)) {
    if (!file.exists(model)) fail("there is no model file '", model, "'")
    file <- normalizePath(model)
    if (dialect != "auto") text <- readLines(file, warn = FALSE, encoding = "UTF-8")
  } else text <- model
  if (length(set) && (is.null(names(set)) || !is.numeric(unlist(set)) || any(lengths(set) != 1)))
    fail("`set` has one number for each constant, as in c(N = 10)")
  structure(list(file = file, text = text, dialect = dialect, observe = observe, set = set), class = "nami_model")
}

print.nami_model <- function(x, ...) {
  cat(if (is.null(x$text)) readLines(x$file, warn = FALSE, encoding = "UTF-8") else x$text, sep = "\n")
  invisible(x)
}

# The arguments that name a model and its data; a text is written to the directory.
model_options <- function(model, data, dir) {
  model <- nami_model(model)
  file <- model$file
  if (!is.null(model$text)) {
    file <- file.path(dir, if (model$dialect == "bugs") "model.bug" else "model.nami")
    writeLines(enc2utf8(model$text), file, useBytes = TRUE)
  }
  c(file, data_option(data, dir), as_options(list(observe = model$observe)),
    if (length(model$set)) as.vector(rbind("--set", paste0(names(model$set), "=", number(unlist(model$set))))))
}

nami_check <- function(model, data = NULL, ...) {
  dir <- new_dir()
  on.exit(unlink(dir, recursive = TRUE))
  args <- c("check", model_options(model, data, dir), as_options(list(...)))
  x <- parse_json(call_nami(c(args, "--json"))$out)
  column <- function(rows, name, what) vapply(rows, function(r) first(r[[name]], what), what)
  structure(class = "nami_check", list(
    ok = x$ok,
    problems = column(x$problems, "message", ""),
    variables = data.frame(variable = column(x$variables, "name", ""), observed = column(x$variables, "observed", FALSE),
                           mean = column(x$variables, "mean", NA_real_), sd = column(x$variables, "sd", NA_real_),
                           q5 = column(x$variables, "q05", NA_real_), q50 = column(x$variables, "q50", NA_real_),
                           q95 = column(x$variables, "q95", NA_real_)),
    details = x))
}

print.nami_check <- function(x, ...) {
  print(x$variables, digits = 3, row.names = FALSE)
  cat(if (length(x$problems)) paste0("\n", x$problems) else "\nno problem found", sep = "\n")
  invisible(x)
}

nami_invert <- function(model, data = NULL, ...) {
  dir <- new_dir()
  on.exit(unlink(dir, recursive = TRUE))
  args <- c("invert", model_options(model, data, dir), as_options(list(...)))
  text <- call_nami(args)$out
  x <- parse_json(call_nami(c(args, "--json"))$out)
  svg <- file.path(dir, "inverse.svg")
  call_nami(c(args, "--output", svg))
  factor <- function(name, otherwise) vapply(x$factors, function(f) first(f[[name]], otherwise), otherwise)
  structure(class = "nami_inverse", list(
    factors = data.frame(node = factor("node", ""), kind = factor("kind", ""),
                         parents = I(lapply(x$factors, function(f) as.character(unlist(f$parents))))),
    certificate = x$certificate[c("faithful", "minimal", "natural")],
    edges = x$edges, width = x$width, text = text, svg = paste(readLines(svg, warn = FALSE), collapse = "\n"),
    details = x))
}

print.nami_inverse <- function(x, ...) {
  cat(x$text, "\n")
  invisible(x)
}

#' Writes the picture of the model and its inverse; without `file`, shows it in a browser.
plot.nami_inverse <- function(x, file = NULL, ...) {
  path <- if (is.null(file)) tempfile(fileext = ".svg") else file
  writeLines(enc2utf8(x$svg), path, useBytes = TRUE)
  if (is.null(file) && interactive()) utils::browseURL(path)
  invisible(path)
}

nami_simulate <- function(model, draws = 1000, data = NULL, ...) {
  dir <- new_dir()
  on.exit(unlink(dir, recursive = TRUE))
  file <- file.path(dir, "draws.npz")
  call_nami(c("simulate", model_options(model, data, dir), as_options(list(draws = draws, ...)), "--output", file))
  read_npz(file)
}

nami_train <- function(model, data = NULL, file = NULL, progress = interactive(), ...) {
  dir <- new_dir()
  path <- if (is.null(file)) file.path(dir, "network.safetensors") else path.expand(file)
  args <- c("train", model_options(model, data, dir), as_options(list(...)), "--output", path, "--json")
  stopped <- function(e) { # the command saves the best network when it is interrupted
    if (inherits(e, "nami_error") && e$code != 130) stop(e)
    if (!file.exists(path)) fail("interrupted before the first validation", code = 130L)
    alert("nami_interrupted", "interrupted: this is the best network so far")
  }
  tryCatch(call_nami(args, progress), interrupt = stopped, nami_error = stopped)
  nami_network(path)
}

nami_run <- function(model, data, progress = interactive(), ...) {
  dir <- new_dir()
  npz <- file.path(dir, "draws.npz")
  page <- file.path(dir, "report.html")
  args <- c("run", model_options(model, data, dir), as_options(list(...)), "--output", npz, "--report", page, "--json")
  answer <- call_nami(args, progress)
  network <- file.path(dir, "draws.safetensors")
  new_fit(answer, npz, network = if (file.exists(network)) nami_network(network),
          page = function(file) file.copy(page, file, overwrite = TRUE))
}
