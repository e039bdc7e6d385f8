package posterior

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/simulate"
)

var (
	replications = flag.Int("replications", 20, "how many replications of simulation-based calibration are made")
	ranksFile    = flag.String("ranks", "", "a file that keeps ranks: replications that it has are not made again")
)

// calibrated are models whose params are drawn from their priors, and then from posteriors of data that these give: one
// with a decay, one with the time of an event, one with a population.
var calibrated = []string{`time t from 0 to 6
param k = 0.3 ~ lognormal(-1, 0.5)
param s = 0.2 ~ lognormal(-1.5, 0.5)
state a = 10
a' = -k*a
data D { time = [1, 2, 4, 6]  y = [1, 1, 1, 1] }
observe o = a ~ lognormal(s) from D.y
`, `time t from 0 to 6
param lag = 1.5 ~ uniform(0.5, 3.5)
param k = 0.5 ~ lognormal(-0.7, 0.3)
state a = 0
a' = -k*a
event dose at lag { a += 2 }
data D { time = [1, 2, 4, 6]  y = [1, 1, 1, 1] }
observe o = a ~ normal(0.7) from D.y
`, `time t from 0 to 3
param mu = -0.5 ~ normal(-0.5, 0.5)
param tau = 0.4 ~ half_normal(0.5)
param eta[3] = 0 ~ normal(0, 1)
state a[3] = 5
a[i]' = -exp(mu + tau*eta[i])*a[i] for i in 1:3
data D { time = [1, 3]  y = [1, 1]  z = [1, 1]  w = [1, 1] }
observe o1 = a[1] ~ normal(0.4) from D.y
observe o2 = a[2] ~ normal(0.4) from D.z
observe o3 = a[3] ~ normal(0.4) from D.w
`}

// TestCalibrated: params that were drawn from the priors lie at any rank among draws from the posterior of the data
// that they give (Talts and others, arXiv:1804.06788). Ranks of independent draws are uniform; the test is that of
// Kolmogorov and Smirnov, whose band is simultaneous: at a level of 1 % for all params together where there are many
// replications, and of one in a million for the few of each day.
//
// By hand, in as many pieces as one likes, as the file keeps what an interrupted test made:
//
//	go test ./internal/front/posterior -run TestCalibrated/2 -replications 1000 -ranks /tmp/ranks -timeout 0 -v
func TestCalibrated(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	seed := seeds.Of(t, 4)
	for number, text := range calibrated {
		t.Run(fmt.Sprint(number+1), func(t *testing.T) { calibrates(t, number, text, seed) })
	}
}

func calibrates(t *testing.T, number int, text string, seed uint64) {
	t.Helper()
	ranks, work, made := map[string][]float64{}, 0, 0
	kept := keptRanks(t, number, seed)
	m := parsed(t, text)
	drawn, err := simulate.Run(context.Background(), m, odes.Options{Settings: []odes.Setting{
		{Key: "simulate.prior", Value: "on"},
		{Key: "simulate.replicates", Value: fmt.Sprint(*replications)},
		{Key: "simulate.seed", Value: fmt.Sprint(seed%1000000 + 1)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range drawn.Replicates {
		if list := kept.of[r.Number]; len(list) == len(r.Params) {
			for i, p := range r.Params {
				ranks[p.Name] = append(ranks[p.Name], list[i])
			}
			continue
		}
		with := text
		for k, c := range drawn.Table.Columns[1:] {
			var list []string
			for _, y := range r.Data[k] {
				list = append(list, fmt.Sprintf("%.17g", y))
			}
			before := c.Name + " = [" + strings.TrimSuffix(strings.Repeat("1, ", len(list)), ", ") + "]"
			if !strings.Contains(with, before) {
				t.Fatalf("no %s in %s", before, with)
			}
			with = strings.Replace(with, before, c.Name+" = ["+strings.Join(list, ", ")+"]", 1)
		}
		with += fmt.Sprintf("sample { chains = 2  draws = 100  warmup = 120  starts = 2  depth = 7  seed = %d }",
			r.Number)
		found, err := Run(context.Background(), parsed(t, with), Options{})
		if err != nil {
			t.Fatalf("%v of\n%s", err, with)
		}
		work, made = work+found.Gradients, made+1
		var all []float64
		for i, p := range r.Params {
			if found.Params[i].Text() != p.Name {
				t.Fatalf("%s, not %s", found.Params[i].Text(), p.Name)
			}
			rank, of := 0.5, 1.0 // every fifth draw: these are nearly independent
			for _, chain := range found.Column(i) {
				for k := 0; k < len(chain); k += 5 {
					if of++; chain[k] < p.Value {
						rank++
					}
				}
			}
			ranks[p.Name] = append(ranks[p.Name], rank/of)
			all = append(all, rank/of)
		}
		kept.add(t, r.Number, all)
	}
	if len(ranks) < 2 {
		t.Fatal(ranks)
	}
	t.Logf("model %d: %d gradients for each posterior", number+1, work/max(made, 1))
	level := 0.01
	if *replications < 200 {
		level = 1e-6
	}
	const all = 9 // params of all models
	band := math.Sqrt(math.Log(2*all/level)/2) / math.Sqrt(float64(*replications))
	for _, name := range slices.Sorted(maps.Keys(ranks)) {
		list := ranks[name]
		slices.Sort(list)
		n, far := float64(len(list)), 0.0
		for i, x := range list {
			far = max(far, math.Abs(x-float64(i)/n), math.Abs(x-float64(i+1)/n))
		}
		t.Logf("model %d: %s: %.3f of %.3f", number+1, name, far, band)
		if far > band+0.01 { // ranks are of 41 values
			t.Errorf("model %d: ranks of %s are not uniform: %.2f", number+1, name, list)
		}
	}
}

// rankFile keeps ranks of the replications of a model, one a line behind the numbers of model, seed and replication.
type rankFile struct {
	file *os.File
	head string
	of   map[int][]float64
}

func keptRanks(t *testing.T, number int, seed uint64) *rankFile {
	t.Helper()
	k := &rankFile{head: fmt.Sprint(number+1, " ", seed), of: map[int][]float64{}}
	if *ranksFile == "" {
		return k
	}
	var err error
	if k.file, err = os.OpenFile(*ranksFile, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.file.Close() })
	text, err := io.ReadAll(k.file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		rest, is := strings.CutPrefix(line, k.head+" ")
		words := strings.Fields(rest)
		if !is || len(words) == 0 || !strings.HasSuffix(line, "\n") {
			continue
		}
		replication, err := strconv.Atoi(words[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range words[1:] {
			x, err := strconv.ParseFloat(word, 64)
			if err != nil {
				t.Fatal(err)
			}
			k.of[replication] = append(k.of[replication], x)
		}
	}
	return k
}

func (k *rankFile) add(t *testing.T, replication int, ranks []float64) {
	t.Helper()
	if k.file == nil {
		return
	}
	if _, err := fmt.Fprintln(k.file, k.head, replication, strings.Trim(fmt.Sprint(ranks), "[]")); err != nil {
		t.Fatal(err)
	}
}
