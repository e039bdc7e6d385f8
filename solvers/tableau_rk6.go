package solvers

// rk6 has no published estimate. The weights of fourth order over its seven
// stages form a family b + λ (-3/10, 0, 1/2, -1, -1/5, 1, 0); b̂ is its member
// that leaves out the sixth stage.
var rk6 = Tableau{
	Name:   "rk6",
	Title:  "Butcher 6(4)",
	Prose:  "Sixth order in seven stages, the least number possible. The estimate compares with the solution of fourth order that leaves out the sixth stage.",
	Source: "J. C. Butcher, Journal of the Australian Mathematical Society 4 (1964) 179–194, doi:10.1017/S1446788700023387",
	Order:  6, Embedded: 4,
	A: `1/2
	    2/9      4/9
	    7/36     2/9   -1/12
	    -35/144 -55/36  35/48  15/8
	    -1/360  -11/36 -1/8    1/2    1/10
	    -41/260  22/13  43/156 -118/39 32/195 80/39`,
	B:    `13/200   0 11/40  11/40  4/25   4/25 13/200`,
	BHat: `113/1000 0 39/200 87/200 24/125 0    13/200`,
}
