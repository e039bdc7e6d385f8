package report

import (
	"io"
	"strings"

	"odes.dev/odes"
)

// Writer writes a result of type R. The heading names its model; opts are for tables alone.
type Writer[R any] func(w io.Writer, h Heading, result R, opts TableOptions) error

// Format is a way to write results.
type Format struct {
	Name string // as --format takes it, and the ending of its files
	Doc  string // whom or what it is for, behind its name
	// Ending is another ending of its files; "" for none.
	Ending string

	Binary   bool // bytes that must not fill a terminal
	Abridged bool // leaves out what does not fit a screen
	// EventTimes tells that it has the times of events with their derivatives, which take an adjoint sweep each.
	EventTimes bool
	// Messages tells that whoever asks for it by name wants diagnostics on standard error as JSON, too.
	Messages bool

	// What writes each kind of result; nil where the format does not have it.
	Sensitivities Writer[*odes.Sensitivities]
	Solution      Writer[*odes.Solution]
	Verification  Writer[*odes.Verification]
	Bench         Writer[*odes.Bench]

	// What tells a program that reads standard output of a run that failed at time to; nil where nothing is written.
	FailedSensitivities, FailedSolution func(w io.Writer, h Heading, from, to float64) error
}

// Formats lists the output formats. The first is for people and the one that is written unless another is asked for.
// (It is a function, since tables name the formats that abridge nothing.)
func Formats() []*Format {
	return []*Format{
		{
			Name: "table", Doc: "for people", Ending: "txt", Abridged: true, EventTimes: true,
			Sensitivities: SensTable, Solution: RunTable, Verification: VerifyTable, Bench: BenchTable,
		},
		{
			Name: "json", Doc: "for programs", EventTimes: true, Messages: true,
			Sensitivities: SensJSON, Solution: RunJSON, Verification: VerifyJSON, Bench: BenchJSON,
			FailedSensitivities: FailedSensJSON, FailedSolution: FailedRunJSON,
		},
		{Name: "csv", Doc: "for spreadsheets", Sensitivities: SensCSV, Solution: RunCSV},
		{Name: "npz", Doc: "for NumPy", Binary: true, Sensitivities: SensNPZ, Solution: RunNPZ},
	}
}

// HasSensitivities tells whether a format has results of Sensitivities.
func HasSensitivities(f *Format) bool { return f.Sensitivities != nil }

// HasSolution tells whether a format has results of Solve.
func HasSolution(f *Format) bool { return f.Solution != nil }

// HasVerification tells whether a format has results of Verify.
func HasVerification(f *Format) bool { return f.Verification != nil }

// HasBench tells whether a format has results of Bench.
func HasBench(f *Format) bool { return f.Bench != nil }

// FormatNamed returns the format of a name; nil when there is none.
func FormatNamed(name string) *Format {
	for _, f := range Formats() {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// FormatOf returns the format that the name of a file tells by its ending; nil when it tells none. A file without an
// ending is a table.
func FormatOf(file string) *Format {
	at := strings.LastIndexByte(file, '.')
	ending := strings.ToLower(file[at+1:])
	if at < 0 || strings.ContainsAny(ending, `/\`) {
		return Formats()[0]
	}
	for _, f := range Formats() {
		if ending == f.Name || ending == f.Ending {
			return f
		}
	}
	return nil
}

// Names returns the names of formats.
func Names(list []*Format) []string {
	names := make([]string, len(list))
	for i, f := range list {
		names[i] = f.Name
	}
	return names
}

// WholeIn names the files that hold a result in full, with the format first in front: "file.npz (or .json, .csv)".
// Does has tell whether a format can hold such a result.
func WholeIn(first string, has func(*Format) bool) string {
	return "file." + first + " (or " + strings.Join(OtherEndings(first, has), ", ") + ")"
}

// wholeEvents names the formats that have all events, and the derivatives of their times.
func wholeEvents() string {
	var names []string
	for _, f := range Formats() {
		if f.EventTimes && !f.Abridged {
			names = append(names, f.Name)
		}
	}
	return strings.Join(names, " or ")
}

// OtherEndings returns the endings of the files that hold a result in full, but for the format first.
func OtherEndings(first string, has func(*Format) bool) []string {
	var endings []string
	for _, f := range Formats() {
		if f.Name != first && !f.Abridged && has(f) {
			endings = append(endings, "."+f.Name)
		}
	}
	return endings
}
