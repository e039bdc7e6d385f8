package report

import (
	"io"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// Writer writes a result of type R. The heading names its model; opts are for tables alone.
type Writer[R any] func(w io.Writer, h Heading, result R, opts TableOptions) error

// Failure writes that the run of a model from one time failed at another, both in the unit of the model's time.
type Failure func(w io.Writer, h Heading, from, to float64) error

// Format is an output format. A new one is a row of Formats and a file with its writers.
type Format struct {
	Name   string // as --format takes it, and the ending of its files
	Doc    string // follows the name in help: "for people"
	Ending string // another ending of its files; "" for none

	Binary   bool // its bytes are no text, and must not go to a terminal
	Abridged bool // leaves out what does not fit a screen
	// Rows tells that it has all rows of a result that is shown summed up: in a file, beside which the first format
	// tells of it.
	Rows bool
	// EventTimes tells that results of Sensitivities hold the derivatives of event times, which take extra work.
	EventTimes bool
	// Remarks tells that it holds what there is to say of single values.
	Remarks bool
	// Messages tells that users who ask for the format by name want diagnostics on standard error as JSON, too.
	Messages bool

	// Sensitivities and the next six write one kind of result each. Those that the format does not have are nil.
	Sensitivities Writer[*odes.Sensitivities]
	Solution      Writer[*odes.Solution]
	Verification  Writer[*odes.Verification]
	Bench         Writer[*odes.Bench]
	Fit           Writer[*fit.Result]
	Predictions   Writer[[]fit.Prediction]
	Tables        Writer[*Tables] // the common form, of everything else

	// FailedSensitivities and FailedSolution tell programs that read standard output that there is no result. They are
	// nil where nothing is written.
	FailedSensitivities, FailedSolution Failure
}

// Formats lists the output formats. The first is written unless another is asked for. (Formats is a function, since a
// variable that holds the writer of tables, which name the other formats, would refer to itself.)
func Formats() []*Format {
	return []*Format{
		{
			Name: "table", Doc: "for people", Ending: "txt", Abridged: true, EventTimes: true, Remarks: true,
			Sensitivities: SensTable, Solution: RunTable, Verification: VerifyTable, Bench: benchTable,
			Fit: FitTable, Predictions: PredictTable, Tables: tablesTable,
		},
		{
			Name: "json", Doc: "for programs", EventTimes: true, Remarks: true, Messages: true,
			Sensitivities: sensJSON, Solution: runJSON, Verification: verifyJSON, Bench: benchJSON,
			Fit: fitJSON, Predictions: predictJSON, Tables: tablesJSON,
			FailedSensitivities: failedSensJSON, FailedSolution: failedRunJSON,
		},
		{
			Name: "csv", Doc: "for spreadsheets", Sensitivities: inCSV(sensSheet), Solution: inCSV(runSheet),
			Fit: inCSV(fitSheet), Predictions: inCSV(predictionSheet), Tables: inCSV(tablesCSV),
		},
		{
			Name: "npz", Doc: "for NumPy", Binary: true, Sensitivities: sensNPZ, Solution: runNPZ, Fit: fitNPZ,
			Tables: tablesNPZ,
		},
		{
			Name: "parquet", Doc: "for tables of any size", Binary: true, Sensitivities: inParquet(sensSheet),
			Solution: inParquet(runSheet), Fit: inParquet(fitSheet), Predictions: inParquet(predictionSheet),
			Tables: inParquet(tablesParquet),
		},
	}
}

// Want makes o ask for what f writes of the events of a run, and for no more: the derivatives of their times are work.
func (f *Format) Want(o *odes.Options, opts TableOptions) {
	switch o.EventTimes = f.EventTimes; {
	case !f.EventTimes:
		o.Events = -1
	case f.Abridged && !opts.All:
		o.Events = maxEvents
	default:
		o.Events, o.EventLog = 0, !f.Abridged
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

// HasFit tells whether a format has results of fits.
func HasFit(f *Format) bool { return f.Fit != nil }

// HasPredictions tells whether a format has predictions.
func HasPredictions(f *Format) bool { return f.Predictions != nil }

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

// wholeIn names the files that hold a result in full, the format first in front: "file.npz (or .json, .csv)". has tells
// whether a format has results of this kind.
func wholeIn(first string, has func(*Format) bool) string {
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

// OtherEndings returns the endings of the files that hold a result in full, but for that of the format first. has tells
// whether a format has results of this kind.
func OtherEndings(first string, has func(*Format) bool) []string {
	var endings []string
	for _, f := range Formats() {
		if f.Name != first && !f.Abridged && has(f) {
			endings = append(endings, "."+f.Name)
		}
	}
	return endings
}
