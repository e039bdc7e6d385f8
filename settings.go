package odes

import (
	"fmt"
	"math"
	"runtime"
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
	CodeNoSuchRun diag.Code = "unavailable"
)

// settings are the resolved solver and sens blocks.
type settings struct {
	method     string
	controller string
	growth     float64 // the most that a step may be longer than the one before; 0: the controller's own
	stages     int     // of a method that leaves them open; 0: its own number
	solver     solvers.Options
	of, wrt    []string
	mode       string
	order      int                          // of the derivatives: 1 or 2
	hvp        multiplied                   // that Hessians are multiplied with
	control    bool                         // derivatives take part in error control
	autoMode   bool                         // mode is to be chosen
	errors     bool                         // of derivatives are estimated
	sensTol    float64                      // what their accuracy must be; 0: not asked
	backward   struct{ RTol, ATol float64 } // tolerances of the continuous adjoint; 0: its defaults
	checkpoint solvers.Checkpoint
	threads    int
	rtols      tolerances
	atols      tolerances
	check      *VerifyOptions // of the gradient, after it was computed; nil: not asked
	notes      diag.List      // what the solver block asks for and this version does not do
	sensNotes  diag.List      // the same of the sens block
}

// SettingRow explains settings that go together.
type SettingRow = typecheck.SettingRow

// SettingRows explains the keys of a settings block: "solver", "sens" or "fit".
func SettingRows(block string) []SettingRow { return typecheck.SettingRows(block) }

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

