package kernel

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestAssembly checks what the runtime requires of handlers. They have no frame, call nothing and
// leave the stack alone, so that a profiler that interrupts one finds the caller. Each ends by
// jumping to the next, or by returning with clean vector registers. Only those whose name ends in
// Wide use AVX-512.
func TestAssembly(t *testing.T) {
	text, err := os.ReadFile("thread_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	head := regexp.MustCompile(`^TEXT ·\w+\(SB\), NOSPLIT, \$0-\d+$`)
	always := `BP|SP|BPL|CALL`
	wrong := regexp.MustCompile(`\b(` + always + `|[XYZ](1[6-9]|2\d|3[01])|K[0-7]|Z\d+)\b`)
	wrongWide, wide := regexp.MustCompile(`\b(`+always+`)\b`), false
	handlers, jumps, zeroed, last := 0, 0, false, "RET"
	for i, line := range strings.Split(string(text), "\n") {
		code := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(code, "//") || strings.HasPrefix(code, "#") || code == "" ||
			strings.HasPrefix(code, "DATA") || strings.HasPrefix(code, "GLOBL"):
			continue
		case strings.HasPrefix(code, "TEXT"):
			handlers++
			wide = strings.Contains(code, "Wide(SB)")
			if !head.MatchString(code) {
				t.Errorf("line %d: a frame, or may split: %s", i+1, code)
			}
			if op := strings.Fields(last); op[0] != "RET" && op[0] != "JMP" {
				t.Errorf("line %d: falls out of the function before: %s", i+1, last)
			}
		case wrongWide.MatchString(code) || !wide && wrong.MatchString(code):
			t.Errorf("line %d: not allowed: %s", i+1, code)
		case strings.Contains(code, "VZEROUPPER"):
			zeroed = true
		case code == "RET":
			if !zeroed && !strings.HasPrefix(last, "MOVQ") {
				t.Errorf("line %d: returns without VZEROUPPER", i+1)
			}
			zeroed = false
		case regexp.MustCompile(`^JMP +[A-Z0-9]+$`).MatchString(code):
			jumps++
		}
		last = code
	}
	if handlers < 250 || jumps < 250 {
		t.Errorf("only %d functions and %d jumps found", handlers, jumps)
	}
}
