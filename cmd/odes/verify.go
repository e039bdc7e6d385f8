package main

import "odes.dev/odes"

// verifyCmd is odes verify.
type verifyCmd struct {
	modelFlags
	derivativeFlags
	Directions int     `placeholder:"N" default:"3" help:"Number of random directions."`
	Seed       uint64  `placeholder:"N" default:"1" help:"Seed of the random directions."`
	Tolerance  float64 `placeholder:"X" default:"0" help:"${tolerance}"`
}

// Run checks gradients; a wrong one is exit status 4.
func (v *verifyCmd) Run(c *call) error {
	f, err := c.format("verify", v.Format, v.Output)
	if err != nil {
		return err
	}
	c.configure(v.global, v.Format)
	if v.Directions < 1 || !(v.Tolerance >= 0) {
		return usagef("--directions takes a whole number from 1, --tolerance a number that is not negative")
	}
	opts, err := v.options(c)
	if err != nil {
		return err
	}
	if err := v.derivative(&opts); err != nil {
		return err
	}
	m, err := c.load(v.Model)
	if err != nil {
		return err
	}
	out, err := c.open(v.Output)
	if err != nil {
		return err
	}
	defer out.discard()
	bar := c.attach(&opts)
	var result *odes.Verification
	err = c.work(func() (err error) {
		how := odes.VerifyOptions{Directions: v.Directions, Seed: v.Seed, Tolerance: v.Tolerance}
		result, err = m.Verify(c.ctx, opts, how)
		return err
	})
	bar.clear()
	if err != nil {
		return err
	}
	c.diagnose(result.Warnings)
	if err := f.Verification(out, heading(m), result, c.tableOptions(out)); err != nil {
		return cannotWrite(v.Output, err)
	}
	if err := out.commit(); err != nil {
		return err
	}
	if result.Wrong() {
		return status(exitWrong)
	}
	for _, o := range result.Objectives {
		if o.Outcome != "ok" {
			return status(exitRun)
		}
	}
	return nil
}
