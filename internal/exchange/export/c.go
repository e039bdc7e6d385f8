package export

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/lang/model"
)

// cFunctions are the operations that are calls in C. Those that begin with an _ are helpers.
var cFunctions = map[string]string{
	"exp": "exp", "log": "log", "log10": "log10", "log1p": "log1p", "expm1": "expm1", "sqrt": "sqrt", "cbrt": "cbrt",
	"abs": "fabs", "sign": "_sign", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos",
	"atan": "atan", "atan2": "atan2", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh",
	"acosh": "acosh", "atanh": "atanh", "hypot": "hypot", "erf": "erf", "erfc": "erfc", "lgamma": "lgamma",
	"floor": "floor", "ceil": "ceil", "round": "round", "trunc": "trunc", "mod": "_mod", "min": "fmin", "max": "fmax",
	"sigmoid": "_sigmoid", "^": "pow", "digamma": "_digamma",
}

// cOrder are the helpers in the order of the file.
var cOrder = []string{"_sign", "_mod", "_sigmoid", "_digamma", "_find", "_held", "_linear", "_cubic"}

// cHelpers are the functions that C does not have. %[1]s is what all names of the file begin with.
var cHelpers = map[string]string{
	"_sign": "static double %[1]s_sign(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0; }\n",
	"_mod": `static double %[1]s_mod(double a, double b)
{
    const double m = fmod(a, b);
    return (m < 0.0 && b > 0.0) || (m > 0.0 && b < 0.0) ? m + b : m;
}
`,
	"_sigmoid": `static double %[1]s_sigmoid(double x)
{
    const double e = exp(-fabs(x));
    return (x < 0.0 ? e : 1.0)/(1.0 + e);
}
`,
	"_digamma": `/* The derivative of lgamma: by its asymptotic series, which begins at 10. */
static double %[1]s_digamma(double x)
{
    double r, s = 0.0;
    if (x <= 0.0) {
        if (x == floor(x))
            return NAN;
        return %[1]s_digamma(1.0 - x) - 3.14159265358979323846/tan(3.14159265358979323846*x);
    }
    for (; x < 10.0; x += 1.0)
        s -= 1.0/x;
    r = 1.0/(x*x);
    return s + log(x) - 0.5/x - r*(1.0/12 - r*(1.0/120 - r*(1.0/252 - r*(1.0/240 - r*(1.0/132 - r*(691.0/32760 -
        r*(1.0/12)))))));
}
`,
	"_find": `/* How many of n ascending knots t are not above x. */
static int %[1]s_find(double x, int n, const double *t)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        const int mid = lo + (hi - lo)/2;
        if (t[mid] > x)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}
`,
	"_held": `/* The value v[i] behind i of n knots t. */
static double %[1]s_held(double x, int n, const double *t, const double *v)
{
    return v[%[1]s_find(x, n, t)];
}
`,
	"_linear": `/* Between n knots t, linear; constant outside. */
static double %[1]s_linear(double x, int n, const double *t, const double *v)
{
    const int i = %[1]s_find(x, n, t);
    if (i == 0)
        return v[0];
    if (i == n)
        return v[n - 1];
    return v[i - 1] + (x - t[i - 1])*((v[i] - v[i - 1])/(t[i] - t[i - 1]));
}
`,
	"_cubic": `/* Between n knots t, Hermite's cubics with slopes d; constant outside. */
static double %[1]s_cubic(double x, int n, const double *t, const double *v, const double *d)
{
    const int i = %[1]s_find(x, n, t);
    double h, s, w;
    if (i == 0)
        return v[0];
    if (i == n)
        return v[n - 1];
    h = t[i] - t[i - 1];
    s = (v[i] - v[i - 1])/h;
    w = x - t[i - 1];
    return v[i - 1] + w*(d[i - 1] + w*((3.0*s - 2.0*d[i - 1] - d[i])/h + w*((d[i - 1] + d[i] - 2.0*s)/(h*h))));
}
`,
}

