# Tests of the package: R CMD check, or Rscript r/tests/odes.R once it is installed.
library(odes)

near <- function(x, y, tol = 1e-6) stopifnot(length(x) == length(y), all(abs(x - y) <= tol * pmax(1, abs(y))))
fails <- function(expr, class, say = "") {
  e <- tryCatch(expr, odes_error = function(e) e)
  stopifnot(inherits(e, class), grepl(say, conditionMessage(e), fixed = TRUE))
  e
}

decay <- 'model Decay
time t : [h] from 0 to 2 [h]
param k = 0.5 [1/h] in [0, 10]  ## rate
param a[2,3] = 1
state x = 1 [mg]
state y[2,3] = a
x\' = -k*x
y\' = -k*y
output X = x
output Y = y
objective J = final(x)
objective Z[i] = final(y[1,i]) for i in 1:3
solver { rtol = 1e-10  atol = 1e-12 }
'
m <- odes_model(decay)
stopifnot(identical(dim(m$env$params$a), c(2L, 3L)))
print(m)

# Gradients, arrays and units.
s <- odes_sens(m, k = 0.3, wrt = c("k", "a", "initial(x)"))
near(s$value["J"], exp(-0.6))
near(s$gradient["J", c("k", "initial(x)")], c(-2, 1) * exp(-0.6))
near(s$gradient["Z[2]", c("a[1,2]", "a[2,2]")], c(exp(-0.6), 0))
stopifnot(s$unit["J"] == "mg", all(s$trust == "sound"))
a <- matrix(1:6, 2, byrow = TRUE)
near(odes_sens(m, a = a, k = list(0.005, "1/min"), of = "Z", wrt = "k")$value, a[1, ] * exp(-0.6))
near(odes_sens(m, set = list("a[1,2]" = 7), k = 0, of = "Z[2]", wrt = "k")$value, 7)
for (k in c(0.1, 0.2)) near(odes_sens(m, k = k, of = "J", wrt = "k")$gradient[1, 1], -2 * exp(-2 * k)) # kept ready
h <- odes_hessian(m, k = 0.3, of = "J", wrt = c("k", "a"))
near(h$hessian["J", "k", "k"], 4 * exp(-0.6))
print(s)

# Runs.
r <- odes_run(m, c(0, 1, 2), k = 0.3, a = a)
near(r[, "X"], exp(-0.3 * 0:2))
near(r[2, "Y[2,3]"], 6 * exp(-0.3))
stopifnot(attr(r, "units")[["X"]] == "mg", nrow(odes_run(m)) > 2)

# Another regimen for one patient.
patients <- "model P\ntime t from 0 to 24\nparam k = 0.3\nstate body = 0\nbody' = -k*body\noutput x = body
data D { ID = [1, 1, 2, 2]  time = [0, 5, 0, 5]  AMT = [100, 0, 70, 0]  DV = [nan, 20, nan, 10] }
doses D { body }\nobserve y = body ~ normal(1) from D.DV\nexperiment subject from D by D.ID\nobjective L = nll()\n"
p <- odes_model(patients, experiment = "subject_2", doses = data.frame(TIME = c(1, 8), AMT = c(30, 40.5)))
near(odes_run(p, 10)[, "x"], 30 * exp(-0.3 * 9) + 40.5 * exp(-0.3 * 2))
near(odes_run(odes_model(patients, experiment = "subject_2"), 10)[, "x"], 70 * exp(-3))
new <- tempfile(fileext = ".csv")
writeLines(c("TIME,AMT", "2,10"), new)
near(odes_run(odes_model(patients, experiment = "subject_2", doses = new), 10)[, "x"], 10 * exp(-0.3 * 8))
fails(odes_model(patients, doses = data.frame(TIME = 1, AMT = 30)), "odes_model_error", "say which, such as subject_1")

