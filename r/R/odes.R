#' Compile a model from a file, or from a text, which is told by its line ends. Doses are another regimen for the
#' experiment: a file, or a data frame with TIME, AMT and others.
odes_model <- function(source, folder = NULL, name = NULL, experiment = NULL, doses = NULL) {
  stopifnot(is.character(source))
  if (length(source) > 1 || grepl("\n", source[1], fixed = TRUE)) {
    text <- paste(source, collapse = "\n")
    if (is.null(name)) name <- "model.ode"
  } else {
    text <- readChar(source, file.size(source), useBytes = TRUE)
    Encoding(text) <- "UTF-8"
    if (is.null(folder)) folder <- dirname(normalizePath(source))
    if (is.null(name)) name <- source
  }
  open <- list(op = "open", text = text, name = name)
  if (!is.null(folder)) open$folder <- normalizePath(folder)
  if (!is.null(experiment)) open$experiment <- experiment
  if (!is.null(doses)) open$doses <- regimen(doses)
  m <- new.env(parent = emptyenv())
  m$open <- open
  m$server <- NULL
  m$jobs <- new.env(parent = emptyenv())
  r <- known(m)
  h <- r$head
  m$name <- h$name
  m$title <- h$title
  m$time <- h$time
  m$time_unit <- h$time_unit
  m$symbols <- data.frame(
    name = vapply(h$symbols, function(s) s$name, ""), kind = vapply(h$symbols, function(s) s$kind, ""),
    unit = vapply(h$symbols, function(s) if (is.null(s$unit)) "" else s$unit, ""),
    doc = vapply(h$symbols, function(s) if (is.null(s$doc)) "" else s$doc, "")
  )
  params <- Filter(function(s) s$kind == "param", h$symbols)
  at <- 0
  m$params <- list()
  for (p in params) {
    n <- prod(as.integer(unlist(p$shape)))
    m$params[[p$name]] <- shaped(r$arrays$params[at + seq_len(n)], as.integer(unlist(p$shape)))
    at <- at + n
  }
  warn(h)
  structure(list(env = m), class = "odes_model")
}

# regimen returns a table of doses, a file or a data frame: what it is called, and its text.
regimen <- function(doses) {
  if (is.character(doses)) {
    text <- readChar(doses, file.size(doses), useBytes = TRUE)
    Encoding(text) <- "UTF-8"
    return(list(name = doses, text = text))
  }
  stopifnot(is.list(doses), !is.null(names(doses)))
  cells <- lapply(doses, function(x) {
    if (is.factor(x)) x <- as.character(x)
    text <- if (is.numeric(x)) sprintf("%.17g", x) else sprintf("\"%s\"", gsub("\"", "\"\"", x, fixed = TRUE))
    ifelse(is.na(x), "", text)
  })
  stopifnot(length(unique(lengths(cells))) == 1)
  lines <- c(paste(names(doses), collapse = ","), do.call(paste, c(unname(cells), sep = ",")))
  list(name = "doses.csv", text = paste0(paste(lines, collapse = "\n"), "\n"))
}

# known makes sure that the process knows the model, and returns what it said when it read it.
known <- function(m) {
  s <- server()
  if (!identical(m$server, s)) {
    m$read <- call(s, m$open)
    m$server <- s
    m$jobs <- new.env(parent = emptyenv())
  }
  m$read
}

print.odes_model <- function(x, ...) {
  m <- x$env
  cat(m$name, if (m$title != "") paste0(": ", m$title), "\n", sep = "")
  print(m$symbols, row.names = FALSE)
  invisible(x)
}

# assigned returns assignments as a request has them, and their numbers. A value is numbers, or list(numbers, "unit").
assigned <- function(values) {
  set <- list()
  numbers <- list()
  for (name in names(values)) {
    v <- values[[name]]
    unit <- ""
    if (is.list(v)) {
      unit <- v[[2]]
      v <- v[[1]]
    }
    set[[length(set) + 1]] <- list(name = name, count = length(v), unit = unit)
    numbers[[length(numbers) + 1]] <- as.double(flat(v))
  }
  list(set = set, numbers = as.double(unlist(numbers)))
}

