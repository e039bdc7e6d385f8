package repl

import (
	"context"
	"fmt"
	"io"
	"strings"

	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/internal/front/report"
)

// described returns the commands of analyses, as package analysis describes them.
func described() (list []command) {
	for _, a := range analysis.Rows() {
		form := a.Name
		for _, f := range a.Flags {
			value := strings.ToLower(f.Placeholder)
			if value == "" {
				value = "on"
			}
			form += " [" + f.Name + " " + value + "]"
		}
		list = append(list, command{
			a.Name, form, strings.ToLower(a.Help[:1]) + strings.TrimSuffix(a.Help[1:], "."),
			func(s *Session, ctx context.Context, w io.Writer, rest string) error {
				return analyse(ctx, s, w, a, rest)
			},
		})
	}
	return list
}

// analyse computes an analysis. Its flags stand behind the word, each with its value: starts 3 seed 1.
func analyse(ctx context.Context, s *Session, w io.Writer, a *analysis.Row, rest string) error {
	m, err := s.model()
	if err != nil {
		return err
	}
	values := map[string]string{}
	for _, f := range a.Flags {
		values[f.Name] = ""
	}
	words := strings.Fields(rest)
	for i := 0; i < len(words); i += 2 {
		if old, known := values[words[i]]; !known || i+1 == len(words) || old != "" {
			return fmt.Errorf("%s does not take %q; help %[1]s says what it takes", a.Name,
				strings.Join(words[i:], " "))
		}
		values[words[i]] = words[i+1]
	}
	result, err := a.Run(ctx, m, a.With(s.options(), values))
	if err != nil {
		return err
	}
	s.diagnose(w, result.Warnings)
	return result.WriteAs(report.Formats()[0], w, s.heading(m), s.table())
}
