package cluster

import (
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Serve is ServeAt on a free port of this machine alone.
func Serve(folder, token string) (address string, closeServer func(), err error) {
	return ServeAt("127.0.0.1:-1", folder, token)
}

// ServeAt runs a server within this process, which keeps its queue in folder. Only those who know the token may
// connect; "" lets everyone in. closeServer ends it.
func ServeAt(listen, folder, token string) (address string, closeServer func(), err error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", nil, err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return "", nil, err
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "odes", Host: host, Port: number, Authorization: token,
		JetStream: true, StoreDir: folder, NoLog: true, NoSigs: true, MaxPayload: maxPayload,
		JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 40,
	})
	if err != nil {
		return "", nil, err
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return "", nil, fmt.Errorf("no server could be started at %s; is the address in use?", listen)
	}
	return s.ClientURL(), func() {
		s.Shutdown()
		s.WaitForShutdown()
	}, nil
}

// maxPayload is how large messages may be. Larger results go through a store of objects.
const maxPayload = 8 << 20
