package odes

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/simd"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/solvers"
	"odes.dev/odes/typecheck"
)

// Codes of diagnostics about settings and runs.
const (
	CodeSetting   diag.Code = "setting"
	CodeUnknown   diag.Code = "unknown-name"
	CodeOverride  diag.Code = "override"
	CodeNoSuchRun diag.Code = "unavailable"
)

// settings are the resolved solver and sens blocks.
type settings struct {
	method     string
	controller string
	stages     int // of a method that leaves them open; 0: its own number
	solver     solvers.Options
	of, wrt    []string
	mode       string
	control    bool                         // derivatives take part in error control
	autoMode   bool                         // mode is to be chosen
	errors     bool                         // of derivatives are estimated
	sensTol    float64                      // what their accuracy must be; 0: not asked
	backward   struct{ RTol, ATol float64 } // tolerances of the continuous adjoint; 0: its defaults
	checkpoint string
	threads    int
}

// setter applies one key of a block; it returns what is wrong with the value, or "".
type setter func(s *settings, v typecheck.SettingValue) string

func number(set func(s *settings, x float64) string) setter {
	return func(s *settings, v typecheck.SettingValue) string {
		if v.Number == nil {
			return "takes a number"
		}
		return set(s, *v.Number)
	}
}

func positive(set func(s *settings, x float64)) setter {
	return number(func(s *settings, x float64) string {
		if !(x > 0) {
			return "must be positive"
		}
		set(s, x)
		return ""
	})
}

func count(set func(s *settings, n int)) setter {
	return number(func(s *settings, x float64) string {
		if !(x >= 1) || x != math.Floor(x) || x > 1<<53 {
			return "takes a whole number from 1"
		}
		set(s, int(x))
		return ""
	})
}

func word(set func(s *settings, w string) string) setter {
	return func(s *settings, v typecheck.SettingValue) string {
		if v.Word == "" {
			return "takes a name"
		}
		return set(s, v.Word)
	}
}

// solverKeys and sensKeys are the keys that this version acts on.
var solverKeys = map[string]setter{
	"method": word(func(s *settings, w string) string {
		if slices.Contains(laterMethods, w) {
			return fmt.Sprintf("%s is not available in this version; there are %s", w, strings.Join(methodNames(), ", "))
		}
		if _, ok := solvers.Lookup(w); !ok && w != "auto" {
			return fmt.Sprintf("names a method that does not exist: %q; there are %s", w, strings.Join(methodNames(), ", "))
		}
		s.method = w
		return ""
	}),
	"controller": word(func(s *settings, w string) string {
		for _, r := range solvers.Controllers() {
			if r.Name == w {
				s.controller = w
				return ""
			}
		}
		return fmt.Sprintf("names a controller that does not exist: %q; there are %s", w, strings.Join(controllerNames(), ", "))
	}),
	"rtol": number(func(s *settings, x float64) string {
		if !(x >= 0) || x >= 1 {
			return "must be in [0, 1)"
		}
		s.solver.RTol = x
		return ""
	}),
	"atol": func(s *settings, v typecheck.SettingValue) string { return s.setATol(v) },
	"h0":   positive(func(s *settings, x float64) { s.solver.H0 = x }),
	"hmin": positive(func(s *settings, x float64) { s.solver.HMin = x }),
	"sens_tol": number(func(s *settings, x float64) string {
		if !(x >= 0) || x >= 1 {
			return "must be in [0, 1)"
		}
		s.sensTol = x
		return ""
	}),
	"hmax":        positive(func(s *settings, x float64) { s.solver.HMax = x }),
	"max_steps":   count(func(s *settings, n int) { s.solver.MaxSteps = n }),
	"fixed_step":  positive(func(s *settings, x float64) { s.solver.Fixed = x }),
	"quad_tol":    positive(func(s *settings, x float64) { s.solver.QuadTol = x }),
	"max_cascade": count(func(s *settings, n int) { s.solver.MaxCascade = n }),
	"max_events":  count(func(s *settings, n int) { s.solver.MaxEvents = n }),
	"event_tol":   positive(func(s *settings, x float64) { s.solver.EventTol = x }),
	"stages":      count(func(s *settings, n int) { s.stages = n }),
	"observe": word(func(s *settings, w string) string {
		kind, ok := observeKinds[w]
		if !ok {
			return "is auto, clip or dense"
		}
		s.solver.Observe = kind
		return ""
	}),
	"threads":    count(func(s *settings, n int) { s.threads = n }),
	"memory":     func(s *settings, v typecheck.SettingValue) string { return s.setMemory(v) },
	"checkpoint": func(s *settings, v typecheck.SettingValue) string { return s.setCheckpoint(v) },
	"units":      word(func(*settings, string) string { return "" }), // the checker's
}

