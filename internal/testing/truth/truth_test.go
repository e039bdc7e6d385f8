package truth

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
)

var (
	models = flag.Int("models", 5040, "how many random models TestRandom draws")
	seed   = flag.Uint64("seed", 1, "of the first of them")
	family = flag.String("family", "", "the only family of which TestRandom draws")
	given  = flag.String("given", "", "settings of every model of TestRandom: solver.method=rodas5p,sens.mode=tangent")
	report = flag.Bool("report", false, "let TestRandom say how far numbers are from the truth")
)

// TestRandom draws models with known answers and demands of each that it is right or warned.
func TestRandom(t *testing.T) {
	var drawn []Family
	for _, f := range Families {
		if *family == "" || f.Name == *family {
			drawn = append(drawn, f)
		}
	}
	if len(drawn) == 0 {
		t.Fatalf("there is no family %q", *family)
	}
	each, first := (*models+len(drawn)-1)/len(drawn), seeds.Of(t, *seed)
	for _, f := range drawn {
		t.Run(strings.ReplaceAll(f.Name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			sum(t, &f, first, each)
		})
	}
}

var printing sync.Mutex

// settings are those of the flag given.
func settings() (list []odes.Setting) {
	for s := range strings.SplitSeq(*given, ",") {
		if key, value, ok := strings.Cut(s, "="); ok {
			list = append(list, odes.Setting{Key: key, Value: value})
		}
	}
	return list
}

// sum judges n models of a family, from a seed on.
func sum(t *testing.T, f *Family, first uint64, n int) {
	var count [Broken + 1]int
	marked, alarms, shown := 0, 0, 0
	over := settings()
	var errors, last []float64
	for i := range n {
		s := first + uint64(i)
		c := f.Draw(s)
		o := Judge(context.Background(), c, over...)
		count[o.Verdict]++
		marked, alarms = marked+o.Marked, alarms+len(o.FalseAlarms)
		errors, last = append(errors, o.Errors...), append(last, o.Last...)
		if *report && (o.Verdict == Failed || len(o.FalseAlarms) > 0) {
			t.Logf("seed %d: %v, but right: %v\n%s", s, o, o.FalseAlarms, indent(c.Text))
		}
		if o.Verdict >= Wrong && shown < 3 {
			shown++
			small := f.Simpler(c, 150, func(c Case) bool {
				x := Judge(context.Background(), c, over...)
				return x.Verdict == o.Verdict && x.Worst >= min(o.Worst, 100)/3 // not what rounding explains
			})
			again := Judge(context.Background(), small, over...)
			t.Errorf("seed %d: %v\n%s\nsimpler: %v\n%s", s, o, indent(c.Text), again, indent(small.Text))
		}
	}
	if bad := count[Wrong] + count[Broken]; bad > shown {
		t.Errorf("%d more", bad-shown)
	}
	bar := f.Right * float64(n)
	if os.Getenv(seeds.Variable) != "" { // the share is that of the usual models; others have it but for chance
		bar -= 2 * math.Sqrt(bar*(1-f.Right))
	}
	if float64(count[Right]) < bar && n >= 20 {
		t.Errorf("only %d of %d models are right and not marked; at least %g%% ought to be", count[Right], n,
			100*f.Right)
	}
	if *report {
		printing.Lock()
		defer printing.Unlock()
		off := 0
		for _, e := range last {
			if e > 1 {
				off++
			}
		}
		fmt.Printf("%-16s%5d: right %d, warned %d, failed %d, silently wrong %d; %d of %d marks are false; "+
			"%d of %d numbers are off in their digits; error/allowed: %s\n", f.Name, n, count[Right], count[Warned],
			count[Failed], count[Wrong], alarms, marked, off, len(last), quantiles(errors))
	}
}

// quantiles says how errors are distributed, relative to what they may be.
func quantiles(errors []float64) string {
	if len(errors) == 0 {
		return "no number"
	}
	slices.Sort(errors)
	at := func(q float64) float64 { return errors[min(len(errors)-1, int(q*float64(len(errors))))] }
	return fmt.Sprintf("half below %.1e, 90%% %.1e, 99%% %.1e, all %.1e", at(0.5), at(0.9), at(0.99),
		math.Min(at(1), 1e99))
}
