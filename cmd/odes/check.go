package main

import (
	"errors"
	"fmt"
)

// checkCmd is odes check.
type checkCmd struct {
	global
	Models []string   `arg:"" help:"Model files; - is standard input."`
	Format formatFlag `placeholder:"FORMAT" help:"table for people, or json: one diagnostic on each line."`
}

// Run checks every model and says what each is made of.
func (k *checkCmd) Run(c *call) error {
	if _, err := c.format("check", k.Format, ""); err != nil {
		return err
	}
	c.configure(k.global, k.Format)
	worst := 0
	for _, path := range k.Models {
		i, err := c.inspect(path)
		var code status
		switch {
		case c.ctx.Err() != nil:
			return c.ctx.Err()
		case errors.As(err, &code):
			worst = max(worst, int(code))
			continue
		case err != nil:
			c.complain("file", err.Error())
			worst = max(worst, exitRun)
			continue
		}
		if !c.quiet && !c.json {
			states := count(i.States, "state")
			if i.Algs > 0 {
				states += ", " + count(i.Algs, "alg")
			}
			fmt.Fprintf(c.out, "%s: ok: %s, %s, %s, %s\n", i.File, states,
				count(i.Params, "param"), count(i.Events, "event"), count(i.Objectives, "objective"))
		}
	}
	if worst > 0 {
		return status(worst)
	}
	return nil
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