// cReserved are the names that nothing of the model may have: keywords, and what the file or its header uses.
var cReserved = strings.Fields(`
auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
_Bool _Complex _Imaginary main t y p dy out g event after next due count NULL INFINITY NAN HUGE_VAL errno acos
asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb ldexp log log10 log1p
log2 logb modf scalbn scalbln cbrt fabs hypot pow sqrt erf erfc lgamma tgamma ceil floor nearbyint rint lrint
llrint round lround llround trunc fmod remainder remquo copysign nan nextafter nexttoward fdim fmax fmin fma
fpclassify isfinite isinf isnan isnormal signbit isgreater isgreaterequal isless islessequal islessgreater
isunordered j0 j1 jn y0 y1 yn gamma signgam
`)

// cWriter writes a file.
type cWriter struct {
	*exporter
	ids     *names
	prefix  string
	values  []*quantity // what y holds: states, unknowns, discretes
	place   map[*quantity]string
	helpers map[string]bool
	tables  strings.Builder
	tableOf map[string]string
	head    strings.Builder // prototypes, with what they are for
	body    strings.Builder
	list    []*cEvent
	packed  bool // in an FMU
}

// cEvent is an event of the file.
type cEvent struct {
	*event
	root   *node // a condition or a crossing; nil for known times
	filter *node // nil where the body is always executed
}

func writeC(x *exporter) string {
	x.flatten()
	w := newC(x)
	w.constants()
	w.functions()
	w.eventFunctions()
	return w.text()
}

// newC begins a file of a model that is written out.
func newC(x *exporter) *cWriter {
	reserved := cReserved
	if x.format.Packed {
		reserved = append(slices.Clip(reserved), "td", "yd", "pd", "fd", "tb", "yb", "pb", "fb")
	}
	w := &cWriter{
		exporter: x, ids: newNames(reserved...), prefix: plain(x.source.Name), place: map[*quantity]string{},
		helpers: map[string]bool{}, tableOf: map[string]string{}, packed: x.format.Packed,
	}
	w.readEvents()
	w.values = slices.Concat(x.states, x.discretes)
	w.ids.enter(x.params, w.values, x.lets)
	for i, q := range x.params {
		w.place[q] = fmt.Sprintf("p[%d]", i)
	}
	for i, q := range w.values {
		w.place[q] = fmt.Sprintf("y[%d]", i)
	}
	w.place[x.time] = "t"
	return w
}

// text is the file.
func (w *cWriter) text() string {
	x := w.exporter
	var b strings.Builder
	title := x.source.Name
	if x.source.Title != "" {
		title += ": " + x.source.Title
	}
	fmt.Fprintf(&b, "/* %s\n *\n * written by %s */\n\n", comment(title), comment(x.origin()))
	b.WriteString("#include <math.h>\n\n")
	b.WriteString(w.head.String())
	for _, h := range cOrder {
		if w.helpers[h] {
			fmt.Fprintf(&b, "\n"+cHelpers[h], w.prefix)
		}
	}
	if w.tables.Len() > 0 {
		b.WriteString("\n" + w.tables.String())
	}
	b.WriteString(w.body.String())
	return b.String()
}

// comment makes a text fit into a comment.
func comment(text string) string {
	return strings.NewReplacer("*/", "* /", "/*", "/ *", "\n", " ").Replace(text)
}

