package settings

import (
	"maps"
	"math"
	"slices"

	"odes.dev/odes/lang/target"

	"odes.dev/odes/internal/base/sample"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/typecheck"
)

// key is a key of a settings block. typecheck.SettingRows documents it.
type key struct {
	name string
	set  setter
	// words are those that the key takes, in the order in which they are offered. nil means that the
	// key takes something other than words.
	words func() []string
	// later says of values that this version does not have them; nil if it has all.
	later reservation
}

// setter writes a value to s. It returns what is wrong with the value, or "".
type setter func(s *Settings, v model.SettingValue) string

// reservation returns what happens instead of a value that the language has but this version does not
// act on; "" for other values. needed tells that no run can do without it.
type reservation func(v model.SettingValue) (what string, needed bool)

// blocks are the keys of each block. To add a key, add a row here and one in the checker's table,
// which documents it.
var blocks = map[string][]key{
	"solver": append([]key{
		oneOf("method", methodWords, noMethod, func(s *Settings, w string) { s.Method = w }).reserve(methodLater),
		{name: "rtol", set: tolerance("rtol", 1, func(s *Settings) *tolerances { return &s.rtol })},
		{name: "atol", set: tolerance("atol", math.Inf(1), func(s *Settings) *tolerances { return &s.atol })},
		{name: "sens_tol", set: within(0, 1, "must be in [0, 1)", func(s *Settings) *float64 { return &s.SensTol })},
		{name: "h0", set: positive(func(s *Settings) *float64 { return &s.Solver.H0 })},
		{name: "hmin", set: positive(func(s *Settings) *float64 { return &s.Solver.HMin })},
		{name: "hmax", set: positive(func(s *Settings) *float64 { return &s.Solver.HMax })},
		{name: "max_steps", set: count(func(s *Settings) *int { return &s.Solver.MaxSteps })},
		{name: "fixed_step", set: positive(func(s *Settings) *float64 { return &s.Solver.Fixed })},
		{name: "quad_tol", set: setQuadTol, words: list("off")},
		{name: "stability", set: setStability, words: list("on", "off")},
		oneOf("dense", list("own", "hermite"), notOne, func(s *Settings, w string) { s.Hermite = w == "hermite" }),
		oneOf("linear", solvers.LinearMethods, notOne, func(s *Settings, w string) { s.Linear = w }),
		oneOf("observe", observeWords, notOne, setObserve),
		{name: "event_tol", set: positive(func(s *Settings) *float64 { return &s.Solver.EventTol })},
		{name: "max_events", set: count(func(s *Settings) *int { return &s.Solver.MaxEvents })},
		{name: "max_cascade", set: count(func(s *Settings) *int { return &s.Solver.MaxCascade })},
		oneOf("recheck", list("round", "body"), notOne, func(s *Settings, w string) { s.Solver.Each = w == "body" }),
		{name: "ties", set: setTies, words: list("file", "random")},
		oneOf("controller", controllerNames, noController, func(s *Settings, w string) { s.Controller = w }),
		{name: "max_growth", set: number(setGrowth)},
		{name: "checkpoint", set: setCheckpoint, words: checkpointWords},
		{name: "units", set: word(ignore), words: typecheck.UnitWords}, // the checker acts on it
		{name: "threads", set: count(func(s *Settings) *int { return &s.Threads })},
		{name: "memory", set: setMemory},
		oneOf("steady", steadyWords, notOne, func(s *Settings, w string) { s.Steady = steadyWays[w] }),
		oneOf("steady_start", steadyStarts, notOne, func(s *Settings, w string) { s.SteadyStart = w }),
		{name: "steady_tol", set: positive(func(s *Settings) *float64 { return &s.SteadyTol })},
	}, methodKeys()...),
	"sens": {
		{name: "of", set: setOf},
		{name: "wrt", set: variables("wrt", func(s *Settings) *[]target.Target { return &s.Wrt })},
		oneOf("mode", modeWords, noMode, func(s *Settings, w string) { s.Mode = w }),
		{name: "check", set: setCheck},
		oneOf("control", controlWords, notOne, setControl),
		{name: "trust", set: onOff(func(s *Settings) *bool { return &s.Trust }), words: list("on", "off")},
		{name: "error", set: onOff(func(s *Settings) *bool { return &s.Errors }), words: list("on", "off")},
		{name: "rtol", set: within(least, 1, "must be in (0, 1)",
			func(s *Settings) *float64 { return &s.Backward.RTol })},
		{name: "atol", set: positive(func(s *Settings) *float64 { return &s.Backward.ATol })},
		{name: "bump", set: positive(func(s *Settings) *float64 { return &s.Bump })},
		{name: "order", set: number(setOrder)},
		oneOf("steady", list("solve", "run"), notOne, func(s *Settings, w string) { s.SteadyFlow = w == "run" }),
		{name: "hvp", set: setHVP},
	},
	"fit": {
		{name: "minimize", set: setGoal(false)},
		{name: "maximize", set: setGoal(true)},
		{name: "over", set: variables("over", func(s *Settings) *[]target.Target { return &s.Fit.Over })},
		{name: "log", set: variables("log", func(s *Settings) *[]target.Target { return &s.Fit.Log })},
		oneOf("algorithm", list(Auto, "trust", "lbfgsb", "sqp"), notOne,
			func(s *Settings, w string) { s.Fit.Algorithm = w }),
		{name: "starts", set: count(func(s *Settings) *int { return &s.Fit.Starts })},
		oneOf("points", pointWords, notOne, func(s *Settings, w string) { s.Fit.Points = w }),
		{name: "seed", set: whole(func(s *Settings, x float64) { s.Fit.Seed = uint64(x) })},
		{name: "max_iter", set: count(func(s *Settings) *int { return &s.Fit.MaxIter })},
		{name: "max_time", set: positive(func(s *Settings) *float64 { return &s.Fit.MaxTime })},
		oneOf("intervals", list(Auto, "profile", "wald", "bootstrap", "none"), notOne,
			func(s *Settings, w string) { s.Fit.Intervals = w }),
		{name: "bootstrap", set: count(func(s *Settings) *int { return &s.Fit.Bootstrap })},
		{name: "level", set: within(least, 1, "must be in (0, 1)", func(s *Settings) *float64 { return &s.Fit.Level })},
		oneOf("scatter", list("known", "estimated"), notOne, func(s *Settings, w string) { s.Fit.Scatter = w }),
	},
	"ensemble": {
		{name: "n", set: count(func(s *Settings) *int { return &s.Ensemble.N })},
		oneOf("points", pointWords, notOne, func(s *Settings, w string) { s.Ensemble.Points = w }),
		{name: "seed", set: whole(func(s *Settings, x float64) { s.Ensemble.Seed = uint64(x) })},
		{name: "rows", set: func(*Settings, model.SettingValue) string { return "" }}, // Resolve takes the table
		{
			name: "gradient", set: onOff(func(s *Settings) *bool { return &s.Ensemble.Gradient }),
			words: list("on", "off"),
		},
	},
}

