package export

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed" // the functions of FMI
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
)

// runtime is what the functions of FMI do for any model, in C.
//
//go:embed fmi/fmi3.c
var runtime string

// fmuWriter writes an FMU of FMI 3.0, for model exchange: the C of the model with derivatives, and its description.
type fmuWriter struct {
	*cWriter
	calculated []*quantity // params whose defaults use others
	derived    []*quantity // outputs that are variables of their own, then the calculated params
	roots      []*node
	jumps      *switches
	names      map[string]bool
	variables  []fmuVariable
	units      []string
}

// fmuVariable is a variable of the description. Its value reference is its place in the list.
type fmuVariable struct {
	name, doc, unit                  string
	causality, variability, initial  string
	start                            string // "" for none
	derivative                       int    // the state that it is the derivative of; 0 for none
	output, rate, calculated, signal bool   // what of the structure it is; calculated: unknown at the start
}

func writeFMU(x *exporter) string {
	x.flatten()
	x.continuous()
	w := &fmuWriter{names: map[string]bool{}}
	w.split(x)
	w.cWriter = newC(x)
	w.constants()
	w.functions()
	w.eventFunctions()
	for _, e := range w.list {
		if e.root != nil {
			w.roots = append(w.roots, w.rootOf(e))
		}
	}
	w.jumps = w.switches(slices.Concat(w.exporter.rates, w.roots))
	w.describe()
	w.extra()
	w.jumps.write()
	if x.list.HasErrors() {
		return ""
	}
	text := w.text()
	token := sha256.Sum256([]byte(text))
	text += w.bindings(hex.EncodeToString(token[:16])) + runtime
	return packed([][2]string{
		{"modelDescription.xml", w.description(hex.EncodeToString(token[:16]))},
		{"sources/buildDescription.xml", fmt.Sprintf(buildDescription, w.prefix, w.prefix)},
		{"sources/" + w.prefix + ".c", text},
	})
}

// continuous reports what model exchange has no place for.
func (x *exporter) continuous() {
	for _, q := range x.states {
		if q.symbol.Kind == model.AlgSymbol {
			x.cannot(q.span, "%s is an algebraic unknown, and an FMU has states with derivatives only: solve its "+
				"equation for it, with let", q.name)
			return
		}
		if x.unknown[q] {
			x.cannot(q.span, "the mass matrix of %s is singular, and an FMU has states with derivatives only", q.name)
			return
		}
	}
	if len(x.masses) > 0 {
		x.cannot(x.masses[0].row.span, "%s has a mass matrix, and an FMU has derivatives: divide the rates by it",
			x.masses[0].row.base)
	}
}

// split makes definitions of the params whose defaults are no numbers: an importer sets the others, and reads these.
func (w *fmuWriter) split(x *exporter) {
	var given []*quantity
	for _, q := range x.params {
		if q.value.op == number {
			given = append(given, q)
			continue
		}
		w.calculated = append(w.calculated, q)
	}
	x.params = given
	x.lets = slices.Concat(w.calculated, x.lets)
}

// describe lists the variables: the time, params, values, derivatives of states, outputs, calculated params, and what
// sets off events.
func (w *fmuWriter) describe() {
	add := func(q *quantity, v fmuVariable) {
		if v.name == "" {
			v.name = q.name
		}
		for w.names[v.name] {
			v.name += "_"
		}
		w.names[v.name] = true
		v.doc = q.doc
		if v.derivative == 0 && !v.signal {
			v.unit = q.unit
		}
		if v.unit != "" && !slices.Contains(w.units, v.unit) {
			w.units = append(w.units, v.unit)
		}
		w.variables = append(w.variables, v)
	}
	shown := map[*quantity]bool{}
	for _, q := range w.outputs {
		shown[q] = true
	}
	add(w.time, fmuVariable{causality: "independent", variability: "continuous"})
	for _, q := range w.params {
		add(q, fmuVariable{causality: "parameter", variability: "tunable", start: xmlNumber(q.value.value)})
	}
	for i, q := range w.values {
		v := fmuVariable{causality: "local", variability: "continuous", initial: "calculated", calculated: true}
		if i >= len(w.states) {
			v.variability, v.calculated = "discrete", false
		}
		if v.output = shown[q]; v.output {
			v.causality, v.calculated = "output", true
		}
		if q.value.op == number {
			v.initial, v.start, v.calculated = "exact", xmlNumber(q.value.value), false
		}
		add(q, v)
	}
	for i, q := range w.states {
		add(q, fmuVariable{
			name: "der(" + q.name + ")", causality: "local", variability: "continuous", initial: "calculated",
			derivative: 1 + len(w.params) + i, rate: true, calculated: true,
		})
	}
	for _, q := range w.outputs {
		if w.place[q] != "" || slices.Contains(w.calculated, q) || slices.Contains(w.derived, q) {
			continue // it is a variable by itself
		}
		w.derived = append(w.derived, q)
		add(q, fmuVariable{
			causality: "output", variability: "continuous", initial: "calculated", output: true, calculated: true,
		})
	}
	for _, q := range w.calculated {
		w.derived = append(w.derived, q)
		add(q, fmuVariable{
			causality: "calculatedParameter", variability: "tunable", initial: "calculated", calculated: true,
		})
	}
	signal := fmuVariable{causality: "local", variability: "continuous", initial: "calculated", signal: true}
	for k := range w.roots {
		e := w.list[k]
		add(&quantity{name: "event " + e.name, doc: e.of.Doc}, signal)
	}
	for k := range w.jumps.states {
		add(&quantity{name: "jump " + itoa(k+1)}, signal)
	}
}