// constants writes how much there is of everything, and what it is called.
func (w *cWriter) constants() {
	fmt.Fprintf(&w.head, "/* How many there are. */\n")
	fmt.Fprintf(&w.head, "enum {\n")
	counts := []struct {
		name, doc string
		n         int
	}{
		{"params", "in p", len(w.params)},
		{"values", "in y: " + w.kinds(), len(w.values)},
		{"outputs", "in out", len(w.outputs)},
		{"roots", "in g: the events that conditions set off", w.rooted()},
		{"events", "with those at known times behind them", len(w.list)},
	}
	for i, c := range counts {
		comma := ","
		if i == len(counts)-1 {
			comma = ""
		}
		fmt.Fprintf(&w.head, "    %s_n_%s = %d%s /* %s */\n", w.prefix, c.name, c.n, comma, c.doc)
	}
	fmt.Fprintf(&w.head, "};\n")
	var eventNames, ways, start []string
	for _, e := range w.list {
		eventNames = append(eventNames, e.name)
		ways = append(ways, itoa(e.way()))
		start = append(start, map[bool]string{true: "1", false: "0"}[e.on.Start])
	}
	w.strings("param_names", quantityNames(w.params))
	w.strings("value_names", quantityNames(w.values))
	w.strings("output_names", quantityNames(w.outputs))
	w.array("int", "algebraic", w.algebraic(), "1 where dy holds what is to be 0, since the value has no rate")
	w.mass()
	if len(w.list) > 0 {
		w.strings("event_names", eventNames)
		w.array("int", "ways", ways,
			"how an event is set off: 1 as its g rises through 0, -1 as it falls, 0 either way")
		if slices.Contains(start, "1") {
			w.array("int", "at_start", start, "1 where an event fires at the start, too, if its g is not below 0 there")
		}
	}
}

func (w *cWriter) kinds() string {
	var list []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			list = append(list, "1 "+one)
		case n > 1:
			list = append(list, itoa(n)+" "+many)
		}
	}
	unknowns := 0
	for _, q := range w.states {
		if q.symbol.Kind == model.AlgSymbol {
			unknowns++
		}
	}
	add(len(w.states)-unknowns, "state", "states")
	add(unknowns, "algebraic unknown", "algebraic unknowns")
	add(len(w.discretes), "discrete, whose rate is 0", "discretes, whose rates are 0")
	return enumerate(list)
}

// algebraic says which values have no rate; nil where all have one.
func (w *cWriter) algebraic() (list []string) {
	some := false
	for _, q := range w.values {
		is := w.unknown[q] || q.symbol != nil && q.symbol.Kind == model.AlgSymbol
		some = some || is
		list = append(list, map[bool]string{true: "1", false: "0"}[is])
	}
	if !some {
		return nil
	}
	return list
}

// mass writes what a mass matrix has besides its diagonal.
func (w *cWriter) mass() {
	var rows, cols, values []string
	for _, m := range w.masses {
		rows = append(rows, itoa(slices.Index(w.values, m.row)))
		cols = append(cols, itoa(slices.Index(w.values, m.col)))
		values = append(values, cNumber(m.value))
	}
	if len(rows) == 0 {
		return
	}
	w.array("int", "mass_rows", rows, "dy is M*y': beside 1 where a value has a rate, M has these numbers, row by row")
	w.array("int", "mass_columns", cols, "")
	w.array("double", "mass_numbers", values, "")
}

func quantityNames(list []*quantity) (names []string) {
	for _, q := range list {
		names = append(names, q.name)
	}
	return names
}

func (w *cWriter) strings(name string, list []string) {
	if len(list) == 0 {
		list = []string{""}
	}
	var quoted []string
	for _, s := range list {
		quoted = append(quoted, cString(s))
	}
	fmt.Fprintf(&w.head, "const char *const %s_%s[] = {\n%s\n};\n", w.prefix, name, wrapped("    "+
		strings.Join(quoted, ", ")))
}

func cString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range []byte(s) {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteByte(r)
		case r < 32 || r == '?':
			fmt.Fprintf(&b, "\\%03o", r)
		default:
			b.WriteByte(r)
		}
	}
	return b.String() + `"`
}

func (w *cWriter) array(kind, name string, list []string, doc string) {
	if len(list) == 0 {
		return
	}
	if doc != "" {
		fmt.Fprintf(&w.head, "/* %s */\n", doc)
	}
	fmt.Fprintf(&w.head, "const %s %s_%s[] = {\n%s\n};\n", kind, w.prefix, name,
		wrapped("    "+strings.Join(list, ", ")))
}

