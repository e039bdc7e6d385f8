package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"odes.dev/odes/internal/base/screen"
)

// terminal is the far end of a terminal that a command runs on.
type terminal struct {
	t    *testing.T
	keys *os.File
	cmd  *exec.Cmd
	mu   sync.Mutex
	seen strings.Builder
	from int // what was waited for already
}

// startOnTerminal runs args on a terminal of 80 columns.
func startOnTerminal(t *testing.T, env []string, args ...string) *terminal {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	n, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 80})
	}
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	screen.Close()
	term := &terminal{t: t, keys: keys, cmd: cmd}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := keys.Read(b)
			term.mu.Lock()
			term.seen.Write(b[:n])
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		keys.Close()
	})
	return term
}

func (x *terminal) press(keys string) {
	x.t.Helper()
	if _, err := io.WriteString(x.keys, keys); err != nil {
		x.t.Fatal(err)
	}
}

// await waits until the text appears after what was waited for before.
func (x *terminal) await(text string) {
	x.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		x.mu.Lock()
		seen := x.seen.String()
		x.mu.Unlock()
		if at := strings.Index(seen[x.from:], text); at >= 0 {
			x.from += at + len(text)
			return
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.t.Fatalf("%q did not appear; since the last wait:\n%s", text, x.seen.String()[x.from:])
}

// ends waits for the command to end with a status.
func (x *terminal) ends(status int) {
	x.t.Helper()
	done := make(chan error, 1)
	go func() { done <- x.cmd.Wait() }()
	select {
	case <-done:
		if got := x.cmd.ProcessState.ExitCode(); got != status {
			x.t.Errorf("exit status %d, want %d", got, status)
		}
	case <-time.After(30 * time.Second):
		x.t.Fatal("the command does not end")
	}
}

// TestTerminal holds a session as a user does: completion, lines that go on,
// Ctrl-C at the prompt and during a run, history, Ctrl-D.
//
//odes:goroutines
func TestTerminal(t *testing.T) {
	dir := t.TempDir()
	ball, err := filepath.Abs("../../examples/bounce/bounce.ode")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "slow.ode")
	if err := os.WriteFile(path, []byte(slow), 0o666); err != nil {
		t.Fatal(err)
	}
	env := []string{"ODES_HISTORY=" + filepath.Join(dir, "state", "history"), "TERM=xterm", "NO_COLOR=1"}
	x := startOnTerminal(t, env, "odes", "repl", ball)
	x.await("BouncingBall")
	x.await("odes> ")
	x.press("heig\t\r") // completed to height, which is an objective
	x.await("height")
	x.await("odes> ")
	x.press("final(x)\r")
	x.await("0.7959117066 [m]")
	x.press("final(\r") // goes on in the next line
	x.await("  ... ")
	x.press("v)\r")
	x.await("0.6759558533 [m/s]")
	x.press("nonsen\x03") // given up
	x.press("final(\r")
	x.await("  ... ")
	x.press("\x03") // given up, too
	x.await("odes> ")
	x.press("final(\r")
	x.await("  ... ")
	x.press("\x04") // ends the entry, not the session
	x.await("the expression is missing")
	x.press("let twice = 2*x\rfinal(\r  twice\r)\r") // pasted
	x.await("twice: added")
	x.await("1.591823413 [m]")
	x.press("e = 0.7\r")
	x.await("0.3629829729")
	x.press("load " + path + "\r")
	x.await("2 states")
	x.press("run\r")
	time.Sleep(300 * time.Millisecond)
	x.press("\x03") // stops the run
	x.await("interrupted at t = ")
	x.await("odes> ")
	x.press("w + 41\r")
	x.await("42") // which was not typed
	x.await("odes> ")
	x.press("solver { max_steps = 300000 }\r")
	x.await("changed")
	x.press("run\r")
	time.Sleep(20 * time.Millisecond)
	x.press("w + 51\rw + 6") // typed ahead, while it runs
	x.await("more than max_steps")
	x.await("52")
	x.press("1\r")
	x.await("62")
	x.await("odes> ")
	x.press("\x04")
	x.ends(exitDone)

	broken := filepath.Join(dir, "broken.ode")
	if err := os.WriteFile(broken, []byte("time t from 0 to 1\nstate y = 2\ny' = -z"), 0o666); err != nil {
		t.Fatal(err)
	}
	x = startOnTerminal(t, env, "odes", "repl", broken)
	x.await("broken.ode has errors")
	x.await("odes> ")
	if err := os.WriteFile(broken, []byte("time t from 0 to 1\nstate y = 2\ny' = -1"), 0o666); err != nil {
		t.Fatal(err)
	}
	x.press("final(y) + 31\r")
	x.await("has changed: reading it again")
	x.await("32")
	x.press("quit\r")
	x.ends(exitDone)

	x = startOnTerminal(t, env, "odes", "repl", ball)
	x.await("odes> ")
	x.press("\x1b[A\x1b[A\x1b[A\r") // the last entry of the session before
	x.await("w + 61")
	x.await(`"w" is not defined`)
	x.press("quit\r")
	x.ends(exitDone)
}