var sensKeys = map[string]setter{
	"of": func(s *settings, v typecheck.SettingValue) string {
		names, ok := names(v)
		if !ok {
			return "takes objectives: of = [J, K]"
		}
		s.of = names
		return ""
	},
	"wrt": func(s *settings, v typecheck.SettingValue) string {
		names, ok := names(v)
		if !ok {
			return "takes params and initial values: wrt = [k, initial(x)]"
		}
		s.wrt = names
		return ""
	},
	"mode": word(func(s *settings, w string) string {
		for _, m := range modeNames {
			if m == w {
				s.mode = w
				return ""
			}
		}
		return fmt.Sprintf("has no value %q; there are %s", w, strings.Join(modeNames, ", "))
	}),
	"order": number(func(_ *settings, x float64) string {
		if x != 1 {
			return "is 1; second derivatives are not available in this version"
		}
		return ""
	}),
	"control": word(func(s *settings, w string) string {
		switch w {
		case "on", "true":
			s.control = true
		case "off", "false":
			s.control = false
		default:
			return "is on or off"
		}
		return ""
	}),
	"error": word(func(s *settings, w string) string {
		switch w {
		case "on", "true":
			s.errors = true
		case "off", "false":
			s.errors = false
		default:
			return "is on or off"
		}
		return ""
	}),
	"rtol": number(func(s *settings, x float64) string {
		if !(x > 0) || x >= 1 {
			return "must be in (0, 1)"
		}
		s.backward.RTol = x
		return ""
	}),
	"atol": positive(func(s *settings, x float64) { s.backward.ATol = x }),
	"check": func(*settings, typecheck.SettingValue) string {
		return "is not available in this version; run odes verify"
	},
}

// observeKinds are the ways to meet observation times.
var observeKinds = map[string]solvers.ObserveKind{
	"auto": solvers.ObserveAuto, "clip": solvers.ObserveClip, "dense": solvers.ObserveDense,
}

var modeNames = []string{"adjoint", "tangent", "forward", "continuous", "backsolve", "complex", "differences", "auto"}

// laterMethods are names that the language reserves for methods to come.
var laterMethods = []string{
	"backward_euler", "trapezoidal", "implicit_midpoint", "sdirk2", "esdirk4", "rodas5p", "radau5", "bdf",
}

func methodNames() []string {
	var names []string
	for _, m := range solvers.Methods() {
		names = append(names, m.Name)
	}
	return names
}

func controllerNames() []string {
	var names []string
	for _, r := range solvers.Controllers() {
		names = append(names, r.Name)
	}
	return names
}

// names reads a name, a call like initial(x), or a list of these.
func names(v typecheck.SettingValue) ([]string, bool) {
	list := v.List
	if !v.Array {
		list = []typecheck.SettingValue{v}
	}
	var out []string
	for _, e := range list {
		switch {
		case e.Call && e.Word == "initial" && len(e.List) == 1 && e.List[0].Word != "":
			out = append(out, "initial("+e.List[0].Word+")")
		case !e.Call && e.Word != "":
			out = append(out, e.Word)
		default:
			return nil, false
		}
	}
	return out, true
}

// setATol reads one tolerance for all states, or a list with one for each state's element, in the order of declaration.
func (s *settings) setATol(v typecheck.SettingValue) string {
	list := v.List
	if !v.Array {
		list = []typecheck.SettingValue{v}
	}
	var atols []float64
	for _, e := range list {
		if e.Number == nil || !(*e.Number >= 0) {
			return "takes a number that is not negative, or a list with one for each state: atol = [1e-9, 1e-12]"
		}
		atols = append(atols, *e.Number)
	}
	if len(atols) == 0 {
		return "takes a number, or a list with one for each state"
	}
	s.solver.ATol, s.solver.ATols = atols[0], nil
	if v.Array {
		s.solver.ATols = atols
		for _, a := range atols {
			s.solver.ATol = min(s.solver.ATol, a) // what reports name
		}
	}
	return ""
}

func (s *settings) setMemory(v typecheck.SettingValue) string {
	if v.Number != nil && *v.Number > 0 {
		s.solver.Memory = int64(*v.Number)
		return ""
	}
	n, ok := parseBytes(v.Text)
	if !ok {
		return `takes a size such as "2 GB"`
	}
	s.solver.Memory = n
	return ""
}

