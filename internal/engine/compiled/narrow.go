package compiled

import (
	"strings"

	"odes.dev/odes/internal/engine/narrow"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// NarrowParts are those of a tape, as package narrow takes them.
type NarrowParts struct {
	*tapec.NarrowParts
	Tapes narrow.Tapes
	Names []string
}

// newNarrowParts returns those of t; nil if there are none.
func newNarrowParts(t *tape.Tape, even []tapec.Name) *NarrowParts {
	parts := tapec.Narrow(t, even)
	if parts == nil {
		return nil
	}
	of, out := tapec.InnerValues.Name(), tapec.NarrowValues.Name()
	p := &NarrowParts{NarrowParts: parts, Tapes: narrow.Tapes{
		Inner: parts.Inner, Degrees: parts.Degrees, Parts: parts.Parts, Jumps: parts.Jumps,
		Of: of.String(), DotOf: of.Dot().String(), Out: out.String(), Dots: out.Dot().String(),
	}}
	for _, span := range parts.Spans {
		p.Names = append(p.Names, strings.Join(strings.Fields(span.Text()), " "))
	}
	return p
}
