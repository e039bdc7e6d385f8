package petab

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/hdf5"
	"odes.dev/odes/lang/source"
)

// network is a network of PEtab SciML: layers and the steps that lead through them, as torch.fx lists these.
type network struct {
	id     string
	at     path // of its file
	before bool // it is evaluated once, before the run
	format string

	file   *source.File
	Inputs []struct {
		ID string `yaml:"input_id"`
	} `yaml:"inputs"`
	Layers  []layer `yaml:"layers"`
	Forward []stage `yaml:"forward"`

	names   map[string]string // of arrays, by "layer.weight"
	results []vector
}

// layer is a layer of a network.
type layer struct {
	ID   string         `yaml:"layer_id"`
	Type string         `yaml:"layer_type"`
	Args map[string]any `yaml:"args"`
}

// stage is a step through a network.
type stage struct {
	Name   string         `yaml:"name"`
	Op     string         `yaml:"op"`
	Target string         `yaml:"target"`
	Args   []any          `yaml:"args"`
	Kwargs map[string]any `yaml:"kwargs"`
}

// vector is a value within a network: what it is called in the translation, and how many numbers it has.
type vector struct {
	name string
	n    int
}

var (
	emptyAnchors = regexp.MustCompile(`&(\w+) *(\{ *\}|\[ *\])`)
	references   = regexp.MustCompile(`(?m)(?:^|[-:,\[] *)[&*]\w`)
)

// readNetwork reads the file of a network.
func (x *sciml) readNetwork(n *network) bool {
	p := x.p
	file, ok := p.text(n.at)
	if !ok {
		return false
	}
	n.file = file
	text := file.Text()
	// Writers of YAML let empty lists of arguments stand for each other.
	for _, m := range emptyAnchors.FindAllStringSubmatch(text, -1) {
		text = strings.ReplaceAll(strings.ReplaceAll(text, m[0], m[2]), "*"+m[1], m[2])
	}
	if references.MatchString(text) {
		p.wrong(p.line(n.at.line), "%s has references of YAML, which are not read there", n.at.name)
		return false
	}
	if !p.yaml(text, n, p.line(n.at.line), n.at.name) {
		return false
	}
	for _, l := range n.Layers {
		if l.Type != "Linear" && activations[lower(l.Type)] == nil {
			p.wrong(p.line(n.at.line), "the network %s has the layer %s of the type %s, which odes does not read: it "+
				"reads Linear and activations", n.id, l.ID, l.Type)
			return false
		}
	}
	return true
}

// lower is the name of an operation, whatever a file calls it: LeakyReLU, leaky_relu.
func lower(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "") }

// activation writes an activation of x in the language. Number returns an argument.
type activation func(x string, number func(name string, position int, without float64) string) string

// plainly is an activation without arguments.
func plainly(format string) activation {
	return func(x string, _ func(string, int, float64) string) string { return fmt.Sprintf(format, x) }
}

