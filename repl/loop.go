package repl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

// Lines is a source of lines such as a keyboard. It also remembers what was entered.
type Lines interface {
	// Read returns the next line. The error is io.EOF at the end of the input, and ErrInterrupted
	// when the user gave a line up.
	Read(prompt string) (string, error)
	// Remember keeps an entry for later sessions.
	Remember(entry string)
	Close() error
}

// asker is what Lines are if someone sits there who can be asked.
type asker interface {
	// interactive tells whether that is so.
	interactive() bool
}

// yes asks a question; all but yes means no.
func yes(in Lines, question string) bool {
	answer, _ := in.Read(question + " [y/N] ")
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// ErrInterrupted says that Ctrl-C was pressed at the prompt.
var ErrInterrupted = errors.New("interrupted")

const (
	prompt     = "odes> "
	promptMore = "  ... "
)

// Loop reads entries from in and lets s answer on out, until the input ends or the user leaves.
// Ctrl-C stops a run or discards a line, but does not end the session. It returns how many entries
// failed, and an error if reading failed or ctx ended.
func Loop(ctx context.Context, s *Session, in Lines, out io.Writer) (failed int, err error) {
	if a, ok := in.(asker); ok && a.interactive() {
		s.confirm = func(question string) bool { return yes(in, question) }
	}
	for {
		entry, err := read(in)
		switch {
		case errors.Is(err, ErrInterrupted):
			continue
		case errors.Is(err, io.EOF) && strings.TrimSpace(entry) == "":
			return failed, nil
		case err != nil && !errors.Is(err, io.EOF):
			return failed, err
		}
		if failure := guard(s, "", func() error { s.Refresh(out); return nil }); failure != nil {
			s.Show(out, failure)
		}
		if strings.TrimSpace(entry) != "" {
			in.Remember(entry)
		}
		run, stop := signal.NotifyContext(ctx, os.Interrupt)
		failure := s.Exec(run, out, entry)
		stop()
		if errors.Is(failure, ErrQuit) {
			return failed, nil
		}
		if failure != nil {
			failed++
			s.Show(out, failure)
		}
		if ctx.Err() != nil {
			return failed, ctx.Err()
		}
	}
}

// read returns an entry: lines until the entry is complete, or an empty one.
func read(in Lines) (string, error) {
	entry, err := in.Read(prompt)
	for err == nil && Incomplete(entry) {
		var line string
		line, err = in.Read(promptMore)
		if strings.TrimSpace(line) == "" {
			break
		}
		entry += "\n" + line
	}
	return entry, err
}

// plain reads lines without editing.
type plain struct {
	scan *bufio.Scanner
	out  io.Writer // of prompts; nil for none
}

// Piped returns Lines that come from a file or a pipe, without prompts.
func Piped(r io.Reader) Lines { return Prompted(r, nil) }

// Prompted returns Lines from a terminal that cannot edit lines and knows no escape sequences.
func Prompted(r io.Reader, out io.Writer) Lines {
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, 1<<24)
	return &plain{scan, out}
}

func (p *plain) Read(prompt string) (string, error) {
	if p.out != nil {
		fmt.Fprint(p.out, prompt)
	}
	if p.scan.Scan() {
		return p.scan.Text(), nil
	}
	if err := p.scan.Err(); err != nil {
		return "", fmt.Errorf("cannot read the input: %w", err)
	}
	return "", io.EOF
}

func (p *plain) interactive() bool { return p.out != nil }

func (*plain) Remember(string) {}
func (*plain) Close() error    { return nil }