// parseBytes reads "2 GB", "500MB", "1e9".
func parseBytes(text string) (int64, bool) {
	text = strings.TrimSpace(text)
	factor := 1.0
	for _, u := range []struct {
		suffix string
		factor float64
	}{{"KIB", 1 << 10}, {"MIB", 1 << 20}, {"GIB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}} {
		if strings.HasSuffix(strings.ToUpper(text), u.suffix) {
			text, factor = strings.TrimSpace(text[:len(text)-len(u.suffix)]), u.factor
			break
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x > 0) || x*factor >= math.MaxInt64 {
		return 0, false
	}
	return int64(x * factor), true
}

func (s *settings) setCheckpoint(v typecheck.SettingValue) string {
	switch v.Word {
	case "all":
		s.checkpoint = "all"
		return ""
	case "revolve", "binomial":
		return fmt.Sprintf("%q is not available in this version; use all", v.Word)
	}
	return "is all"
}

// resolve reads the model's blocks and the overrides of opts.
func (m *Model) resolve(opts Options, l *diag.List) *settings {
	s := &settings{method: "dopri5", mode: "adjoint", checkpoint: "all", threads: runtime.GOMAXPROCS(0)}
	s.solver.RTol, s.solver.ATol = 1e-6, 1e-9
	if err := simd.Err(); err != nil {
		l.Errorf(CodeSetting, source.Span{}, "%v", err)
	}
	for _, want := range []struct {
		kind, name string
		keys       map[string]setter
	}{{"solver", opts.Solver, solverKeys}, {"sens", opts.Sens, sensKeys}} {
		found := want.name == ""
		for _, b := range m.checked.Settings.Blocks {
			if b.Kind != want.kind || (b.Name != "" && b.Name != want.name) {
				continue
			}
			found = found || b.Name == want.name
			for _, k := range b.Keys {
				s.apply(want.keys, want.kind, k, l)
			}
		}
		if !found {
			l.Errorf(CodeUnknown, source.Span{}, "the model has no %s block named %q", want.kind, want.name)
		}
	}
	for _, o := range opts.Settings {
		kind, key, ok := strings.Cut(o.Key, ".")
		keys := map[string]map[string]setter{"solver": solverKeys, "sens": sensKeys}[kind]
		if !ok || keys == nil {
			l.Errorf(CodeSetting, source.Span{}, "%q is no setting; write solver.<key> or sens.<key>", o.Key)
			continue
		}
		var own diag.List
		text := source.NewFile("--"+o.Key, kind+" { "+key+" = "+o.Value+" }")
		for _, b := range typecheck.ReadSettings(parser.Parse(text, &own), &own).Blocks {
			for _, k := range b.Keys {
				s.apply(keys, kind, k, &own)
			}
		}
		for _, d := range own.All() { // the place is the option, not a text that nobody wrote
			l.Add(diag.Diagnostic{Code: d.Code, Level: d.Level, Message: o.Key + " = " + o.Value + ": " + d.Message})
		}
	}
	if opts.Of != nil {
		s.of = opts.Of
	}
	if opts.Wrt != nil {
		s.wrt = opts.Wrt
	}
	if opts.Threads > 0 {
		s.threads = opts.Threads
	}
	return s
}

func (s *settings) apply(keys map[string]setter, kind string, k typecheck.Setting, l *diag.List) {
	set, ok := keys[k.Key]
	if !ok {
		l.Errorf(CodeNoSuchRun, k.Span, "%s.%s is not available in this version", kind, k.Key)
		return
	}
	if wrong := set(s, k.Value); wrong != "" {
		l.Errorf(CodeSetting, k.Span, "%s.%s %s", kind, k.Key, wrong)
	}
}

// tableau returns the method's table.
func (s *settings) tableau() (*solvers.Tableau, error) {
	t, _ := solvers.Lookup(s.method)
	switch {
	case s.stages == 0:
		return t, nil
	case s.method != "rkc2":
		return nil, fmt.Errorf("solver.stages chooses the stages of method = rkc2; %s has its own", s.method)
	case s.stages < 2 || s.stages > solvers.MaxChebyshevStages:
		return nil, fmt.Errorf("solver.stages = %d: rkc2 has 2 to %d stages", s.stages, solvers.MaxChebyshevStages)
	}
	return solvers.Chebyshev(s.stages), nil
}
