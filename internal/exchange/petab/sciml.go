package petab

import (
	"fmt"
	"maps"
	gopath "path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"odes.dev/odes/internal/base/hdf5"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/exchange/sbml"
)

// sciml is what a problem has of PEtab SciML: networks that stand for parts of its model or of its observables
// (S. Persson et al., PEtab SciML, https://petab-sciml.readthedocs.io).
type sciml struct {
	p               *problem
	arrays, hybrids paths
	nets            []*network

	inputs    map[string]port // by their ids in the problem
	outputs   map[string]port
	arrayed   map[string]*arrayInput // inputs that files of arrays hold, by their ids
	sets      map[string]string      // arrays by the ids of their parameters: "net", "net.layer", "net.layer.weight"
	numbers   map[string]hdf5.Array
	transpose bool
}

// port is an element of an input or an output of a network, or an input as a whole.
type port struct {
	net      *network
	which, k int // k is entire for an input as a whole
	from     row
}

const entire = -1

// read reads the extension.
func (x *sciml) read(node ast.Node) error {
	return fields(node, func(key string, _ int, value ast.Node) error {
		switch key {
		case "array_files":
			return x.arrays.UnmarshalYAML(value)
		case "hybridization_files":
			return x.hybrids.UnmarshalYAML(value)
		case "neural_networks", "neural_nets": // its name, and that of before version 0.1.0
			return fields(value, func(id string, line int, value ast.Node) error {
				n := &network{id: id, at: path{line: line}}
				x.nets = append(x.nets, n)
				return fields(value, func(key string, _ int, value ast.Node) (err error) {
					switch key {
					case "location":
						n.at.name, err = scalar(value)
					case "format":
						n.format, err = scalar(value)
					case "pre_initialization":
						b, is := value.(*ast.BoolNode)
						n.before = is && b.Value
					}
					return err
				})
			})
		}
		return nil
	})
}

var entities = regexp.MustCompile(`^(\w+)\.(inputs|outputs|parameters)((?:\[\w+\])*)(?:\.(\w+))?$`)

// entity takes a row of the mapping table that names a part of a network. It tells whether it does.
func (x *sciml) entity(r row) bool {
	p := x.p
	m := entities.FindStringSubmatch(r.get("modelEntityId"))
	if m == nil {
		return false
	}
	at := slices.IndexFunc(x.nets, func(n *network) bool { return n.id == m[1] })
	if at < 0 {
		return false
	}
	id, n := r.get("petabEntityId"), x.nets[at]
	var indices []string
	if m[3] != "" {
		indices = strings.Split(strings.Trim(m[3], "[]"), "][")
	}
	if m[2] == "parameters" {
		name := strings.Join(append([]string{n.id}, indices...), ".")
		if m[4] != "" {
			name += "." + m[4]
		}
		x.sets[id] = name
		return true
	}
	if len(indices) == 1 && m[2] == "inputs" {
		indices = append(indices, strconv.Itoa(entire))
	}
	if len(indices) != 2 {
		p.errorAt(r, "modelEntityId", "%s is no single number: odes reads outputs element by element, as "+
			"%s.%s[0][0]", m[0], n.id, m[2])
		return true
	}
	which, err1 := strconv.Atoi(indices[0])
	k, err2 := strconv.Atoi(indices[1])
	if err1 != nil || err2 != nil || which > 1000 || k > 100000 {
		p.errorAt(r, "modelEntityId", "%s has no such indices", m[0])
		return true
	}
	ports := map[string]map[string]port{"inputs": x.inputs, "outputs": x.outputs}[m[2]]
	ports[id] = port{n, which, k, r}
	if m[2] == "outputs" {
		p.names[id] = p.model.Free(id)
	}
	return true
}

// readNetworks reads networks and the arrays of their weights.
func (x *sciml) readNetworks() {
	p := x.p
	x.inputs, x.outputs, x.sets = map[string]port{}, map[string]port{}, map[string]string{}
	x.arrayed, x.numbers = map[string]*arrayInput{}, map[string]hdf5.Array{}
	for _, n := range x.nets {
		if n.format != "" && !strings.EqualFold(n.format, "yaml") {
			p.wrong(p.line(n.at.line), "the network %s has the format %s: odes reads those of YAML", n.id, n.format)
			continue
		}
		x.readNetwork(n)
	}
	for _, at := range x.arrays {
		b, err := input.ReadAround(p.files, gopath.Join(p.dir, at.name), input.MaxText, ".hdf5", ".h5")
		var all map[string]hdf5.Array
		if err == nil {
			all, err = hdf5.Read(b)
		}
		if err != nil {
			p.wrong(p.line(at.line), "%s: %v", at.name, err)
			continue
		}
		for path, a := range all {
			x.numbers[path] = a
		}
		if a, is := all["metadata/pytorch_format"]; is && len(a.Data) == 1 && a.Data[0] == 0 {
			x.transpose = true
		}
	}
}