// activations are those of networks, by their names without _ and in small letters.
var activations = map[string]activation{
	"relu": plainly("max(%s, 0)"), "relu6": plainly("min(max(%s, 0), 6)"), "tanh": plainly("tanh(%s)"),
	"sigmoid": plainly("sigmoid(%s)"), "silu": plainly("%[1]s*sigmoid(%[1]s)"),
	"swish":      plainly("%[1]s*sigmoid(%[1]s)"),
	"logsigmoid": plainly("-log1p(exp(-%s))"), "softsign": plainly("%[1]s/(1 + abs(%[1]s))"),
	"tanhshrink": plainly("%[1]s - tanh(%[1]s)"), "mish": plainly("%[1]s*tanh(log1p(exp(%[1]s)))"),
	"hardsigmoid": plainly("min(max(%s/6 + 0.5, 0), 1)"), "hardswish": plainly("%[1]s*min(max(%[1]s/6 + 0.5, 0), 1)"),
	"selu": plainly("1.0507009873554805*(max(%[1]s, 0) + 1.6732632423543772*expm1(min(%[1]s, 0)))"),
	"exp":  plainly("exp(%s)"), "sin": plainly("sin(%s)"), "cos": plainly("cos(%s)"), "abs": plainly("abs(%s)"),
	"softmax": plainly("exp(%[1]s)/sum(exp(%[1]s))"), "logsoftmax": plainly("%[1]s - log(sum(exp(%[1]s)))"),
	"identity": plainly("%s"), "flatten": plainly("%s"), "dropout": plainly("%s"), "alphadropout": plainly("%s"),
	"elu": func(x string, number func(string, int, float64) string) string {
		return fmt.Sprintf("max(%[1]s, 0) + %[2]s*expm1(min(%[1]s, 0))", x, number("alpha", 1, 1))
	},
	"celu": func(x string, number func(string, int, float64) string) string {
		return fmt.Sprintf("max(%[1]s, 0) + %[2]s*expm1(min(%[1]s, 0)/%[2]s)", x, number("alpha", 1, 1))
	},
	"leakyrelu": func(x string, number func(string, int, float64) string) string {
		return fmt.Sprintf("max(%[1]s, 0) + %[2]s*min(%[1]s, 0)", x, number("negative_slope", 1, 0.01))
	},
	"hardtanh": func(x string, number func(string, int, float64) string) string {
		return fmt.Sprintf("min(max(%s, %s), %s)", x, number("min_val", 1, -1), number("max_val", 2, 1))
	},
	"softplus": func(x string, number func(string, int, float64) string) string {
		return fmt.Sprintf("log1p(exp(%[2]s*%[1]s))/%[2]s", x, number("beta", 1, 1))
	},
	"gelu": plainly("0.5*%[1]s*(1 + erf(%[1]s/sqrt(2)))"),
}

// geluTanh is gelu(approximate = "tanh").
var geluTanh = plainly("0.5*%[1]s*(1 + tanh(0.7978845608028654*(%[1]s + 0.044715*%[1]s^3)))")

// walker goes through a network.
type walker struct {
	p      *problem
	n      *network
	inputs []vector
	known  map[string]vector
	from   row
}

// wrong reports what is wrong with a step.
func (w *walker) wrong(s *stage, format string, args ...any) {
	w.p.wrong(w.p.line(w.n.at.line), "the network %s, step %s: %s", w.n.id, s.Name, fmt.Sprintf(format, args...))
}

// let declares a value of a network.
func (w *walker) let(name, text string, n int) vector {
	v := vector{w.p.model.Free(w.n.id + "_" + name), n}
	w.p.params = append(w.p.params, declaration{"let " + v.name + " = " + text, w.from})
	return v
}

// walk goes through the network, and keeps what comes out. It tells whether nothing is wrong.
func (w *walker) walk() bool {
	w.known = map[string]vector{}
	next := 0
	for i := range w.n.Forward {
		s := &w.n.Forward[i]
		ok := false
		switch s.Op {
		case "placeholder":
			if next < len(w.inputs) {
				w.known[s.Name], ok = w.inputs[next], true
			} else {
				w.wrong(s, "it is an input that the mapping table does not name")
			}
			next++
		case "call_module":
			ok = w.module(s)
		case "call_function", "call_method":
			ok = w.function(s, s.Target, nil)
		case "output":
			for _, a := range flat(s.Args) {
				if v, is := w.known[fmt.Sprint(a)]; is {
					w.n.results, ok = append(w.n.results, v), true
				}
			}
		default:
			w.wrong(s, "there is nothing like %s", s.Op)
			return false
		}
		if !ok {
			if !w.p.list.HasErrors() {
				w.wrong(s, "it reads what no step before it gives")
			}
			return false
		}
	}
	return true
}

// flat returns what lists hold, and lists within them.
func flat(list []any) (all []any) {
	for _, a := range list {
		if inner, is := a.([]any); is {
			all = append(all, flat(inner)...)
			continue
		}
		all = append(all, a)
	}
	return all
}