// functions writes all but those of events.
func (w *cWriter) functions() {
	s := w.scope(w.params)
	for _, q := range w.params {
		s.assign(w.place[q], w.named(q), q)
	}
	s.used["p"] = len(w.params) > 0
	s.end("void", "defaults", "double *p", "The values that params have in the model.", "p")

	s = w.scope(w.values)
	for _, q := range w.values {
		s.assign(w.place[q], w.named(q), q)
	}
	s.used["y"] = true
	s.end("void", "start", "const double *p, double *y",
		"The values at the start. Those of algebraic unknowns are guesses.", "p", "y")

	s = w.scope(nil)
	s.assign("*from", w.from, nil)
	s.assign("*to", w.to, nil)
	s.end("void", "span", "const double *p, double *from, double *to", "The bounds of time.", "p")

	const at = "double t, const double *y, const double *p"
	s = w.scope(nil)
	rates := slices.Concat(w.exporter.rates, w.residuals)
	for i := range w.values {
		r := w.num(0)
		if i < len(rates) {
			r = rates[i]
		}
		s.assign(fmt.Sprintf("dy[%d]", i), r, w.values[i])
	}
	s.end("void", "rates", at+", double *dy", "The rates of change.", "t", "y", "p")

	s = w.scope(nil)
	for i, q := range w.outputs {
		n := w.named(q)
		if q.symbol == nil && w.ids.of[q] == "" {
			n = q.value
		}
		s.assign(fmt.Sprintf("out[%d]", i), n, q)
	}
	s.end("void", "outputs", at+", double *out", "What the model reports.", "t", "y", "p")
}

// cScope is the body of a function while it is written.
type cScope struct {
	w       *cWriter
	given   map[*quantity]bool // what is computed here, not read
	targets []string
	roots   []*node
	docs    []string
	lines   strings.Builder
	names   map[*node]string
	reads   map[*node]int
	temps   int
	used    map[string]bool // arguments
	tail    string
}

func (w *cWriter) scope(given []*quantity) *cScope {
	s := &cScope{
		w: w, given: map[*quantity]bool{}, names: map[*node]string{}, reads: map[*node]int{}, used: map[string]bool{},
	}
	for _, q := range given {
		s.given[q] = true
	}
	return s
}

// assign has the function compute a value.
func (s *cScope) assign(target string, n *node, q *quantity) {
	doc := ""
	if q != nil {
		doc = q.name
		if q.unit != "" {
			doc += " [" + q.unit + "]"
		}
		if q.doc != "" {
			doc += ": " + q.doc
		}
	}
	s.targets, s.roots, s.docs = append(s.targets, target), append(s.roots, n), append(s.docs, doc)
}

// behind returns what stands for a name in this function: the definition of what is computed here; nil for what is
// read.
func (s *cScope) behind(q *quantity) *node {
	if s.given[q] || s.w.place[q] == "" {
		return q.value
	}
	return nil
}

func (s *cScope) count(n *node) {
	if s.reads[n]++; s.reads[n] > 1 {
		return
	}
	if n.op == name {
		if v := s.behind(n.of); v != nil {
			s.count(v)
		}
		return
	}
	for _, a := range n.args {
		s.count(a)
	}
}

// end writes the function. Arguments that are not read are said to be so.
func (s *cScope) end(result, called, args, doc string, inputs ...string) {
	w := s.w
	for _, n := range s.roots {
		s.count(n)
	}
	var assignments strings.Builder
	for i, n := range s.roots {
		if n.op == name && s.reads[n] == 1 && s.names[n] == "" { // no need of a variable
			if v := s.behind(n.of); v != nil {
				n = v
			}
		}
		line := fmt.Sprintf("    %s = %s;", s.targets[i], s.text(n, 0))
		if s.docs[i] != "" {
			line += " /* " + comment(s.docs[i]) + " */"
		}
		assignments.WriteString(wrapped(line) + "\n")
	}
	text := s.lines.String() + assignments.String() + s.tail
	prototype := fmt.Sprintf("%s %s_%s(%s)", result, w.prefix, called, args)
	fmt.Fprintf(&w.head, "\n/* %s */\n%s;\n", doc, prototype)
	fmt.Fprintf(&w.body, "\n%s\n{\n", prototype)
	// declarations may stand anywhere in C99
	for _, in := range inputs {
		if !s.used[in] {
			fmt.Fprintf(&w.body, "    (void)%s;\n", in)
		}
	}
	w.body.WriteString(text + "}\n")
}