# An objective for optim.
q <- odes_model("model Q\ntime t from 0 to 1\nparam a = 1, b = 2\nstate x = 1, y = b\nx' = -a*x\ny' = -x
objective J = (final(x) - 0.5)^2 + (final(y) - 1)^2\n")
o <- odes_objective(q, "J", c("a", "b"))
found <- optim(o$par, o$fn, o$gr, method = "L-BFGS-B")
near(found$par, c(log(2), 1 + 0.5 / log(2)), 1e-3)

# A fit, and what the model says beside its data.
f <- odes_model("model F
time t from 0 to 4
param k = 1 in [0.01, 10], x0 = 1 in [0.1, 10]
state x = x0
x' = -k*x
data D {
  time = [1, 2, 3, 4]
  x = [1.22, 0.73, 0.45, 0.27]
}
observe o = x ~ normal(0.01) from D.x
objective J = nll()
objective E = final(x)
")
est <- odes_fit(f, over = c("k", "x0"), minimize = "J", starts = 3, seed = 1)
print(est)
t <- 1:4
y <- c(1.22, 0.73, 0.45, 0.27)
by_r <- nls(y ~ x0 * exp(-k * t), start = list(k = 0.4, x0 = 2))
near(coef(est), coef(by_r), 1e-4)
near(est$estimates$stderr, 0.01 / summary(by_r)$sigma * summary(by_r)$coefficients[, "Std. Error"], 1e-3)
near(est$predictions$value, fitted(by_r), 1e-4)
near(odes_predict(f, set = as.list(coef(est)))$value, est$predictions$value)

# Data at a limit of quantification or beyond.
limited <- odes_predict(odes_model('
time t from 0 to 3
param k = 1
state x = k
x\' = 0
data D { time = [1, 2, 3]  y = [0.1, 1, 3] }
observe o = x ~ normal(0.5, below = 0.5, above = 2) from D.y
objective L = nll()
'))
near(limited$data, c(0.5, 1, 2))
near(limited$below, c(1, 0, 0))
near(limited$above, c(0, 0, 1))
stopifnot(identical(is.na(limited$residual), c(TRUE, FALSE, TRUE)))
stopifnot(nrow(confint(est)) == 2)

# Draws from a posterior that is known: of three normal data with the same mean, beside a normal prior.
g <- odes_model("model G
time t from 0 to 3
param mu = 0 ~ normal(1, 2)
state x = mu
x' = 0
data D {
  time = [1, 2, 3]
  y = [2.1, 2.9, 3.3]
}
observe o = x ~ normal(0.5) from D.y
")
p <- odes_sample(g, draws = 2000, chains = 2, seed = 4, predictive = TRUE)
print(p)
stopifnot(p$status == "ok", nrow(p$draws) == 4000, identical(p$draws$mu, odes_sample(g, draws = 2000, chains = 2,
  seed = 4)$draws$mu), identical(p$draws$.iteration[2001:2002], 1:2), all(p$statistics$divergent__ == 0))
precision <- 3 / 0.25 + 1 / 4
stopifnot(abs(p$params["mu", "mean"] - (sum(2.1, 2.9, 3.3) / 0.25 + 1 / 4) / precision) < 5 * p$params["mu", "MCSE"])
near(p$params["mu", "sd"], sqrt(1 / precision), 0.1)
stopifnot(abs(mean(p$prior$mu) - 1) < 0.3, abs(stats::sd(p$prior$mu) - 2) < 0.3)
stopifnot(dim(p$log_likelihood) == c(4000, 3), nrow(p$predictions) == 3)

# An ensemble.
members <- odes_ensemble(f, rows = data.frame(k = c(0.5, 1), x0 = c(2, 3)), of = "E", wrt = "k")
near(members$E, c(2, 3) * exp(-4 * c(0.5, 1)), 1e-5)
near(members[["d(E)/d(k)"]], -4 * members$E, 1e-4)
d <- odes_ensemble(f, 8, draw = "k ~ uniform(0.5, 1)", seed = 3, of = "E", gradient = FALSE)
stopifnot(identical(d, odes_ensemble(f, 8, draw = "k ~ uniform(0.5, 1)", seed = 3, of = "E", gradient = FALSE)))

# Errors have their place, and everything goes on after them and after the end of the process.
fails(odes_model(sub("-k*x", "-kk*x", decay, fixed = TRUE)), "odes_model_error", "kk")
fails(odes_sens(m, kk = 1), "odes_request_error", "kk")
fails(odes_run(odes_model("model M\ntime t from 0 to 2\nstate x = 1\nx' = x^2\n")), "odes_run_error")
seen <- 0
long <- odes_model("model M\ntime t from 0 to 1e6\nstate x = 1, v = 0\nx' = v\nv' = -x
solver { max_steps = 1e9 }\n")
invisible(odes_run(long, 0, trust = FALSE, progress = function(p) seen <<- seen + 1))
stopifnot(seen > 0)
odes_shutdown()
near(odes_sens(m, k = 0.3)$value["J"], exp(-0.6))
big <- odes_run(m, seq(0, 2, length.out = 200000), k = 0.3)
near(big[200000, "Y[1,1]"], exp(-0.6))

# The same models in deSolve.
if (requireNamespace("deSolve", quietly = TRUE)) {
  lv <- odes_model("model LV
time t from 0 to 10
param a = 1.5, b = 1, c = 3, d = 1
state x = 1, y = 1
x' = a*x - b*x*y
y' = -c*y + d*x*y
output X = x
output Y = y
objective J = final(x)
solver { rtol = 1e-10  atol = 1e-12 }
")
  times <- seq(0, 10, 0.5)
  rhs <- function(t, y, p) list(c(p[1] * y[1] - p[2] * y[1] * y[2], -p[3] * y[2] + p[4] * y[1] * y[2]))
  p <- c(a = 1.5, b = 1, c = 3, d = 1)
  by_desolve <- function(p) deSolve::ode(c(1, 1), times, rhs, p, rtol = 1e-10, atol = 1e-12)
  mine <- odes_run(lv, times)
  near(unclass(mine)[, 2:3], unclass(by_desolve(p))[, 2:3], 1e-6)
  quotient <- sapply(1:4, function(i) {
    e <- replace(numeric(4), i, 1e-5)
    (by_desolve(p + e)[21, 2] - by_desolve(p - e)[21, 2]) / 2e-5
  })
  near(odes_sens(lv)$gradient["J", c("a", "b", "c", "d")], quotient, 1e-4)
  pdf(NULL)
  plot(mine) # a matrix of deSolve, with its pictures
  invisible(dev.off())
}
# The page of the documentation, where it is at hand.
page <- function(name) Filter(file.exists, file.path(c("docs", "../../docs", "../docs"), name))[1]
if (!is.na(page("r.md"))) {
  block <- function(name, language) {
    lines <- readLines(page(name))
    from <- which(lines == paste0("```", language))[1]
    lines[(from + 1):(from + which(lines[-(1:from)] == "```")[1] - 1)]
  }
  code <- parse(text = block("r.md", "r"))
  model <- block("python.md", "odes")
  old <- setwd(tempdir())
  writeLines(model, "model.ode")
  for (e in code) eval(e)
  setwd(old)
  stopifnot(s$gradient["AUC", "k"] < 0)
}
cat("ok\n")
