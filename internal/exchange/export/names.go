package export

import (
	"strconv"
	"strings"
	"unicode"
)

func itoa(i int) string { return strconv.Itoa(i) }

// names gives out names that are all different, in a language that knows letters of ASCII, digits and _ only.
type names struct {
	taken map[string]bool
	of    map[*quantity]string
}

func newNames(reserved ...string) *names {
	n := &names{taken: map[string]bool{}, of: map[*quantity]string{}}
	for _, r := range reserved {
		n.taken[r] = true
	}
	return n
}

// fresh returns a name that is like the proposal.
func (n *names) fresh(proposal string) string {
	name := plain(proposal)
	for n.taken[name] {
		name += "_"
	}
	n.taken[name] = true
	return name
}

// enter gives quantities their names: those of single numbers first, so that they keep theirs.
func (n *names) enter(lists ...[]*quantity) {
	for _, single := range []bool{true, false} {
		for _, list := range lists {
			for _, q := range list {
				if (q.subs == nil) == single && n.of[q] == "" {
					n.of[q] = n.fresh(joined(q))
				}
			}
		}
	}
}

// joined is the name of an element with its subscripts behind it: x_1_2.
func joined(q *quantity) string {
	name := q.base
	for _, s := range q.subs {
		name += "_" + itoa(s)
	}
	return name
}

// plain writes a name with letters of ASCII. Greek letters are spelled.
func plain(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)), r == '_':
			b.WriteRune(r)
		case greek[r] != "":
			b.WriteString(greek[r])
		case r < unicode.MaxASCII:
			b.WriteByte('_')
		default:
			b.WriteString("u" + strconv.FormatInt(int64(r), 16))
		}
	}
	s := b.String()
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		s = "_" + s
	}
	return s
}

// greek are the Greek letters, by the names that LaTeX has for most of them.
var greek = map[rune]string{}

func init() {
	const list = "α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu ξ " +
		"xi π pi ρ rho σ sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega"
	words := strings.Fields(list)
	for i := 0; i < len(words); i += 2 {
		r := []rune(words[i])[0]
		greek[r] = words[i+1]
		greek[unicode.ToUpper(r)] = strings.ToUpper(words[i+1][:1]) + words[i+1][1:]
	}
	greek['µ'] = "mu" // the sign of micro
}
