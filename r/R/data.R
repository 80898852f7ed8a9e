# data.R: data of R to JSON for the command, and arrays of NumPy to arrays of R.

# JSON of one data set (a named list, a data frame) or of several (a list of these).
data_json <- function(data) {
  if (is_many(data)) return(paste0("[", paste(vapply(data, set_json, ""), collapse = ",\n"), "]"))
  set_json(data)
}

is_many <- function(data) is.list(data) && !is.data.frame(data) && is.null(names(data)) && length(data) > 0

set_json <- function(set) {
  if (!is.list(set)) fail("data must be a named list, a data frame, a list of these, or the name of a file")
  name <- names(set)
  if (!length(set) || is.null(name) || anyNA(name) || !all(nzchar(name)))
    fail("data must be a list of values by name, as in list(N = 3, y = c(1, 2, 3))")
  if (anyDuplicated(name)) fail("data have two values of ", name[anyDuplicated(name)])
  text <- vapply(name, function(n) paste0(jsonlite::toJSON(n, auto_unbox = TRUE), ": ", value_json(set[[n]], n)), "")
  paste0("{", paste(text, collapse = ",\n"), "}")
}

# A number without dimensions is a scalar: the model's declaration decides if it is an array of length 1.
value_json <- function(x, name) {
  if (is.data.frame(x)) x <- data.matrix(x)
  if (is.null(x)) return("null")
  if (is.list(x)) {
    if (!is.null(names(x))) fail(name, " is a list with names; give numbers, arrays, or lists of these without names")
    return(paste0("[", paste(vapply(unname(x), value_json, "", name), collapse = ","), "]"))
  }
  if (inherits(x, c("Date", "POSIXt", "difftime", "integer64")))
    fail(name, " is of class ", class(x)[1], "; say what number is meant, for example by as.numeric()")
  if (is.factor(x)) x <- array(as.integer(x), if (is.null(dim(x))) length(x) else dim(x))[seq_along(x)]
  if (!is.numeric(x) && !is.logical(x))
    fail(name, " is of type ", typeof(x), "; give numbers, logical values or a factor")
  dims <- dim(x)
  if (is.null(dims)) {
    if (length(x) == 1) return(numbers_json(x))
    dims <- length(x)
  }
  # JSON is row-major: the last subscript runs fastest
  text <- numbers_json(as.vector(if (length(dims) > 1) aperm(unclass(x), rev(seq_along(dims))) else x))
  for (d in rev(seq_along(dims))) text <- brackets(text, dims[d], prod(dims[seq_len(d - 1)]))
  text
}

# `many` lists of `each` consecutive elements
brackets <- function(text, each, many) {
  if (!each) return(rep("[]", many))
  text <- matrix(text, each, many)
  inside <- if (each < many) do.call(paste, c(lapply(seq_len(each), function(i) text[i, ]), sep = ","))
            else apply(text, 2, paste, collapse = ",")
  paste0("[", inside, "]", recycle0 = TRUE)
}

numbers_json <- function(x) {
  x <- as.numeric(x)
  text <- sprintf("%.17g", x)
  text[is.na(x)] <- "null"
  text[x %in% Inf] <- "\"Inf\""
  text[x %in% -Inf] <- "\"-Inf\""
  text
}

# `--data FILE` of data for a call; NULL: none
data_option <- function(data, dir) {
  if (is.null(data)) return(character())
  if (is.character(data)) {
    missing <- data[!file.exists(data)]
    if (length(missing)) fail("there is no data file '", missing[1], "'")
    return(as.vector(rbind("--data", path.expand(data))))
  }
  file <- file.path(dir, "data")
  writeLines(data_json(data), file, useBytes = TRUE)
  c("--data", file)
}

# The arrays of an NPZ file, by name; draws are the first dimension.
read_npz <- function(file) {
  dir <- new_dir()
  on.exit(unlink(dir, recursive = TRUE))
  members <- unzip(file, list = TRUE)$Name
  unzip(file, exdir = dir)
  arrays <- lapply(file.path(dir, members), read_npy)
  names(arrays) <- sub("[.]npy$", "", members)
  arrays
}

read_npy <- function(file) {
  con <- file(file, "rb")
  on.exit(close(con))
  magic <- readBin(con, "raw", 8)
  stopifnot(identical(magic[1:6], as.raw(c(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59))))
  length <- readBin(con, "integer", 1, size = if (magic[7] == 1) 2 else 4, signed = magic[7] != 1, endian = "little")
  header <- readChar(con, length, useBytes = TRUE)
  type <- sub(".*'descr': *'([^']*)'.*", "\\1", header)
  shape <- sub(".*'shape': *\\(([^)]*)\\).*", "\\1", header)
  shape <- as.numeric(strsplit(gsub(" ", "", shape), ",")[[1]])
  n <- prod(shape)
  x <- switch(type, "<f8" = readBin(con, "double", n, endian = "little"), "<i8" = read_int64(con, n),
              fail("arrays of type ", type, " are not read"))
  if (length(shape) < 2) return(x)
  if (grepl("'fortran_order': *True", header)) return(array(x, shape))
  aperm(array(x, rev(shape)), rev(seq_along(shape)))
}

# R has no integers of 64 bits: doubles, exact up to 2^53
read_int64 <- function(con, n) {
  word <- matrix(as.numeric(readBin(con, "integer", 2 * n, endian = "little")), 2)
  word[is.na(word)] <- -2^31 # the bits of R's NA
  low <- word[1, ]
  ifelse(low < 0, low + 2^32, low) + word[2, ] * 2^32
}