// TestPaste pastes a long line, which must not be drawn again for each of its letters, and many lines.
func TestPaste(t *testing.T) {
	x := startOnTerminal(t, []string{"TERM=xterm", "ODES_HISTORY=", "NO_COLOR=1"}, "odes", "repl",
		"../../examples/bounce/bounce.ode")
	x.await("odes> ")
	x.press("final(" + strings.Repeat("0*x + ", 1430) + "x) + 31 [m]\r")
	x.await("31.79591171 [m]")
	x.await("odes> ")
	x.mu.Lock()
	drawn := x.seen.Len()
	x.mu.Unlock()
	if drawn > 200_000 {
		t.Errorf("%d bytes were drawn for 8.6 kB", drawn)
	}
	x.press(strings.Repeat("# a comment\r", 50) + "final(x) + 41 [m]\r")
	x.await("41.79591171 [m]")
	x.await("odes> ") // before the prompt, the terminal itself takes Ctrl-D, for the end of a line
	x.press("\x04")
	x.ends(exitDone)
}

// TestPasteMegabyte pastes a megabyte, as lines and as one line. It may take seconds and not minutes, no more than a
// few times that is drawn, and the session goes on.
func TestPasteMegabyte(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	for _, paste := range []string{
		strings.Repeat("# "+strings.Repeat("a comment ", 10)+"\r", 10_000),
		"# " + strings.Repeat("one line ", 115_000) + "\r",
	} {
		x := startOnTerminal(t, []string{"TERM=xterm", "ODES_HISTORY=", "NO_COLOR=1"}, "odes", "repl",
			"../../examples/bounce/bounce.ode")
		x.await("odes> ")
		begin := time.Now()
		go func() { // it is drawn while it is pasted
			if _, err := io.WriteString(x.keys, paste+"final(x) + 41 [m]\r"); err != nil {
				t.Error(err)
			}
		}()
		x.await("41.79591171 [m]")
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("a megabyte takes %v", took)
		}
		x.mu.Lock()
		drawn := x.seen.Len()
		x.mu.Unlock()
		if drawn > 5*len(paste) {
			t.Errorf("%d bytes were drawn for %d", drawn, len(paste))
		}
		x.await("odes> ")
		x.press("\x04")
		x.ends(exitDone)
	}
}

// TestDumbTerminal: where nothing understands escapes, none are written.
func TestDumbTerminal(t *testing.T) {
	x := startOnTerminal(t, []string{"TERM=dumb", "ODES_HISTORY="}, "odes", "repl", "../../examples/bounce/bounce.ode")
	x.await("odes> ")
	x.press("final(\r")
	x.await("  ... ")
	x.press("x) + 1 [m]\r")
	x.await("1.795911707 [m]")
	x.await("odes> ")
	x.press("\x04")
	x.ends(exitDone)
	x.mu.Lock()
	defer x.mu.Unlock()
	if strings.Contains(x.seen.String(), "\x1b") {
		t.Errorf("seen %q", x.seen.String())
	}
}

