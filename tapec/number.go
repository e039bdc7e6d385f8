package tapec

import (
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/tape"
)

// NumberName is the output of the tapes of Number.
const NumberName = "number"

// Number compiles a number that depends on params only: p.* → number. The tape is nil where e is too deep for tapes.
func Number(m *model.Model, e model.Expr) (t *tape.Tape) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case tooDeep:
			t = nil
		default:
			panic(r)
		}
	}()
	c := newCompiler(m, &diag.List{})
	l := c.lowerer("number")
	l.b.Output(NumberName, l.filled(e, scope{}, tape.Shape{}).v)
	return c.finish(l)
}
