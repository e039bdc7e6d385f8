package main

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/plot"
	"odes.dev/odes/repl"
)

// plotCmd is odes plot.
type plotCmd struct {
	reading
	Model string   `arg:"" help:"Model file; - is standard input."`
	What  []string `arg:"" optional:"" help:"{what}"`
	setFlag
	solverFlags
	viewFlags
	Output string `short:"o" placeholder:"FILE" help:"File to write ({pictures}); without it, draw on the terminal."`
	Dark   bool   `help:"Draw light on dark, in a file."`
	Width  int    `placeholder:"N" help:"Columns of a picture on the terminal; 0 means all that it has."`
	Height int    `placeholder:"N" help:"Rows of a picture on the terminal; 0 leaves that to odes."`
}

// viewFlags are the options of pictures. kong reads them from a struct that is made of their table.
type viewFlags struct{ kong.Plugins }

func newViewFlags() viewFlags {
	var fields []reflect.StructField
	for _, o := range plot.Options() {
		field := reflect.StructField{Name: upperFirst(o.Name), Type: reflect.TypeFor[string]()}
		tag := fmt.Sprintf(`name:%q help:%q`, o.Name, o.Doc)
		if o.Value == "" {
			field.Type = reflect.TypeFor[bool]()
		} else {
			tag += fmt.Sprintf(` placeholder:%q`, o.Value)
		}
		field.Tag = reflect.StructTag(tag)
		fields = append(fields, field)
	}
	return viewFlags{kong.Plugins{reflect.New(reflect.StructOf(fields)).Interface()}}
}

// view reads the options.
func (f viewFlags) view() (v plot.View, err error) {
	values := reflect.ValueOf(f.Plugins[0]).Elem()
	for k, o := range plot.Options() {
		value := values.Field(k)
		if value.IsZero() {
			continue
		}
		if err := o.Set(&v, fmt.Sprint(value)); err != nil {
			return v, usagef("%v", err)
		}
	}
	if err := v.Check(); err != nil {
		return v, usagef("%v", err)
	}
	return v, nil
}

// pictureEndings lists the endings of picture files.
func pictureEndings() string {
	names := plot.Formats()
	for i, n := range names {
		names[i] = "." + n
	}
	return enumerate(names, "or")
}

// entry turns the words of a shell into an entry of a session. They ask for one picture, as in
// odes plot m.ode x against v, or for several, as in odes plot m.ode x v.
func entry(words []string) string {
	gap := ", "
	if slices.Contains(words, "against") || len(words) > 0 && words[0] == "sweep" {
		gap = " "
	}
	if at := slices.Index(words, "in"); at >= 0 { // names of experiments follow
		return strings.TrimSpace(entry(words[:at]) + " in " + entry(words[at+1:]))
	}
	text := strings.Join(words, gap)
	return strings.ReplaceAll(text, ",, ", ", ") // for users who wrote commas themselves
}

// Run draws a picture.
func (p *plotCmd) Run(c *call) error {
	c.configure(p.global, formatFlag{})
	format := ""
	if p.Output != "" {
		at := strings.LastIndexByte(p.Output, '.')
		format = strings.ToLower(p.Output[at+1:])
		if !slices.Contains(plot.Formats(), format) {
			return usagef("cannot tell the format from %q: choose a name that ends in %s", p.Output, pictureEndings())
		}
	}
	if p.Width < 0 || p.Height < 0 {
		return usagef("--width and --height take whole numbers from 0")
	}
	view, err := p.view()
	if err != nil {
		return err
	}
	s := c.session(p.Dark)
	if err := c.start(s, p.Model, p.setFlag, p.solverFlags); err != nil {
		return err
	}
	c.diagnose(s.Warnings())
	width := p.Width
	if width == 0 {
		width = c.width(c.out)
	}
	points := 2 * max(width, 80)
	if p.Output != "" {
		points = repl.PointsInFiles
	}
	what := entry(p.What)
	var picture plot.Picture
	note := ""
	err = c.work(func() (err error) {
		if rest, ok := strings.CutPrefix(what+" ", "sweep "); ok {
			picture, note, err = s.Sweep(c.ctx, rest)
			return err
		}
		picture, err = s.Picture(c.ctx, what, points)
		return err
	})
	if list := diag.Of(err); len(list) > 0 && !list[0].Span.IsZero() && list[0].Span.File.Name() == repl.Entry {
		c.diagnose(list) // the command line says what to draw
		return status(exitUsage)
	}
	if err != nil && diag.Of(err) == nil && c.ctx.Err() == nil && !errors.Is(err, errInternal) {
		return usagef("%v", err)
	}
	if err != nil {
		return err
	}
	if note != "" {
		c.complain("failed-runs", note)
	}
	doubts, lost := s.Doubts()
	c.diagnose(doubts)
	var letters []rune
	if err := view.Suits(picture); err != nil {
		return usagef("%v", err)
	}
	picture = view.Of(picture)
	err = c.write(p.Output, func(w io.Writer) error {
		if format != "" {
			return plot.Write(w, format, picture, plot.Page{Dark: p.Dark, Lost: &letters, Size: view.Size})
		}
		screen := plot.Terminal{Width: width, Height: p.Height, Colour: c.colour(c.out)}
		return plot.Text(w, picture, view.Terminal(screen))
	})
	if note := plot.LostNote(format, letters); note != "" && !c.quiet {
		c.complain("lost-letters", note)
	}
	if err == nil && lost {
		return status(exitRun)
	}
	return err
}
