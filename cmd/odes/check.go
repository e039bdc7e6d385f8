package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/front/report"
)

// checkCmd is odes check.
type checkCmd struct {
	reading
	Models []string `arg:"" help:"Model files; - is standard input."`
	setFlag
	Identifiable bool       `help:"List the params of the fit that the data identify, near the values in the model."`
	Format       formatFlag `placeholder:"FORMAT" help:"table for people, or json: one diagnostic on each line."`
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
		if k.Identifiable {
			if err := k.identify(c, path); err != nil {
				worst = max(worst, c.fail(err))
				continue
			}
		}
		if !c.quiet && !c.json {
			states := count(i.States, "state")
			if i.Algs > 0 {
				states += ", " + count(i.Algs, "alg")
			}
			fmt.Fprintf(c.out, "%s: ok: %s, %s, %s, %s\n", i.File, states,
				count(i.Params, "param"), count(i.Events, "event"), count(i.Objectives, "objective"))
			for _, law := range i.Conserved {
				fmt.Fprintf(c.out, "conserved: %s\n", law)
			}
			c.dosing(i)
		}
	}
	if worst > 0 {
		return status(worst)
	}
	return nil
}

// identify tells what the data of a model can tell.
func (k *checkCmd) identify(c *call, path string) error {
	set, err := k.assignments(c)
	if err != nil {
		return err
	}
	quiet := c.quiet
	c.quiet = true // what there is to say of the model was said
	m, err := c.load(path, "")
	c.quiet = quiet
	if err != nil {
		return err
	}
	var id *fit.Identification
	opts := odes.Options{Set: set}
	bar := c.attach(&opts)
	err = c.work(func() (err error) {
		id, err = fit.Identify(c.ctx, m, fit.Options{Options: opts})
		return err
	})
	bar.clear()
	if err != nil {
		return err
	}
	write := report.IdentifyTable
	if c.json {
		write = report.IdentifyJSON
	}
	return write(c.out, heading(m), id, c.tableOptions(c.out))
}

// dosing prints what records of doses give in each run.
func (c *call) dosing(i odes.Info) {
	list := i.Doses
	if len(list) == 0 {
		return
	}
	const most = 20
	more := 0
	if len(list) > most && !c.verbose {
		list, more = list[:most], len(list)-most
	}
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	unit := ""
	if i.TimeUnit != "" {
		unit = " [" + i.TimeUnit + "]"
	}
	fmt.Fprintf(w, "doses\trecords\tdoses\tfirst%[1]s\tlast%[1]s\tamount\tinto\n", unit)
	for _, d := range list {
		name := d.Experiment
		if name == "" {
			name = d.Table
		}
		into := strings.Join(d.Into, ", ")
		var how []string
		for _, x := range []struct {
			n    int
			noun string
		}{{d.Infusions, "infusion"}, {d.Steady, "steady state"}, {d.Resets, "reset"}} {
			if x.n > 0 {
				how = append(how, count(x.n, x.noun))
			}
		}
		if d.Records == 0 {
			fmt.Fprintf(w, "%s\t0\t0\t\t\t\t%s\n", name, strings.Join(how, ", "))
			continue
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%.6g\t%.6g\t%.6g\t%s\n", name, d.Records, d.Doses, d.First, d.Last, d.Amount,
			strings.Join(append([]string{into}, how...), "; "))
	}
	_ = w.Flush() // which c.out remembers
	if more > 0 {
		fmt.Fprintf(c.out, "and %d more; -v lists all\n", more)
	}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
