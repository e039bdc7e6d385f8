package typecheck

import (
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/regimen"
	"odes.dev/odes/typecheck/terms"
)

// A random effect is a param of the models of experiments, which is zero in the model itself. What runs make of its
// distribution is model.Random: likelihoods are integrated over it. In the model of one experiment alone, its
// distribution is a prior, which nll() has: the integral of exp(-nll()) is what the whole model integrates.

// drawnOfPass is what a pass over the file knows of distributions.
type drawnOfPass struct {
	priors  []prior
	randoms map[*entity]*ast.Var // the declarations of random effects
	// occasions are those that have a value for each entry of a column.
	occasions []*regimen.Occasions
}

// enterRandom notes that a name is a random effect.
func enterRandom(c *checker, e *entity, kind ast.DeclKind) {
	if kind != ast.Random {
		return
	}
	if c.randoms == nil {
		c.randoms = map[*entity]*ast.Var{}
	}
	c.randoms[e] = e.variable
	v := *e.variable
	v.Value = &ast.Number{At: v.At, Text: "0"}
	e.variable = &v
}

// checkRandoms elaborates the distributions of random effects.
func checkRandoms(c *checker) {
	alone := c.variant != nil && c.variant.alone
	for _, e := range c.order {
		v := c.randoms[e]
		if v == nil || e.sym == nil || isBad(e.sym.Value) {
			continue
		}
		r := &model.Random{Sym: e.sym, Span: v.Span}
		if o := occasionsOf(c, e); o != nil {
			r.Column, r.Entries, r.Present = o.Table.Name+"."+o.Table.Columns[o.Column], o.Entries, o.Present
		} else if v.By != nil {
			continue // reported
		}
		call, is := strip(v.Prior).(*ast.Call)
		if n, ok := strip(orEmpty(funOf(call))).(*ast.Name); is && ok && n.Name == "mvnormal" {
			r.Matrix, r.Scale = true, covariances(c, e, call)
		} else if n := deviation(c, e, v.Prior); n != nil {
			r.Scale = n.args[n.row.Scale]
			if alone {
				c.model.Priors = append(c.model.Priors, n.draw)
			}
		}
		switch {
		case r.Scale == nil:
		case alone:
			c.model.Individual = append(c.model.Individual, r)
		default:
			c.model.Randoms = append(c.model.Randoms, r)
		}
		if c.variant == nil && len(c.experiments) == 0 && !c.lost["experiment"] {
			c.errorf(CodeMissing, v.Name.Span, "a random effect is a number of every experiment, and there are none; "+
				"add: experiment subject from D by D.ID { }")
		}
	}
}

// tellIndividual says what the likelihood of one experiment alone is.
func tellIndividual(c *checker) {
	if len(c.model.Individual) > 0 && len(c.objectives) > 0 {
		name := c.model.Alone
		c.list.Notef(CodeNoInfluence, c.chosen.item.Name.Span, "in experiment %q alone, random effects are params, "+
			"zero unless they are set, and nll() is of its data and of these values: no integral; odes fit --in %s "+
			"finds the most probable values", name, name)
	}
}

// jointly adds to the negative log likelihood of the data of an experiment alone that of its random effects.
func jointly(c *checker, total model.Expr, s source.Span) model.Expr {
	for _, r := range c.model.Individual {
		term := bad(s)
		if r.Matrix {
			term = c.quietly(func() model.Expr { return terms.Jointly(writer{c}, s, r) })
		} else {
			for e, v := range c.randoms {
				if e.sym == r.Sym {
					term = c.priorTerm(&prior{sym: e.sym, dist: v.Prior})
				}
			}
		}
		if isBad(term) {
			return term
		}
		total = c.apply(stdlib.Operator("+"), s, total, term)
	}
	c.parts[total] = part{joint: true}
	return total
}

// isJoint reports whether v is nll() of an experiment alone, or nll() - log_prior().
func isJoint(c *checker, v model.Expr) bool {
	if call, is := v.(*model.Call); is && call.Fn.Name == "-" && c.parts[call.Args[1]].prior {
		v = call.Args[0]
	}
	return c.parts[v].joint
}

func funOf(call *ast.Call) ast.Expr {
	if call == nil {
		return nil
	}
	return call.Fun
}

// deviation returns the numbers of normal(0, w); nil after an error.
func deviation(c *checker, e *entity, dist ast.Expr) *numbersOf {
	call, row, ok := c.noise(dist)
	if !ok {
		return nil
	}
	const instead = "; random effects are written random e ~ normal(0, w), and what follows from them by let: " +
		"let CL = exp(tcl + e)"
	if row.Name != "normal" {
		c.errorf(CodeArguments, call.Span, "%s is no distribution of random effects in this version%s", row.Name,
			instead)
		return nil
	}
	n, ok := c.priorNumbers(&prior{sym: e.sym, dist: dist}, false)
	if !ok {
		return nil
	}
	if k, is := n.args[row.Centre].(*model.Const); !is || k.Data[0] != 0 || len(k.Data) > 1 {
		c.errorf(CodeArguments, call.Span, "the mean of random effects is 0%s", instead)
		return nil
	}
	return n
}

// covariances returns the matrix of mvnormal(Omega); nil after an error.
func covariances(c *checker, e *entity, call *ast.Call) model.Expr {
	shape := e.sym.Type.Shape
	if e.held != nil {
		shape = e.held.Type.Shape
	}
	if len(call.Args) != 1 || len(call.For) > 0 || len(shape) != 1 {
		c.errorf(CodeArguments, call.Span, "random effects with covariances are a vector, and a matrix of params: "+
			"random e[2] ~ mvnormal(Omega), with param Omega[2,2] = [[0.1, 0], [0, 0.1]]")
		return nil
	}
	v := c.expr(context{place: placePrior}, call.Args[0].Value)
	if isBad(v) || !c.numeric(v, "mvnormal", v.Span()) {
		return nil
	}
	if s := v.Type().Shape; len(s) != 2 || s[0] != shape[0] || s[1] != shape[0] {
		c.errorf(CodeShape, v.Span(), "the covariances of %q are a matrix of shape [%d,%d], and this has shape %s",
			e.name, shape[0], shape[0], s).Relate(e.span, "declared here")
		return nil
	}
	if d, ok := v.(*model.Const); ok && len(d.Data) > 1 {
		n := shape[0]
		for i := range n {
			for j := range i {
				if d.Data[i*n+j] != d.Data[j*n+i] {
					c.errorf(CodeArguments, v.Span(), "covariances are symmetric: [%d,%d] is %g, and [%d,%d] is %g",
						i+1, j+1, d.Data[i*n+j], j+1, i+1, d.Data[j*n+i])
					return nil
				}
			}
		}
	}
	return v
}

// integrated returns nll() of a model with random effects.
func integrated(c *checker, e *ast.Call, table string) model.Expr {
	if table != "" {
		c.errorf(CodeArguments, e.Span, "with random effects, the likelihood of all data is integrated at once; write "+
			"nll()")
		return bad(e.Span)
	}
	return c.total(e.Span, "")
}