// weights declares the arrays of a network: as the most particular row of the table of parameters says.
func (x *sciml) weights(n *network, parameters []row, informed bool) {
	p := x.p
	n.names = map[string]string{}
	for _, l := range n.Layers {
		if l.Type != "Linear" {
			continue
		}
		in, out := whole(l.Args["in_features"]), whole(l.Args["out_features"])
		const most = 1 << 16
		if in < 1 || out < 1 || in > most || out > most || in*out > hdf5.MaxNumbers/16 {
			p.wrong(p.line(n.at.line), "the layer %s of the network %s has %d inputs and %d outputs", l.ID, n.id, in,
				out)
			return
		}
		x.weight(n, l.ID, "weight", []int{out, in}, parameters, informed)
		if fmt.Sprint(l.Args["bias"]) != "false" {
			x.weight(n, l.ID, "bias", []int{out}, parameters, informed)
		}
	}
}

// weight declares an array.
func (x *sciml) weight(n *network, layer, array string, shape []int, parameters []row, informed bool) {
	p := x.p
	var of row
	best := ""
	for _, r := range parameters {
		set, is := x.sets[r.get("parameterId")]
		full := n.id + "." + layer + "." + array
		if is && (set == full || strings.HasPrefix(full, set+".")) && len(set) > len(best) {
			of, best = r, set
		}
	}
	what := n.id + "." + layer + "." + array
	if best == "" {
		p.wrong(p.line(n.at.line), "the table of parameters has nothing for %s", what)
		return
	}
	a := hdf5.Array{Shape: shape}
	if v, ok := isNumber(of.get("nominalValue")); ok {
		number, _ := strconv.ParseFloat(v, 64)
		size := 1
		for _, k := range shape {
			size *= k
		}
		a.Data = slices.Repeat([]float64{number}, size)
	} else {
		at := "parameters/" + n.id + "/" + layer + "/" + array
		read, is := x.numbers[at]
		if x.transpose {
			read = transposed(read)
		}
		switch {
		case !is:
			p.errorAt(of, "nominalValue", "the array_files have no %s", at)
			return
		case !slices.Equal(read.Shape, shape):
			p.errorAt(of, "nominalValue", "%s has the shape %v in the array_files, and %v in the layer", what,
				read.Shape, shape)
			return
		}
		a = read
	}
	name := p.model.Free(n.id + "_" + layer + "_" + array)
	n.names[layer+"."+array] = name
	dims := strings.ReplaceAll(fmt.Sprint(shape), " ", ", ")
	word, behind := "const", ""
	switch of.get("estimate") {
	case "true":
		word = "param"
		p.estimated = append(p.estimated, name)
		behind = x.arrayPrior(of, name, len(a.Data), informed)
	case "false":
	default:
		p.errorAt(of, "estimate", "estimate of %s is %q: true and false are possible", of.get("parameterId"),
			of.get("estimate"))
	}
	p.params = append(p.params, declaration{fmt.Sprintf("%s %s%s = %s%s", word, name, dims, arrayText(a), behind), of})
}

// arrayPrior returns the bounds and the prior of all elements of an array.
func (x *sciml) arrayPrior(r row, name string, n int, informed bool) string {
	p := x.p
	lower, errLower := strconv.ParseFloat(p.bound(r, "lowerBound", "-inf"), 64)
	upper, errUpper := strconv.ParseFloat(p.bound(r, "upperBound", "inf"), 64)
	if errLower != nil || errUpper != nil {
		return ""
	}
	if kind := r.get("priorDistribution"); kind != "" && laws[kind].word == nil && laws[kind].numbers > 0 {
		p.errorAt(r, "priorDistribution", "odes has nothing like the prior %q of arrays", kind)
		return ""
	}
	before := p.normaliser
	behind := p.prior2(r, name, lower, upper, informed)
	p.normaliser = before + float64(n)*(p.normaliser-before)
	return behind
}

