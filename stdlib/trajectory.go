package stdlib

// trajectory are the functions that read a trajectory or steer events, and the distributions.
var trajectory = []*Func{
	{Name: "noevent", Args: []string{"e"}, Class: Special, Units: UnitsSame, Value: "e", Doc: "e without events: the conditions inside make no roots, and the gradient is that of the branch taken"},
	{Name: "pre", Args: []string{"e"}, Class: Special, Units: UnitsSame, Value: "e", Doc: "e at the left limit of the instant: before the event's body"},
	{Name: "post", Args: []string{"e"}, Class: Special, Units: UnitsSame, Value: "e", Doc: "e at the right limit of the instant: after the event's body"},
	{Name: "mass_action", Args: []string{"kf", "kr"}, MinArgs: 1, Class: Special, Units: UnitsFree, Value: "kf*Π left^n - kr*Π right^m", Doc: "rate of a reaction by the law of mass action; only after `rate`"},
	{Name: "final", Args: []string{"e"}, Class: Functional, Units: UnitsSame, Value: "e at the end", Doc: "e at the end of the run, after the body of an event there"},
	{Name: "initial", Args: []string{"e"}, Class: Functional, Units: UnitsSame, Value: "e at the start", Doc: "e at the start of the run"},
	{Name: "integral", Args: []string{"e", "from", "to"}, MinArgs: 1, Class: Functional, Units: UnitsFree, Value: "∫ e dt", Doc: "integral over time: integral(e), integral(e, from = a, to = b)"},
	{Name: "sum_at", Args: []string{"times", "e"}, Class: Functional, Units: UnitsFree, Value: "Σ e(times[i])", Doc: "sum of e over the given times"},
	{Name: "at_event", Args: []string{"event", "e", "nth"}, MinArgs: 2, Class: Functional, Units: UnitsFree, Value: "Σ e at the firings", Doc: "sum of e over the firings of an event, or its value at one: at_event(ev, e, nth = 2)"},
	{Name: "event_time", Args: []string{"event", "k"}, Class: Functional, Units: UnitsFree, Value: "time of firing k", Doc: "time of the k-th firing of an event"},
	{Name: "steady", Args: []string{"e"}, Class: Functional, Units: UnitsSame, Value: "e at the steady state", Doc: "e at the steady state that the run approaches"},
	{Name: "max_over", Args: []string{"e"}, Class: Functional, Units: UnitsSame, Value: "greatest e", Doc: "greatest value of e along the run"},
	{Name: "nll", Args: []string{"data"}, MinArgs: 0, Class: Functional, Value: "-log likelihood", Doc: "negative logarithm of the likelihood of all observations, or of those in one table"},
	{Name: "log_prior", Args: nil, Class: Functional, Value: "Σ log prior", Doc: "logarithm of the prior density of the params"},
	{Name: "normal", Args: []string{"mean", "sd"}, Class: Noise, Value: "normal distribution", Body: "0.5*((y - mean)/sd)^2 + log(sd) + 0.9189385332046728", Doc: "normal distribution"},
	{Name: "lognormal", Args: []string{"mu", "sd"}, Class: Noise, Value: "log y normal", Body: "0.5*((log(y) - mu)/sd)^2 + log(sd) + log(y) + 0.9189385332046728", Doc: "distribution whose logarithm is normal"},
	{Name: "laplace", Args: []string{"mu", "b"}, Class: Noise, Value: "Laplace distribution", Body: "abs(y - mu)/b + log(b) + 0.6931471805599453", Kinks: "y = mu", Doc: "Laplace distribution"},
	{Name: "loglaplace", Args: []string{"mu", "b"}, Class: Noise, Value: "log y Laplace", Body: "abs(log(y) - mu)/b + log(b) + log(y) + 0.6931471805599453", Doc: "distribution whose logarithm has a Laplace distribution"},
	{Name: "student", Args: []string{"nu", "mu", "s"}, Class: Noise, Value: "Student's t", Body: "lgamma(nu/2) - lgamma((nu + 1)/2) + 0.5*log(nu*3.141592653589793) + log(s) + (nu + 1)/2*log1p(((y - mu)/s)^2/nu)", Doc: "Student's t distribution with nu degrees of freedom"},
	{Name: "poisson", Args: []string{"mean"}, Class: Noise, Value: "counts", Body: "mean - y*log(mean) + lgamma(y + 1)", Doc: "Poisson distribution of counts"},
	{Name: "negbin", Args: []string{"mean", "phi"}, Class: Noise, Value: "overdispersed counts", Body: "lgamma(phi) + lgamma(y + 1) - lgamma(y + phi) - phi*log(phi/(mean + phi)) - y*log(mean/(mean + phi))", Doc: "negative binomial distribution of counts with mean and overdispersion phi"},
	{Name: "uniform", Args: []string{"lo", "hi"}, Class: Noise, Value: "uniform in [lo, hi]", Body: "log(hi - lo)", Doc: "uniform distribution; a prior only"},
	{Name: "gamma", Args: []string{"shape", "lambda"}, Class: Noise, Value: "gamma distribution", Body: "lgamma(shape) - shape*log(lambda) - (shape - 1)*log(y) + lambda*y", Doc: "gamma distribution with rate lambda; a prior only"},
	{Name: "beta", Args: []string{"a", "b"}, Class: Noise, Value: "beta distribution", Body: "lgamma(a) + lgamma(b) - lgamma(a + b) - (a - 1)*log(y) - (b - 1)*log1p(-y)", Doc: "beta distribution on [0, 1]; a prior only"},
	{Name: "exponential", Args: []string{"lambda"}, Class: Noise, Value: "exponential distribution", Body: "lambda*y - log(lambda)", Doc: "exponential distribution with rate lambda; a prior only"},
}

// CensoredNormal is the negative log probability that a normal observation
// lies below `from`. It is not called by name: see `below` of observe.
var CensoredNormal = &Func{Name: "normal below", Args: []string{"from", "centre", "sd"}, Class: Noise, Body: "-log(0.5*erfc((centre - from)/(sd*1.4142135623730951)))"}
