package result

// OneSided tells of derivatives that are not the same on both sides.
type OneSided struct {
	// Doubtful marks numbers of Gradient that are the derivative of one side, or that may be another one on the other
	// side, and of which no more is known. nil where all of Trusts are Sound, and where there are none.
	Doubtful []bool
	// Sides are the derivatives on both sides where these are known and differ. Those numbers of Gradient are that of
	// the order in which causes came in the run.
	Sides []BothSides
	// Coincidences are where these come from.
	Coincidences []Coincidence
}

// BothSides are the derivatives of Values[Value] by column Column on both sides: Left is that of values below, Right
// that of values above.
type BothSides struct {
	Value, Column int
	Left, Right   float64
	Coincidences  []int // that make them differ
}

// Coincidence is a time of a run at which several causes come.
type Coincidence struct {
	T      float64
	Causes []string // in the words of the model
}

// OnBothSides returns the derivatives of value i by column k on both sides; false where they are one.
func (s *Sensitivities) OnBothSides(i, k int) (b BothSides, ok bool) {
	for _, b := range s.OneSided.Sides {
		if b.Value == i && b.Column == k {
			return b, true
		}
	}
	return b, false
}
