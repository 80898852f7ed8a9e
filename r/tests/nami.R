# The package against the command. Without the command, only what needs none is tested.
library(nami)
error <- function(code) tryCatch({ code; "no error" }, nami_error = conditionMessage)
is <- function(got, want) if (!identical(got, want)) stop(deparse(got)[1], " is not ", deparse(want)[1])
json <- function(...) nami:::data_json(list(...))

# ---- data: y[i,j] of R is y[i,j] of the model -------------------------------------------
is(json(m = matrix(1:6, 2)), "{\"m\": [[1,3,5],[2,4,6]]}")
a <- array(as.numeric(1:24), c(2, 3, 4))
back <- jsonlite::fromJSON(json(a = a))$a # reads row-major
is(dim(back), c(2L, 3L, 4L))
is(as.numeric(back[2, 3, 1]), a[2, 3, 1])
is(as.numeric(back), as.numeric(a))
is(json(y = c(1, NA, NaN, Inf, -Inf)), "{\"y\": [1,null,null,\"Inf\",\"-Inf\"]}")
is(json(x = 2, v = array(2, 1), e = numeric(0), z = matrix(0, 2, 0), w = matrix(0, 0, 2)),
   "{\"x\": 2,\n\"v\": [2],\n\"e\": [],\n\"z\": [[],[]],\n\"w\": []}")
is(json(f = factor(c("u", "v", NA, "u")), l = c(TRUE, NA)), "{\"f\": [1,2,null,1],\n\"l\": [1,null]}")
is(json(l = list(c(1, 2), c(3, 4)), m = list(1, NULL)), "{\"l\": [[1,2],[3,4]],\n\"m\": [1,null]}")
is(json(d = data.frame(p = 1:2, q = 3:4)), "{\"d\": [[1,3],[2,4]]}")
is(nami:::data_json(data.frame(x = 1:2, g = factor(c("b", "a")))), "{\"x\": [1,2],\n\"g\": [2,1]}")
is(nami:::data_json(list(list(y = 1), list(y = 2))), "[{\"y\": 1},\n{\"y\": 2}]")
x <- c(0.1, 1 / 3, 1e-310, 2^53 + 2, pi * 1e200) # all digits
is(jsonlite::fromJSON(json(x = x))$x, x)
for (bad in list(list(y = "a"), list(y = Sys.Date()), list(y = list(a = 1)), list(1, 2), list(y = 1, y = 2), list(), "x", 1i))
  stopifnot(is.character(error(nami:::data_json(bad))), error(nami:::data_json(bad)) != "no error")
is(nami:::as_options(list(draws = 1e5, hidden_shared = c(8, 4), loo = TRUE, all = FALSE, rate = 0.1)),
   c("--draws", "100000", "--hidden-shared", "8,4", "--loo", "--rate", "0.10000000000000001"))
is(nami:::element_names("b", c(2, 2)), c("b[1,1]", "b[2,1]", "b[1,2]", "b[2,2]"))
options(nami.command = "/nowhere/nami")
stopifnot(grepl("/nowhere/nami", error(nami_command())))
options(nami.command = NULL)

# ---- the command ------------------------------------------------------------------------
if (error(nami_command()) != "no error") {
  cat("SKIPPED: there is no command nami\n")
  quit(status = 0)
}
# Rows and columns are not mixed up: the model sees y[i,j], and answers with b[i,j].
grid <- "model {
  for (i in 1:2) { for (j in 1:3) { b[i, j] ~ normal(0, 100); y[i, j] ~ normal(b[i, j], 0.01) } }
}
observe y"
y <- matrix(c(1, 2, 3, 4, 5, 6), 2)
fit <- nami_run(grid, list(y = y), progress = FALSE)
stopifnot(inherits(fit$draws(), "draws_df"), posterior::ndraws(fit$draws()) == 4000)
b <- posterior::as_draws_rvars(fit$draws())$b
stopifnot(abs(posterior::E(b) - y) < 0.01) # in its place
means <- colMeans(as.data.frame(fit$draws("b"))[, fit$summary()$variable])
stopifnot(abs(means - fit$summary()$mean) < 1e-9) # the command's own figures
is(fit$verdict()$verdict, "trusted")
page <- fit$report(tempfile(fileext = ".html"))
stopifnot(grepl("<html", paste(readLines(page, warn = FALSE), collapse = "")))
y[2, 3] <- NA # is inferred, if it need not be observed
latent <- nami_invert(sub("observe y", "", grid), list(y = y))$factors$node
is(length(latent), 7L)
stopifnot("y[2,3]" %in% latent)

