package roots

// Samples are those of the guards over a step, by length, and room for further ones. The first of the room are those of
// the nodes: what they hold lies in NodeRho and NodeTruth.
type Samples struct {
	List      []*Sample // without the start; the last is the end of the step
	Start     *Sample
	NodeRho   []float64 // [nodes][guards]
	NodeTruth []bool
	room      []*Sample
	used      int
	guards    int
}

// NewSamples returns samples of so many guards, for steps with up to so many nodes.
func NewSamples(guards, nodes int) *Samples {
	s := &Samples{
		Start: &Sample{}, NodeRho: make([]float64, nodes*guards), NodeTruth: make([]bool, nodes*guards), guards: guards,
	}
	for i := range nodes {
		s.room = append(s.room, &Sample{
			Rho: s.NodeRho[i*guards : (i+1)*guards], Truth: s.NodeTruth[i*guards : (i+1)*guards],
		})
	}
	for range nodes {
		s.room = append(s.room, NewSample(guards))
	}
	return s
}

// Begin forgets the samples of the last step; that which comes begins with these values.
func (s *Samples) Begin(rho []float64, truth []bool) {
	s.List, s.used = s.List[:0], 0
	s.Start.Rho, s.Start.Truth = rho, truth
}

// Spare returns a sample that is not in use.
func (s *Samples) Spare() *Sample {
	if s.used == len(s.room) {
		s.room = append(s.room, NewSample(s.guards))
	}
	s.used++
	return s.room[s.used-1]
}

// Return takes back the last spare sample, which is not in the list.
func (s *Samples) Return() { s.used-- }

// Insert puts p into the list.
func (s *Samples) Insert(p *Sample) {
	s.List = append(s.List, p)
	for j := len(s.List) - 1; j > 0 && s.List[j-1].Theta > p.Theta; j-- {
		s.List[j-1], s.List[j] = p, s.List[j-1]
	}
}

// Before returns the last sample at theta or before.
func (s *Samples) Before(theta float64) *Sample {
	p := s.Start
	for _, q := range s.List {
		if q.Theta > theta {
			break
		}
		p = q
	}
	return p
}

// upTo returns how many samples of the list are no later than p.
func (s *Samples) upTo(p *Sample) (n int) {
	for n < len(s.List) && s.List[n].Theta <= p.Theta {
		n++
	}
	return n
}

// Reader reads the guards of a step.
type Reader interface {
	// Read reads the guards at a fraction of the step into a spare sample. It returns an error where one of them is not
	// a number; then the search ends with it.
	Read(theta float64) (*Sample, error)
	// Fires returns the first of the first n samples of the list at which something fires; n for none.
	Fires(n int) int
}
