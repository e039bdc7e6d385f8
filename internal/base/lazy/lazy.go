// Package lazy makes what few calls need when it is first needed. A command that lives for milliseconds pays for
// everything that packages make before main.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns what compiles a regular expression once, at its first call. It panics then on one that is malformed.
func Regexp(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