// TestProgress: a long run shows how far it is on a terminal, and nowhere else.
//
//odes:goroutines
func TestProgress(t *testing.T) {
	dir := t.TempDir()
	path, said := filepath.Join(dir, "slow.ode"), filepath.Join(dir, "said")
	if err := os.WriteFile(path, []byte(strings.Replace(slow, "1e9", "2e7", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	piped := startOnTerminal(t, []string{"TERM=xterm"}, "sh", "-c", "exec odes run $0 2> $1", path, said)
	x := startOnTerminal(t, []string{"TERM=xterm"}, "odes", "run", path)
	for _, part := range []string{"forward ", "%, t = ", " steps, ", "/s, ", " left"} {
		x.await(part)
	}
	x.press("\x03")
	x.await("interrupted at t = ")
	x.ends(exitInterrupted)
	piped.press("\x03")
	piped.ends(exitInterrupted)
	if text, err := os.ReadFile(said); err != nil || !strings.HasPrefix(string(text), "error: interrupted at t = ") {
		t.Errorf("said %q, %v", text, err)
	}
}

// TestProgressOfRuns: sweeps and measurements, which are many runs, show how many are done.
//
//odes:goroutines
func TestProgressOfRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slow.ode")
	if err := os.WriteFile(path, []byte(strings.Replace(slow, "1e9", "1e3", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"plot", path, "sweep", "w", "from", "1", "to", "2", "points", "100000"}, {"bench", path, "--runs", "100000"},
	} {
		x := startOnTerminal(t, []string{"TERM=xterm"}, append([]string{"odes"}, args...)...)
		x.await("runs ")
		x.await(" done")
		x.press("\x03")
		x.ends(exitInterrupted)
	}
}

// named is a model with names to complete.
const named = `time t from 0 to 1
param gravity = 9.81
state x = 1
x' = -gravity
objective height = final(x)
`

// TestCompletionInZsh presses Tab in a shell that has the script in its fpath, as packages install it.
func TestCompletionInZsh(t *testing.T) {
	zsh, err := exec.LookPath("zsh")
	if err != nil {
		t.Skip("there is no zsh")
	}
	dir := t.TempDir()
	script, err := exec.Command("odes", "completion", "zsh").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"functions/_odes": string(script), "model.ode": named, "other.txt": ""} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	x := startOnTerminal(t, []string{"TERM=dumb", "HOME=" + dir}, zsh, "-f", "-i")
	x.press("cd " + dir + "; fpath=($PWD/functions $fpath); autoload -U compinit; compinit -D -u; PS1='rea''dy> '\r")
	x.await("ready> ")
	for _, c := range [][2]string{
		{"odes sen\t", "odes sens "},
		{"odes sens mod\t", "odes sens model.ode "},
		{"odes sens --form\tn\t", "npz "},
		{"odes sens model.ode -o oth\t", "-o other.txt "},
		{"odes doc dop8\t", "odes doc dop853 "},
		{"odes man ver\ti\t", "odes man verify "},
		{"odes sens model.ode --of heig\t", "--of height "},
		{"odes sens model.ode --wrt gra\t", "--wrt gravity "},
		{"odes run model.ode --set gra\t", "--set gravity="},
		{"odes plot model.ode aga\t", "plot model.ode against "},
	} {
		x.press(c[0])
		x.await(c[1])
		x.press("\x15") // the line again
	}
	x.press("exit\r")
}

// TestTenColumns: what no text fits on is drawn and said all the same, and a session takes entries.
func TestTenColumns(t *testing.T) {
	x := startOnTerminal(t, []string{"TERM=xterm", "ODES_HISTORY=", "NO_COLOR=1"}, "sh", "-c", "stty cols 10; "+
		"cd ../../examples; odes sens bounce/bounce.ode; odes run bounce/bounce.ode; odes plot bounce/bounce.ode x; "+
		"odes check missing.ode; "+
		"odes --help; odes doc dopri5; echo all do''ne; odes repl bounce/bounce.ode")
	x.await("dopri5")
	x.await("all done")
	x.await("odes> ")
	x.press("final(x) + 41 [m]\r")
	x.await("41.795")
	x.await("odes> ")
	x.press("plot x\r")
	x.await("odes> ")
	x.press("quit\r")
	x.ends(exitDone)
	x.mu.Lock()
	defer x.mu.Unlock()
	if seen := x.seen.String(); strings.Contains(seen, "panic") || strings.Contains(seen, "internal error") {
		t.Errorf("seen\n%s", seen)
	}
}

// TestNarrowTerminal: on thirty columns, messages and pictures fit and lose no word.
func TestNarrowTerminal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wrong.ode")
	if err := os.WriteFile(path, []byte("time t from 0 to 1\nstate x = 1\nx' = -k*x + 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	x := startOnTerminal(t, []string{"TERM=xterm", "NO_COLOR=1"}, "sh", "-c", "stty cols 30; odes check $0; odes plot "+
		"../../examples/bounce/bounce.ode x; echo end", path)
	x.await("error:")
	x.await("end")
	x.mu.Lock()
	defer x.mu.Unlock()
	seen := strings.ReplaceAll(x.seen.String(), "\r", "")
	if !strings.Contains(seen, "declare it") || !strings.Contains(seen, "⠉") {
		t.Errorf("seen\n%s", seen)
	}
	for line := range strings.Lines(seen) {
		if n := screen.Width(strings.TrimRight(line, "\n")); n > 30 && !strings.Contains(line, path) {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestControlCharacters: what a model says in its title, docs and assertions moves no cursor and sets no colour.
func TestControlCharacters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.ode")
	text := strings.ReplaceAll("model M \"title ^[31mRED\"\ntime t from 0 to 1\n"+
		"param k = 1 in [0, 2] ## doc ^[2J^]52;c;x^g\nstate x = 1 ## of x ^[2J\nx' = -k*x\n"+
		"objective J = final(x) ## of J ^[2J\nassert k > 0, \"say ^[31m\"\n", "^", "\x1b")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		status int
	}{
		{[]string{"sens", path}, exitDone},
		{[]string{"run", path}, exitDone},
		{[]string{"plot", path}, exitDone},
		{[]string{"doc", "-m", path, "k"}, -1},
		{[]string{"fmt", "-d", path}, -1},
		{[]string{"check", path}, exitDone},
		{[]string{"sweep", path, "k", "from", "1", "to", "2"}, exitDone},
		{[]string{"sens", path, "--set", "k=-1"}, -1},
		{[]string{"emit", path, "--stage", "ast"}, exitDone},
	} {
		x := startOnTerminal(t, []string{"TERM=xterm-256color"}, append([]string{"odes"}, c.args...)...)
		_ = x.cmd.Wait()
		if got := x.cmd.ProcessState.ExitCode(); c.status >= 0 && got != c.status {
			t.Errorf("%q ends with %d", c.args, got)
		}
		time.Sleep(50 * time.Millisecond) // what is on its way
		x.mu.Lock()
		seen := x.seen.String()
		x.mu.Unlock()
		for _, bad := range []string{"\x1b[31mRED", "\x1b[2J", "\x1b]", "\a", "say \x1b"} {
			if strings.Contains(seen, bad) {
				t.Errorf("%q shows %q:\n%q", c.args, bad, seen)
			}
		}
		if seen == "" {
			t.Errorf("%q shows nothing", c.args)
		}
	}
}
