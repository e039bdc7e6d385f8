package repl

import "odes.dev/odes"

// WithValues writes values into the declarations of a model's text. It returns those for which that has no place.
func WithValues(m *odes.Model, text string, set []odes.Assignment) (string, []odes.Assignment) {
	s := New(Config{})
	s.path = m.Info().File
	s.now = state{text: text, set: set, model: m}
	text, _, left := s.fixed()
	return text, left
}
