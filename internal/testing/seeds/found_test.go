package seeds_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEverySuiteIsFound: each call of Of, and of rapid.Check, stands in the body of a test function, where .ci/random
// looks for it.
func TestEverySuiteIsFound(t *testing.T) {
	call := regexp.MustCompile(`^[^"]*(seeds\.Of|rapid\.Check)\(`)
	test := regexp.MustCompile(`^func Test[A-Za-z0-9_]*\(`)
	root, suites := filepath.Join("..", "..", ".."), 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(name, ".") && name != ".." || name == "site"):
			return fs.SkipDir
		case !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		within := false
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "func ") {
				within = test.MatchString(line)
			}
			if !call.MatchString(line) {
				continue
			}
			if suites++; !within {
				t.Errorf("%s:%d: not in a test function", path, i+1)
			}
		}
		return err
	})
	if err != nil || suites < 50 {
		t.Errorf("%d suites, %v", suites, err)
	}
}