// pointWords are the ways to choose points.
func pointWords() (words []string) {
	for _, k := range sample.Kinds() {
		words = append(words, k.Name)
	}
	return words
}

// least is the smallest number above zero.
const least = math.SmallestNonzeroFloat64

// find returns the key of a block; nil for none.
func find(block, name string) *key {
	keys := blocks[block]
	if i := slices.IndexFunc(keys, func(k key) bool { return k.name == name }); i >= 0 {
		return &keys[i]
	}
	return nil
}

// Words returns the words that a key of a block ("solver", "sens") takes. It returns nil for keys that
// take something other than words.
func Words(block, name string) []string {
	if k := find(block, name); k != nil && k.words != nil {
		return k.words()
	}
	return nil
}

// reserve returns k with values that are not available yet.
func (k key) reserve(r reservation) key {
	k.later = r
	return k
}

// oneOf makes a key that takes one of words. wrong returns the message for other words.
func oneOf(
	name string, words func() []string, wrong func(w string, words []string) string, set func(s *Settings, w string),
) key {
	return key{name: name, words: words, set: word(func(s *Settings, w string) string {
		if all := words(); !slices.Contains(all, w) {
			return wrong(w, all)
		}
		set(s, w)
		return ""
	})}
}

func list(words ...string) func() []string {
	return func() []string { return slices.Clone(words) }
}

func notOne(_ string, words []string) string { return "is " + diag.Either(words) }