# written writes a setting as a model does.
written <- function(v) {
  if (is.logical(v)) return(if (v) "on" else "off")
  text <- if (is.numeric(v)) format(v, digits = 17, trim = TRUE) else as.character(v)
  if (length(text) > 1) paste0("[", paste(text, collapse = ", "), "]") else text
}

settings_of <- function(settings) {
  lapply(names(settings), function(k) list(k, written(settings[[k]])))
}

# ask sends a request on a model. A job is kept ready where its result has one.
ask <- function(model, request, values, more = numeric(), progress = NULL, keep = FALSE) {
  m <- model$env
  a <- assigned(values)
  request$set <- a$set
  numbers <- c(a$numbers, more)
  if (!is.null(progress)) request$progress <- TRUE
  for (attempt in 1:2) {
    known(m)
    key <- NULL
    out <- tryCatch({
      if (keep) {
        key <- paste(toJSON(request, auto_unbox = TRUE, digits = NA), "")
        job <- m$jobs[[key]]
        if (!is.null(job)) {
          again <- list(op = "again", job = job$job)
          if (!is.null(progress)) again$progress <- TRUE
          r <- call(m$server, again, numbers, progress)
          r$head$layout <- job$layout
          return(r)
        }
      }
      r <- call(m$server, c(request, list(model = m$read$head$model)), numbers, progress)
      if (keep) assign(key, list(job = r$head$job, layout = r$head$layout), envir = m$jobs)
      return(r)
    }, odes_gone_error = function(e) e)
    m$server <- NULL
    if (attempt == 2) stop(out)
  }
}

of_sens <- function(model, of, wrt, set, settings, trust, progress, values, more = numeric(), request = list()) {
  request <- c(list(op = "sens"), request)
  if (!is.null(of)) request$of <- I(of)
  if (!is.null(wrt)) request$wrt <- I(wrt)
  if (!is.null(trust)) settings <- c(settings, list(sens.trust = trust))
  request$settings <- settings_of(settings)
  r <- ask(model, request, c(set, values), more, progress, keep = TRUE)
  h <- r$head
  a <- r$arrays
  rows <- vapply(h$layout$objectives, function(o) o$name, "")
  columns <- unlist(lapply(h$layout$variables, function(v) elements(v$name, as.integer(unlist(v$shape)))))
  grades <- c("sound", "loose", "lost")
  named <- function(x) if (is.null(x)) NULL else matrix(x, length(rows), dimnames = list(rows, columns))
  worst <- pmax(a$value_trusts, if (is.null(a$trusts)) 0 else apply(a$trusts, 1, max))
  out <- list(
    value = stats::setNames(a$values, rows),
    unit = stats::setNames(vapply(h$layout$objectives, `[[`, "", "unit"), rows),
    gradient = named(a$gradient),
    trust = stats::setNames(grades[1 + worst], rows),
    left = named(a$left), right = named(a$right), values_left = named(a$values_left),
    values_right = named(a$values_right),
    along = if (!is.null(a$left_along)) cbind(left = a$left_along, right = a$right_along),
    coincidences = data.frame(
      t = vapply(h$coincidences, function(c) as.double(c$t), 0),
      causes = vapply(h$coincidences, function(c) paste(unlist(c$causes), collapse = "; "), ""),
      leap = vapply(h$coincidences, function(c) isTRUE(c$leap), NA)
    ),
    events = data.frame(name = vapply(h$events, `[[`, "", "name"), t = a$event_times),
    status = h$status, settings = h$settings, stats = h$stats
  )
  if (!is.null(a$hessian)) {
    out$hessian <- array(a$hessian, dim(a$hessian), dimnames = list(rows, columns, columns))
  }
  warn(h)
  structure(out, class = "odes_sens")
}

