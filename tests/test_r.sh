#!/bin/bash
# test_r.sh NAMI: R's packages posterior and coda, if they are there, read the CSV file of `nami sample` and find what
# `nami sample --json` says. Not under sanitizers: it is about a format.
nami=$(realpath "$1")
. "$(dirname "$0")/checks.sh"
command -v Rscript >/dev/null || { echo "SKIPPED: R is not installed"; exit 77; }
have=
for p in posterior coda; do
    if Rscript -e "library($p)" >/dev/null 2>&1; then have="$have $p"; else echo "SKIPPED: R has no package $p"; fi
done
[ -n "$have" ] || exit 77
cat >"$dir/m.nami" <<'END'
model {
  a ~ normal(0, 1)
  for (i in 1:2) { for (j in 1:2) { b[i, j] ~ normal(a, 1); y[i, j] ~ normal(b[i, j], 1) } }
}
observe y
END
echo '{"y": [[-1, 0.5], [0.2, 1.5]]}' >"$dir/y.json"
ok "trains" "$nami" train "$dir/m.nami" --exact none -o "$dir/m.net" --steps 300 --valid 1000 -q
ok "draws" "$nami" sample "$dir/m.net" --data "$dir/y.json" -n 2000 --weighted --json -o "$dir/x.csv"
sed -n 's/^ *"\([^"]*\)":{"mean":\([^,]*\),"sd":\([^,]*\),.*/\1 \2 \3/p' "$dir/log" >"$dir/want"
ok "five variables" test "$(wc -l <"$dir/want")" = 5

# Weighted moments from what R has read; sd: as NaMI's, without a correction for few draws.
cat >"$dir/compare.R" <<'END'
dir <- commandArgs(TRUE)[1]
want <- read.table(file.path(dir, "want"), col.names = c("name", "mean", "sd"), colClasses = c("character", "numeric", "numeric"))
agree <- function(x, logw, what) {
  w <- exp(logw - max(logw)); w <- w / sum(w)
  for (k in seq_len(nrow(want))) {
    v <- x[, want$name[k]]
    m <- sum(w * v); s <- sqrt(sum(w * (v - m)^2))
    if (!(abs(m - want$mean[k]) < 1e-6 && abs(s / want$sd[k] - 1) < 1e-3))
      stop(what, ": ", want$name[k], ": mean ", m, ", sd ", s, ", not ", want$mean[k], ", ", want$sd[k])
  }
}
END
cat >"$dir/posterior.R" <<'END'
suppressMessages(library(posterior))
source(file.path(commandArgs(TRUE)[1], "compare.R"))
d <- as_draws_df(read.csv(file.path(dir, "x.csv"), check.names = FALSE))
stopifnot(ndraws(d) == 2000, nchains(d) == 1, all(want$name %in% variables(d)))
agree(as.matrix(as.data.frame(d)[, want$name]), weights(d, log = TRUE, normalize = FALSE), "posterior")
s <- summarise_draws(resample_draws(d, method = "stratified", ndraws = 2000)) # its own way with weights
s <- s[match(want$name, s$variable), ]
stopifnot(abs(s$mean - want$mean) < 0.25 * want$sd)
b <- as_draws_rvars(d)$b
stopifnot(identical(dim(b), c(2L, 2L))) # b[i,j] is a matrix again
END
cat >"$dir/coda.R" <<'END'
suppressMessages(library(coda))
source(file.path(commandArgs(TRUE)[1], "compare.R"))
d <- read.csv(file.path(dir, "x.csv"), check.names = FALSE)
x <- mcmc(d[, want$name])
stopifnot(niter(x) == 2000, identical(varnames(x), want$name))
agree(as.matrix(x), d[[".log_weight"]], "coda")
END
for p in $have; do ok "$p reads it" Rscript "$dir/$p.R" "$dir"; done
sed -i '1 s/"b\[1,1\]"\|b\[1,1\]/"c[1,1]"/' "$dir/x.csv"
for p in $have; do says "$p misses what is not there" 1 . Rscript "$dir/$p.R" "$dir"; done
summary