// setTies reads `file`, `random` or `random(seed = 7)`.
func setTies(s *Settings, v model.SettingValue) string {
	const usage = "is file or random(seed = 7)"
	random := v.Word == "random"
	if v.Array || !random && (v.Word != "file" || v.Call) || len(v.List)+len(v.Keys) > 1 {
		return usage
	}
	s.Solver.Shuffled, s.Solver.Seed = random, 1
	for _, k := range v.Keys {
		if k.Key != "seed" {
			return usage
		}
		v.List = append(v.List, k.Value)
	}
	for _, x := range v.List {
		if x.Number == nil || !(*x.Number >= 0) || *x.Number != math.Floor(*x.Number) || *x.Number > 1<<53 {
			return "takes a whole number as its seed"
		}
		s.Solver.Seed = uint64(*x.Number)
	}
	return ""
}

func number(set func(s *Settings, x float64) string) setter {
	return func(s *Settings, v model.SettingValue) string {
		if v.Number == nil {
			return "takes a number"
		}
		return set(s, *v.Number)
	}
}

// within reads a number from lo up to, but not including, hi.
func within(lo, hi float64, wrong string, field func(s *Settings) *float64) setter {
	return number(func(s *Settings, x float64) string {
		if !(x >= lo) || x >= hi {
			return wrong
		}
		*field(s) = x
		return ""
	})
}

func positive(field func(s *Settings) *float64) setter {
	return number(func(s *Settings, x float64) string {
		if !(x > 0) {
			return "must be positive"
		}
		*field(s) = x
		return ""
	})
}

func count(field func(s *Settings) *int) setter {
	return whole(func(s *Settings, x float64) { *field(s) = int(x) })
}

// whole reads a whole number from 1.
func whole(set func(s *Settings, x float64)) setter {
	return number(func(s *Settings, x float64) string {
		if !(x >= 1) || x != math.Floor(x) || x > 1<<53 {
			return "takes a whole number from 1"
		}
		set(s, x)
		return ""
	})
}

// methodKeys are the settings that only some methods take.
func methodKeys() []key {
	var list []key
	for _, f := range solvers.Families() {
		for _, own := range f.Settings {
			keep := func(s *Settings, x float64) {
				values := maps.Clone(s.OfMethod) // settings are copied
				if values == nil {
					values = map[string]float64{}
				}
				values[own.Name] = x
				s.OfMethod = values
			}
			set := whole(keep)
			if own.Any {
				set = number(func(s *Settings, x float64) string { keep(s, x); return "" })
			}
			list = append(list, key{name: own.Name, set: set})
		}
	}
	return list
}

// tolerance makes the setter of tolerances of the states, which must be below limit.
func tolerance(name string, limit float64, field func(s *Settings) *tolerances) setter {
	return func(s *Settings, v model.SettingValue) string { return field(s).set(v, name, limit) }
}

func word(set func(s *Settings, w string) string) setter {
	return func(s *Settings, v model.SettingValue) string {
		if v.Word == "" {
			if v.Text != "" {
				return "takes a name, without quotes: " + v.Text
			}
			return "takes a name"
		}
		return set(s, v.Word)
	}
}

// ignore accepts any word.
func ignore(*Settings, string) string { return "" }

func onOff(field func(s *Settings) *bool) setter {
	return word(func(s *Settings, w string) string {
		switch w {
		case "on", "true":
			*field(s) = true
		case "off", "false":
			*field(s) = false
		default:
			return "is on or off"
		}
		return ""
	})
}

// observeKinds are the ways to meet observation times.
var observeKinds = []struct {
	name string
	kind solvers.ObserveKind
}{{"auto", solvers.ObserveAuto}, {"clip", solvers.ObserveClip}, {"dense", solvers.ObserveDense}}

func observeWords() []string {
	var names []string
	for _, k := range observeKinds {
		names = append(names, k.name)
	}
	return names
}

func setObserve(s *Settings, w string) {
	for _, k := range observeKinds {
		if k.name == w {
			s.Solver.Observe = k.kind
		}
	}
}

// controls are the values of control, by their words.
var controls = []struct {
	name string
	kind Control
}{{Auto, ControlAuto}, {"on", ControlOn}, {"off", ControlOff}}

func controlWords() []string {
	var names []string
	for _, c := range controls {
		names = append(names, c.name)
	}
	return names
}

func setControl(s *Settings, w string) {
	for _, c := range controls {
		if c.name == w {
			s.Control = c.kind
		}
	}
}