elements <- function(name, shape) {
  if (length(shape) == 0) return(name)
  at <- rev(expand.grid(rev(lapply(shape, seq_len))))
  inside <- paste0("[", do.call(paste, c(at, sep = ",")), "]")
  if (grepl(")$", name)) paste0(sub(")$", "", name), inside, ")") else paste0(name, inside)
}

#' Objectives and their exact derivatives.
odes_sens <- function(model, ..., of = NULL, wrt = NULL, set = list(), settings = list(), trust = NULL,
                      progress = NULL) {
  of_sens(model, of, wrt, set, settings, trust, progress, list(...))
}

#' As odes_sens, with second derivatives [objectives, columns, columns].
odes_hessian <- function(model, ..., of = NULL, wrt = NULL, set = list(), settings = list(), trust = NULL,
                         progress = NULL) {
  of_sens(model, of, wrt, set, c(settings, list(sens.order = 2)), trust, progress, list(...))
}

print.odes_sens <- function(x, ...) {
  print(data.frame(value = x$value, unit = x$unit, trust = x$trust))
  if (!is.null(x$gradient)) print(x$gradient)
  invisible(x)
}

#' Outputs over time, as a matrix of deSolve: its first column is the time.
odes_run <- function(model, times = NULL, ..., set = list(), settings = list(), trust = NULL, progress = NULL) {
  request <- list(op = "run")
  if (!is.null(times)) request$times <- length(times)
  if (!is.null(trust)) settings <- c(settings, list(sens.trust = trust))
  request$settings <- settings_of(settings)
  r <- ask(model, request, c(set, list(...)), as.double(times), progress, keep = TRUE)
  n <- length(r$arrays$t)
  out <- matrix(r$arrays$t, n, 1, dimnames = list(NULL, "time"))
  units <- c(time = model$env$time_unit)
  for (i in seq_along(r$head$outputs)) {
    o <- r$head$outputs[[i]]
    y <- r$arrays$outputs[[i]]
    shape <- if (is.array(y)) dim(y)[-1] else integer()
    names <- elements(o$name, shape)
    part <- matrix(flat(y), n, length(names), byrow = TRUE, dimnames = list(NULL, names))
    out <- cbind(out, part)
    units[names] <- o$unit
  }
  warn(r$head)
  structure(out, class = c("odes_run", "deSolve", "matrix"), units = units, type = "odes",
            objectives = stats::setNames(r$arrays$values, vapply(r$head$layout$objectives, `[[`, "", "name")),
            events = data.frame(name = vapply(r$head$events, `[[`, "", "name"), t = r$arrays$event_times))
}

predictions <- function(r) {
  columns <- c("t", "data", "value", "stderr", "sd", "residual", "below", "above")
  of <- function(key) rep(vapply(r$head$observations, `[[`, "", key), vapply(r$head$observations, `[[`, 1L, "rows"))
  rows <- matrix(r$arrays$predictions, ncol = length(columns), dimnames = list(NULL, columns))
  data.frame(experiment = of("experiment"), observation = of("observation"), rows)
}

