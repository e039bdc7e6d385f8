# The process that computes, and what is said to it (docs/serve.md). One process serves an R process. It is started when
# it is needed first, and again after it has ended: by Ctrl-C too, which reaches both.

state <- new.env(parent = emptyenv())
state$server <- NULL

kinds <- c(request = 1L, result = 16L, error = 17L, progress = 18L)

binary <- function() {
  path <- Sys.getenv("ODES_BINARY", unname(Sys.which("odes")))
  if (path == "") {
    stop(condition("odes_server_error", "there is no odes command on the path; ODES_BINARY names another one"))
  }
  path
}

# start starts a process. Named pipes carry both directions, which R's own pipes do not.
start <- function() {
  path <- binary()
  folder <- tempfile("odes-")
  dir.create(folder, mode = "0700")
  on.exit(unlink(folder, recursive = TRUE)) # open pipes need no names
  pipes <- file.path(folder, c("in", "out"))
  said <- tempfile("odes-says-")
  status <- system2("mkfifo", shQuote(pipes))
  if (status != 0) {
    stop(condition("odes_server_error", "cannot make named pipes"))
  }
  system(paste(shQuote(path), "serve -q <", shQuote(pipes[1]), ">", shQuote(pipes[2]), "2>", shQuote(said), "&"))
  s <- new.env(parent = emptyenv())
  s$to <- fifo(pipes[1], "wb", blocking = TRUE)
  s$from <- fifo(pipes[2], "rb", blocking = TRUE)
  s$said <- said
  s$last <- 0
  s$models <- list()
  s$alive <- TRUE
  reg.finalizer(s, stop_server, onexit = TRUE)
  s
}

stop_server <- function(s) {
  if (s$alive) {
    s$alive <- FALSE
    try(close(s$to), silent = TRUE) # ends the process
    try(close(s$from), silent = TRUE)
    unlink(s$said)
  }
}

server <- function() {
  if (is.null(state$server) || !state$server$alive) {
    state$server <- start()
  }
  state$server
}

#' End the process that computes. The next call starts another one.
odes_shutdown <- function() {
  if (!is.null(state$server)) {
    stop_server(state$server)
  }
  state$server <- NULL
  invisible()
}

integers <- function(x) writeBin(as.integer(x), raw(), endian = "little")

# uint64 writes a count as eight bytes. Counts are below 2^53.
uint64 <- function(x) {
  as.raw(x %/% 256^(0:7) %% 256)
}

read_bytes <- function(s, n) {
  parts <- list()
  while (n > 0) {
    b <- readBin(s$from, "raw", min(n, 2^20))
    if (length(b) == 0) {
      why <- paste(readLines(s$said, warn = FALSE), collapse = "\n")
      stop_server(s)
      stop(condition("odes_server_error", paste(c("the odes process has ended", why[why != ""]), collapse = ": ")))
    }
    parts[[length(parts) + 1]] <- b
    n <- n - length(b)
  }
  if (length(parts) == 1) parts[[1]] else do.call(c, c(parts, list(raw())))
}

# call sends a request and returns its answer: its head and its arrays.
call <- function(s, head, values = numeric(), progress = NULL) {
  s$last <- s$last %% 1e9 + 1
  text <- charToRaw(enc2utf8(toJSON(head, auto_unbox = TRUE, digits = NA, null = "null")))
  header <- c(charToRaw("ODE"), as.raw(c(1, kinds[["request"]], 0, 0, 0)), integers(s$last), integers(length(text)),
              uint64(length(values)))
  whole <- FALSE
  on.exit(if (!whole) stop_server(s)) # nobody knows where the next frame would begin
  writeBin(c(header, text, writeBin(as.double(values), raw(), endian = "little")), s$to)
  flush(s$to)
  repeat {
    h <- read_bytes(s, 24)
    number <- function(at) sum(as.integer(h[at]) * 256^(seq_along(at) - 1))
    kind <- as.integer(h[5])
    answer <- rawToChar(read_bytes(s, number(13:16)))
    Encoding(answer) <- "UTF-8"
    answer <- fromJSON(answer, simplifyVector = FALSE)
    count <- number(17:24)
    numbers <- if (count > 0) readBin(read_bytes(s, 8 * count), "double", count, endian = "little") else numeric()
    if (kind == kinds[["progress"]]) {
      if (!is.null(progress)) {
        progress(answer)
      }
      next
    }
    break
  }
  whole <- TRUE
  if (kind == kinds[["error"]]) {
    stop(failure(answer))
  }
  list(head = answer, arrays = cut_arrays(answer$arrays, numbers))
}

# cut_arrays returns arrays by name. Those of outputs are in a list of their own, since they share one.
cut_arrays <- function(list, numbers) {
  out <- list(outputs = list())
  at <- 0
  for (a in list) {
    shape <- as.integer(unlist(a$shape))
    n <- prod(shape)
    part <- shaped(numbers[at + seq_len(n)], shape)
    at <- at + n
    if (a$name == "output") {
      out$outputs[[length(out$outputs) + 1]] <- part
    } else {
      out[[a$name]] <- part
    }
  }
  out
}

# shaped makes an array of numbers in row-major order.
shaped <- function(x, shape) {
  if (length(shape) < 2) x else aperm(array(x, rev(shape)))
}

# flat returns the numbers of an array in row-major order.
flat <- function(x) {
  if (is.array(x) && length(dim(x)) > 1) as.vector(aperm(x)) else as.vector(x)
}

condition <- function(class, message, ...) {
  structure(class = c(class, "odes_error", "error", "condition"), list(message = message, call = NULL, ...))
}

failure <- function(head) {
  texts <- vapply(head$diagnostics, function(d) d$text, "")
  message <- if (length(texts) > 0) paste(texts, collapse = "\n") else head$message
  condition(paste0("odes_", head$error, "_error"), message, diagnostics = head$diagnostics)
}

# warn makes R's warnings of those of a result.
warn <- function(head) {
  for (d in head$warnings) {
    if (d$level == "warning") {
      warning(structure(class = c("odes_warning", "warning", "condition"),
                        list(message = d$text, call = NULL, diagnostic = d)))
    }
  }
  for (name in names(head$remarks)) {
    for (text in head$remarks[[name]]) {
      warning(paste0(name, ": ", text), call. = FALSE)
    }
  }
}
