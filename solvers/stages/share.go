package stages

import "odes.dev/odes/internal/base/team"

// sharedCombination is a combination of stages in parts.
type sharedCombination struct {
	t      *Form
	out    []float64
	base   []float64
	h      float64
	k      []float64
	stride int
}

// combinationPart is how many elements make a part: enough to take longer than handing it over, and few enough that
// what is read and written stays in a cache.
const combinationPart = 1 << 13

// Part implements team.Work.
func (c *sharedCombination) Part(i, _ int) {
	from := i * combinationPart
	to := min(from+combinationPart, len(c.out))
	c.t.Combine(c.out[from:to], c.base[from:to], c.h, c.k[from:], c.stride)
}

// Combine is t.combine, by the team where the vector is long.
func (r *Space) Combine(t *Form, out, base []float64, h float64, k []float64, stride int) {
	if r.Team == nil || len(out) < 2*combinationPart {
		t.Combine(out, base, h, k, stride)
		return
	}
	c := &r.shared
	c.t, c.out, c.base, c.h, c.k, c.stride = t, out, base, h, k, stride
	r.Team.Do((len(out)+combinationPart-1)/combinationPart, c)
}

// Share implements Sharing.
func (r *Space) Share(t *team.Team) { r.Team = t }
