package playground

import (
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"
)

// TestLink unpacks a link as the page does.
func TestLink(t *testing.T) {
	text := "model M # < & \u00e4\n" + strings.Repeat("x", 3000)
	link, err := Link(text, map[string]string{"d.csv": "a,b\n"}, map[string]float64{"A[1]": 0.1})
	if err != nil {
		t.Fatal(err)
	}
	packed, ok := strings.CutPrefix(link, "m=")
	if !ok || len(packed) > 300 || strings.ContainsAny(packed, "+/=") {
		t.Fatalf("the link is %.80s, of %d letters", link, len(link))
	}
	raw, err := base64.RawURLEncoding.DecodeString(packed)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(flate.NewReader(strings.NewReader(string(raw))))
	if err != nil {
		t.Fatal(err)
	}
	var value struct {
		Text  string
		Files map[string]string
		Set   map[string]float64
	}
	if err := json.Unmarshal(got, &value); err != nil || value.Text != text || value.Files["d.csv"] != "a,b\n" ||
		value.Set["A[1]"] != 0.1 {
		t.Errorf("%v: %s", err, got)
	}
}

func TestNamed(t *testing.T) {
	got := Named("data D = csv(\"a.csv\", t = \"time\")\nlet A = load(\"m.mtx\")\nimport model \"cell.ode\" as C\n" +
		"import f from \"std/pk.ode\"\ndata E = csv(\"a.csv\")\nimport g from \"own.ode\"\n")
	if want := []string{"a.csv", "m.mtx", "own.ode"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}
