package cluster

import (
	"net"
	"strings"
	"testing"
	"time"
)

// TestWaiting: who waits for a server says so, and for what: one that does not answer, one that is lost.
func TestWaiting(t *testing.T) {
	defer silence.Store(silence.Load())
	silence.Store(int64(50 * time.Millisecond))
	heard := make(chan string, 10)
	notice := func(text string) { heard <- text }
	hear := func(want string) {
		t.Helper()
		select {
		case text := <-heard:
			if !strings.Contains(text, want) {
				t.Errorf("%q, want %q", text, want)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("nothing is said, want %q", want)
		}
	}
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { // it takes connections and says nothing
		for {
			c, err := mute.Accept()
			if err != nil {
				return
			}
			time.Sleep(time.Second)
			c.Close()
		}
	}()
	if _, err := Connect("nats://"+mute.Addr().String(), "mute", notice); err == nil {
		t.Error("a connection was made")
	}
	mute.Close()
	hear("waiting for the server mute to answer")

	folder := t.TempDir()
	address, closeServer, err := Serve(folder, "")
	if err != nil {
		t.Fatal(err)
	}
	nc, err := Connect(address, "lost", notice)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	closeServer()
	hear("waiting for the server lost to come back, since the connection was lost")
	_, closeServer, err = ServeAt(strings.TrimPrefix(address, "nats://"), folder, "")
	if err != nil {
		t.Fatal(err)
	}
	defer closeServer()
	hear("the server lost is there, and work goes on")
}
