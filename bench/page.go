package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"odes.dev/odes"
)

// section measures one thing and writes the result.
type section struct {
	name  string
	write func(r *runner, b *bytes.Buffer) error
}

var sections = []section{
	{"glv", (*runner).glv},
	{"accuracy", (*runner).accuracy},
	{"vdp", (*runner).vdp},
	{"grayscott", (*runner).grayScott},
	{"examples", (*runner).examples},
	{"network", (*runner).network},
	{"scaling", (*runner).scaling},
	{"growth", (*runner).growth},
}

func sectionNames() string {
	var names []string
	for _, s := range sections {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// page measures everything, or only one section.
func (r *runner) page(only string) ([]byte, error) {
	var body bytes.Buffer
	before := load()
	found := false
	for _, s := range sections {
		if only != "" && only != s.name {
			continue
		}
		found = true
		fmt.Fprintln(os.Stderr, s.name)
		if err := s.write(r, &body); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if !found {
		return nil, fmt.Errorf("no section %q; there are %s", only, sectionNames())
	}
	if only != "" {
		return body.Bytes(), nil
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Benchmarks

Written by `+"`bench/run`"+` on %s; do not edit. Version %s, backend %s.

| | |
|---|---|
| machine | %s, %d cores |
| system | %s |
| Go | %s |
| C | %s |
| load before and after | %s; %s |

To measure again, run `+"`bench/run`"+`. The other programs are in [bench/peers](../bench/peers/README.md).

- Programs with one thread are bound to one core. All programs of a table take turns, %d turns each, with a new
  process for each turn. The first gradient of each process is dropped.
- *Least* is the least time of a gradient (forward and adjoint together) over all turns; *median* is the median.
  Ratios are of least times, because other load on the machine can only add to a time.
- Compilation and set-up are not included, for any program. The memory of the gradient is reused from one gradient
  to the next.

[stiff.md](stiff.md) has stiff models, beside programs with implicit methods.

`, time.Now().UTC().Format("2006-01-02"), odes.Version, backend(), processor(), runtime.NumCPU(), system(),
		strings.TrimPrefix(runtime.Version(), "go"), compiler(), before, load(), r.rounds)
	b.Write(body.Bytes())
	return b.Bytes(), nil
}

func backend() string {
	s, err := problemSettings()
	if err != nil {
		return "unknown"
	}
	return s.Backend
}

// field returns the value of the first line of a file that starts with a key.
func field(path, key, sep string) string {
	b, _ := os.ReadFile(path)
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, sep); ok && strings.TrimSpace(name) == key {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}

func processor() string {
	if s := field("/proc/cpuinfo", "model name", ":"); s != "" {
		return s
	}
	return runtime.GOARCH
}

func system() string {
	if s := field("/etc/os-release", "PRETTY_NAME", "="); s != "" {
		return s
	}
	return runtime.GOOS
}

func compiler() string {
	out, err := exec.Command("gcc", "--version").Output()
	if err != nil {
		return "none"
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

// load returns the average number of processes that want to run, over a minute.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(b), " ")
	return first
}

// table writes rows under heads. All columns but the first are aligned to the right.
func table(b *bytes.Buffer, heads []string, rows [][]string) {
	fmt.Fprintf(b, "| %s |\n|---%s|\n", strings.Join(heads, " | "), strings.Repeat("|---:", len(heads)-1))
	for _, row := range rows {
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
	}
	fmt.Fprintln(b)
}

// ms writes seconds as milliseconds.
func ms(s float64) string { return digits(1e3*s, 3) }

// digits writes x with n significant digits, without an exponent if possible.
func digits(x float64, n int) string {
	s := fmt.Sprintf("%.*g", n, x)
	if !strings.Contains(s, "e") {
		return s
	}
	if x >= 1 {
		return fmt.Sprintf("%.0f", x)
	}
	return s
}

func ratio(a, b float64) string {
	if b == 0 {
		return "–"
	}
	return digits(a/b, 2)
}

// standings writes the entrants of a race; ratios are to the one named base, or to odes without it.
func standings(b *bytes.Buffer, entrants []*entrant, base string, unit func(float64) string, unitName string) {
	of := entrants[0].figure()
	for _, e := range entrants {
		if e.name == base {
			of = e.figure()
		}
	}
	var rows [][]string
	for _, e := range entrants {
		f := e.figure()
		rows = append(rows, []string{
			e.name, fmt.Sprintf("%.0f", f.steps), unit(f.median), unit(f.least), unit(f.forward), unit(f.adjoint),
			ratio(f.least, of.least), ratio(f.least/f.steps, of.least/of.steps), fmt.Sprintf("%.9g", f.checksum),
		})
	}
	table(b, []string{
		"", "steps", "median " + unitName, "least " + unitName, "forward", "adjoint", "ratio",
		"ratio per step", "checksum",
	}, rows)
}

func problemSettings() (odes.RunSettings, error) {
	p := vdp(1e-3)
	m, err := p.parse("vdp")
	if err != nil {
		return odes.RunSettings{}, err
	}
	b, err := m.Bench(context.Background(), 1, odes.Options{})
	if err != nil {
		return odes.RunSettings{}, err
	}
	return b.Settings, nil
}

// writeTable writes a table into a page, between the comments that have its name.
func writeTable(page, name, table string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- end "+name+" -->\n"
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no place for the table %q", page, name)
	}
	return os.WriteFile(page, []byte(before+begin+strings.TrimSpace(table)+"\n"+end+after), 0o644)
}
