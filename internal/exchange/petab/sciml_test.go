package petab_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
)

// TestNetworks compares problems with networks with what NumPy and SciPy's DOP853 gave for them, gradients by complex
// steps: a network in the rates; one before the run, with a frozen layer; and one whose inputs conditions set, with
// priors on its arrays.
func TestNetworks(t *testing.T) {
	text, err := os.ReadFile("testdata/network/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string]struct {
		LLH  float64        `json:"llh"`
		Post *float64       `json:"log_posterior"`
		D    map[string]any `json:"d"`
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for id, c := range cases {
		m, err := odes.ParseFile(filepath.Join("testdata/network", id, "problem.yaml"))
		if err != nil {
			t.Fatal(id, err)
		}
		s, err := m.Sensitivities(context.Background(), tight("1e-10"))
		if err != nil {
			t.Fatal(id, err)
		}
		want := -c.LLH
		if c.Post != nil {
			want = -*c.Post
		}
		if got := s.Values[0].Value; math.Abs(got-want) > 1e-8*math.Abs(want) {
			t.Errorf("%s: the objective is %v, want %v", id, got, want)
		}
		for _, v := range s.Variables {
			list := numbers(c.D[v.Name])
			if len(list) == 0 {
				t.Errorf("%s: there is no derivative by %s to compare with", id, v.Name)
			}
			for k, want := range list {
				got := -s.Gradient[v.Offset+k]
				if c.Post != nil && strings.HasPrefix(v.Name, "net1") { // the priors are of means 0
					sd := 1.0
					if v.Name == "net1_layer1_weight" {
						sd = 2
					}
					want -= priorWeights[v.Name][k] / (sd * sd)
				}
				if math.Abs(got-want) > 1e-7*max(1, math.Abs(want)) {
					t.Errorf("%s: d/d%s[%d] is %v, want %v", id, v.Name, k, got, want)
				}
			}
		}
		if len(s.Variables) != len(c.D) {
			t.Errorf("%s: there are %d derivatives, want %d", id, len(s.Variables), len(c.D))
		}
	}
}

// priorWeights are the weights of conditions_priors.
var priorWeights = map[string][]float64{
	"net1_layer1_weight": {-0.72682, -0.68052, -0.48192, 0.48917, -0.66054, -0.65297},
	"net1_layer1_bias":   {-0.11779, 0.41632, -0.27524}, "net1_layer2_weight": {-0.36203, 0.10045, 0.07516},
	"net1_layer2_bias": {0.11583},
}

// numbers returns the numbers of nested lists.
func numbers(v any) (list []float64) {
	switch v := v.(type) {
	case float64:
		return []float64{v}
	case []any:
		for _, x := range v {
			list = append(list, numbers(x)...)
		}
	}
	return list
}

// TestActivations evaluates activations of a network as numbers.
func TestActivations(t *testing.T) {
	const x0, x1 = -1.3, 0.7
	function, method := "op: call_function\n  target: ", "op: call_method\n  target: "
	tests := map[string]func(x float64) float64{
		method + "relu":       func(x float64) float64 { return max(x, 0) },
		method + "silu":       func(x float64) float64 { return x / (1 + math.Exp(-x)) },
		function + "softplus": func(x float64) float64 { return math.Log1p(math.Exp(x)) },
		function + "gelu":     func(x float64) float64 { return x / 2 * (1 + math.Erf(x/math.Sqrt2)) },
		function + "elu\n  kwargs: {alpha: 0.5}": func(x float64) float64 {
			return max(x, 0) + 0.5*math.Expm1(min(x, 0))
		},
		function + "leaky_relu\n  kwargs: {negative_slope: .2}": func(x float64) float64 { return max(x, 0.2*x) },
		function + "hardtanh":            func(x float64) float64 { return min(max(x, -1), 1) },
		"op: call_module\n  target: act": math.Tanh,
		method + "softmax": func(x float64) float64 {
			return math.Exp(x) / (math.Exp(x0) + math.Exp(x1))
		},
	}
	for step, f := range tests {
		net := "nn_model_id: net1\nlayers:\n- {layer_id: act, layer_type: Tanh}\nforward:\n" +
			"- {name: x, op: placeholder}\n" +
			"- name: y\n  " + step + "\n  args: [x]\n- {name: out, op: output, args: [y]}\n"
		files := folder(t, "testdata/network/parameter_before")
		write := func(name, text string) { files[name] = &fstest.MapFile{Data: []byte(text)} }
		write("net1.yaml", net)
		write("mapping.tsv", "petabEntityId\tmodelEntityId\nnet1_input1\tnet1.inputs[0][0]\n"+
			"net1_input2\tnet1.inputs[0][1]\nnet1_output1\tnet1.outputs[0][1]\n")
		write("parameters.tsv", "parameterId\tlowerBound\tupperBound\tnominalValue\testimate\nkm\t0\t15\t1\ttrue\n"+
			"k\t0\t15\t0.42\ttrue\nq1\t-inf\tinf\t-1.3\tfalse\nq2\t-inf\tinf\t0.7\tfalse\n")
		text, wrong := translate(files)
		if wrong != "" {
			t.Errorf("%s: %s", step, wrong)
			continue
		}
		m, err := odes.Parse("act.ode", text+"\nobjective act = final(vmax)\n", odes.ParseOptions{})
		if err != nil {
			t.Errorf("%s: %v", step, err)
			continue
		}
		o := tight("1e-6")
		o.Of = []string{"act"}
		s, err := m.Sensitivities(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := s.Values[0].Value, f(x1); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", step, got, want)
		}
	}
}

// TestNetworksRefused: what is wrong with networks is said.
func TestNetworksRefused(t *testing.T) {
	for _, c := range []struct{ file, change, want string }{
		{"net1.yaml", "layer_type: Linear=>layer_type: Conv2d", "the layer layer1 of the type Conv2d"},
		{"net1.yaml", "target: tanh=>target: fold", "does not read the function fold"},
		{"net1.yaml", "in_features: 2=>in_features: 3", "shape [4 2] in the array_files, and [4 3]"},
		{"net1.yaml", "&id001 {}=>&id001 {a: 1}", "references of YAML"},
		{"net1.yaml", "op: call_module=>op: get_attr", "there is nothing like get_attr"},
		{"problem.yaml", "format: YAML=>format: pkl", "has the format pkl"},
		{"mapping.tsv", "inputs[0][1]=>inputs[0]", "net1_input2 is a whole input"},
		{"problem.yaml", "neural_nets=>networks", "has no neural_networks"},
		{"mapping.tsv", "outputs[0][0]=>outputs[0][3]", "no such output"},
		{"hybridization.tsv", "net1_input2\t=>net1_input3\t", "nothing gives the input net1_input2"},
		{"hybridization.tsv", "gamma\tnet1_output1=>prey\tnet1_output1", "prey is no constant of the model"},
		{"hybridization.tsv", "gamma\tnet1_output1=>gamma\talpha", "alpha is no output of a network"},
		{"parameters.tsv", "net1_ps=>net1_p", "no number"},
		{"problem.yaml", "pre_initialization: false=>pre_initialization: true", `"prey" is neither`},
	} {
		_, wrong := translate(folder(t, "testdata/network/rhs_tanh", c.file, c.change))
		if !strings.Contains(wrong, c.want) {
			t.Errorf("%s with %q: %q, want %q", c.file, c.change, wrong, c.want)
		}
	}
}
