package petab_test

import (
	"context"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/hdf5"
)

// The test suite of PEtab says what the likelihoods of small problems are. It is no part of this project: with a copy
// of it,
//
//	go test ./internal/exchange/petab -run TestSuite -suite petabtests/cases/v1.0.0/sbml -v
//
// compares them, and those of version 2 with its folder. With a copy of the suite of PEtab SciML,
//
//	go test ./internal/exchange/petab -run TestNetworkSuite -suite test_cases/sciml_problem_import -v
//
// compares likelihoods and gradients.
var suiteDir = flag.String("suite", "", "a folder with the cases of the test suite of PEtab, version 1 or 2, or SciML")

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

// TestNetworkSuite compares likelihoods and gradients with those of the suite of PEtab SciML, but for convolutions.
func TestNetworkSuite(t *testing.T) {
	if *suiteDir == "" {
		t.Skip("needs -suite")
	}
	solutions, err := filepath.Glob(filepath.Join(*suiteDir, "*", "solutions.yaml"))
	if err != nil || len(solutions) == 0 {
		t.Fatalf("no problems: %v", err)
	}
	compared := 0
	for _, path := range solutions {
		dir := filepath.Dir(path)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Likelihood float64           `yaml:"llh"`
			Posterior  float64           `yaml:"log_posterior"`
			Tolerance  float64           `yaml:"tol_llh"`
			Gradient   float64           `yaml:"tol_grad"`
			Files      map[string]string `yaml:"grad_files"`
		}
		if err := yaml.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if want.Posterior != 0 {
			want.Likelihood, want.Tolerance = want.Posterior, 1e-3
		}
		m, err := odes.ParseFile(filepath.Join(dir, "petab", "problem.yaml"))
		if err != nil && strings.Contains(err.Error(), "of the type Conv") {
			t.Logf("%s: left out: %v", dir, err)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		s, err := m.Sensitivities(context.Background(), tight("1e-10"))
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		compared++
		if got := -s.Values[0].Value; math.Abs(got-want.Likelihood) > want.Tolerance {
			t.Errorf("%s: %v, want %v", dir, got, want.Likelihood)
		}
		gradient := suiteGradient(t, dir, want.Files)
		for _, v := range s.Variables {
			list := gradient[v.Name]
			size := 1
			for _, n := range v.Shape {
				size *= n
			}
			if len(list) != size {
				t.Errorf("%s: %d derivatives by %s to compare with", dir, len(list), v.Name)
				continue
			}
			for k, want0 := range list {
				if got := -s.Gradient[v.Offset+k]; math.Abs(got-want0) > want.Gradient {
					t.Errorf("%s: d/d%s[%d] is %v, want %v", dir, v.Name, k, got, want0)
				}
			}
		}
	}
	t.Logf("%d of %d problems", compared, len(solutions))
}

// suiteGradient reads the derivatives of a problem, by the names that the translation has for params.
func suiteGradient(t *testing.T, dir string, files map[string]string) map[string][]float64 {
	t.Helper()
	all := map[string][]float64{}
	for of, name := range files {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if of != "mech" {
			arrays, err := hdf5.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			for path, a := range arrays {
				all[strings.ReplaceAll(strings.TrimPrefix(path, "parameters/"), "/", "_")] = a.Data
			}
			continue
		}
		for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n")[1:] {
			id, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
			x, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			all[id] = []float64{x}
		}
	}
	return all
}