# A network, and draws that equal those of the command bit for bit
one <- nami_model("const J; const s[J]
model { a ~ normal(0, 1); t ~ half_normal(1); for (j in 1:J) { y[j] ~ normal(a + t, s[j]) } }", observe = "y")
data <- list(J = 1, s = 2, y = 0.5) # numbers for arrays of length 1
net <- nami_train(one, data, steps = 50, hidden = 8, valid = 500, seed = 1, progress = FALSE)
kept <- net$save(tempfile(fileext = ".safetensors"))
fit <- nami_sample(kept, list(y = 0.7), draws = 320, seed = 3, predict = TRUE, loo = TRUE)
csv <- tempfile(fileext = ".csv")
writeLines("{\"y\": 0.7}", json_file <- tempfile())
invisible(nami:::call_nami(c("sample", kept$file, "--data", json_file, "-n", "320", "--seed", "3", "-o", csv)))
want <- read.csv(csv, check.names = FALSE)
draws <- as.data.frame(fit$draws())
for (name in names(want)) if (!identical(as.numeric(draws[[name]]), as.numeric(want[[name]]))) stop(name, " differs")
is(length(fit$arrays()$y), 320L) # y was given as a number, and is one
is(length(fit$arrays("log_likelihood")$y), 320L)
several <- nami_sample(net, list(list(y = 0.7), list(y = -1)), draws = 100)
is(length(several$draws()), 2L)
is(nrow(several$verdict()), 2L)
stopifnot(several$summary("a", set = 2)$mean < several$summary("a", set = 1)$mean)
stopifnot(abs(colMeans(as.data.frame(several$draws("a", set = 2)))["a"] - several$summary("a", set = 2)$mean) < 1e-9)
chains <- nami_sample(net, data, draws = 160, method = "mcmc")
is(posterior::nchains(chains$draws()), 16L)
stopifnot(is.finite(nami_evidence(net, data)$log_evidence), nrow(nami_calibrate(net, sets = 20, draws = 40)$scalars) == 2)
stopifnot(nami_check(one, data)$ok, nami_invert(one, data)$certificate$faithful)
is(dim(nami_simulate(one, 10, list(J = 3, s = 1:3))$y), c(10L, 3L))
pdf(NULL)
for (kind in c("marginals", "forest", "pairs", "trace", "rank")) nami:::base_figure(chains$draws(c("a", "t")), kind)
plot(nami_calibrate(net, sets = 20, draws = 40))
invisible(dev.off())

# What is wrong is said, and where.
stopifnot(grepl("^model.nami:1:13: error: no distribution is called nrmal", error(nami_check("model { x ~ nrmal(0, 1) }"))))
stopifnot(grepl("did you mean --steps", error(nami_train(one, data, stepps = 3))))
stopifnot(grepl("no model file", error(nami_run("nowhere.nami", data))))
stopifnot(grepl("no network file", error(nami_sample("nowhere.safetensors"))))
stopifnot(grepl("figures? 'trace'|no figure 'trace'", error(fit$plot("trace"))))
stopifnot(grepl("from 1 to 2", error(several$draws(set = 3))))

# An answer that is not trusted is a warning, and an answer.
warned <- 0
doubtful <- withCallingHandlers(nami_sample(net, list(y = 90), draws = 80, method = "is"),
                                nami_not_trusted = function(w) { warned <<- conditionMessage(w); invokeRestart("muffleWarning") })
stopifnot(is.character(warned), grepl("^not trusted: ", warned))
is(doubtful$verdict()$verdict, "no")
is(posterior::ndraws(doubtful$draws()), 80L)
cat("all of the package works\n")