// networks writes what networks are and what they stand for.
func (x *sciml) networks(parameters []row, informed bool) {
	p := x.p
	var hybrids []row
	if len(x.hybrids) > 0 {
		hybrids = p.read("hybridization_files", x.hybrids, "targetId", "targetValue")
	}
	if p.list.HasErrors() {
		return
	}
	for _, n := range x.nets {
		x.weights(n, parameters, informed)
		if p.list.HasErrors() {
			return
		}
		w := &walker{p: p, n: n, from: parameters[0]}
		if w.inputs = x.netInputs(n, hybrids); p.list.HasErrors() || !w.walk() {
			return
		}
	}
	for _, id := range slices.Sorted(maps.Keys(x.outputs)) {
		o := x.outputs[id]
		if o.which >= len(o.net.results) || o.k >= o.net.results[o.which].n {
			p.errorAt(o.from, "modelEntityId", "the network %s has no such output", o.net.id)
			return
		}
		of := o.net.results[o.which]
		p.params = append(p.params, declaration{
			fmt.Sprintf("let %s = %s[%d]", p.names[id], of.name, o.k+1), o.from,
		})
	}
	for _, r := range hybrids {
		if _, is := x.inputs[r.get("targetId")]; is {
			continue
		}
		x.hybrid(r)
	}
}

// netInputs returns the vectors of the inputs of a network.
func (x *sciml) netInputs(n *network, hybrids []row) (list []vector) {
	p := x.p
	texts := map[[2]int]string{}
	most := [2]int{-1, -1}
	sizes := map[int]int{}
	from := row{}
	whole := map[int]vector{}
	for _, id := range slices.Sorted(maps.Keys(x.inputs)) {
		in := x.inputs[id]
		if in.net != n {
			continue
		}
		from = in.from
		if in.k == entire {
			a := x.arrayInput(id, in, hybrids)
			if a == nil {
				return nil
			}
			whole[in.which] = vector{a.name, a.n}
			most[0] = max(most[0], in.which)
			continue
		}
		key := [2]int{in.which, in.k}
		if texts[key] != "" {
			p.errorAt(in.from, "modelEntityId", "two names stand for this input")
		}
		texts[key] = x.netInput(id, in, hybrids)
		most[0] = max(most[0], in.which)
		sizes[in.which] = max(sizes[in.which], in.k+1)
	}
	for which := range most[0] + 1 {
		if v, is := whole[which]; is {
			if sizes[which] > 0 {
				p.wrong(p.line(n.at.line), "the input [%d] of the network %s is there as a whole, and by its elements",
					which, n.id)
				return nil
			}
			list = append(list, v)
			continue
		}
		var of []string
		for k := range sizes[which] {
			text := texts[[2]int{which, k}]
			if text == "" {
				p.wrong(p.line(n.at.line), "nothing stands for the input [%d][%d] of the network %s", which, k, n.id)
				return nil
			}
			of = append(of, text)
		}
		w := &walker{p: p, n: n, from: from}
		list = append(list, w.let("input"+strconv.Itoa(which), "["+strings.Join(of, ", ")+"]", len(of)))
	}
	return list
}

// netInput is what an input is: a formula of the table of hybridizations, or what conditions or the table of parameters
// say. That of a network before the run reads nothing that moves.
func (x *sciml) netInput(id string, in port, hybrids []row) string {
	p := x.p
	for _, r := range hybrids {
		if r.get("targetId") != id {
			continue
		}
		of := p.stands
		if in.net.before {
			of = p.known2
		}
		return p.formula(r, "targetValue", of)
	}
	if m := p.madeOf(id); m != nil && m.start != "" && in.net.before {
		return m.start
	}
	name, ok := p.stands(id)
	if !ok {
		p.errorAt(in.from, "petabEntityId", "nothing gives the input %s a value: a hybridization, conditions or the "+
			"table of parameters can", id)
		return "0"
	}
	return name
}

// hybrid sets a part of the model to what a network gives.
func (x *sciml) hybrid(r row) {
	p := x.p
	id := r.get("targetId")
	names := 0
	before := true
	value := p.formula(r, "targetValue", func(name string) (string, bool) {
		if o, is := x.outputs[name]; is {
			names++
			before = before && o.net.before
		} else if _, ok := p.known2(name); !ok {
			before = false
		}
		return p.stands(name)
	})
	switch {
	case names == 0:
		p.errorAt(r, "targetValue", "%s is no output of a network", r.get("targetValue"))
	case !sbml.Define(p.model, id, value, before, r.origin("hybridization of %s", id)):
		p.errorAt(r, "targetId", "%s is no constant of the model that a network could stand for, nor, with "+
			"pre_initialization, an initial value", id)
	}
}

// informed reports whether some estimate has a prior.
func informed(list []row) bool {
	return slices.ContainsFunc(list, func(r row) bool {
		return r.get("estimate") == "true" && r.get("priorDistribution") != ""
	})
}