// extra writes the functions that the C of a model does not have: what is derived, and derivatives.
func (w *fmuWriter) extra() {
	var derived, rates, start []*node
	for _, q := range w.derived {
		n := w.named(q)
		if q.symbol == nil && w.ids.of[q] == "" {
			n = q.value
		}
		derived = append(derived, n)
	}
	for i := range w.values {
		if start = append(start, w.named(w.values[i])); i < len(w.exporter.rates) {
			rates = append(rates, w.exporter.rates[i])
		}
	}
	s := w.scope(nil)
	for i, n := range derived {
		s.assign(fmt.Sprintf("out[%d]", i), n, w.derived[i])
	}
	s.end("void", "derived", "double t, const double *y, const double *p, double *out", "Outputs and params that "+
		"others give.", "t", "y", "p", "out")
	w.derivatives("start", start, w.values)
	w.derivatives("rates", rates, nil)
	w.derivatives("derived", derived, nil)
	w.derivatives("root_functions", w.roots, nil)
}

// derivatives writes the tangent and the adjoint of a function, which gives these values. Those that are given are the
// names that it computes.
func (w *fmuWriter) derivatives(function string, of []*node, given []*quantity) {
	scope := func() (*cScope, *derivation) {
		s := w.scope(given)
		return s, newDerivation(&w.builder, s.behind, func(op string) {
			w.cannot(source.Span{File: w.source.Source}, "%s has no derivative that C could compute", op)
		})
	}
	inputs := slices.Concat([]*quantity{w.time}, w.params)
	if given == nil {
		inputs = append(inputs, w.values...)
	}
	const seeds = "double td, const double *yd, const double *pd, double *fd"
	const bars = "const double *fb, double *tb, double *yb, double *pb"
	const at = "double t, const double *y, const double *p, "

	s, d := scope()
	for _, q := range inputs {
		d.seeds[q] = w.seed(q, dotted(w.place[q]))
	}
	for i, n := range of {
		t := d.tangent(n)
		if t == nil {
			t = w.num(0)
		}
		s.assign(fmt.Sprintf("fd[%d]", i), t, nil)
	}
	s.end("void", function+"_tangent", at+seeds, "The derivative of "+function+" along td, yd, pd.", "t", "y", "p",
		"td", "yd", "pd", "fd")

	s, d = scope()
	var cotangents []*node
	for _, q := range inputs {
		d.seeds[q] = w.named(q)
	}
	for i := range of {
		cotangents = append(cotangents, w.seed(&quantity{name: "fb", base: "fb"}, fmt.Sprintf("fb[%d]", i)))
	}
	d.adjoint(of, cotangents)
	for _, q := range inputs {
		bar := d.inputs[q]
		if bar == nil {
			bar = w.num(0)
		}
		target := strings.Replace(dotted(w.place[q]), "d", "b", 1)
		if q == w.time {
			target = "*tb"
		}
		s.assign(target, bar, nil)
	}
	s.end("void", function+"_adjoint", at+bars, "The cotangents fb of "+function+" times its derivatives.", "t", "y",
		"p", "fb", "tb", "yb", "pb")
}

// dotted is the place of the tangent of what has a place: yd[3].
func dotted(place string) string {
	array, rest, is := strings.Cut(place, "[")
	if !is {
		return array + "d"
	}
	return array + "d[" + rest
}

// seed is a name for what stands at a place.
func (w *cWriter) seed(of *quantity, place string) *node {
	q := &quantity{name: of.name + "_d", base: joined(of) + "_d", uses: of.uses | ofParams}
	w.place[q] = place
	w.ids.of[q] = w.ids.fresh(q.base)
	return w.named(q)
}

