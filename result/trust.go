package result

// Trust says how far a number of a result may be relied on. It comes from an independent run of the model, which
// shares no step, no method and no located event with the run of the result (docs/methods-trust.md).
type Trust uint8

// The grades of trust. Numbers of a result are Sound where nothing else is said of them.
const (
	Sound Trust = iota // right to about three digits or more: as many as a table prints
	Loose              // fewer digits are right, or the derivative is one of several, or nothing confirms the number
	Lost               // not even the first digit is sure, or it is not a finite number
)

// trusts are the words for grades of trust.
var trusts = [...]string{Sound: "sound", Loose: "loose", Lost: "lost"}

// String returns "sound", "loose" or "lost".
func (t Trust) String() string { return trusts[t] }
