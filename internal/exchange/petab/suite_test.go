package petab_test

import (
	"context"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"odes.dev/odes"
)

// The test suite of PEtab says what the likelihoods of small problems are. It is no part of this project: with a copy
// of it,
//
//	go test ./internal/exchange/petab -run TestSuite -suite petabtests/cases/v1.0.0/sbml -v
//
// compares them, and those of version 2 with its folder.
var suiteDir = flag.String("suite", "", "a folder with the cases of the test suite of PEtab, version 1 or 2")

// TestSuite compares likelihoods with those of the suite.
func TestSuite(t *testing.T) {
	if *suiteDir == "" {
		t.Skip("needs -suite")
	}
	problems, err := filepath.Glob(filepath.Join(*suiteDir, "*", "_[0-9]*[0-9].yaml"))
	if err != nil || len(problems) == 0 {
		t.Fatalf("no problems: %v", err)
	}
	for _, path := range problems {
		text, err := os.ReadFile(strings.TrimSuffix(path, ".yaml") + "_solution.yaml")
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Likelihood float64 `yaml:"llh"`
			Tolerance  float64 `yaml:"tol_llh"`
			Posterior  float64 `yaml:"unnorm_log_posterior"` // of version 2, where there are priors
		}
		if err := yaml.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if want.Posterior != 0 {
			want.Likelihood = want.Posterior
		}
		m, err := odes.ParseFile(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{Threads: 1})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got := -s.Values[0].Value; math.Abs(got-want.Likelihood) > want.Tolerance {
			t.Errorf("%s: %v, want %v", path, got, want.Likelihood)
		}
	}
	t.Logf("%d problems", len(problems))
}