// How tightly operations bind.
const (
	cIf = iota
	cOr
	cAnd
	cEqual
	cLess
	cSum
	cProduct
	cSign
	cAtom
)

var cBinds = map[string]int{
	"or": cOr, "and": cAnd, "==": cEqual, "!=": cEqual, "<": cLess, "<=": cLess, "+": cSum, "-": cSum, "*": cProduct,
	"/": cProduct,
}

var cSigns = map[string]string{
	"or": " || ", "and": " && ", "==": " == ", "!=": " != ", "<": " < ", "<=": " <= ", "+": " + ", "-": " - ", "*": "*",
	"/": "/",
}

// free returns a name for a variable of the function that nothing of the model has.
func (s *cScope) free(kind string) string {
	for {
		s.temps++
		if id := kind + itoa(s.temps); !s.w.ids.taken[id] {
			return id
		}
	}
}

// text writes an expression as an operand of what binds so tightly. Values that are read twice become variables first.
func (s *cScope) text(n *node, bind int) string {
	if known := s.names[n]; known != "" {
		return known
	}
	switch n.op {
	case number:
		text := cNumber(n.value)
		if bind > cSum && strings.HasPrefix(text, "-") {
			return "(" + text + ")"
		}
		return text
	case "true":
		return "1"
	case "false":
		return "0"
	case name:
		return s.named(n)
	}
	if s.reads[n] > 1 {
		return s.variable(n, s.free("v"))
	}
	text, binds := s.operation(n)
	if binds < bind {
		return "(" + text + ")"
	}
	return text
}

// named writes a name: of what was declared, or in front of it its declaration.
func (s *cScope) named(n *node) string {
	q := n.of
	if v := s.behind(q); v != nil {
		id := s.w.ids.of[q]
		s.names[n] = id
		s.declare(v, id)
		return id
	}
	place := s.w.place[q]
	array, _, is := strings.Cut(place, "[")
	s.used[array] = true
	if !is {
		return place
	}
	s.names[n] = s.w.ids.of[q]
	fmt.Fprintf(&s.lines, "    const double %s = %s;\n", s.names[n], place)
	return s.names[n]
}

func (s *cScope) declare(n *node, id string) {
	text := s.text(n, 0)
	s.lines.WriteString(wrapped(fmt.Sprintf("    const %s %s = %s;", cType(n), id, text)) + "\n")
}

func cType(n *node) string {
	if n.isBool {
		return "int"
	}
	return "double"
}

// variable declares a variable for an operation.
func (s *cScope) variable(n *node, id string) string {
	text, _ := s.operation(n)
	s.lines.WriteString(wrapped(fmt.Sprintf("    const %s %s = %s;", cType(n), id, text)) + "\n")
	s.names[n] = id
	return id
}

// operation writes an operation, and says how tightly it binds.
func (s *cScope) operation(n *node) (text string, bind int) {
	switch n.op {
	case choice:
		return s.text(n.args[0], cOr) + " ? " + s.text(n.args[1], cOr) + " : " + s.text(n.args[2], cIf), cIf
	case "neg":
		return "-" + s.text(n.args[0], cAtom), cSign
	case "not":
		return "!" + s.text(n.args[0], cAtom), cSign
	case held, lookup:
		return s.table(n), cAtom
	case "^":
		if e := n.args[1]; e.op == number && e.value == math.Trunc(e.value) && math.Abs(e.value) >= 2 &&
			math.Abs(e.value) <= 4 {
			return s.power(n.args[0], int(e.value))
		}
	}
	if bind, ok := cBinds[n.op]; ok {
		left, right := bind, bind+1
		if n.op == "or" { // compilers want && within it in parentheses
			if right = cEqual; n.args[0].op == "and" {
				left = cEqual
			}
		}
		return s.text(n.args[0], left) + cSigns[n.op] + s.text(n.args[1], right), bind
	}
	f := cFunctions[n.op]
	if strings.HasPrefix(f, "_") {
		s.w.helpers[f] = true
		f = s.w.prefix + f
	}
	var args []string
	for _, a := range n.args {
		args = append(args, s.text(a, 0))
	}
	return f + "(" + strings.Join(args, ", ") + ")", cAtom
}

