# command.R: runs the command `nami`, and turns its messages into conditions of R.

#' The command: the option nami.command, the environment variable NAMI, or `nami` in PATH.
nami_command <- function() {
  asked <- c(getOption("nami.command", ""), Sys.getenv("NAMI"))
  asked <- path.expand(asked[nzchar(asked)])
  found <- if (length(asked)) asked[1] else unname(Sys.which("nami"))
  if (!nzchar(found) || dir.exists(found) || file.access(found, 1) != 0)
    fail(if (nzchar(found)) paste0("'", found, "' is not a command that can be run") else "the command nami is not in PATH",
         "; install it, or give its path by options(nami.command = ) or by the environment variable NAMI")
  found
}

# An error of class nami_error; `code` is the exit code of the command.
fail <- function(..., code = 2L) {
  stop(structure(class = c("nami_error", "error", "condition"),
                 list(message = paste0(...), call = NULL, code = code)))
}

# A warning of a class of its own, so that it can be caught.
alert <- function(class, ...) {
  warning(structure(class = c(class, "nami_warning", "warning", "condition"), list(message = paste0(...), call = NULL)))
}

# list(draws = 1e5, only = c("a", "b"), loo = TRUE) as --draws 100000 --only a,b --loo
as_options <- function(options) {
  if (!length(options)) return(character())
  if (is.null(names(options)) || !all(nzchar(names(options)))) fail("options must be named, as in steps = 1000")
  words <- lapply(names(options), function(name) {
    value <- options[[name]]
    flag <- paste0("--", gsub("_", "-", name, fixed = TRUE))
    if (is.null(value) || identical(value, FALSE)) return(character())
    if (isTRUE(value)) return(flag)
    if (!(is.numeric(value) || is.character(value)) || !length(value) || anyNA(value))
      fail("the option ", name, " must be a number, a string, TRUE or FALSE")
    c(flag, paste(if (is.numeric(value)) number(value) else value, collapse = ","))
  })
  unlist(words)
}

# 1e5 as 100000; all digits of a double
number <- function(x) {
  ifelse(x == round(x) & abs(x) < 1e15, sprintf("%.0f", x), sprintf("%.17g", x))
}

# Runs `nami ARGS`. The result has its standard output and its exit code, 0 or 1; other codes are errors. Lines of
# standard error are shown as they come if `progress`; warnings of the command are warnings.
call_nami <- function(args, progress = FALSE) {
  out <- tempfile("nami-out-")
  on.exit(unlink(out))
  line <- paste(c(shQuote(c(nami_command(), args)), "2>&1", ">", shQuote(out), "</dev/null"), collapse = " ")
  con <- pipe(line, "r")
  open <- TRUE
  on.exit(if (open) close(con), add = TRUE, after = FALSE)
  said <- character()
  while (length(text <- readLines(con, 1, warn = FALSE))) {
    said <- c(said, text)
    if (progress) message(text)
  }
  status <- close(con)
  open <- FALSE
  code <- if (is.null(status)) 0 else if (status %% 128 > 0) 128 + status %% 128 else status %/% 256 # 128 + signal
  if (!code %in% 0:1 || (code == 1 && any(is_error(said)))) fail(plain(said, code), code = code)
  warned <- grepl("(^nami|:[0-9]+): (.*: )?warning: ", said)
  for (text in said[warned]) alert("nami_warning", sub("warning: ", "", without_paths(text), fixed = TRUE))
  list(out = paste(readLines(out, warn = FALSE, encoding = "UTF-8"), collapse = "\n"), code = code)
}

is_error <- function(said) grepl("(^|: )error: ", said)

# The message of a failure, without the lines of progress before it.
plain <- function(said, code) {
  from <- which(is_error(said))
  if (length(from)) said <- said[from[1]:length(said)]
  if (!length(said)) return(paste("the command nami ended with code", code, "and no message"))
  sub("^error: ", "", paste(without_paths(said), collapse = "\n"))
}

# Files that this package has written are called by what is in them, model.nami and data.
without_paths <- function(said) {
  gsub("/?nami-[0-9a-f]+/", "", gsub(tempdir(), "", sub("^nami: ", "", said), fixed = TRUE))
}

# JSON of the command; NULL is missing.
parse_json <- function(text) jsonlite::fromJSON(text, simplifyVector = FALSE)

# A directory for the files of one call or object, removed with the session.
new_dir <- function() {
  dir <- tempfile("nami-")
  if (!dir.create(dir)) fail("cannot create the directory ", dir, code = 3L)
  dir
}

first <- function(x, otherwise) if (is.null(x)) otherwise else x
