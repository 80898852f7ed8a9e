#!/bin/bash
# test_r_package.sh NAMI FILE...: installs the R package of r/, runs its tests, and the ```r blocks of these Markdown
# files: those of a file are one program, in which `#> ` lines are what is printed; `...` stands for anything.
set -eu
NAMI=$(realpath "$1")
export NAMI
shift
cd "$(dirname "$0")/.."
command -v Rscript >/dev/null || { echo "SKIPPED: R is not installed"; exit 77; }
Rscript -e 'library(posterior); library(jsonlite)' >/dev/null 2>&1 || { echo "SKIPPED: R has no package posterior or jsonlite"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
version=$(sed -n 's/^#define NAMI_VERSION "\(.*\)"/\1/p' include/nami.h)
grep -qx "Version: $version" r/DESCRIPTION || { echo "FAIL: r/DESCRIPTION does not have version $version"; exit 1; }
R CMD INSTALL --no-test-load -l "$tmp" r >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
export R_LIBS=$tmp
Rscript r/tests/nami.R >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
grep -qx 'all of the package works' "$tmp/log" || { cat "$tmp/log"; exit 1; }
cp -R examples "$tmp/examples"
for file in "$@"; do
    sed -n '/^```r$/,/^```$/p' "$file" | grep -v '^```' >"$tmp/doc.R" || { echo "FAIL: $file has no R example"; exit 1; }
    cat >"$tmp/run.R" <<'END'
# Runs doc.R, and compares what each expression prints with the `#> ` lines after it.
lines <- readLines("doc.R")
source_lines <- lines
source_lines[startsWith(lines, "#>")] <- ""
code <- parse(text = source_lines, keep.source = TRUE)
place <- vapply(attr(code, "srcref"), function(s) s[3], 0)
words <- function(x) { x <- paste(unlist(strsplit(x, "[[:space:]]+")), collapse = " "); gsub("^ | $", "", x) }
pdf(NULL)
shown <- 0
for (k in seq_along(code)) {
  got <- capture.output({ x <- withVisible(eval(code[[k]], globalenv())); if (x$visible) print(x$value) })
  after <- lines[seq_len(length(lines)) > place[k] & seq_len(length(lines)) < c(place, Inf)[k + 1]]
  want <- words(sub("^#> ?", "", after[startsWith(after, "#>")]))
  if (!nzchar(want)) next
  shown <- shown + 1
  pattern <- gsub("\\.\\.\\.", ".*", gsub("([][{}()+*^$|\\\\?])", "\\\\\\1", want))
  if (!grepl(paste0("^", pattern, "$"), words(got))) stop("line ", place[k], " prints\n", paste(got, collapse = "\n"), "\nnot\n", want)
}
cat(length(code), "expressions,", shown, "with what they print\n")
END
    (cd "$tmp" && Rscript run.R) >"$tmp/log" 2>&1 || { cat "$tmp/log"; echo "FAIL: $file"; exit 1; }
    echo "ok $file: $(tail -n 1 "$tmp/log")"
done
