package settings

import (
	"math"
	"slices"

	"odes.dev/odes/lang/target"

	"odes.dev/odes/internal/base/sample"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/sens"

	"odes.dev/odes/solvers/matrices"
)

// setter writes a value to s. It returns what is wrong with the value, or "".
type setter func(s *Settings, v model.SettingValue) string

// own is what is particular to a key beside its row in package keys.
type own struct {
	// set reads the value; nil: what the kind of the row says, into the field with the key as its tag.
	set setter
	// words are those of a table of the program; nil: those of the row.
	words func() []string
	// wrong is the message for other words; nil: it lists them.
	wrong func(w string, words []string) string
	// later says of values that this version does not have them; nil if it has all.
	later reservation
}

// reservation returns what happens instead of a value that the language has but this version does not
// act on; "" for other values. needed tells that no run can do without it.
type reservation func(v model.SettingValue) (what string, needed bool)

// owns are the keys of which the row does not say all.
var owns = map[string]own{
	"solver.method":     {words: methodWords, wrong: noMethod, later: methodLater},
	"solver.rtol":       {set: tolerance("rtol", 1, func(s *Settings) *tolerances { return &s.rtol })},
	"solver.atol":       {set: tolerance("atol", math.Inf(1), func(s *Settings) *tolerances { return &s.atol })},
	"solver.quad_tol":   {set: setQuadTol},
	"solver.stability":  {set: setStability},
	"solver.linear":     {words: matrices.LinearMethods},
	"solver.ties":       {set: setTies},
	"solver.controller": {words: controllerNames, wrong: noController},
	"solver.checkpoint": {set: setCheckpoint},
	"solver.marginal":   {set: setMarginal},
	"solver.units":      {set: ignore}, // the checker acts on it
	"sens.mode":         {words: modeWords, wrong: noMode},
	"sens.check":        {set: setCheck},
	"sens.order":        {set: number(setOrder)},
	"sens.hvp":          {set: setHVP},
	"fit.minimize":      {set: setGoal(false)},
	"fit.maximize":      {set: setGoal(true)},
	"fit.points":        {words: pointWords},
	"fit.shooting":      {set: setShooting},
	"ensemble.points":   {words: pointWords},
	"ensemble.rows":     {set: ignore}, // Resolve takes the table
}

// pointWords are the ways to choose points.
func pointWords() (words []string) {
	for _, k := range sample.Kinds() {
		words = append(words, k.Name)
	}
	return words
}

// Words returns the words that a key of a block ("solver", "sens") takes. It returns nil for keys that
// take something other than words.
func Words(block, name string) []string {
	if o := owns[block+"."+name]; o.words != nil {
		return o.words()
	}
	if k := keys.Find(block, name); k != nil {
		return slices.Clone(k.Words)
	}
	return nil
}

// setShooting reads a number of parts, times, `auto` or `off`.
func setShooting(s *Settings, v model.SettingValue) string {
	const usage = "takes a number of parts from 2, the times at which they begin (D.time), auto or off"
	var to keys.Shooting
	switch {
	case v.Number != nil && *v.Number >= 2 && *v.Number == math.Floor(*v.Number) && *v.Number <= 1e6:
		to.Segments = int(*v.Number)
	case v.Number != nil || v.Call || v.Text != "" || len(v.Keys) > 0:
		return usage
	case v.Array && v.Word == "" && len(v.List) > 0:
		for _, x := range v.List {
			if x.Number == nil {
				return usage
			}
			to.Times = append(to.Times, *x.Number)
		}
	case v.Word == "auto" && !v.Array:
		to.Auto = true
	case v.Word != "off" || v.Array:
		return usage
	}
	s.Fit.Shooting = to
	return ""
}

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

// tolerance makes the setter of tolerances of the states, which must be below limit.
func tolerance(name string, limit float64, field func(s *Settings) *tolerances) setter {
	return func(s *Settings, v model.SettingValue) string { return field(s).set(v, name, limit) }
}

// word reads a name.
func word(set func(s *Settings, w string) string) setter {
	return func(s *Settings, v model.SettingValue) string {
		w, wrong := readWord(v)
		if wrong != "" {
			return wrong
		}
		return set(s, w)
	}
}

// ignore accepts any value.
func ignore(*Settings, model.SettingValue) string { return "" }

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
	return word(func(s *Settings, w string) string {
		on, wrong := readSwitch(w)
		s.Solver.Unbounded = wrong == "" && !on
		return wrong
	})(s, v)
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