func setGrowth(s *Settings, x float64) string {
	if !(x > 1) {
		return "must be greater than 1"
	}
	s.MaxGrowth = x
	return ""
}

// setQuadTol reads the relative tolerance of integrals. Zero leaves them out, as off does.
func setQuadTol(s *Settings, v model.SettingValue) string {
	switch x := v.Number; {
	case v.Word == "off" && !v.Call && !v.Array, x != nil && *x == 0:
		s.Solver.QuadTol = -1
	case x != nil && *x > 0:
		s.Solver.QuadTol = *x
	default:
		return "takes a number that is not negative, or off"
	}
	return ""
}

// setStability reads whether steps are held stable.
func setStability(s *Settings, v model.SettingValue) string {
	on := true
	wrong := onOff(func(*Settings) *bool { return &on })(s, v)
	s.Solver.Unbounded = !on
	return wrong
}

func setOrder(s *Settings, x float64) string {
	if x != 1 && x != 2 {
		return "is 1 or 2"
	}
	s.Order = int(x)
	return ""
}

func modeWords() []string {
	var names []string
	for _, m := range sens.Modes() {
		names = append(names, m.Name)
	}
	return append(names, Auto)
}

func noMode(w string, words []string) string { return "has no value " + among(w, words) }

func setOf(s *Settings, v model.SettingValue) string {
	named, ok := targets(v)
	if !ok {
		return "takes objectives: of = [J, K]"
	}
	s.Of = nil
	for _, t := range named {
		s.Of = append(s.Of, t.Text)
	}
	return ""
}

// variables makes the setter of a list of params and initial values.
func variables(name string, field func(s *Settings) *[]target.Target) setter {
	return func(s *Settings, v model.SettingValue) string {
		named, ok := targets(v)
		if !ok {
			return "takes params and initial values: " + name + " = [k, initial(x)]"
		}
		*field(s) = named
		return ""
	}
}

// setGoal makes the setter of the objective of a fit.
func setGoal(maximize bool) setter {
	return word(func(s *Settings, w string) string {
		s.Fit.Objective, s.Fit.Maximize = w, maximize
		return ""
	})
}

// targets reads a name, a call like initial(x), or a list of these.
func targets(v model.SettingValue) ([]target.Target, bool) {
	list := v.List
	if !v.Array {
		list = []model.SettingValue{v}
	}
	var out []target.Target
	for _, e := range list {
		var t target.Target
		switch {
		case e.Call && e.Word == "initial" && len(e.List) == 1 && e.List[0].Word != "":
			t.Name, t.Initial = e.List[0].Word, true
		case !e.Call && e.Word != "":
			t.Name = e.Word
		default:
			return nil, false
		}
		t.Text = t.String()
		out = append(out, t)
	}
	return out, true
}

// setCheck reads fd(directions = 3, tol = 1e-5).
func setCheck(s *Settings, v model.SettingValue) string {
	const usage = "is fd(directions = 3, tol = 1e-5): the gradient is checked along random directions"
	if v.Word != "fd" || v.Array || len(v.List) > 0 {
		return usage
	}
	how := GradientCheck{Span: v.Span}
	for _, k := range v.Keys {
		x := k.Value.Number
		switch {
		case x == nil:
			return usage
		case k.Key == "directions" && *x >= 1 && *x == math.Floor(*x) && *x <= 1000:
			how.Directions = int(*x)
		case k.Key == "tol" && *x > 0 && *x < 1:
			how.Tolerance = *x
		default:
			return usage
		}
	}
	s.Check = &how
	return ""
}

// setHVP reads a list with a number for each variable, or the name of a param that is one.
func setHVP(s *Settings, v model.SettingValue) string {
	const usage = "takes a number for each element of wrt, as hvp = [1, 0, -2], or a const or param that holds them"
	s.HVP = Vector{Span: v.Span}
	list := v.List
	switch {
	case v.Call || v.Array && v.Word != "":
		return usage
	case v.Number != nil:
		list = []model.SettingValue{v}
	case !v.Array:
		if s.HVP.Param = v.Word; v.Word == "" {
			return usage
		}
	}
	for _, e := range list {
		if e.Number == nil {
			return usage
		}
		s.HVP.List = append(s.HVP.List, *e.Number)
	}
	return ""
}