#' Search for the values that make an objective least, and say how sure they are.
odes_fit <- function(model, ..., over = NULL, log = NULL, minimize = NULL, maximize = NULL, starts = NULL,
                     seed = NULL, set = list(), settings = list(), progress = NULL) {
  listed <- function(x) if (is.null(x) || identical(x, "all")) x else paste0("[", paste(x, collapse = ", "), "]")
  own <- list(fit.over = listed(over), fit.log = listed(log), fit.minimize = minimize, fit.maximize = maximize,
              fit.starts = starts, fit.seed = seed)
  request <- list(op = "fit", settings = settings_of(c(settings, Filter(Negate(is.null), own))))
  r <- ask(model, request, c(set, list(...)), numeric(), progress)
  a <- r$arrays
  names <- unlist(lapply(r$head$variables, function(v) elements(v$name, as.integer(unlist(v$shape)))))
  units <- unlist(lapply(r$head$variables, function(v) rep(v$unit, prod(as.integer(unlist(v$shape))))))
  correlation <- a$correlation
  if (!is.null(correlation)) dimnames(correlation) <- list(names, names)
  out <- list(
    objective = r$head$objective$name, value = as.double(r$head$value), status = r$head$status,
    estimates = data.frame(value = a$estimates, stderr = a$stderr, lower = a$lower, upper = a$upper, unit = units,
                           row.names = names),
    correlation = correlation, kkt = lapply(r$head$kkt, as.double),
    identifiable = length(r$head$unidentified) == 0, unidentified = r$head$unidentified,
    nll = as.double(r$head$nll), aic = as.double(r$head$aic), bic = as.double(r$head$bic), rows = r$head$rows,
    starts = data.frame(value = a$start_values, status = vapply(r$head$starts, `[[`, "", "status"),
                        evaluations = vapply(r$head$starts, `[[`, 1L, "evaluations")),
    predictions = predictions(r), settings = r$head$settings, stats = r$head$stats
  )
  warn(r$head)
  structure(out, class = "odes_fit")
}

print.odes_fit <- function(x, ...) {
  cat(x$objective, "=", format(x$value, digits = 8), paste0("(", x$status, ")\n"))
  print(x$estimates)
  invisible(x)
}

coef.odes_fit <- function(object, ...) stats::setNames(object$estimates$value, rownames(object$estimates))

confint.odes_fit <- function(object, parm, level, ...) {
  out <- as.matrix(object$estimates[c("lower", "upper")])
  if (missing(parm)) out else out[parm, , drop = FALSE]
}

#' What the model says beside its data, as it stands.
odes_predict <- function(model, ..., set = list(), settings = list()) {
  request <- list(op = "predict", settings = settings_of(settings))
  predictions(ask(model, request, c(set, list(...))))
}

#' What an analysis says that the command has and that has no function here: facts, and tables as data frames.
odes_analysis <- function(model, name, ..., set = list(), settings = list(), progress = NULL) {
  r <- ask(model, list(op = name, settings = settings_of(settings)), c(set, list(...)), numeric(), progress)
  if (is.null(r$head$tables)) stop(name, " has a function of its own")
  of_analysis(r)
}

# of_analysis makes data frames of the tables of an analysis, and a list of its facts.
of_analysis <- function(r) {
  table <- function(t) {
    columns <- vapply(t$columns, `[[`, "", "name")
    out <- as.data.frame(matrix(r$arrays[[t$name]], ncol = length(columns), dimnames = list(NULL, columns)))
    if (!is.null(t$labels)) rownames(out) <- make.unique(as.character(unlist(t$labels)))
    out
  }
  tables <- stats::setNames(lapply(r$head$tables, table), vapply(r$head$tables, `[[`, "", "name"))
  facts <- lapply(r$head$facts, function(f) if (is.null(f$text)) as.double(f$value) else f$text)
  warn(r$head)
  list(status = r$head$status, facts = stats::setNames(facts, vapply(r$head$facts, `[[`, "", "name")), tables = tables)
}

#' Draw from the posterior. What is not given is as the sample block of the model says.
odes_sample <- function(model, ..., draws = NULL, chains = NULL, warmup = NULL, seed = NULL, over = NULL,
                        predictive = FALSE, set = list(), settings = list(), progress = NULL) {
  listed <- if (is.null(over)) NULL else paste0("[", paste(over, collapse = ", "), "]")
  own <- list(sample.draws = draws, sample.chains = chains, sample.warmup = warmup, sample.seed = seed,
              sample.over = listed)
  request <- list(op = "sample", settings = settings_of(c(settings, Filter(Negate(is.null), own))))
  if (predictive) request$predictive <- TRUE
  out <- of_analysis(ask(model, request, c(set, list(...)), numeric(), progress))
  all <- out$tables$draws
  statistics <- grepl("__$", names(all))
  chain <- as.integer(all$chain__)
  names_of <- data.frame(.chain = chain, .iteration = stats::ave(chain, chain, FUN = seq_along),
                         .draw = seq_along(chain))
  rest <- out$tables[!names(out$tables) %in% c("draws", "params")]
  structure(c(list(status = out$status, facts = out$facts, params = out$tables$params,
                   draws = cbind(all[!statistics], names_of), statistics = cbind(all[statistics], names_of)), rest),
            class = "odes_sample")
}

