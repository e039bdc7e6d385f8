package native

import "slices"

// literals numbers constants. A constant has one word of 64 bits for all elements, or one for each.
type literals struct {
	list  [][]uint64
	index map[string]int32
}

// number returns the number of a constant.
func (l *literals) number(words []uint64) int32 {
	if l.index == nil {
		l.index = map[string]int32{}
	}
	uniform := true
	for _, w := range words {
		uniform = uniform && w == words[0]
	}
	if uniform {
		words = words[:1]
	}
	key := make([]byte, 0, 8*len(words))
	for _, w := range words {
		key = appendWord(key, w)
	}
	if i, ok := l.index[string(key)]; ok {
		return i
	}
	i := int32(len(l.list))
	l.index[string(key)] = i
	l.list = append(l.list, slices.Clone(words))
	return i
}

func (l *literals) words(i int32) []uint64 { return l.list[i] }

func appendWord(b []byte, w uint64) []byte {
	for k := range 8 {
		b = append(b, byte(w>>(8*k)))
	}
	return b
}
