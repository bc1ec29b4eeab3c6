//go:build linux

package sqlstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// server is a PostgreSQL server of the tests' own, on a Unix socket in a
// temporary folder, which a user without privileges runs: it refuses root.
type server struct {
	bin, dir string
	attr     *syscall.SysProcAttr
	process  *os.Process
	log      *bytes.Buffer
	ended    chan struct{} // closed when the process has ended
	count    atomic.Int64  // of the databases made
}

// errNoServer says why there can be no server on this machine.
type errNoServer struct{ reason string }

func (e errNoServer) Error() string { return e.reason }

// shared is the server that the tests use which do not kill it.
var shared struct {
	once sync.Once
	*server
	err error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.server != nil {
		shared.stop()
	}
	os.Exit(code)
}

// sharedServer returns the server that the tests share. Without one the test is
// skipped, unless SIGCORE_TEST_REQUIRE names postgres.
func sharedServer(t testing.TB) *server {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.err = startServer() })
	return orSkip(t, shared.server, shared.err)
}

func orSkip(t testing.TB, s *server, err error) *server {
	t.Helper()
	var none errNoServer
	required := slices.Contains(strings.Split(os.Getenv("SIGCORE_TEST_REQUIRE"), ","), "postgres")
	if errors.As(err, &none) && !required {
		t.Skipf("NOT RUN: PostgreSQL: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// startServer makes a cluster and starts its server.
func startServer() (*server, error) {
	s := &server{}
	var err error
	if s.bin, err = serverBinaries(); err != nil {
		return nil, err
	}
	if s.attr, err = serverUser(); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "sigcore-pg-"); err != nil {
		return nil, err
	}
	if c := s.attr.Credential; c != nil {
		if err := os.Chown(s.dir, int(c.Uid), int(c.Gid)); err != nil {
			return nil, err
		}
	}
	cmd := s.command("initdb", "--pgdata=data", "--username=sigcore", "--auth=trust", "--encoding=UTF8", "--no-locale")
	out, err := cmd.CombinedOutput()
	if err == nil {
		err = s.run()
	}
	if err != nil {
		os.RemoveAll(s.dir)
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return s, nil
}

// serverBinaries returns the folder of the server's programs.
func serverBinaries() (string, error) {
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		return "", errNoServer{"no program postgres in PATH or /usr/lib/postgresql/*/bin"}
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(version(a), version(b)) })
	return filepath.Dir(newest), nil
}

// serverUser returns the attributes of the server's processes: they have a user
// without privileges, and end when the tests are killed.
func serverUser() (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if os.Geteuid() != 0 {
		return attr, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return attr, nil
	}
	return nil, errNoServer{"the tests run as root, and there is no user postgres or nobody"}
}

func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + s.bin + ":/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = s.attr
	return cmd
}

// run starts the server and waits until it answers. The server would
// acknowledge commits before they are on disk: that a backend's are there is
// the backend's doing.
func (s *server) run() error {
	for {
		s.log = &bytes.Buffer{}
		cmd := s.command("postgres", "-D", "data", "-k", s.dir, "-c", "listen_addresses=", "-c", "fsync=on",
			"-c", "synchronous_commit=off", "-c", "wal_writer_delay=10s", "-c", "max_connections=200")
		cmd.Stdout, cmd.Stderr = s.log, s.log
		started := make(chan error)
		s.ended = make(chan struct{})
		go func() {
			// The death of the thread that started it would end the server.
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			err := cmd.Start()
			started <- err
			if err == nil {
				cmd.Wait()
			}
			close(s.ended)
		}()
		if err := <-started; err != nil {
			return err
		}
		s.process = cmd.Process
		if s.answers() {
			return nil
		}
		// The processes of a server that was killed go by themselves, and until
		// then no other may use its memory.
		if log := s.log.String(); !strings.Contains(log, "is still in use") && !strings.Contains(log, "already exists") {
			return fmt.Errorf("the server ended:\n%s", log)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// answers waits until the server accepts connections, and returns false if it
// ends before.
func (s *server) answers() bool {
	for {
		c, err := pgx.Connect(context.Background(), s.source("postgres"))
		if err == nil {
			c.Close(context.Background())
			return true
		}
		select {
		case <-s.ended:
			return false
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// source names a database of the server.
func (s *server) source(database string) string {
	return fmt.Sprintf("postgres://sigcore@/%s?host=%s", database, s.dir)
}

// database makes an empty database and returns its source.
func (s *server) database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprint("test", s.count.Add(1))
	s.admin(t, "CREATE DATABASE "+name)
	return s.source(name)
}

// admin executes a statement outside of the databases of the tests.
func (s *server) admin(t testing.TB, statement string) {
	t.Helper()
	c, err := pgx.Connect(context.Background(), s.source("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	if _, err := c.Exec(context.Background(), statement); err != nil {
		t.Fatal(err)
	}
}

// kill ends the server as a crash does: nothing that it holds in memory is
// written.
func (s *server) kill() {
	s.process.Kill()
	<-s.ended
}

// stop ends the server and removes the cluster.
func (s *server) stop() {
	s.process.Signal(syscall.SIGQUIT)
	<-s.ended
	os.RemoveAll(s.dir)
}