// bindings says to the functions of FMI what the model has.
func (w *fmuWriter) bindings(token string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n#define MODEL(name) %s_##name\n#define MODEL_TOKEN %s\n", w.prefix, cString(token))
	b.WriteString("enum {")
	for i, of := range []struct {
		name string
		n    int
	}{
		{"PARAMS", len(w.params)},
		{"VALUES", len(w.values)},
		{"STATES", len(w.states)},
		{"DERIVED", len(w.derived)},
		{"ROOTS", len(w.roots)},
		{"EVENTS", len(w.list)},
		{"SWITCHES", len(w.jumps.states)},
		{"CLOCKS", len(w.jumps.clocks)},
		{"MOMENTS", len(w.jumps.moments)},
	} {
		fmt.Fprintf(&b, "%s\n    MODEL_%s = %d", strings.Repeat(",", min(i, 1)), of.name, of.n)
	}
	b.WriteString("\n};\n")
	var ways, starts, transients, order []string
	timed := len(w.list) > len(w.roots)
	for _, e := range w.list {
		if e.root != nil {
			ways = append(ways, itoa(e.way()))
		}
		starts = append(starts, flag(e.on.Start))
		transients = append(transients, flag(!e.persistent))
		order = append(order, itoa(slices.Index(w.exporter.events, e.event)))
	}
	define := func(name string, is bool) {
		fmt.Fprintf(&b, "#define MODEL_HAS_%s %s\n", name, flag(is))
	}
	define("ROOTS", len(w.roots) > 0)
	define("TIMES", timed)
	define("EVENTS", len(w.list) > 0)
	define("PRIORITY", w.ranked())
	define("SWITCHES", len(w.jumps.states) > 0)
	define("CLOCKS", len(w.jumps.clocks) > 0)
	define("MOMENTS", len(w.jumps.moments) > 0)
	for _, t := range []struct {
		name string
		list []string
	}{{"ways", ways}, {"starts", starts}, {"transients", transients}, {"order", order}} {
		if len(t.list) > 0 {
			list := wrapped("    " + strings.Join(t.list, ", "))
			fmt.Fprintf(&b, "static const int model_%s[] = {\n%s\n};\n", t.name, list)
		}
	}
	return b.String() + "\n"
}

func flag(is bool) string {
	if is {
		return "1"
	}
	return "0"
}

const buildDescription = `<?xml version="1.0" encoding="UTF-8"?>
<fmiBuildDescription fmiVersion="3.0">
  <BuildConfiguration modelIdentifier="%s">
    <SourceFileSet language="C99">
      <SourceFile name="%s.c"/>
    </SourceFileSet>
    <Library name="m" description="mathematical functions"/>
  </BuildConfiguration>
</fmiBuildDescription>
`

// description is modelDescription.xml.
func (w *fmuWriter) description(token string) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"3.0\"")
	attribute(&b, "modelName", w.source.Name)
	attribute(&b, "instantiationToken", token)
	attribute(&b, "description", w.source.Title)
	attribute(&b, "generationTool", w.origin())
	b.WriteString(">\n  <ModelExchange")
	attribute(&b, "modelIdentifier", w.prefix)
	b.WriteString(` canGetAndSetFMUState="true" providesDirectionalDerivatives="true" ` +
		`providesAdjointDerivatives="true"`)
	if len(w.roots) > 0 {
		b.WriteString(` needsCompletedIntegratorStep="true"`)
	}
	b.WriteString("/>\n")
	if len(w.units) > 0 {
		b.WriteString("  <UnitDefinitions>\n")
		for _, u := range w.units {
			b.WriteString("    <Unit")
			attribute(&b, "name", u)
			b.WriteString("/>\n")
		}
		b.WriteString("  </UnitDefinitions>\n")
	}
	b.WriteString("  <LogCategories>\n    <Category name=\"logStatusError\"/>\n  </LogCategories>\n")
	from, to := w.settled(w.from), w.settled(w.to)
	if from.op == number && to.op == number {
		b.WriteString("  <DefaultExperiment")
		attribute(&b, "startTime", xmlNumber(from.value))
		attribute(&b, "stopTime", xmlNumber(to.value))
		b.WriteString("/>\n")
	}
	b.WriteString("  <ModelVariables>\n")
	for i, v := range w.variables {
		b.WriteString("    <Float64")
		attribute(&b, "name", v.name)
		attribute(&b, "valueReference", itoa(i))
		attribute(&b, "description", v.doc)
		attribute(&b, "causality", v.causality)
		attribute(&b, "variability", v.variability)
		attribute(&b, "initial", v.initial)
		attribute(&b, "unit", v.unit)
		if v.derivative > 0 {
			attribute(&b, "derivative", itoa(v.derivative))
		}
		attribute(&b, "start", v.start)
		b.WriteString("/>\n")
	}
	b.WriteString("  </ModelVariables>\n  <ModelStructure>\n")
	known := w.references()
	for _, part := range []struct {
		name string
		has  func(v *fmuVariable) bool
	}{
		{"Output", func(v *fmuVariable) bool { return v.output }},
		{"ContinuousStateDerivative", func(v *fmuVariable) bool { return v.rate }},
		{"InitialUnknown", func(v *fmuVariable) bool { return v.calculated }},
		{"EventIndicator", func(v *fmuVariable) bool { return v.signal }},
	} {
		for i := range w.variables {
			if part.has(&w.variables[i]) {
				fmt.Fprintf(&b, "    <%s valueReference=\"%d\" dependencies=\"%s\"/>\n", part.name, i,
					w.dependencies(i, part.name == "InitialUnknown", known))
			}
		}
	}
	b.WriteString("  </ModelStructure>\n</fmiModelDescription>\n")
	return b.String()
}

