package stdlib

// The definitions below are written so that they and their derivatives stay finite wherever the
// density is. The branch that an `if` does not take is given harmless arguments, because its
// derivative enters as a product with 0.

const laplaceBelow = "if from < mu then 0.6931471805599453 + (mu - from)/b else -log1p(-0.5*exp(-max(from - mu, 0)/b))"

// distributions are what may follow `~`.
var distributions = []*Func{
	{
		Name: "normal", Args: []string{"mean", "sd"}, Class: Noise, Centre: "mean", Scale: "sd",
		Value: "exp(-((y - mean)/sd)^2/2)/(sd*sqrt(2*pi))", Domain: "sd > 0", Doc: "normal distribution",
		Body:  "0.5*((y - mean)/sd)^2 + log(sd) + 0.9189385332046728",
		Below: normalTail("v", "(mean - from)/(sd*1.4142135623730951)") + "return v",
		Mass:  normalMass(),
		Cases: []Case{{in(1, 2, 4), 2.737085713764618}, {in(0, 1e-3, 0.5), 124994.01118325422}},
	},
	{
		Name: "lognormal", Args: []string{"mu", "sd"}, Class: Noise, Centre: "mu", Log: true,
		Value: "exp(-((log(y) - mu)/sd)^2/2)/(y*sd*sqrt(2*pi))", Domain: "y > 0, sd > 0",
		Doc: "distribution of y whose logarithm is normal; the median of y is exp(mu)",
		Body: "let logy = log(if y > 0 then y else 1) return if y > 0 then 0.5*((logy - mu)/sd)^2 + log(sd) + logy " +
			"+ 0.9189385332046728 else inf",
		Below: normalTail("v", "(mu - from)/(sd*1.4142135623730951)") + "return v",
		Mass:  logNormalMass(),
		Cases: []Case{{in(0, 1, 2), 1.8523122207237186}, {in(0, 1, -1), inf}},
	},
	{
		Name: "laplace", Args: []string{"mu", "b"}, Class: Noise, Centre: "mu", Scale: "b",
		Value: "exp(-|y - mu|/b)/(2*b)", Domain: "b > 0", Kinks: "y = mu", Doc: "Laplace distribution, with median mu",
		Body:  "abs(y - mu)/b + log(b) + 0.6931471805599453",
		Below: laplaceBelow,
		Mass:  laplaceMass(false),
		Cases: []Case{{in(1, 2, 4), 2.8862943611198906}},
	},
	{
		Name: "loglaplace", Args: []string{"mu", "b"}, Class: Noise, Centre: "mu", Log: true,
		Value: "exp(-|log(y) - mu|/b)/(2*b*y)", Domain: "y > 0, b > 0", Kinks: "log(y) = mu",
		Doc: "distribution of y whose logarithm has a Laplace distribution; the median of y is exp(mu)",
		Body: "let logy = log(if y > 0 then y else 1) return if y > 0 then abs(logy - mu)/b + log(b) + logy + " +
			"0.6931471805599453 else inf",
		Below: laplaceBelow,
		Mass:  laplaceMass(true),
		Cases: []Case{{in(0, 1, 2), 2.0794415416798357}, {in(0, 1, 0), inf}},
	},
	{
		Name: "student", Args: []string{"nu", "mu", "s"}, Class: Noise, Centre: "mu", Scale: "s",
		Value: "Γ((nu + 1)/2)/(Γ(nu/2)*sqrt(nu*pi)*s)*(1 + ((y - mu)/s)^2/nu)^(-(nu + 1)/2)", Domain: "nu > 0, s > 0",
		Doc: "Student's t distribution with nu degrees of freedom, centre mu and scale s",
		// lgamma(nu/2) - lgamma((nu + 1)/2) + log(nu/2)/2 cancels for large nu. There its series is
		// used (Tricomi and Erdélyi).
		Body: "let few = min(nu, 400) let many = max(nu, 400) " +
			"let gammas = if nu < 400 then lgamma(few/2) - lgamma((few + 1)/2) + 0.5*log(few) else " +
			"0.34657359027997264 + 1/(4*many) - 1/(24*many^3) + 1/(20*many^5) " +
			"return gammas + 0.5723649429247001 + log(s) + (nu + 1)/2*log1p(((y - mu)/s)^2/nu)",
		Cases: []Case{
			{in(3, 1, 2, 4), 2.8132676060543004},
			{in(400.5, 0, 1, 0.5), 1.0448357672670355},
			{in(500, 0, 1, 0.5), 1.0446572308049285},
			{in(1e9, 0, 1, 0.5), 1.0439385335640477},
		},
	},
	{
		Name: "poisson", Args: []string{"mean"}, Class: Noise, Centre: "mean", Counts: true,
		Value: "mean^y*exp(-mean)/y!", Domain: "mean > 0", Doc: "Poisson distribution of counts",
		Body:  "mean - y*log(if y > 0 then mean else 1) + lgamma(y + 1)",
		Cases: []Case{{in(2.5, 4), 2.0128909028513254}, {in(0, 0), 0}},
	},
	{
		Name: "negbin", Args: []string{"mean", "phi"}, Class: Noise, Centre: "mean", Counts: true,
		Value: "Γ(y + phi)/(Γ(phi)*y!)*(phi/(mean + phi))^phi*(mean/(mean + phi))^y", Domain: "mean > 0, phi > 0",
		Doc: "negative binomial distribution of counts, with variance mean + mean^2/phi",
		// lgamma(y + phi) - lgamma(phi) cancels for large phi. There the difference of Stirling's
		// series is used.
		Body: "let few = min(phi, 100) let many = max(phi, 100) let n = y + many let share = mean/(mean + phi)*(if " +
			"phi < 100 then 1 else phi) " +
			"let gammas = if phi < 100 then lgamma(y + few) - lgamma(few) " +
			"else (n - 0.5)*log1p(y/many) - y + (1/n - 1/many)/12 - (1/n^3 - 1/many^3)/360 + (1/n^5 - 1/many^5)/1260 " +
			"return lgamma(y + 1) + phi*log1p(mean/phi) - y*log(if y > 0 then share else 1) - gammas",
		Cases: []Case{
			{in(2.5, 1.5, 4), 2.4507160215945157},
			{in(2.5, 100.5, 4), 2.021567621920795},
			{in(2.5, 1e9, 4), 2.0128909037263254},
			{in(0, 1.5, 0), 0},
		},
	},
	{
		Name: "uniform", Args: []string{"lo", "hi"}, Class: Noise,
		Value: "1/(hi - lo) in [lo, hi]", Domain: "lo < hi", Kinks: "the ends",
		Doc:   "uniform distribution; a prior only",
		Body:  "if y >= lo and y <= hi then log(hi - lo) else inf",
		Mass:  uniformMass(),
		Cases: []Case{{in(1, 3, 2), 0.6931471805599453}, {in(1, 3, 4), inf}},
	},
	{
		Name: "gamma", Args: []string{"shape", "lambda"}, Class: Noise,
		Value: "lambda^shape*y^(shape - 1)*exp(-lambda*y)/Γ(shape)", Domain: "y > 0, shape > 0, lambda > 0",
		Doc: "gamma distribution with rate lambda; a prior only",
		Body: "if y > 0 then lgamma(shape) - shape*log(lambda) - (shape - 1)*log(if y > 0 then y else 1) + lambda*y " +
			"else inf",
		Cases: []Case{{in(2.5, 2, 0.7), 0.48682733498115446}, {in(2, 1, -1), inf}},
	},
	{
		Name: "beta", Args: []string{"a", "b"}, Class: Noise,
		Value: "y^(a - 1)*(1 - y)^(b - 1)/B(a, b)", Domain: "0 < y < 1, a > 0, b > 0",
		Doc: "beta distribution on [0, 1]; a prior only",
		Body: "if y > 0 and y < 1 then lgamma(a) + lgamma(b) - lgamma(a + b) - (a - 1)*log(if y > 0 then y else 1) " +
			"- (b - 1)*log1p(-(if y < 1 then y else 0)) else inf",
		Cases: []Case{{in(2, 3, 0.3), -0.5675839575845996}, {in(2, 3, 1.5), inf}},
	},
	{
		Name: "exponential", Args: []string{"lambda"}, Class: Noise,
		Value: "lambda*exp(-lambda*y)", Domain: "y ≥ 0, lambda > 0",
		Doc:   "exponential distribution with rate lambda; a prior only",
		Body:  "if y >= 0 then lambda*y - log(lambda) else inf",
		Mass:  exponentialMass(),
		Cases: []Case{{in(2, 0.7), 0.7068528194400547}, {in(2, -1), inf}},
	},
	{
		Name: "cauchy", Args: []string{"mu", "s"}, Class: Noise,
		Value: "1/(pi*s*(1 + ((y - mu)/s)^2))", Domain: "s > 0",
		Doc:   "Cauchy distribution with centre mu and scale s; a prior only",
		Body:  "log(s) + 1.1447298858494002 + log1p(((y - mu)/s)^2)",
		Mass:  cauchyMass(),
		Cases: []Case{{in(1, 2, 4), 3.0165320627509917}},
	},
	{
		Name: "inverse_gamma", Args: []string{"shape", "scale"}, Class: Noise,
		Value: "scale^shape*y^(-shape - 1)*exp(-scale/y)/Γ(shape)", Domain: "y > 0, shape > 0, scale > 0",
		Doc: "distribution of 1/g, where g has a gamma distribution with rate `scale`; a prior only",
		Body: "let v = if y > 0 then y else 1 " +
			"return if y > 0 then lgamma(shape) - shape*log(scale) + (shape + 1)*log(v) + scale/v else inf",
		Cases: []Case{{in(2.5, 2, 0.7), 0.16059547243034922}, {in(2, 1, -1), inf}},
	},
	{
		Name: "half_normal", Args: []string{"sd"}, Class: Noise,
		Value: "sqrt(2/pi)/sd*exp(-(y/sd)^2/2)", Domain: "y ≥ 0, sd > 0",
		Doc:   "distribution of the absolute value of a normal variable with mean 0; a prior only",
		Body:  "if y >= 0 then 0.5*(y/sd)^2 + log(sd) + 0.2257913526447274 else inf",
		Mass:  halfNormalMass(),
		Cases: []Case{{in(2, 0.7), 0.9801885332046727}, {in(2, -1), inf}},
	},
	{
		Name: "half_cauchy", Args: []string{"s"}, Class: Noise,
		Value: "2/(pi*s*(1 + (y/s)^2))", Domain: "y ≥ 0, s > 0",
		Doc:   "distribution of the absolute value of a Cauchy variable with centre 0; a prior only",
		Body:  "if y >= 0 then log(s) + 0.4515827052894549 + log1p((y/s)^2) else inf",
		Mass:  halfCauchyMass(),
		Cases: []Case{{in(2, 0.7), 1.2602882264836723}, {in(2, -1), inf}},
	},
	{
		Name: "lkj", Args: []string{"eta"}, Class: Noise,
		Value: "Γ(eta + 1/2)/(sqrt(pi)*Γ(eta))*(1 - y^2)^(eta - 1)", Domain: "-1 < y < 1, eta > 0",
		Doc: "distribution of a correlation, or of those of a matrix of covariances (Lewandowski, Kurowicka and " +
			"Joe); a prior only",
		Body: "let r = if y > -1 and y < 1 then y else 0 return if y > -1 and y < 1 then lgamma(eta) " +
			"- lgamma(eta + 0.5) + 0.5723649429247001 - (eta - 1)*log1p(-r^2) else inf",
		Cases: []Case{{in(2, 0.3), 0.38199275192302223}, {in(2, -1), inf}},
	},
}