print.odes_sample <- function(x, ...) {
  cat(nrow(x$draws), " draws (", x$status, ")\n", sep = "")
  print(x$params)
  invisible(x)
}

#' Run the model for many sets of values: the rows of a data frame, or what is drawn ("k ~ lognormal(0, 0.3)").
odes_ensemble <- function(model, n = NULL, ..., draw = NULL, rows = NULL, seed = NULL, points = NULL, of = NULL,
                          wrt = NULL, gradient = TRUE, trust = NULL, set = list(), settings = list(),
                          progress = NULL) {
  own <- list(ensemble.n = n, ensemble.seed = seed, ensemble.points = points)
  request <- list(op = "ensemble", values = !gradient,
                  settings = settings_of(c(settings, Filter(Negate(is.null), own))))
  if (!is.null(draw)) request$draw <- paste(draw, collapse = ", ")
  if (!is.null(of)) request$of <- I(of)
  if (!is.null(wrt)) request$wrt <- I(wrt)
  if (!is.null(trust)) request$trust <- isTRUE(trust)
  more <- numeric()
  if (!is.null(rows)) {
    request$columns <- I(names(rows))
    request$rows <- nrow(rows)
    more <- as.vector(t(as.matrix(rows)))
  }
  r <- ask(model, request, c(set, list(...)), more, progress)
  a <- r$arrays
  members <- r$head$members
  named <- function(x, names) as.data.frame(matrix(x, members, length(names), dimnames = list(NULL, names)))
  objectives <- vapply(r$head$layout$objectives, `[[`, "", "name")
  out <- named(a$param, vapply(r$head$params, `[[`, "", "name"))
  out <- cbind(out, named(a$value, objectives))
  if (!is.null(a$gradient)) {
    columns <- unlist(lapply(r$head$layout$variables, function(v) elements(v$name, as.integer(unlist(v$shape)))))
    by <- expand.grid(columns, objectives)
    out <- cbind(out, named(aperm(a$gradient, c(1, 3, 2)), paste0("d(", by[[2]], ")/d(", by[[1]], ")")))
  }
  out$status <- c("ok", "partial", "failed")[1 + a$status]
  attr(out, "failures") <- r$head$failures
  attr(out, "compared") <- r$head$compared
  warn(r$head)
  out
}

#' An objective and its gradient as optim takes them: optim(o$par, o$fn, o$gr, method = "L-BFGS-B").
#' Of its runs, the first and every trust-th are compared with independent ones: all for TRUE, none for FALSE.
odes_objective <- function(model, of, wrt, set = list(), settings = list(), trust = 1000) {
  calls <- 0
  shapes <- lapply(model$env$params[wrt], function(p) if (is.array(p)) dim(p) else length(p))
  last <- NULL
  at <- function(x) {
    if (is.null(last) || !identical(last$x, x)) {
      cut <- utils::relist(unname(x), lapply(model$env$params[wrt], flat))
      s <- odes_sens(model, of = of, wrt = wrt, set = c(set, cut), settings = settings,
                     trust = trust > 0 && calls %% trust == 0)
      calls <<- calls + 1
      last <<- list(x = x, value = s$value[[1]], gradient = s$gradient[1, ])
    }
    last
  }
  list(par = unlist(lapply(model$env$params[wrt], flat)), fn = function(x) at(x)$value,
       gr = function(x) at(x)$gradient)
}

#' The version of the command that computes.
odes_version <- function() call(server(), list(op = "hello"))$head$odes
