package tableau

// The continuous extension of ck45 is the only one of order 4 over its stages and the slope at the end, except for
// multiples of θ²(1-θ)² (b - b̂). The one taken has nearly the least error.
var Ck45 = Tableau{
	Name:  "ck45",
	Title: "Cash–Karp 5(4)",
	Prose: "A pair of orders 5 and 4 from a family that has embedded solutions of all orders below; continuous " +
		"extension of fourth order with the slope at the end.",
	Source: "J. R. Cash, A. H. Karp, ACM Transactions on Mathematical Software 16 (1990) 201–222, " +
		"doi:10.1145/79505.79507; extension: derived for odes, docs/methods.md",
	Order: 5, Embedded: 4,
	A: `1/5
	    3/40       9/40
	    3/10      -9/10    6/5
	    -11/54     5/2    -70/27     35/27
	    1631/55296 175/512 575/13824 44275/110592 253/4096`,
	B:    `37/378     0 250/621     125/594     0         512/1771`,
	BHat: `2825/27648 0 18575/48384 13525/55296 277/14336 1/4`,
	Dense: Dense{
		Order: 4,
		A:     `37/378 0 250/621 125/594 0 512/1771`,
		B: `1 -145429/53760   677821/241920 -161087/161280
		    0
		    0   10245/2944   -212615/39744    60205/26496
		    0     805/3072     48305/152064  -37435/101376
		    0     759/5120      -759/2560       759/5120
		    0   -4323/1610     57793/8855    -62913/17710
		    0       3/2           -4              5/2`,
	},
}

// The continuous extension of dopri5 is the Hermite cubic plus θ²(1-θ)² h Σ d_i k_i, with the d_i of Hairer and
// Wanner's code DOPRI5.
var Dopri5 = Tableau{
	Name:  "dopri5",
	Title: "Dormand–Prince 5(4)",
	Prose: "The standard choice for non-stiff problems and tolerances 1e-4 to 1e-8; continuous extension of fourth " +
		"order at no further evaluation.",
	Source: "J. R. Dormand, P. J. Prince, Journal of Computational and Applied Mathematics 6 (1980) 19–26, " +
		"doi:10.1016/0771-050X(80)90013-3; extension: Hairer, Nørsett, Wanner, Solving Ordinary Differential " +
		"Equations I, section II.6",
	Order: 5, Embedded: 4,
	A: `1/5
	    3/40        9/40
	    44/45      -56/15      32/9
	    19372/6561 -25360/2187 64448/6561 -212/729
	    9017/3168  -355/33     46732/5247  49/176  -5103/18656
	    35/384      0          500/1113    125/192 -2187/6784  11/84`,
	B:    `35/384     0 500/1113   125/192 -2187/6784    11/84`,
	BHat: `5179/57600 0 7571/16695 393/640 -92097/339200 187/2100 1/40`,
	Dense: Dense{
		Order: 4,
		B: `1 -8048581381/2820520608 8663915743/2820520608 -12715105075/11282082432
		    0
		    0 131558114200/32700410799 -68118460800/10900136933 87487479700/32700410799
		    0 -1754552775/470086768 14199869525/1410260304 -10690763975/1880347072
		    0 127303824393/49829197408 -318862633887/49829197408 701980252875/199316789632
		    0 -282668133/205662961 2019193451/616988883 -1453857185/822651844
		    0 40617522/29380423 -110615467/29380423 69997945/29380423`,
	},
}
