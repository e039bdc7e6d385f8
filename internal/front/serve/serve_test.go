package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/memory"
)

// client is the other end of a server.
type client struct {
	t    testing.TB
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error
	last uint32
}

func dial(t testing.TB) *client {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, in: inW, out: bufio.NewReader(outR), done: make(chan error, 1)}
	go func() {
		err := Serve(t.Context(), inR, outW)
		outW.Close()
		c.done <- err
	}()
	t.Cleanup(func() { inW.Close(); outR.Close() })
	return c
}

// encode makes a frame of a client.
func encode(k kind, id uint32, head string, values ...float64) []byte {
	var b bytes.Buffer
	if _, err := writeFrame(&b, k, id, []byte(head), []array{{values: values}}, nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// send begins a request and returns its number.
func (c *client) send(head string, values ...float64) uint32 {
	c.t.Helper()
	c.last++
	if _, err := c.in.Write(encode(kindRequest, c.last, head, values...)); err != nil {
		c.t.Fatal(err)
	}
	return c.last
}

// reply is a frame of the server, read.
type reply struct {
	kind   kind
	id     uint32
	head   map[string]any
	arrays map[string][]float64
}

func (r *reply) number(key string) uint32 { x, _ := r.head[key].(float64); return uint32(x) }

// read reads a frame of the server.
func (c *client) read() *reply {
	c.t.Helper()
	r, err := readReply(c.out)
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

func readReply(in io.Reader) (*reply, error) {
	var h [headerSize]byte
	if _, err := io.ReadFull(in, h[:]); err != nil {
		return nil, err
	}
	if string(h[:4]) != magic+string(rune(Version)) {
		return nil, fmt.Errorf("a frame begins with %q", h[:4])
	}
	r := &reply{kind: kind(h[4]), id: binary.LittleEndian.Uint32(h[8:]), arrays: map[string][]float64{}}
	head := make([]byte, binary.LittleEndian.Uint32(h[12:]))
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, err
	}
	values, err := readValues(in, int(binary.LittleEndian.Uint64(h[16:])))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(head, &r.head); err != nil {
		return nil, err
	}
	list, _ := r.head["arrays"].([]any)
	for _, a := range list {
		n := 1
		for _, d := range a.(map[string]any)["shape"].([]any) {
			n *= int(d.(float64))
		}
		if n > len(values) {
			return nil, fmt.Errorf("the head lists more values than the %d left: %v", len(values), list)
		}
		r.arrays[a.(map[string]any)["name"].(string)], values = values[:n], values[n:]
	}
	if len(values) > 0 {
		return nil, errors.New("the head lists fewer values than there are")
	}
	return r, nil
}

// ask sends a request and returns its answer, which must be of a kind.
func (c *client) ask(want kind, head string, values ...float64) *reply {
	c.t.Helper()
	id := c.send(head, values...)
	r := c.read()
	if r.id != id || r.kind != want {
		c.t.Fatalf("%.200s: kind %d for request %d, not %d for %d: %v", head, r.kind, r.id, want, id, r.head)
	}
	return r
}

// open opens a model of the examples, or a text.
func (c *client) open(model string) uint32 {
	c.t.Helper()
	text, folder := model, ""
	if !strings.Contains(model, "\n") {
		path, err := filepath.Abs(filepath.Join("..", "..", "..", "examples", filepath.FromSlash(model)))
		if err != nil {
			c.t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			c.t.Fatal(err)
		}
		text, folder = string(data), filepath.Dir(path)
	}
	return c.ask(kindResult, quoted(map[string]any{"op": "open", "text": text, "folder": folder})).number("model")
}

func quoted(x any) string {
	b, err := json.Marshal(x)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// endless is a model whose run takes hours.
const endless = "model M\ntime t from 0 to 1e9\nparam k = 1\nstate x = 1, v = 0\nx' = v\nv' = -k*x\n" +
	"objective J = final(x)\nsolver { max_steps = 1e12 }\n"

// TestSens: results have the bits that they have in Go, the first time and later, with other values.
func TestSens(t *testing.T) {
	c := dial(t)
	for _, path := range []string{"bounce/bounce.ode", "glv/glv.ode"} {
		m, err := odes.ParseFile(filepath.Join("..", "..", "..", "examples", filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		name := map[string]string{"bounce/bounce.ode": "g", "glv/glv.ode": "r"}[path]
		model := c.open(path)
		head := fmt.Sprintf(`{"op":"sens","model":%d,"set":[{"name":%q,"count":1}],"event_times":true}`, model, name)
		job := uint32(0)
		for i, value := range []float64{0.5, 0.7, 0.6, 0.5} {
			var r *reply
			if i == 0 {
				r = c.ask(kindResult, head, value)
				job = r.number("job")
			} else {
				r = c.ask(kindResult, fmt.Sprintf(`{"op":"again","job":%d}`, job), value)
			}
			want, err := m.Sensitivities(t.Context(), odes.Options{
				Set: []odes.Assignment{{Name: name, Values: []float64{value}}}, EventTimes: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			same(t, path, r.arrays["gradient"], want.Gradient)
			same(t, path, r.arrays["errors"], want.Errors)
			for k, v := range want.Values {
				same(t, path, r.arrays["values"][k:k+1], []float64{v.Value})
			}
			for k, e := range want.Events {
				same(t, path, r.arrays["event_times"][k:k+1], []float64{e.T})
				same(t, path, r.arrays["event_derivatives"][k*want.Columns:(k+1)*want.Columns], e.Params)
			}
			if (r.head["layout"] != nil) != (i == 0) {
				t.Errorf("%s: call %d: layout %v", path, i, r.head["layout"])
			}
		}
	}
}

func same(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("%s: number %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// TestRun: runs have the bits that they have in Go, at given times and at the ends of steps.
func TestRun(t *testing.T) {
	c := dial(t)
	m, err := odes.ParseFile(filepath.Join("..", "..", "..", "examples", "bounce", "bounce.ode"))
	if err != nil {
		t.Fatal(err)
	}
	model := c.open("bounce/bounce.ode")
	for _, times := range [][]float64{nil, {}, {0, 0.5, 1.5}} {
		head := fmt.Sprintf(`{"op":"run","model":%d,"set":[{"name":"g","count":1,"unit":"m/s^2"}]`, model)
		if times != nil {
			head += fmt.Sprintf(`,"times":%d`, len(times))
		}
		job := uint32(0)
		for _, g := range []float64{5, 20, 5} {
			values := append([]float64{g}, times...)
			var r *reply
			if job == 0 {
				r = c.ask(kindResult, head+"}", values...)
				job = r.number("job")
			} else {
				r = c.ask(kindResult, fmt.Sprintf(`{"op":"again","job":%d}`, job), values...)
			}
			want, err := m.Solve(t.Context(), odes.Options{
				Set: []odes.Assignment{{Name: "g", Values: []float64{g}}}, Times: times,
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.arrays["t"]) != len(want.T) {
				t.Fatalf("%d times, want %d", len(r.arrays["t"]), len(want.T))
			}
			if len(want.T) > 0 {
				same(t, "t", r.arrays["t"], want.T)
				same(t, "output", r.arrays["output"], want.Outputs[len(want.Outputs)-1].Values)
			}
		}
	}
}

// TestSecond: Hessians, and their products with a direction that differs from request to request.
func TestSecond(t *testing.T) {
	c := dial(t)
	model := c.open("bounce/bounce.ode")
	h := c.ask(kindResult, fmt.Sprintf(`{"op":"sens","model":%d,"of":["height"],"wrt":["g","e"],
		"settings":[["sens.order","2"]]}`, model)).arrays["hessian"]
	r := c.ask(kindResult, fmt.Sprintf(`{"op":"sens","model":%d,"of":["height"],"wrt":["g","e"],"direction":2}`, model),
		1, 0)
	for _, v := range [][]float64{{1, 0}, {0.5, -2}, {1, 0}} {
		p := c.ask(kindResult, fmt.Sprintf(`{"op":"again","job":%d}`, r.number("job")), v...).arrays["products"]
		for i := range p {
			want := h[2*i]*v[0] + h[2*i+1]*v[1]
			if math.Abs(p[i]-want) > 1e-9*math.Abs(want) {
				t.Errorf("direction %v: product %v, Hessian %v", v, p, h)
			}
		}
	}
}

// TestErrors: what is wrong is answered, with its place, and the server goes on.
func TestErrors(t *testing.T) {
	c := dial(t)
	model := c.open("bounce/bounce.ode")
	name := func(format string) string { return strings.ReplaceAll(format, "MODEL", fmt.Sprint(model)) }
	for _, x := range []struct {
		head   string
		values []float64
		kind   string
		say    string
	}{
		{`{"op":"open","text":"model M\nstate x = 1\nx' = y\n","name":"m.ode"}`, nil, "model", "m.ode:3:6"},
		{`{"op":"open","text":"model M\nstate x = 1\nx' = y\n"}`, nil, "model", "^"},
		{`{"op":"open","text":"model M","folder":"here"}`, nil, "request", "absolute"},
		{`{"op":"open","text":"\u0000\ud800"}`, nil, "model", ""},
		{`{"op":"dance"}`, nil, "request", `"dance"`},
		{`{"op":"hello","colour":1}`, nil, "request", "colour"},
		{`{"op":"hello"} {}`, nil, "request", "follows"},
		{``, nil, "request", ""},
		{`[1`, nil, "request", ""},
		{strings.Repeat("[", 1<<20), nil, "request", ""},
		{`{"op":"again","job":77}`, nil, "gone", "77"},
		{name(`{"op":"again","job":MODEL}`), nil, "gone", ""},
		{`{"op":"sens","model":77}`, nil, "gone", "77"},
		{name(`{"op":"sens","model":MODEL,"times":0}`), nil, "request", "times"},
		{name(`{"op":"run","model":MODEL,"wrt":["g"]}`), nil, "request", "wrt"},
		{name(`{"op":"again","job":1,"set":[]}`), nil, "request", "set"},
		{name(`{"op":"fit","model":MODEL,"of":["height"]}`), nil, "request", `"of"`},
		{name(`{"op":"fit","model":MODEL,"settings":[["fit.over","[gg]"]]}`), nil, "request", "gg"},
		{name(`{"op":"predict","model":MODEL}`), nil, "request", "data"},
		{name(`{"op":"ensemble","model":MODEL}`), nil, "request", "differs"},
		{name(`{"op":"ensemble","model":MODEL,"draw":"gg ~ normal(0, 1)"}`), nil, "request", "gg"},
		{name(`{"op":"ensemble","model":MODEL,"draw":"g from 1 to 2","indices":"x"}`), nil, "request", `"x"`},
		{name(`{"op":"ensemble","model":MODEL,"columns":["g"],"rows":2}`), []float64{1}, "request", "fewer"},
		{name(`{"op":"ensemble","model":MODEL,"columns":["g"],"rows":-9}`), nil, "request", "fewer"},
		{
			name(`{"op":"ensemble","model":MODEL,"columns":["g","e"],"rows":9223372036854775807}`), nil, "request",
			"fewer",
		},
		{
			name(`{"op":"ensemble","model":MODEL,"columns":["g"],"draw":"g from 1 to 2","rows":1}`),
			[]float64{1},
			"request", "not both",
		},
		{name(`{"op":"sens","model":MODEL,"set":[{"name":"g","count":2}]}`), []float64{1}, "request", "fewer"},
		{name(`{"op":"sens","model":MODEL,"set":[{"name":"g","count":-1}]}`), nil, "request", "fewer"},
		{name(`{"op":"sens","model":MODEL,"direction":-9}`), nil, "request", "fewer"},
		{name(`{"op":"run","model":MODEL,"times":-9}`), nil, "request", "fewer"},
		{name(`{"op":"sens","model":MODEL}`), []float64{1}, "request", "more"},
		{name(`{"op":"sens","model":MODEL,"set":[{"name":"gg","count":1}]}`), []float64{1}, "request", "gg"},
		{name(`{"op":"sens","model":MODEL,"set":[{"name":"g","count":1,"unit":"kg"}]}`), []float64{1}, "request", "kg"},
		{name(`{"op":"sens","model":MODEL,"wrt":["gg"]}`), nil, "request", "gg"},
		{name(`{"op":"sens","model":MODEL,"settings":[["solver.rtol","no"]]}`), nil, "request", "rtol"},
		{name(`{"op":"run","model":MODEL,"times":2}`), []float64{1, 0}, "request", "ascend"},
		{
			name(`{"op":"sens","model":MODEL,"set":[{"name":"g","count":1}]}`),
			[]float64{math.NaN()},
			"request", "g cannot be nan",
		},
		{
			name(`{"op":"ensemble","model":MODEL,"columns":["g"],"rows":2}`),
			[]float64{1, math.NaN()},
			"request", "g cannot be nan, as in row 2",
		},
	} {
		r := c.ask(kindError, x.head, x.values...)
		text := quoted(r.head)
		if x.kind != "" && r.head["error"] != x.kind || !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), x.say) {
			t.Errorf("%.100s\nis answered by %s\nwant %s with %q", x.head, text, x.kind, x.say)
		}
	}
	c.ask(kindResult, name(`{"op":"sens","model":MODEL}`))
	c.ask(kindResult, name(`{"op":"close","model":MODEL}`))
	c.ask(kindError, name(`{"op":"sens","model":MODEL}`))
}

// TestRunFails: a run that fails says how far it came, and the job computes other values after it.
func TestRunFails(t *testing.T) {
	c := dial(t)
	model := c.open("model M\ntime t from 0 to 2\nparam a = 0.1\nstate x = 1\nx' = a*x^2\nobjective J = final(x)\n" +
		"assert a < 3\n")
	head := fmt.Sprintf(`{"op":"sens","model":%d,"set":[{"name":"a","count":1}]}`, model)
	job := c.ask(kindResult, head, 0.1).number("job")
	want := c.ask(kindResult, head, 0.2).arrays["gradient"]
	for range 2 {
		r := c.ask(kindError, fmt.Sprintf(`{"op":"again","job":%d}`, job), 1)
		if span := r.arrays["span"]; r.head["error"] != "run" || len(span) != 2 || span[1] < 0.9 || span[1] > 1.1 {
			t.Errorf("%v %v", r.head, span)
		}
		c.ask(kindError, fmt.Sprintf(`{"op":"again","job":%d}`, job), 4)
		after := c.ask(kindResult, fmt.Sprintf(`{"op":"again","job":%d}`, job), 0.2)
		same(t, "after it", after.arrays["gradient"], want)
	}
}

// TestMany: requests are answered as they come, each with its own bits.
func TestMany(t *testing.T) {
	c := dial(t)
	model := c.open("bounce/bounce.ode")
	head := fmt.Sprintf(`{"op":"sens","model":%d,"set":[{"name":"g","count":1}]}`, model)
	job := c.ask(kindResult, head, 9.81).number("job")
	const count = 200
	want := map[uint32]float64{}
	var lock sync.Mutex
	go func() {
		for i := range count {
			lock.Lock()
			id := c.send(fmt.Sprintf(`{"op":"again","job":%d}`, job), 1+float64(i%7))
			want[id] = float64(i % 7)
			lock.Unlock()
		}
	}()
	seen := map[float64][]float64{}
	for range count {
		r := c.read()
		if r.kind != kindResult {
			t.Fatal(r.head)
		}
		lock.Lock()
		g := want[r.id]
		lock.Unlock()
		if seen[g] != nil {
			same(t, fmt.Sprint("g = ", g), r.arrays["gradient"], seen[g])
		}
		seen[g] = r.arrays["gradient"]
	}
	if len(seen) != 7 {
		t.Fatal(len(seen))
	}
}

// TestCancel: a cancelled run ends soon, others do not notice, and the end of input ends what is left.
func TestCancel(t *testing.T) {
	c := dial(t)
	before := runtime.NumGoroutine()
	model := c.open(endless)
	head := fmt.Sprintf(`{"op":"run","model":%d,"times":0,"progress":true}`, model)
	first, second := c.send(head), c.send(head)
	heard := map[uint32]int{}
	for heard[first] == 0 || heard[second] == 0 {
		r := c.read()
		if r.kind != kindProgress || r.head["phase"] != "forward" {
			t.Fatal(r.kind, r.head)
		}
		heard[r.id]++
	}
	if _, err := c.in.Write(append(encode(kindCancel, 999, ""), encode(kindCancel, first, "")...)); err != nil {
		t.Fatal(err)
	}
	for {
		r := c.read()
		if r.kind == kindProgress {
			continue
		}
		if r.id != first || r.head["error"] != "interrupted" {
			t.Fatal(r.id, r.head)
		}
		break
	}
	c.ask2(t, `{"op":"hello"}`)
	c.in.Close()
	go io.Copy(io.Discard, c.out)
	if err := <-c.done; err != nil {
		t.Fatal(err)
	}
	for wait := time.Now(); runtime.NumGoroutine() > before; {
		if time.Since(wait) > 20*time.Second {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// ask2 asks while progress of other requests comes in.
func (c *client) ask2(t *testing.T, head string) *reply {
	id := c.send(head)
	for {
		if r := c.read(); r.id == id {
			return r
		}
	}
}

// TestKept: what is not used for longest is dropped where there is too much, and everything where memory is short.
func TestKept(t *testing.T) {
	var s store
	first := s.add(entry{})
	second := s.add(entry{})
	for range most - 2 {
		s.add(entry{})
	}
	s.find(first)
	last := s.add(entry{})
	if s.find(second) != nil || s.find(first) == nil || s.find(last) == nil || len(s.entries) != most {
		t.Fatalf("%d entries are kept", len(s.entries))
	}
	defer memory.Force(1 << 20)()
	only := s.add(entry{})
	s.collecting.Lock() // waits for the end
	defer s.collecting.Unlock()
	if s.find(only) == nil || len(s.entries) != 1 {
		t.Fatalf("without memory, %d entries are kept", len(s.entries))
	}
}

// TestMemory: a run ends where memory does, and the server does not.
func TestMemory(t *testing.T) {
	c := dial(t)
	model := c.open(endless)
	head := fmt.Sprintf(`{"op":"run","model":%d,"times":0,"progress":true}`, model)
	id := c.send(head)
	r := c.read() // it is under way
	defer memory.Force(1 << 20)()
	for r.kind == kindProgress {
		r = c.read()
	}
	if r.id != id || r.head["error"] != "memory" {
		t.Fatal(r.head)
	}
	c.ask(kindResult, `{"op":"hello"}`)
	if r := c.ask(kindError, head); r.head["error"] != "gone" {
		t.Fatal(r.head)
	}
}

// hostile are streams that end a session, each with a part of what the server says of it.
var hostile = map[string][]byte{
	"begins with":    []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
	"version 9":      edited(3, 9),
	"kind 0":         edited(4, 0),
	"kind 16":        edited(4, 16),
	"not zero":       edited(6, 1),
	"longer than":    edited(15, 0xff),
	"values are":     edited(23, 0xff),
	"within a frame": edited(14, 1), // more head than comes
	"within the":     encode(kindRequest, 1, "")[:5],
	"the number 0":   encode(kindRequest, 0, `{"op":"hello"}`),
}

// edited is a good frame with one byte changed.
func edited(at int, b byte) []byte {
	f := encode(kindRequest, 1, `{"op":"hello"}`, 1, 2)
	f[at] = b
	return f
}

// TestHostile: a stream that is not the protocol is told so, ends the session, and takes no memory by what it says of
// its length.
func TestHostile(t *testing.T) {
	for say, stream := range hostile {
		var out bytes.Buffer
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := Serve(t.Context(), bytes.NewReader(stream), &out)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, errProtocol) || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v", say, err)
			continue
		}
		r, err := readReply(&out)
		if err != nil || r.kind != kindError || r.id != 0 || r.head["error"] != "protocol" {
			t.Errorf("%q: answer %v, %v", say, r, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
			t.Errorf("%q takes %d bytes", say, took)
		}
	}
}

// TestNumberTaken: two requests of one number at once end the session.
func TestNumberTaken(t *testing.T) {
	c := dial(t)
	model := c.open(endless)
	c.send(fmt.Sprintf(`{"op":"run","model":%d,"times":0}`, model))
	c.last--
	c.send(`{"op":"hello"}`)
	if r := c.read(); r.head["error"] != "protocol" {
		t.Fatal(r.head)
	}
	if err := <-c.done; !errors.Is(err, errProtocol) {
		t.Fatal(err)
	}
}

// TestEnd: the end of the context ends the session.
func TestEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, _ := io.Pipe()
	done := make(chan error)
	go func() { done <- Serve(ctx, in, io.Discard) }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// TestLargeFrames: long arrays arrive whole, in both directions.
func TestLargeFrames(t *testing.T) {
	list := make([]float64, 100_003)
	for i := range list {
		list[i] = float64(i) + 0.25
	}
	var b bytes.Buffer
	head := []byte(strings.Repeat(" ", 100_001))
	if _, err := writeFrame(&b, kindRequest, 7, head, []array{{values: list}}, nil); err != nil {
		t.Fatal(err)
	}
	f, err := readFrame(&b)
	if err != nil || f.id != 7 || len(f.head) != 100_001 || b.Len() != 0 {
		t.Fatal(err, f.id, len(f.head), b.Len())
	}
	same(t, "values", f.values, list)
}

// FuzzServe: whatever a client says, the server answers in frames and ends with the stream.
func FuzzServe(f *testing.F) {
	for _, stream := range hostile {
		f.Add(stream)
	}
	text := quoted(map[string]any{"op": "open", "text": "model M\ntime t from 0 to 1\nparam k = 1\nstate x = 1\n" +
		"x' = -k*x\nobjective J = final(x)\n"})
	good := encode(kindRequest, 1, text)
	good = append(good, encode(kindRequest, 2, `{"op":"sens","model":1,"set":[{"name":"k","count":1}]}`, 2)...)
	good = append(good, encode(kindRequest, 3, `{"op":"again","job":2}`, 3)...)
	f.Add(append(good, encode(kindCancel, 3, "")...))
	f.Fuzz(func(t *testing.T, stream []byte) {
		var out lockedBuffer
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = Serve(ctx, bytes.NewReader(stream), &out)
		r := bytes.NewReader(out.take())
		for {
			if _, err := readReply(r); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// lockedBuffer is a buffer that is written while it is read: answers come after the end of input, too.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) take() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.b.Bytes())
}

// TestCancelledOpens cancels texts that take long to compile: each is answered as interrupted, a small one after it is
// answered, and in the end nothing is under way any more.
func TestCancelledOpens(t *testing.T) {
	c := dial(t)
	c.ask(kindResult, `{"op":"hello"}`)
	before := runtime.NumGoroutine()
	var text strings.Builder
	text.WriteString("time t from 0 to 1\n")
	for i := range 20_000 {
		fmt.Fprintf(&text, "state x%d = 1\nx%d' = -y%d\n", i, i, i)
	}
	large := fmt.Sprintf(`{"op":"open","text":%s}`, quoted(text.String()))
	small := fmt.Sprintf(`{"op":"open","text":%s}`, quoted("time t from 0 to 1\nstate x = 1\nx' = -x\n"))
	for range 3 * slots() {
		id := c.send(large)
		if _, err := c.in.Write(encode(kindCancel, id, "")); err != nil {
			t.Fatal(err)
		}
		if r := c.read(); r.id != id || r.head["error"] != "interrupted" {
			t.Fatal(r.id, r.head)
		}
		if r := c.ask2(t, small); r.kind != kindResult {
			t.Fatal(r.head)
		}
	}
	for wait := time.Now(); runtime.NumGoroutine() > before; {
		if time.Since(wait) > time.Minute {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
