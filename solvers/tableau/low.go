package tableau

// Euler evaluates the slope at its end for the estimate. That is the first stage of the next step, so the estimate is
// free.
var Euler = Tableau{
	Name:  "euler",
	Title: "Euler 1(2)",
	Prose: "One evaluation a step. The estimate compares with Heun's second-order solution, whose second slope is " +
		"the first of the next step.",
	Source: "L. Euler, Institutionum calculi integralis I, 1768, §650",
	Order:  1, Embedded: 2,
	A:    `1`,
	B:    `1`,
	BHat: `1/2 1/2`,
}

var Heun = Tableau{
	Name:   "heun",
	Title:  "Heun 2(1)",
	Prose:  "Trapezoidal rule with a predicted end. The estimate compares with Euler's solution.",
	Source: "K. Heun, Zeitschrift für Mathematik und Physik 45 (1900) 23–38",
	Order:  2, Embedded: 1,
	A:    `1`,
	B:    `1/2 1/2`,
	BHat: `1`,
}

var Midpoint = Tableau{
	Name:   "midpoint",
	Title:  "explicit midpoint rule 2(1)",
	Prose:  "The slope at a predicted middle. The estimate compares with Euler's solution.",
	Source: "C. Runge, Mathematische Annalen 46 (1895) 167–178",
	Order:  2, Embedded: 1,
	A:    `1/2`,
	B:    `0 1`,
	BHat: `1`,
}

var Ralston = Tableau{
	Name:  "ralston",
	Title: "Ralston 2(1)",
	Prose: "The two-stage method of second order with the least bound on the local error. The estimate compares " +
		"with Euler's solution.",
	Source: "A. Ralston, Mathematics of Computation 16 (1962) 431–437",
	Order:  2, Embedded: 1,
	A:    `2/3`,
	B:    `1/4 3/4`,
	BHat: `1`,
}

var Fehlberg2 = Tableau{
	Name:  "fehlberg2",
	Title: "Fehlberg 2(3)",
	Prose: "Advances the second-order solution and compares with one of third order.",
	Source: "E. Fehlberg, Computing 6 (1970) 61–71; Hairer, Nørsett, Wanner, Solving Ordinary Differential " +
		"Equations I, table II.4.4",
	Order: 2, Embedded: 3,
	A: `1
	    1/4 1/4`,
	B:    `1/2 1/2`,
	BHat: `1/6 1/6 2/3`,
}

var Heun3 = Tableau{
	Name:  "heun3",
	Title: "Heun 3(2)",
	Prose: "Heun's method of order 3. The estimate compares with a method of order 2 on the same stages.",
	Source: "K. Heun, Zeitschrift für Mathematik und Physik 45 (1900) 23–38; estimate: M. Alexe, A. Sandu, DENSERKS, " +
		"Virginia Polytechnic Institute, 2007",
	Order: 3, Embedded: 2,
	A: `1/3
	    0   2/3`,
	B:    `1/4 0   3/4`,
	BHat: `0   1/2 1/2`,
}

// bs3's interpolant is the cubic Hermite one.
var Bs3 = Tableau{
	Name:  "bs3",
	Title: "Bogacki–Shampine 3(2)",
	Prose: "For loose tolerances, 1e-2 to 1e-4.",
	Source: "P. Bogacki, L. F. Shampine, Applied Mathematics Letters 2 (1989) 321–325, " +
		"doi:10.1016/0893-9659(89)90079-7",
	Order: 3, Embedded: 2,
	A: `1/2
	    0   3/4
	    2/9 1/3 4/9`,
	B:    `2/9 1/3 4/9`,
	BHat: `7/24 1/4 1/3 1/8`,
}

var Ssprk3 = Tableau{
	Name:  "ssprk3",
	Title: "Shu–Osher SSP 3(2)",
	Prose: "Strong stability preserving, for hyperbolic problems. The estimate compares with Heun's method, the " +
		"optimal one of second order in the same sense, on the first two stages.",
	Source: "C.-W. Shu, S. Osher, Journal of Computational Physics 77 (1988) 439–471, doi:10.1016/0021-9991(88)90177-5",
	Order:  3, Embedded: 2,
	A: `1
	    1/4 1/4`,
	B:    `1/6 1/6 2/3`,
	BHat: `1/2 1/2`,
}
