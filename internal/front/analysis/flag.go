package analysis

import (
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes"
)

// Kind is what a flag takes.
type Kind int

// The kinds of flags. Values are texts, of switches "on", of lists with commas between, as the command takes them.
const (
	Text    Kind = iota
	Whole        // a whole number; 0 is as if it were not given
	Natural      // a whole number from 0
	Switch       // nothing
	Names        // names with commas between; a list of texts in requests
	Times        // from:step:to, or a list; as many values of a request as it counts
	Many         // a text, as often as one likes; joined by line ends
	File         // the name of a file
)

// Flag is a flag of an analysis: short for a key of its block, or something of its own.
type Flag struct {
	Name string
	// Key is the key that it is short for: of the block, or of another where it has a point, "sens.mode". "" for none.
	Key         string
	Placeholder string
	Help        string

	// Kind is what it takes. One without a Placeholder that is short for a key is a Switch; see Takes.
	Kind    Kind
	Short   string // its letter; "" for none
	Alias   string // an older name
	Default string
	Also    []odes.Setting // made beside its key
	// Own tells that Do reads the value by itself: its key only says what it contradicts.
	Own bool
	// Request is the key of requests, of a flag that is short for none, and Requests tells that there is no such flag
	// of the command. Word is the word of sessions. Flags of rows with a Run that are short for keys have their names.
	Request  string
	Requests bool
	Word     string
	// Option writes it into the options of a run; nil for one that is no option of these.
	Option func(o *odes.Options, value string) error
	// Workers stands for the flags that say who computes, as the command describes them.
	Workers bool
}

// Flags that rows share.
var (
	Sens = Flag{
		Name: "sens", Placeholder: "NAME", Request: "sens",
		Help:   "Use this sens block. --sens.mode=tangent sets a key of it.",
		Option: func(o *odes.Options, value string) error { o.Sens = value; return nil },
	}
	Of = Flag{
		Name: "of", Placeholder: "NAMES", Kind: Names, Request: "of",
		Help:   "Objectives, separated by commas; without it, those of the sens block.",
		Option: func(o *odes.Options, value string) (err error) { o.Of, err = List("of", value); return err },
	}
	Wrt = Flag{
		Name: "wrt", Placeholder: "NAMES", Kind: Names, Request: "wrt",
		Help:   "What to differentiate by, separated by commas: k1,A,initial(x).",
		Option: func(o *odes.Options, value string) (err error) { o.Wrt, err = List("wrt", value); return err },
	}
	Mode = Flag{
		Name: "mode", Key: "sens.mode", Placeholder: "MODE", Help: "How to differentiate: {modes}.",
	}
	Threads = Flag{
		Name: "threads", Placeholder: "N", Kind: Whole,
		Help: "Threads; 0 means one for each core. Results do not depend on it.",
		Option: func(o *odes.Options, value string) (err error) {
			o.Threads, err = strconv.Atoi(value)
			return err
		},
	}
	// In makes the model that of one experiment, which callers other than the command have opened.
	In = Flag{Name: "in", Placeholder: "NAME", Help: "{in}"}
	// Output stands for --format and -o, where these are not the last, and there is no --memory.
	Output = Flag{Name: "output"}
	Lanes  = Flag{
		Name: "lanes", Placeholder: "N", Kind: Whole,
		Help:   "Objectives in a sweep; 0 leaves it to odes. Results do not depend on it.",
		Option: func(o *odes.Options, value string) (err error) { o.Lanes, err = strconv.Atoi(value); return err },
	}
)

// Takes returns the kind of a flag.
func (f *Flag) Takes() Kind {
	if f.Kind == Text && f.Placeholder == "" && f.Key != "" {
		return Switch
	}
	return f.Kind
}

// All returns the flags of a row in the order of help. Those of one with a Run are behind Sens, Threads and Lanes.
func (r *Row) All() []Flag {
	if r.Do != nil {
		return r.Flags
	}
	return append([]Flag{Sens, Threads, Lanes}, r.Flags...)
}

// Full returns the key that a flag is short for, with its block; "" for none.
func (r *Row) Full(f *Flag) string {
	if f.Key == "" || strings.Contains(f.Key, ".") {
		return f.Key
	}
	return r.Block + "." + f.Key
}

// Values are the values of flags by their names. Flags that are not given have none.
type Values map[string]string

// Number returns the value of a flag that takes a whole number; 0 where it is not given.
func (v Values) Number(name string) int {
	n, _ := strconv.Atoi(v[name]) // the command and the server have read it
	return n
}

// settings returns what flags with values are short for.
func (r *Row) settings(values Values) (list []odes.Setting) {
	for _, f := range r.Flags {
		v := values[f.Name]
		if f.Kind == Whole && v == "0" || f.Takes() == Switch && v != "on" && f.Key == "" {
			continue
		}
		if v != "" {
			list = append(list, f.Also...)
		}
		if key := r.Full(&f); v != "" && key != "" && !f.Own && f.Option == nil {
			list = append(list, odes.Setting{Key: key, Value: v})
		}
	}
	return list
}

// With returns options with what flags are short for.
func (r *Row) With(o odes.Options, values Values) odes.Options {
	o.Settings = append(slices.Clip(o.Settings), r.settings(values)...)
	return o
}

// Apply returns options with what all flags say of them. The error is of a value that is none.
func (r *Row) Apply(o odes.Options, values Values) (odes.Options, error) {
	for _, f := range r.All() {
		if v := values[f.Name]; v != "" && f.Option != nil {
			if err := f.Option(&o, v); err != nil {
				return o, err
			}
		}
	}
	return r.With(o, values), nil
}
