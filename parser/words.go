package parser

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Words are the words of the language, each list in alphabetical order.
type Words struct {
	Items []string // reserved: an item starts with it
	Parts []string // reserved: it stands inside of items and expressions
	Other []string // not reserved: it means something in some places, as `count` does after `every`
}

// AllWords returns the words of the language.
var AllWords = sync.OnceValue(func() Words {
	var w Words
	for _, quoted := range regexp.MustCompile(`"[a-z_]+"`).FindAllString(Grammar(), -1) {
		if word := strings.Trim(quoted, `"`); !Reserved(word) {
			w.Other = append(w.Other, word)
		}
	}
	for word := range itemWords {
		w.Items = append(w.Items, word)
	}
	for word := range partWords {
		w.Parts = append(w.Parts, word)
	}
	slices.Sort(w.Items)
	slices.Sort(w.Parts)
	slices.Sort(w.Other)
	w.Other = slices.Compact(w.Other)
	return w
})