// reads returns the values that a step reads.
func (w *walker) reads(s *stage) (list []vector) {
	for _, a := range flat(s.Args) {
		if v, is := w.known[fmt.Sprint(a)]; is {
			list = append(list, v)
		}
	}
	return list
}

// module applies a layer.
func (w *walker) module(s *stage) bool {
	at := slices.IndexFunc(w.n.Layers, func(l layer) bool { return l.ID == s.Target })
	if at < 0 {
		w.wrong(s, "there is no layer %s", s.Target)
		return false
	}
	l := &w.n.Layers[at]
	if l.Type != "Linear" {
		return w.function(s, l.Type, l.Args)
	}
	x := w.reads(s)
	if len(x) != 1 {
		return false
	}
	weight, bias := w.n.names[l.ID+".weight"], w.n.names[l.ID+".bias"]
	if in := whole(l.Args["in_features"]); in != x[0].n {
		w.wrong(s, "the layer %s takes %d numbers, and gets %d", l.ID, in, x[0].n)
		return false
	}
	text := weight + " @ " + x[0].name
	if bias != "" {
		text += " + " + bias
	}
	w.known[s.Name] = w.let(s.Name, text, whole(l.Args["out_features"]))
	return true
}

// whole returns a number of units.
func whole(v any) int {
	n, _ := strconv.Atoi(fmt.Sprint(v))
	return n
}

// function applies a function.
func (w *walker) function(s *stage, name string, args map[string]any) bool {
	x := w.reads(s)
	switch f := activations[lower(name)]; {
	case len(x) == 0:
		return false
	case f != nil && len(x) == 1:
		if lower(name) == "gelu" && (s.Kwargs["approximate"] == "tanh" || args["approximate"] == "tanh") {
			f = geluTanh
		}
		number := func(key string, position int, without float64) string {
			for _, v := range []any{s.Kwargs[key], args[key], at(s.Args, position)} {
				if text, ok := isNumber(fmt.Sprint(v)); ok {
					if strings.HasPrefix(text, "-") {
						return "(" + text + ")"
					}
					return text
				}
			}
			return decimal(without)
		}
		w.known[s.Name] = w.let(s.Name, f(x[0].name, number), x[0].n)
	case (name == "add" || name == "sub" || name == "mul") && len(x) == 2 && x[0].n == x[1].n:
		sign := map[string]string{"add": " + ", "sub": " - ", "mul": "*"}[name]
		w.known[s.Name] = w.let(s.Name, x[0].name+sign+x[1].name, x[0].n)
	case name == "cat":
		var list []string
		for _, v := range x {
			for i := range v.n {
				list = append(list, fmt.Sprintf("%s[%d]", v.name, i+1))
			}
		}
		w.known[s.Name] = w.let(s.Name, "["+strings.Join(list, ", ")+"]", len(list))
	default:
		w.wrong(s, "odes does not read the function %s of %d values", name, len(x))
		return false
	}
	return true
}

// at returns an element of a list, or nil.
func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// arrayText writes an array of weights.
func arrayText(a hdf5.Array) string {
	rows := func(list []float64) string {
		var texts []string
		for _, v := range list {
			texts = append(texts, decimal(v))
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}
	if len(a.Shape) == 1 {
		return rows(a.Data)
	}
	var lines []string
	for i := range a.Shape[0] {
		lines = append(lines, rows(a.Data[i*a.Shape[1]:(i+1)*a.Shape[1]]))
	}
	return "[" + strings.Join(lines, ",\n  ") + "]"
}

// transposed reverses the axes of an array.
func transposed(a hdf5.Array) hdf5.Array {
	if len(a.Shape) != 2 {
		return a
	}
	t := hdf5.Array{Shape: []int{a.Shape[1], a.Shape[0]}, Data: make([]float64, len(a.Data))}
	for i := range a.Shape[0] {
		for j := range a.Shape[1] {
			t.Data[j*a.Shape[0]+i] = a.Data[i*a.Shape[1]+j]
		}
	}
	return t
}