// references are the value references of what others may depend on.
func (w *fmuWriter) references() map[*quantity]int {
	known := map[*quantity]int{w.time: 0}
	for i, q := range w.params {
		known[q] = 1 + i
	}
	for i, q := range w.values {
		known[q] = 1 + len(w.params) + i
	}
	return known
}

// dependencies lists what a variable depends on: at the start, values that are computed stand for what they are
// computed of. Importers that differentiate take params for knowns, so these are listed, too.
func (w *fmuWriter) dependencies(reference int, start bool, known map[*quantity]int) string {
	firstRate := 1 + len(w.params) + len(w.values)
	firstDerived := firstRate + len(w.states)
	firstRoot := firstDerived + len(w.derived)
	firstJump := firstRoot + len(w.roots)
	var n *node
	switch k := reference; {
	case k < firstRate:
		q := w.values[k-1-len(w.params)]
		if n = w.named(q); start {
			n = q.value
		}
	case k < firstDerived:
		n = w.exporter.rates[k-firstRate]
	case k < firstRoot:
		n = w.derived[k-firstDerived].value
	case k < firstJump:
		n = w.roots[k-firstRoot]
	default:
		n = w.jumps.states[k-firstJump]
	}
	found := map[int]bool{}
	seen := map[*node]bool{}
	var visit func(n *node)
	visit = func(n *node) {
		if seen[n] || n.uses == 0 {
			return
		}
		seen[n] = true
		if n.op == name {
			at, is := known[n.of]
			switch {
			case start && is && w.variables[at].initial == "calculated", !is:
				visit(n.of.value)
			default:
				found[at] = true
			}
		}
		for _, a := range n.args {
			visit(a)
		}
	}
	visit(n)
	var list []string
	for _, at := range slices.Sorted(maps.Keys(found)) {
		list = append(list, itoa(at))
	}
	return strings.Join(list, " ")
}

// settled is a value with the defaults of params: a number, if it depends on nothing else.
func (w *fmuWriter) settled(n *node) *node {
	switch {
	case n.op == name && n.uses&moving == 0:
		return w.settled(n.of.value)
	case n.op == choice:
		return w.choose(w.settled(n.args[0]), w.settled(n.args[1]), w.settled(n.args[2]))
	case n.op == lookup || n.op == held || len(n.args) == 0:
		return n
	}
	args := make([]*node, len(n.args))
	for k, a := range n.args {
		args[k] = w.settled(a)
	}
	return w.call(n.op, args...)
}

// attribute writes an attribute that has a value.
func attribute(b *strings.Builder, name, value string) {
	if value == "" {
		return
	}
	var text bytes.Buffer
	_ = xml.EscapeText(&text, []byte(value)) // a buffer takes all
	fmt.Fprintf(b, ` %s="%s"`, name, text.String())
}

func xmlNumber(v float64) string {
	switch text := strconv.FormatFloat(v, 'g', -1, 64); text {
	case "+Inf":
		return "INF"
	case "-Inf":
		return "-INF"
	default:
		return text
	}
}

// packed is an archive of files, the same bytes for the same files.
func packed(files [][2]string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f[0])
		if err == nil {
			_, err = w.Write([]byte(f[1]))
		}
		if err != nil {
			panic("export: a buffer takes all: " + err.Error())
		}
	}
	if err := z.Close(); err != nil {
		panic("export: a buffer takes all: " + err.Error())
	}
	return b.String()
}
