package solvers

// RatesPart is a part of the rates f = f_I + f_E of a SplitField.
type RatesPart uint8

// The parts.
const (
	WholeRates    RatesPart = iota // f
	ImplicitRates                  // f_I; zero for integrands
	ExplicitRates                  // f_E, and the integrands
)

// SplitField is a field whose rates are a sum of two parts, for methods that solve equations with the first alone.
type SplitField interface {
	// Splits reports whether it has both parts. Its Jacobian then is that of f_I.
	Splits() bool
	// Take makes Eval, Push, Pull and PullPush those of a part, until it is called again.
	Take(part RatesPart)
}

// SplitOf returns the SplitField that f is or wraps, nil for a field without parts.
func SplitOf(f any) SplitField {
	for {
		if s, ok := f.(SplitField); ok && s.Splits() {
			return s
		}
		w, ok := f.(interface{ Unwrap() any })
		if !ok {
			return nil
		}
		f = w.Unwrap()
	}
}

// NoSplitError tells that a method needs a SplitField, and the system is none.
type NoSplitError struct{ Method string }

func (e *NoSplitError) Error() string {
	return "method " + e.Method + " needs a right-hand side in two parts, which this system does not have"
}
