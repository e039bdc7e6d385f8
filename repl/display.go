package repl

import (
	"fmt"
	"io"

	"odes.dev/odes/internal/base/screen"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/plot"
)

// display is where a session answers: a screen, or what takes its place.
type display struct {
	cfg Config
}

func (d *display) width() int {
	if n := d.screenWidth(); n > 0 {
		return n
	}
	return 80
}

// screenWidth returns the columns of the screen, or 0 when there is none.
func (d *display) screenWidth() int {
	if d.cfg.Width == nil {
		return 0
	}
	return d.cfg.Width()
}

func (d *display) table() report.TableOptions {
	return report.TableOptions{Width: d.width(), Bold: d.cfg.Colour, Session: true}
}

func (d *display) screen() plot.Terminal {
	return plot.Terminal{Width: d.width(), Colour: d.cfg.Colour}
}

// Show writes the message of an error.
func (d *display) Show(w io.Writer, err error) {
	switch list := diag.Of(err); {
	case err == nil:
	case list != nil:
		d.diagnose(w, list)
	default:
		d.Say(w, "error: %v", err)
	}
}

// diagnose shows diagnostics with their carets.
func (d *display) diagnose(w io.Writer, list []diag.Diagnostic) {
	format := diag.Plain
	if d.cfg.Colour {
		format = diag.Colour
	}
	_ = diag.WriteWidth(w, list, format, d.screenWidth())
}

// Say writes a sentence, broken between words where the screen is narrow.
func (d *display) Say(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, screen.Fold(fmt.Sprintf(format, args...), d.screenWidth(), screen.Hanging))
}

// beside writes short texts next to each other, in as many lines as they need.
func (d *display) beside(w io.Writer, list ...string) {
	line := ""
	for _, text := range list {
		if line != "" && screen.Width(line)+4+screen.Width(text) > max(20, d.width()) {
			fmt.Fprintln(w, line)
			line = ""
		}
		if line == "" {
			line = "  " + text
		} else {
			line += "    " + text
		}
	}
	fmt.Fprintln(w, line)
}
