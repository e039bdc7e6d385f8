package serve

import (
	"encoding/binary"
	"math"
)

func floatOf(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

func appendFloat(b []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
}
