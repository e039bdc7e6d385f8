package repl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/analysis"
)

// described returns the commands of analyses, as package analysis describes them.
func described() (list []command) {
	for _, a := range analysis.Rows() {
		form, help := a.Name, strings.ToLower(a.Help[:1])+strings.TrimSuffix(a.Help[1:], ".")
		if a.Session != nil && a.Session.None {
			continue
		}
		if a.Session != nil {
			form, help = a.Session.Form, a.Session.Help
		} else {
			for _, f := range a.Flags {
				if word := wordOf(a, &f); word != "" {
					form += " [" + word + " " + cmp.Or(strings.ToLower(f.Placeholder), "on") + "]"
				}
			}
		}
		list = append(list, command{
			a.Name, form, help,
			func(s *Session, ctx context.Context, w io.Writer, rest string) error {
				return s.analyse(ctx, w, a, rest)
			},
		})
	}
	return list
}

// wordOf returns the word of a flag in sessions; "" for one that these do not have.
func wordOf(a *analysis.Row, f *analysis.Flag) string {
	if f.Word == "" && a.Run != nil && f.Key != "" {
		return f.Name
	}
	return f.Word
}

// wordsBehind returns what may stand behind the word of an analysis: words of its flags, and its pictures.
func wordsBehind(a *analysis.Row) (words []string) {
	for _, f := range a.Flags {
		if word := wordOf(a, &f); word != "" {
			words = append(words, word)
		}
	}
	if a.Behind == nil {
		return append(words, a.Drawn()...)
	}
	return append(slices.Clone(a.Behind.Words), words...)
}

// analyse computes an analysis. Its flags stand behind the word, each with its value: starts 3 seed 1; before them
// stands what the analysis takes, or the name of a picture of the last result.
func (s *Session) analyse(ctx context.Context, w io.Writer, a *analysis.Row, rest string) error {
	rest, l, err := s.cutLook(rest)
	if err != nil {
		return err
	}
	m, err := s.model()
	if err != nil {
		return err
	}
	if a.Behind == nil && slices.Contains(a.Drawn(), rest) {
		if s.results[a.Name] == nil {
			return fmt.Errorf("there is no %s yet; write: %[1]s", a.Name)
		}
		last := s.results[a.Name]
		p, err := a.Picture(About(ctx, s, m, last.Found), last.Of, rest)
		if err != nil {
			return err
		}
		return s.deliver(w, p, l)
	}
	ask := &analysis.Ask{Model: m, Options: s.options(), Format: a.Written(nil)[0], Seen: s.cfg.Seen}
	if ask.Behind, ask.Values, err = cutFlags(a, rest); err != nil {
		return err
	}
	whole := l.path != "" && len(a.Pictures) == 1 // a picture in place of the table
	if whole {
		ask.Values[a.Draw] = l.path
	}
	_, done := s.tell()
	if tell := s.progress; tell != nil {
		ask.Tell = func(p analysis.Progress) { tell(odes.Progress{Phase: p.Phase, Steps: p.Steps, Done: p.Done}) }
	}
	r, err := a.Compute(ctx, ask)
	done()
	if e := ask.End(err == nil); e != nil && err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if s.results == nil {
		s.results = map[string]*analysis.Result{}
	}
	s.results[a.Name] = r
	s.diagnose(w, r.Warnings)
	if whole {
		p, err := a.Picture(About(ctx, s, m, r.Found), r.Of, a.Drawn()[0])
		if err != nil {
			return err
		}
		return s.deliver(w, p, l)
	}
	if err := r.WriteAs(ask.Format, w, s.heading(m), s.table()); err != nil {
		return err
	}
	if len(r.Found) > 0 {
		st := s.now
		for _, a := range r.Found {
			st.set = with(st.set, a.Name, a.Values)
		}
		s.move(st, a.Name)
		s.Say(w, "the estimates are set; undo takes them back, save writes them to the file")
	}
	return nil
}

// cutFlags cuts what stands behind the word of an analysis into what it takes and the values of flags.
func cutFlags(a *analysis.Row, rest string) (behind string, values analysis.Values, err error) {
	var words []string
	for _, f := range a.Flags {
		if word := wordOf(a, &f); word != "" {
			words = append(words, word)
		}
	}
	behind, by := clauses(rest, words...)
	if behind != "" && a.Behind == nil {
		say := fmt.Sprintf("%s does not take %q; help %[1]s says what it takes", a.Name, behind)
		if names := a.Drawn(); names != nil && len(words) == 0 {
			say = fmt.Sprintf("%s %s? write %[1]s, or %[1]s with the name of a picture: %s", a.Name, behind,
				strings.Join(names, ", "))
		} else if names != nil {
			say = fmt.Sprintf("%s %s? write %[1]s, %[1]s %[3]s 20, or %[1]s with the name of a picture: %[4]s", a.Name,
				behind, words[0], strings.Join(names, ", "))
		}
		return "", nil, errors.New(say)
	}
	values = analysis.Values{}
	for _, f := range a.Flags {
		word := wordOf(a, &f)
		text, given := by[word]
		if word == "" || !given {
			continue
		}
		text = strings.TrimSpace(strings.TrimPrefix(text, "=")) // as on the command line
		n, wrong := strconv.ParseUint(text, 10, 63)
		switch {
		case f.Kind == analysis.Whole && (wrong != nil || n < 1):
			return "", nil, fmt.Errorf("%s takes a whole number from 1", word)
		case f.Kind == analysis.Natural && wrong != nil:
			return "", nil, fmt.Errorf("%s takes a whole number from 0", word)
		case text == "":
			return "", nil, fmt.Errorf("%s takes a value", word)
		}
		values[f.Name] = text
	}
	return behind, values, nil
}
