package tableau

// The estimate of rk4 needs the slope at the end, with which the next step starts. The weights 1/6 1/3 1/3 0 1/6 over
// the five slopes satisfy the conditions of third order, so the estimate is h (k₄ - k₅)/6.
var Rk4 = Tableau{
	Name:  "rk4",
	Title: "classical Runge–Kutta 4(3)",
	Prose: "The classical method. The estimate is h/6 times the difference of the predicted and the final slope at " +
		"the end of the step; the final one is the first of the next step.",
	Source: "W. Kutta, Zeitschrift für Mathematik und Physik 46 (1901) 435–453",
	Order:  4, Embedded: 3,
	A: `1/2
	    0   1/2
	    0   0   1
	    1/6 1/3 1/3 1/6`,
	B:    `1/6 1/3 1/3 1/6`,
	BHat: `1/6 1/3 1/3 0 1/6`,
}

var Rk38 = Tableau{
	Name:  "rk38",
	Title: "Kutta's 3/8 rule 4(3)",
	Prose: "Smaller error coefficients than the classical method. The estimate uses the slope at the end, the " +
		"first of the next step.",
	Source: "W. Kutta, Zeitschrift für Mathematik und Physik 46 (1901) 435–453; estimate: Hairer, Nørsett, Wanner, " +
		"Solving Ordinary Differential Equations I, equation II.4.9",
	Order: 4, Embedded: 3,
	A: `1/3
	    -1/3 1
	    1   -1   1
	    1/8 3/8 3/8 1/8`,
	B:    `1/8 3/8 3/8 1/8`,
	BHat: `1/12 1/2 1/4 0 1/6`,
}

// The continuous extension of rkf45 is the only one of order 4 over its stages and the slope at the end, except for
// multiples of θ²(1-θ)² (b - b̂). The one taken has nearly the least error.
var Rkf45 = Tableau{
	Name:  "rkf45",
	Title: "Fehlberg 4(5)",
	Prose: "Advances the fourth-order solution and compares with one of fifth order, as Fehlberg meant it; " +
		"continuous extension of fourth order with the slope at the end.",
	Source: "E. Fehlberg, Computing 6 (1970) 61–71, doi:10.1007/BF02241732; extension: derived for odes, " +
		"docs/methods.md",
	Order: 4, Embedded: 5,
	A: `1/4
	    3/32       9/32
	    1932/2197 -7200/2197 7296/2197
	    439/216   -8         3680/513   -845/4104
	    -8/27      2        -3544/2565   1859/4104 -11/40`,
	B:    `25/216 0 1408/2565  2197/4104   -1/5`,
	BHat: `16/135 0 6656/12825 28561/56430 -9/50 2/55`,
	Dense: Dense{
		Order: 4,
		A:     `25/216 0 1408/2565 2197/4104 -1/5`,
		B: `1  -899/360    1327/540     -38/45
		    0
		    0 20992/4275 -97792/12825 13952/4275
		    0 -24167/6840 94471/10260 -4394/855
		    0    61/50      -81/25       91/50
		    0    -8/5        16/5        -8/5
		    0     3/2        -4           5/2`,
	},
}
