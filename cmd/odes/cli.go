package main

import (
	"context"
	"errors"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/parser"
)

// commands is the command line as kong reads it, but for the analyses of package analysis. A command's Run does the
// work.
type commands struct {
	Sens       sensCmd       `cmd:"" help:"Compute objectives and their gradients."`
	Run        runCmd        `cmd:"" help:"Solve the model: outputs over time, events, objectives."`
	Worker     workerCmd     `cmd:"" help:"Compute members for others, from a queue."`
	Queue      queueCmd      `cmd:"" help:"Look after the queue of workers."`
	Plot       plotCmd       `cmd:"" help:"Draw trajectories, sensitivities and sweeps."`
	Report     reportCmd     `cmd:"" help:"Write a page about the model, with all pictures."`
	Repl       replCmd       `cmd:"" help:"Explore a model in a session."`
	New        newCmd        `cmd:"" help:"Write a model to start from."`
	Import     importCmd     `cmd:"" help:"Translate a model of another program."`
	Export     exportCmd     `cmd:"" help:"Write a model for another program."`
	Check      checkCmd      `cmd:"" help:"Parse and check models."`
	Verify     verifyCmd     `cmd:"" help:"Check gradients against other methods and an independent run."`
	Fmt        fmtCmd        `cmd:"" help:"Format models."`
	Flatten    flattenCmd    `cmd:"" help:"Write a model with components as one text."`
	Emit       emitCmd       `cmd:"" help:"Show what a stage of the compiler makes of a model."`
	Bench      benchCmd      `cmd:"" help:"Time the right-hand side, its transpose, and whole gradients."`
	Lsp        lspCmd        `cmd:"" help:"Serve an editor: errors as you type, hovers, completion, renaming."`
	Serve      serveCmd      `cmd:"" help:"Serve a program that asks for many results: it keeps models ready."`
	Doc        docCmd        `cmd:"" help:"Explain the language, its functions, methods and messages."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
	Completion completionCmd `cmd:"" help:"Print a completion script for a shell."`
	Man        manCmd        `cmd:"" help:"Print a manual page, or write all of them."`
}

// run executes the command line args and returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	standard := &stream{Writer: shown(out)}
	if len(args) > 1 { // most commands with an argument read a model
		parser.Prepare()
	}
	whole := ctx
	ctx, stop := withinMemory(ctx)
	defer stop()
	c := &call{ctx: ctx, whole: whole, in: in, out: standard, err: shown(errs), json: asksJSON(args)}
	exit := c.execute(args)
	if standard.failed != nil && (exit == exitDone || exit == exitUsage) { // not reported yet
		exit = c.fail(cannotPrint(standard.failed))
	}
	return exit
}

func (c *call) execute(args []string) int {
	rest, settings, err := splitSettings(args)
	if err != nil {
		return c.fail(err)
	}
	c.settings = settings

	rest = negative(versionHabit(rest))
	parser, err := newParser(only(rest), c.out, c.err)
	if err != nil {
		return c.fail(err)
	}
	asked, err := parse(parser, rest)
	for err != nil {
		joined := behind(rest, err)
		if joined == nil {
			break
		}
		rest = joined
		if parser, err = newParser(only(rest), c.out, c.err); err != nil {
			return c.fail(err)
		}
		asked, err = parse(parser, rest)
	}
	if errors.Is(err, errHelped) {
		return exitDone
	}
	if err != nil && c.out.(*stream).failed != nil {
		return exitUsage
	}
	if err != nil {
		return c.fail(usagef("%s; see %s", reword(err), helpFor(err)))
	}
	if len(settings) > 0 && !slices.Contains(settable, commandName(asked)) {
		return c.fail(usagef("odes %s takes no --%s", commandName(asked), settings[0].Key))
	}
	if err := contradiction(asked, c.settings); err != nil {
		return c.fail(err)
	}
	if given := slices.ContainsFunc(asked.Flags(), func(f *kong.Flag) bool {
		return f.Name == "ignore-fast" && asked.FlagValue(f) == true
	}); given && commandName(asked) != "import" {
		c.slow()
	}
	if err := asked.Run(c); err != nil {
		return c.fail(err)
	}
	return exitDone
}

// settable lists the commands that take --solver.key=value, --sens.key=value, --fit.key=value and --ensemble.key=value.
var settable = []string{
	"sens", "run", "plot", "report", "repl", "verify", "bench",
}

// allCommands returns the whole command line, for newParser.
func allCommands() any { return &commands{Plot: plotCmd{viewFlags: newViewFlags()}} }

// only returns, for newParser, the command that args begin with, without the others: to read the descriptions of all
// commands takes longer than a small model. It returns all of them where args begin with none.
func only(args []string) any {
	for field := range reflect.TypeFor[commands]().Fields() {
		if len(args) > 0 && strings.ToLower(field.Name) == args[0] {
			one := reflect.New(reflect.StructOf([]reflect.StructField{field}))
			if p, ok := one.Elem().Field(0).Addr().Interface().(*plotCmd); ok {
				p.viewFlags = newViewFlags()
			}
			return one.Interface()
		}
	}
	if len(args) > 0 {
		if a := analysis.Named(args[0]); a != nil {
			return newAnalysisCmd(a)
		}
	}
	return allCommands()
}

// newParser describes commands to kong: allCommands, or only one.
func newParser(cmd any, out, errs io.Writer) (*kong.Kong, error) {
	static, analyses := dynamic(cmd)
	return kong.New(static, append(analyses,
		kong.Name("odes"),
		kong.Description("Gradients of ODE models from a text file.\n\nTry: odes sens examples/bounce/bounce.ode"),
		kong.Writers(out, errs),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Exit(func(int) { panic(errHelped) }),
		kong.PostBuild(besideRun),
		kong.PostBuild(fillHelp),
		kong.NamedMapper("result", kong.MapperFunc(resultFile)),
	)...)
}

// resultFile reads the name of the file that a result goes to. "-" is standard output, as in other programs.
func resultFile(ctx *kong.DecodeContext, target reflect.Value) error {
	var name string
	if err := ctx.Scan.PopValueInto("file", &name); err != nil {
		return err
	}
	if name == "-" {
		name = ""
	}
	target.SetString(name)
	return nil
}

// helpTexts are the parts of help that come from tables, and those that are too long for a struct tag. A tag names them
// in braces.
func helpTexts() map[string]string {
	return map[string]string{
		"modes":     enumerate(settings.Words("sens", "mode"), "or"),
		"stages":    enumerate(stageNames(), "or"),
		"exports":   exportHelp(),
		"templates": enumerate(templateNames(), "or"),
		"pictures":  pictureEndings(),
		"playground": "Where the link to the playground leads; none leaves it out. The link holds the model and its " +
			"data behind the sign #, which browsers send to nobody.",
		"rows":      rowsHelp(analysis.Named("ensemble")),
		"workers":   "Let workers compute: local:8 starts so many here, nats://host asks those of a server.",
		"searchers": "Searches at once, 0 for one a core; or workers: local:8 here, nats://host elsewhere.",
		"samplers":  "Chains at once, 0 for one a core; or workers: local:8 here, nats://host elsewhere.",
		"points":    enumerate(settings.Words("ensemble", "points"), "or"),
		"set": "Set a param or an initial value: k=3, 'g=1.62 [m/s^2]', A[1,2]=0.5, A=[1,2,3], initial(x)=2. " +
			"@file reads them from a file, one on each line. May be repeated.",
		"ignorefast": "Use the rate laws of reactions that SBML marks as fast, not their equilibria.",
		"what": "What to draw: expressions over time (x, v^2), 'x against v', 'd(J)', 'd(J)/d(k)', 'd(x)/d(k)', " +
			"'adjoint(J)', steps, time, or 'sweep k from 0.1 to 10'; without it, all outputs. " +
			"'in low, high' at the end draws these experiments only, 'in model' the run without their changes.",
		"fitpictures":     picturesHelp(analysis.Named("fit")),
		"samplepictures":  picturesHelp(analysis.Named("sample")),
		"memberpictures":  picturesHelp(analysis.Named("ensemble")),
		"predictpictures": picturesHelp(analysis.Named("predict")),
		"fitoutput": "Write the model with the estimates to this file, if it ends in .ode; otherwise the result. It " +
			"appears whole or not at all.",
		"output":  "Write to this file instead of standard output (-). The file appears whole or not at all.",
		"table":   "Members are the rows of this CSV file, under names of params: short for --ensemble.rows.",
		"members": "Write all members to this file; what is done is kept beside it.",
		"tolerance": "Largest relative error that passes; 0 means 1e-8, or more where rounding or the mode " +
			"leaves fewer digits.",
		"times": "Times of the outputs: from:step:to, or a list separated by commas; without it, every step.",
		"in":    "Run this experiment of the model, with its changes and its data.",
		"doses": "Replace the doses of the subject by those of this file, a table with TIME, AMT and others: " +
			"--in subject_3 --doses new.csv.",
		"subject": "A word of the language, a function, a method, a controller, a setting, a format of files or the " +
			"code of a diagnostic; or a model file, for the names that it declares.",
	}
}

// fillHelp writes helpTexts into the help on flags and arguments, and the help on --format, which differs from command
// to command, unless the flag has its own. Variables of kong, which are its way, cost short commands a twentieth: it
// looks for variables in all texts, for each flag anew.
func fillHelp(k *kong.Kong) error {
	var pairs []string
	for name, text := range helpTexts() {
		pairs = append(pairs, "{"+name+"}", text)
	}
	texts := strings.NewReplacer(pairs...)
	return kong.Visit(k.Model, func(at kong.Visitable, next kong.Next) error {
		switch at := at.(type) {
		case *kong.Node:
			for _, f := range at.Flags {
				if f.Name == "format" && f.Help == "" {
					f.Help = formatHelp(at.Name)
				}
				if ofWorkers(f.Name) {
					f.Group = workersGroup
				}
			}
		case *kong.Value:
			at.Help = texts.Replace(at.Help)
		}
		return next(nil)
	})
}

// errHelped ends parsing after --help was printed, where kong by itself would end the process.
var errHelped = errors.New("help was printed")

func parse(p *kong.Kong, args []string) (ctx *kong.Context, err error) {
	defer func() {
		if r := recover(); r != nil {
			if r != any(errHelped) {
				panic(r)
			}
			err = errHelped
		}
	}()
	return p.Parse(habits(p, args))
}

// versionHabit writes as a command what users type by habit: odes --version.
func versionHabit(args []string) []string {
	if len(args) > 0 && args[0] == "--version" {
		return append([]string{"version"}, args[1:]...)
	}
	return args
}

// negative keeps the ends of ranges from being read as flags: odes sweep model.ode k from -1 to 1.
func negative(args []string) []string {
	args = slices.Clone(args)
	for i := 1; i < len(args); i++ {
		if a := args[i]; (args[i-1] == "from" || args[i-1] == "to") && len(a) > 1 && a[0] == '-' &&
			strings.IndexByte(".0123456789", a[1]) >= 0 {
			args[i] = " " + a
		}
	}
	return args
}

// behind returns args with a number that begins with a dash directly behind the flag that err misses a number of, as in
// -n -5, or nil. The command then says which numbers the flag takes.
func behind(args []string, err error) []string {
	m := regexp.MustCompile(`^--([\w.-]+): expected (?:int|float) value but got "(-[\d.][^"]*)"`).
		FindStringSubmatch(err.Error())
	if m == nil {
		return nil
	}
	for i, flag := range args[:len(args)-1] {
		joined := flag + "=" + m[2]
		if len(flag) == 2 { // -n
			joined = flag + m[2]
		}
		if args[i+1] == m[2] && (flag == "--"+m[1] || flag == "-"+m[1]) {
			return slices.Replace(slices.Clone(args), i, i+2, joined)
		}
	}
	return nil
}

// habits likewise: odes help, odes help sens.
func habits(p *kong.Kong, args []string) []string {
	switch {
	case len(args) == 0, len(args) == 1 && args[0] == "help":
		return []string{"--help"}
	case args[0] != "help":
		return args
	case slices.ContainsFunc(p.Model.Children, func(n *kong.Node) bool { return n.Name == args[1] }):
		return append(args[1:2:2], "--help")
	}
	return append([]string{"doc"}, args[1:]...)
}

func commandName(ctx *kong.Context) string {
	name, _, _ := strings.Cut(ctx.Command(), " ")
	return name
}

// asksJSON looks for --format json before the command line is parsed, so that complaints about it are JSON, too.
func asksJSON(args []string) bool {
	for i, a := range args {
		name, given := strings.CutPrefix(a, "--format=")
		if a == "--format" && i+1 < len(args) {
			name, given = args[i+1], true
		}
		if f := report.FormatNamed(name); given && f != nil && f.Messages {
			return true
		}
	}
	return false
}
