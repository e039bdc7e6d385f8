package nonmem_test

import (
	"os"
	"testing"

	"odes.dev/odes/internal/exchange/nonmem"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

func TestX(t *testing.T) {
	text, _ := os.ReadFile("testdata/p_blq.ctl")
	var list diag.List
	out := nonmem.Translate(source.NewFile("tank.ode", string(text)), os.DirFS("testdata"), &list)
	t.Log(out, list.Err())
}
