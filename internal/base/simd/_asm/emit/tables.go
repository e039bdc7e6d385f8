package emit

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

var tables = map[string]Mem{}

// tableOf returns a table of internal/base/elem in read-only memory, padded to 8 entries.
func (f *Body) tableOf(name string) Mem {
	if m, ok := tables[name]; ok {
		return m
	}
	x := f.table(name)
	m := GLOBL(name, NOPTR|RODATA)
	for i := range max(8, len(x)) {
		v := 0.0
		if i < len(x) {
			v = x[i]
		}
		DATA(8*i, U64(math.Float64bits(v)))
	}
	tables[name] = m
	return m
}
