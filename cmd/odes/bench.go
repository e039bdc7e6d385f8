package main

import "odes.dev/odes"

// benchCmd is odes bench.
type benchCmd struct {
	modelFlags
	derivativeFlags
	Runs int `placeholder:"N" default:"15" help:"Number of gradients to time, after one to warm up."`
}

// Run measures a model.
func (b *benchCmd) Run(c *call) error {
	f, err := c.format("bench", b.Format, b.Output)
	if err != nil {
		return err
	}
	c.configure(b.global, b.Format)
	opts, err := b.options(c)
	if err != nil {
		return err
	}
	if err := b.derivative(&opts); err != nil {
		return err
	}
	if b.Runs < 1 {
		return usagef("--runs takes a whole number from 1")
	}
	m, err := c.load(b.Model)
	if err != nil {
		return err
	}
	out, err := c.open(b.Output)
	if err != nil {
		return err
	}
	defer out.discard()
	var result *odes.Bench
	err = c.work(func() (err error) {
		result, err = m.Bench(c.ctx, b.Runs, opts)
		return err
	})
	if err != nil {
		return err
	}
	if err := f.Bench(out, heading(m), result, c.tableOptions(out)); err != nil {
		return cannotWrite(b.Output, err)
	}
	return out.commit()
}
