package odes

// Info describes a model.
type Info struct {
	Name, Title string
	File        string
	Time        string // name of the independent variable
	TimeUnit    string // "" when unknown or dimensionless

	// Counts of declarations; an array counts once.
	States, Params, Discretes, Events, Outputs, Objectives int
}

// Info returns what the model says about itself.
func (m *Model) Info() Info {
	c := m.checked
	i := Info{
		Name: c.Name, Title: c.Title,
		States: len(c.States), Params: len(c.Params), Discretes: len(c.Discretes),
		Events: len(c.Events), Outputs: len(c.Outputs), Objectives: len(c.Objectives),
	}
	if c.Source != nil {
		i.File = c.Source.Name()
	}
	if c.Time != nil {
		i.Time = c.Time.Name
		if u := c.Time.Type.Unit; u.Known() && !u.Plain() {
			i.TimeUnit = u.String()
		}
	}
	return i
}
