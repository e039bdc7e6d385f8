package tableau

// Rk6 has no published estimate. The weights of fourth order over its seven stages form a family b + λ (-3/10, 0,
// 1/2, -1, -1/5, 1, 0), and b̂ is the member that leaves out the sixth stage. Neither has it a continuous extension.
// After the slope at the end, θ = 1/2 is the only place inside the step where the stages give a value of order 5.
// With its slope there is one β of order 5.
var Rk6 = Tableau{
	Name:  "rk6",
	Title: "Butcher 6(4)",
	Prose: "Sixth order in seven stages, the least number possible. The estimate compares with the solution of " +
		"fourth order that leaves out the sixth stage. Continuous extension of order 5 with two further stages.",
	Source: "J. C. Butcher, Journal of the Australian Mathematical Society 4 (1964) 179–194, " +
		"doi:10.1017/S1446788700023387; extension: derived for odes, docs/methods.md",
	Order: 6, Embedded: 4,
	A: `1/2
	    2/9      4/9
	    7/36     2/9   -1/12
	    -35/144 -55/36  35/48  15/8
	    -1/360  -11/36 -1/8    1/2    1/10
	    -41/260  22/13  43/156 -118/39 32/195 80/39`,
	B:    `13/200   0 11/40  11/40  4/25   4/25 13/200`,
	BHat: `113/1000 0 39/200 87/200 24/125 0    13/200`,
	Dense: Dense{
		Order: 5,
		A: `13/200   0 11/40  11/40     4/25 4/25  13/200
		    199/3200 0 33/640 143/640 -1/50  9/50 -91/3200 1/32`,
		B: `1 -91/20  44/5   -61/8    61/25
		    0
		    0  11/4  -11     121/8   -33/5
		    0  11/2  -33/2   143/8   -33/5
		    0   4/5  -24/5     8     -96/25
		    0   4    -56/5    56/5   -96/25
		    0   0    -13/10  117/40  -39/25
		    0  -1/2    4     -15/2     4
		    0  -8     32     -40      16`,
	},
}
