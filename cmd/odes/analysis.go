package main

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/alecthomas/kong"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
)

// analysisCmd is the command of an analysis, as its row describes it.
type analysisCmd struct {
	modelFlags
	kong.Plugins // one struct, with the flags of the row

	row *analysis.Row `kong:"-"`
}

func init() { // what the tables of commands have of analyses
	for _, a := range analysis.Rows() {
		settable = append(settable, a.Name)
		formatted[a.Name] = a.Formatted
		for _, e := range a.Examples {
			examples[a.Name] = append(examples[a.Name], example{e.Line, e.Does})
		}
		for _, f := range a.Flags {
			shorts[a.Name+" "+f.Name] = []string{a.Block + "." + f.Key}
		}
	}
}

// newAnalysisCmd makes the command of an analysis.
func newAnalysisCmd(a *analysis.Row) *analysisCmd {
	var fields []reflect.StructField
	for i, f := range a.Flags {
		tag, of := fmt.Sprintf("name:%q help:%q", f.Name, f.Help), reflect.TypeFor[bool]()
		if f.Placeholder != "" {
			tag, of = tag+fmt.Sprintf(" placeholder:%q", f.Placeholder), reflect.TypeFor[string]()
		}
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("Flag%d", i), Type: of, Tag: reflect.StructTag(tag),
		})
	}
	return &analysisCmd{row: a, Plugins: kong.Plugins{reflect.New(reflect.StructOf(fields)).Interface()}}
}

// values returns the values of the flags of the row.
func (k *analysisCmd) values() map[string]string {
	values := map[string]string{}
	for i, f := range k.row.Flags {
		switch v := reflect.ValueOf(k.Plugins[0]).Elem().Field(i); {
		case v.Kind() == reflect.String:
			values[f.Name] = v.String()
		case v.Bool():
			values[f.Name] = "on"
		}
	}
	return values
}

// Help is the part of --help that kong asks a command for.
func (k *analysisCmd) Help() string { return exampleHelp(k.row.Name) }

// Run computes the analysis and writes its result.
func (k *analysisCmd) Run(c *call) error {
	result, err := job[*analysis.Result]{
		command: k.row.Name, flags: k.modelFlags,
		prepare: func(o *odes.Options, _ *report.Format) error {
			*o = k.row.With(*o, k.values())
			return nil
		},
		compute: k.compute, keeps: k.row.Keeps,
		write: func(f *report.Format) report.Writer[*analysis.Result] {
			return func(w io.Writer, h report.Heading, r *analysis.Result, opts report.TableOptions) error {
				return r.WriteAs(f, w, h, opts)
			}
		},
		warnings: func(r *analysis.Result) []diag.Diagnostic { return r.Warnings },
	}.do(c)
	if err == nil && c.ctx.Err() != nil {
		return status(exitInterrupted)
	}
	if err == nil && result.Status != "" && result.Status != "ok" {
		return status(exitRun)
	}
	return err
}

func (k *analysisCmd) compute(ctx context.Context, m *odes.Model, o odes.Options) (*analysis.Result, error) {
	return k.row.Run(ctx, m, o)
}

// dynamic returns what kong needs to know the commands of analyses beside cmd: of all beside all commands, and the only
// one where it is an analysisCmd.
func dynamic(cmd any) (static any, options []kong.Option) {
	var list []*analysisCmd
	switch cmd := cmd.(type) {
	case *commands:
		for _, a := range analysis.Rows() {
			list = append(list, newAnalysisCmd(a))
		}
	case *analysisCmd:
		return &struct{}{}, []kong.Option{kong.DynamicCommand(cmd.row.Name, cmd.row.Help, "", cmd)}
	}
	for _, k := range list {
		options = append(options, kong.DynamicCommand(k.row.Name, k.row.Help, "", k))
	}
	return cmd, options
}

// besideFit puts the commands of analyses behind that of fits.
func besideFit(k *kong.Kong) error {
	ours := func(n *kong.Node) bool { return analysis.Named(n.Name) != nil }
	others := slices.DeleteFunc(slices.Clone(k.Model.Children), ours)
	at := 1 + slices.IndexFunc(others, func(n *kong.Node) bool { return n.Name == "fit" })
	if at > 0 {
		k.Model.Children = slices.Insert(others, at, slices.DeleteFunc(k.Model.Children, func(n *kong.Node) bool {
			return !ours(n)
		})...)
	}
	return nil
}
