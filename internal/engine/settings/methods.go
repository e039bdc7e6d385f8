package settings

import (
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/methods"
)

// laterMethods are names that the language reserves for methods to come.
var laterMethods = []string{"bdf"}

// foreignMethods maps other programs' names of methods to the nearest method here.
var foreignMethods = func() map[string]string {
	of := map[string]string{}
	for here, names := range map[string]string{
		"dopri5":            "rk45 ode45 dp5 dopri dormandprince",
		"bs3":               "rk23 ode23",
		"vern7":             "adams",
		"vern8":             "ode78",
		"vern9":             "ode89 ode113",
		"dop853":            "dop",
		"rk4":               "rungekutta4 runge_kutta rk",
		Auto:                "lsoda vode cvode cvodes advan13 advan6 ode15s stiff implicit gear ida idas",
		"rosenbrock23":      "ode23s rosenbrock",
		"rodas4":            "rodas",
		"radau5":            "radauiia radau_iia radau_iia_5 radauiia5",
		"radau3":            "radau_iia_3 radauiia3",
		"radau9":            "radauiia9",
		"trbdf2":            "ode23tb",
		"trapezoidal":       "ode23t crank_nicolson cranknicolson cn trapezoid",
		"backward_euler":    "implicit_euler beuler impliciteuler",
		"implicit_midpoint": "gauss2 implicitmidpoint",
		"sdirk4":            "sdirk",
		"esdirk4":           "esdirk",
	} {
		for _, name := range strings.Fields(names) {
			of[name] = here
		}
	}
	return of
}()

// methodWords are the names of the methods, and Auto.
func methodWords() []string { return append(methodNames(), Auto) }

func methodNames() []string {
	var names []string
	for _, m := range methods.All() {
		names = append(names, m.Name)
	}
	return names
}

func controllerNames() []string {
	var names []string
	for _, r := range hybrid.Controllers() {
		names = append(names, r.Name)
	}
	return names
}

// MethodFor returns the method here that is nearest to a method of another program, or "".
func MethodFor(name string) string { return foreignMethods[strings.ToLower(name)] }

// noMethod suggests what a name that is no method may mean.
func noMethod(w string, words []string) string {
	const text = "names a method that does not exist: "
	if meant := MethodFor(w); meant != "" {
		return text + strconv.Quote(w) + "; write " + meant
	}
	if near := diag.DidYouMean(w, words); near != "" {
		return text + strconv.Quote(w) + near
	}
	return text + strconv.Quote(w) + leaveIt
}

// leaveIt is the advice where no method is meant for certain. There are too many of them for a message.
const leaveIt = "; write auto, which suits most models, or one of the methods that odes doc lists"

func noController(w string, words []string) string {
	return "names a controller that does not exist: " + among(w, words)
}

// among suggests what a wrong word may mean, or else lists the words.
func among(w string, names []string) string {
	if near := diag.DidYouMean(w, names); near != "" {
		return strconv.Quote(w) + near
	}
	return strconv.Quote(w) + "; there are " + strings.Join(names, ", ")
}

func methodLater(v model.SettingValue) (what string, needed bool) {
	if !slices.Contains(laterMethods, v.Word) {
		return "", false
	}
	return "solver.method " + v.Word + " is not available in this version" + leaveIt, true
}

// Where searches for steady states begin: where the run is, or, if they are warm, at steady states for other values.
// Auto: warm searches are for fits, whose results are confirmed.
const OwnStart, WarmStart = "own", "warm"

// backwards names the methods that integrate adjoint equations of runs, where that is not the method of the run. The
// error estimate of ros3p is zero for linear autonomous equations, since both solutions have one stability function;
// those of adjoints are linear. Adjoint equations are linear, so that nothing is gained by the iterations of implicit
// Runge–Kutta methods: a Rosenbrock method takes their place.
var backwards = map[string]string{
	"ros3p": "rodas3", "backward_euler": "rosenbrock23", "theta": "rosenbrock23", "trapezoidal": "rosenbrock23",
	"implicit_midpoint": "rosenbrock23", "sdirk2": "rosenbrock23", "trbdf2": "rosenbrock23", "radau3": "rodas3",
	"kvaerno3": "rodas3", "esdirk32": "rodas3", "sdirk4": "rodas4", "esdirk4": "rodas4", "gauss4": "rodas4",
	"lobatto_iiic4": "rodas4", "kvaerno5": "rodas5p", "esdirk54": "rodas5p", "radau5": "rodas5p", "gauss6": "rodas5p",
	"radau9": "rodas5p", "radau13": "rodas5p",
	"ars222": "rosenbrock23", "ars343": "rodas3", "kencarp3": "rodas3", "kencarp4": "rodas4",
	"kencarp5": "rodas5p",
}

// Backwards returns the method that integrates adjoint equations over the steps of m: the same, or one like it.
// Where there are algebraic equations it solves those of the adjoint, too.
func Backwards(m *solvers.Spec, algebraic bool) *solvers.Spec {
	if len(m.Members) == 0 {
		if other, ok := methods.Lookup(backwards[m.Name]); ok {
			m = other
		}
		if algebraic && !m.Can.Has(solvers.MassMatrix) {
			m, _ = methods.Lookup("rodas3")
		}
		return m
	}
	members := make([]*solvers.Spec, len(m.Members))
	for i, own := range m.Members {
		members[i] = Backwards(own, algebraic)
	}
	if slices.Equal(members, m.Members) {
		return m
	}
	return solvers.Switching(m.Name, members...)
}