// power writes a small whole power as a product.
func (s *cScope) power(base *node, n int) (string, int) {
	var x string
	if base.op == name || s.names[base] != "" {
		x = s.text(base, cAtom)
	} else {
		x = s.variable(base, s.free("v"))
	}
	m := max(n, -n)
	text := x + strings.Repeat("*"+x, m-1)
	if m == 4 {
		text = "(" + x + "*" + x + ")*(" + x + "*" + x + ")"
	}
	if n < 0 {
		return "1.0/(" + text + ")", cProduct
	}
	return text, cProduct
}

// table writes the value of a table, whose numbers are an array of the file, or of the function where they are no
// numbers.
func (s *cScope) table(n *node) string {
	q, knots, values, slopes := n.parts()
	helper := map[string]string{held: "_held", lookup: "_linear"}[n.op]
	if n.cubic {
		helper = "_cubic"
	}
	s.w.helpers[helper], s.w.helpers["_find"] = true, true
	args := []string{s.text(q, 0), itoa(len(knots)), s.array(knots), s.array(values)}
	if slopes != nil {
		args = append(args, s.array(slopes))
	}
	return s.w.prefix + helper + "(" + strings.Join(args, ", ") + ")"
}

func (s *cScope) array(list []*node) string {
	var texts []string
	constant := true
	for _, n := range list {
		constant = constant && n.op == number
		texts = append(texts, s.text(n, 0))
	}
	text := strings.Join(texts, ", ")
	if !constant {
		id := s.free("table")
		s.lines.WriteString(wrapped(fmt.Sprintf("    const double %s[] = { %s };", id, text)) + "\n")
		return id
	}
	id := s.w.tableOf[text]
	if id == "" {
		id = fmt.Sprintf("%s_table%d", s.w.prefix, len(s.w.tableOf)+1)
		s.w.tableOf[text] = id
		s.w.tables.WriteString(wrapped(fmt.Sprintf("static const double %s[] = { %s };", id, text)) + "\n")
	}
	return id
}

func cNumber(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NAN"
	case math.IsInf(v, 1):
		return "INFINITY"
	case math.IsInf(v, -1):
		return "-INFINITY"
	}
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// wrapped breaks a line of code at blanks. No text of it is longer than a line.
func wrapped(line string) string {
	const width = 110
	if len(line) <= width {
		return line
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	if strings.Trim(line, " ") != "" && !strings.Contains(line[:min(len(line), 8)], "\"") {
		indent += "    "
	}
	var b strings.Builder
	for len(line) > width {
		at := breakAt(line, width)
		if at < 0 {
			break
		}
		b.WriteString(line[:at] + "\n")
		line = indent + strings.TrimLeft(line[at:], " ")
	}
	return b.String() + line
}

// breakAt returns the last blank before width that is not in a text or in front of everything, else the first behind;
// -1 for none.
func breakAt(line string, width int) int {
	quoted, best := false, -1
	start := len(line) - len(strings.TrimLeft(line, " "))
	for i := start; i < len(line); i++ {
		switch {
		case line[i] == '"' && (i == 0 || line[i-1] != '\\'):
			quoted = !quoted
		case line[i] == ' ' && !quoted:
			if i > width && best > 0 {
				return best
			}
			if best = i; i > width {
				return i
			}
		}
	}
	if best > start {
		return best
	}
	return -1
}