func onOff(field func(s *settings) *bool) setter {
	return word(func(s *settings, w string) string {
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

// solverKeys and sensKeys are the keys that this version acts on.
var solverKeys = map[string]setter{
	"method": word(func(s *settings, w string) string {
		if _, ok := solvers.Lookup(w); !ok && w != "auto" {
			return "names a method that does not exist: " + methodNamed(w)
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
		return "names a controller that does not exist: " + among(w, controllerNames())
	}),
	"max_growth": number(func(s *settings, x float64) string {
		if !(x > 1) {
			return "must be greater than 1"
		}
		s.growth = x
		return ""
	}),
	"rtol": func(s *settings, v typecheck.SettingValue) string { return s.rtols.set(v, "rtol", 1) },
	"atol": func(s *settings, v typecheck.SettingValue) string { return s.atols.set(v, "atol", math.Inf(1)) },
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
		return "has no value " + among(w, modeNames)
	}),
	"order": number(func(s *settings, x float64) string {
		if x != 1 && x != 2 {
			return "is 1 or 2"
		}
		s.order = int(x)
		return ""
	}),
	"hvp":     func(s *settings, v typecheck.SettingValue) string { return s.setHVP(v) },
	"control": onOff(func(s *settings) *bool { return &s.control }),
	"error":   onOff(func(s *settings) *bool { return &s.errors }),
	"rtol": number(func(s *settings, x float64) string {
		if !(x > 0) || x >= 1 {
			return "must be in (0, 1)"
		}
		s.backward.RTol = x
		return ""
	}),
	"atol":  positive(func(s *settings, x float64) { s.backward.ATol = x }),
	"check": func(s *settings, v typecheck.SettingValue) string { return s.setCheck(v) },
}

// observeKinds are the ways to meet observation times.
var observeKinds = map[string]solvers.ObserveKind{
	"auto": solvers.ObserveAuto, "clip": solvers.ObserveClip, "dense": solvers.ObserveDense,
}

var modeNames = []string{"adjoint", "tangent", "forward", "continuous", "backsolve", "complex", "differences", "auto"}

// foreignMethods are other programs' names of methods, and what stands nearest to them here.
var foreignMethods = map[string]string{
	"rk45": "dopri5", "ode45": "dopri5", "dp5": "dopri5", "dopri": "dopri5", "dormandprince": "dopri5", "rk23": "bs3", "ode23": "bs3",
	"ode78": "vern8", "ode89": "vern9", "ode113": "vern9", "dop": "dop853", "rungekutta4": "rk4", "runge_kutta": "rk4", "rk": "rk4", "adams": "vern7",
	"lsoda": "auto", "vode": "auto", "cvode": "auto", "ode15s": "", "ode23s": "", "ode23t": "", "radau": "", "rosenbrock23": "", "rodas4": "", "stiff": "", "implicit": "", "bdf": "", "gear": "", "ode23tb": "", "cvodes": "auto", "ida": "", "idas": "", "kvaerno5": "", "trbdf2": "", "sdirk": "", "esdirk": "", "advan13": "auto", "advan6": "auto",
}

// methodNamed tells what a name that is no method may have meant.
func methodNamed(w string) string {
	meant, known := foreignMethods[strings.ToLower(w)]
	switch {
	case known && meant != "":
		return strconv.Quote(w) + "; write " + meant
	case known:
		return strconv.Quote(w) + "; there are no implicit methods in this version"
	}
	return among(w, append(methodNames(), "auto"))
}

// among tells what a wrong word may have meant, or else what there is.
func among(w string, names []string) string {
	if near := diag.DidYouMean(w, names); near != "" {
		return strconv.Quote(w) + near
	}
	return strconv.Quote(w) + "; there are " + strings.Join(names, ", ")
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

// setCheck reads fd(directions = 3, tol = 1e-5).
func (s *settings) setCheck(v typecheck.SettingValue) string {
	const usage = "is fd(directions = 3, tol = 1e-5): the gradient is checked along random directions"
	if v.Word != "fd" || v.Array || len(v.List) > 0 {
		return usage
	}
	how := VerifyOptions{at: v.Span}
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
	s.check = &how
	return ""
}

// multiplied is what hvp says: numbers, or the param that holds them.
type multiplied struct {
	list  []float64
	param string
	at    source.Span
}

// setHVP reads a list with a number for each variable, or the name of a param that is one.
func (s *settings) setHVP(v typecheck.SettingValue) string {
	const usage = "takes a number for each element of wrt, as hvp = [1, 0, -2], or a param that holds them"
	s.hvp = multiplied{at: v.Span}
	list := v.List
	switch {
	case v.Call || v.Array && v.Word != "":
		return usage
	case v.Number != nil:
		list = []typecheck.SettingValue{v}
	case !v.Array:
		if s.hvp.param = v.Word; v.Word == "" {
			return usage
		}
	}
	for _, e := range list {
		if e.Number == nil {
			return usage
		}
		s.hvp.list = append(s.hvp.list, *e.Number)
	}
	return ""
}

func (s *settings) setMemory(v typecheck.SettingValue) string {
	text := v.Text
	if v.Number != nil {
		text = strconv.FormatFloat(*v.Number, 'g', -1, 64)
	}
	n, ok := parseBytes(text)
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
	if err != nil || !(x*factor >= 1) || x*factor >= math.MaxInt64 {
		return 0, false
	}
	return int64(x * factor), true
}

// defaults are the settings of a model without blocks.
func defaults() *settings {
	s := &settings{method: "dopri5", mode: "adjoint", threads: runtime.GOMAXPROCS(0)}
	s.rtols.all, s.atols.all = 1e-6, 1e-9
	return s
}

// resolve reads the model's blocks and the overrides of opts.
func (m *Model) resolve(opts Options, l *diag.List) *settings {
	s := defaults()
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
				s.apply(want.keys, want.kind, k, inModel, l)
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
				s.apply(keys, kind, k, onDemand, &own)
			}
		}
		if o.Key == "sens.hvp" { // what is said of it later has no place in a file either
			s.hvp.at = source.Span{}
		}
		for i, d := range own.All() { // the place is the option, not a text that nobody wrote
			if d.Code != CodeSetting && d.Code != typecheck.CodeSetting && d.Code != typecheck.CodeSettingValue {
				if i > 0 {
					break
				}
				d.Code = CodeSetting // it does not parse, and the first message says enough
			}
			if !strings.HasPrefix(d.Message, o.Key) {
				d.Message = o.Key + " = " + o.Value + ": " + d.Message
			}
			l.Add(diag.Diagnostic{Code: d.Code, Level: d.Level, Message: d.Message})
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

func (s *settings) apply(keys map[string]setter, kind string, k typecheck.Setting, from asked, l *diag.List) {
	if s.later(kind, k, from, l) {
		return
	}
	set, ok := keys[k.Key]
	if !ok {
		l.Errorf(CodeNoSuchRun, k.Span, "%s.%s is not available in this version", kind, k.Key)
		return
	}
	if wrong := set(s, k.Value); wrong != "" {
		l.Errorf(CodeSetting, k.Span, "%s.%s %s", kind, k.Key, wrong)
	}
}

// rule returns how steps are chosen.
func (s *settings) rule() solvers.Rule {
	r, _ := solvers.LookupController(s.controller)
	if s.growth > 0 {
		r.Grow = s.growth
	}
	return r
}

// spec returns the method that the settings choose, nil for auto.
func (s *settings) spec() (*solvers.Spec, error) {
	own := map[string]float64{}
	if s.stages != 0 {
		own["stages"] = float64(s.stages)
	}
	if s.method == "auto" && len(own) == 0 {
		return nil, nil
	}
	m, err := solvers.Choose(s.method, own)
	if err != nil {
		return nil, fmt.Errorf("solver.%w", err)
	}
	return m, nil
}
