package tape

// Partly evaluates those values of a tape in float64 that are asked for, and what they are made of. What follows from
// inputs that stay is computed once. It must not be used by two goroutines at once.
type Partly struct {
	tape    *Tape
	kernels []kernel[float64] // of instructions, where they have been wanted; shared by Others
	input   func(i int, to []float64)
	stays   []bool      // values
	values  [][]float64 // nil as long as nobody wants them
	args    [][][]float64
	made    []int // when values were made
	now     int   // numbers the calls of Begin
	since   int   // and tells which of them was the last at which nothing stayed
	todo    []Value
	work    int
}

// NewPartly returns an evaluator of t, which must pass Check. The function fills input i.
func NewPartly(t *Tape, stays func(input string) bool, input func(i int, to []float64)) *Partly {
	moves := DependsOnFunc(t, func(name string) bool { return !stays(name) })
	for v := range moves {
		moves[v] = !moves[v]
	}
	p := &Partly{tape: t, stays: moves, kernels: make([]kernel[float64], t.Values())}
	return p.Other(input)
}

// Other returns an evaluator of the same tape with inputs of its own.
func (p *Partly) Other(input func(i int, to []float64)) *Partly {
	n := p.tape.Values()
	return &Partly{
		tape: p.tape, kernels: p.kernels, stays: p.stays, input: input,
		values: make([][]float64, n), args: make([][][]float64, n), made: make([]int, n),
	}
}

// Begin tells that inputs have changed: those that stay as well, or all others.
func (p *Partly) Begin(all bool) {
	if p.now++; all {
		p.since = p.now
	}
}

// known reports whether v has been computed since its inputs changed.
func (p *Partly) known(v Value) bool {
	return p.made[v] == p.now || p.stays[v] && p.made[v] > 0 && p.made[v] >= p.since
}

// Value returns the elements of v, row-major. They are right until Begin.
func (p *Partly) Value(v Value) []float64 {
	for p.todo = append(p.todo[:0], v); len(p.todo) > 0; {
		last := p.todo[len(p.todo)-1]
		if p.known(last) {
			p.todo = p.todo[:len(p.todo)-1]
			continue
		}
		waits := len(p.todo)
		if in := p.tape.Instr(last); in != nil {
			for _, a := range in.Args {
				if !p.known(a) {
					p.todo = append(p.todo, a)
				}
			}
		}
		if len(p.todo) == waits {
			p.make(last)
			p.todo = p.todo[:waits-1]
		}
	}
	return p.values[v]
}

// Work returns how many elements have been computed, those of inputs included.
func (p *Partly) Work() int { return p.work }

// make computes v, whose operands are known.
func (p *Partly) make(v Value) {
	first := p.values[v] == nil
	if first {
		p.values[v] = make([]float64, p.tape.Shape(v).Size())
	}
	p.made[v] = p.now
	p.work += len(p.values[v])
	in := p.tape.Instr(v)
	switch {
	case in == nil:
		p.input(int(v), p.values[v])
		return
	case in.Op == Const:
		if first {
			fill(p.values[v], in.Attr.Data)
		}
		return
	}
	if first {
		shapes := make([]Shape, len(in.Args))
		for k, a := range in.Args {
			p.args[v] = append(p.args[v], p.values[a])
			shapes[k] = p.tape.Shape(a)
		}
		if p.kernels[v] == nil {
			p.kernels[v] = plan(arithmetic[float64](), in, shapes)
		}
	}
	p.kernels[v](p.args[v], p.values[v])
}
