package petab_test

import (
	"context"
	"math"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
)

// arrayed is the problem whose inputs conditions set, with these inputs in a file of arrays.
func arrayed(t *testing.T, input string, changes ...string) fstest.MapFS {
	t.Helper()
	files := folder(t, "testdata/network/conditions_priors", append([]string{
		"mapping.tsv", "net1_input1\tnet1.inputs[0][0]\nnet1_input2\tnet1.inputs[0][1]=>" + input + "\tnet1.inputs[0]",
		"hybridization.tsv", "k\tnet1_output1=>k\tnet1_output1\n" + input + "\tarray",
		"problem.yaml", "    - net1_ps.hdf5=>    - net1_ps.hdf5\n    - inputs.hdf5",
		"problem.yaml", "neural_nets=>neural_networks",
		"problem.yaml", "sciml=>petab_sciml",
		"problem.yaml", "condition_files:\n- conditions.tsv=>",
	}, changes...)...)
	b, err := os.ReadFile("testdata/arrays/inputs.hdf5")
	if err != nil {
		t.Fatal(err)
	}
	files["inputs.hdf5"] = &fstest.MapFile{Data: b}
	return files
}

// TestArrayInputs gives the inputs of a network by a file of arrays: all is as where conditions set their elements,
// also where a later condition changes what the rates read.
func TestArrayInputs(t *testing.T) {
	later := []string{
		"problem.yaml", "pre_initialization: true=>pre_initialization: false",
		"experiments.tsv", "e_c1\t0.0\tc1=>e_c1\t0.0\tc1\ne_c1\t2.0\tc2",
	}
	constant := []string{"experiments.tsv", "e_c2\t0.0\tc2=>e_c2\t0.0\tc1"}
	for name, c := range map[string]struct {
		input   string
		changes []string
	}{
		"conditions": {"net1_input", nil},
		"later":      {"net1_input", later},
		"constant":   {"net2_input", constant},
	} {
		var all []*odes.Sensitivities
		files := arrayed(t, c.input, c.changes...)
		if name == "constant" { // without conditions
			files["experiments.tsv"].Data = []byte("experimentId\ttime\tconditionId\ne_c1\t0.0\t\ne_c2\t0.0\t\n")
		}
		for _, f := range []fstest.MapFS{folder(t, "testdata/network/conditions_priors", c.changes...), files} {
			text, wrong := translate(f)
			if wrong != "" {
				t.Fatalf("%s: %s", name, wrong)
			}
			m, err := odes.Parse("net.ode", text, odes.ParseOptions{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			s, err := m.Sensitivities(context.Background(), tight("1e-10"))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all = append(all, s)
		}
		want, got := all[0], all[1]
		if len(got.Gradient) != len(want.Gradient) || len(got.Gradient) == 0 {
			t.Fatalf("%s: %d derivatives, want %d", name, len(got.Gradient), len(want.Gradient))
		}
		if a, b := got.Values[0].Value, want.Values[0].Value; math.Abs(a-b) > 1e-9*math.Abs(b) {
			t.Errorf("%s: the objective is %v, want %v", name, a, b)
		}
		for i, b := range want.Gradient {
			if a := got.Gradient[i]; math.Abs(a-b) > 1e-8*max(1, math.Abs(b)) {
				t.Errorf("%s: derivative %d is %v, want %v", name, i, a, b)
			}
		}
	}
}

// TestArrayInputsRefused: what is wrong with them is said.
func TestArrayInputsRefused(t *testing.T) {
	const change = "experiments.tsv"
	for _, c := range []struct{ input, file, change, want string }{
		{"net3_input", change, "e_c2=>e_c2", "the experiment e_c2 begins without numbers for the input net3_input"},
		{"net4_input", change, "e_c2=>e_c2", "inputs/net4_input/0 in the array_files has the shape [1 2]"},
		{"net5_input", change, "e_c2=>e_c2", "the array_files have no inputs/net5_input"},
		{"net1_input", change, "c2\n=>c4\n", `there is no condition "c4"`},
		{"net1_input", change, "e_c2\t0.0\tc2=>e_c2\t0.0\tc2\ne_c2\t0.0\tc3", "c2 and c3 have numbers for the input"},
		{"net1_input", "hybridization.tsv", "array=>km", "net1_input is a whole input"},
		{
			"net1_input", "mapping.tsv", "net1_output1\t=>x\tnet1.inputs[0][1]\nnet1_output1\t",
			"nothing gives the input x",
		},
		{"net1_input", "mapping.tsv", "inputs[0]=>outputs[0]", "net1.outputs[0] is no single number"},
	} {
		_, wrong := translate(arrayed(t, c.input, c.file, c.change))
		if !strings.Contains(wrong, c.want) {
			t.Errorf("%s, %s with %q: %q, want %q", c.input, c.file, c.change, wrong, c.want)
		}
	}
}
