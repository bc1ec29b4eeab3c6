//go:build linux

package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sigcore/sigcore/signal/internal/accounttest"
	"github.com/sigcore/sigcore/signal/store"
	"github.com/sigcore/sigcore/signal/store/storetest"
)

func openPG(t testing.TB, source string) *Postgres {
	t.Helper()
	p, err := OpenPostgres(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// newPG returns a backend on a new database, with an account.
func newPG(t testing.TB) (*Postgres, store.AccountID) {
	t.Helper()
	p := openPG(t, sharedServer(t).database(t))
	id, err := p.CreateAccount(t.Context(), "a", []byte("row"))
	if err != nil {
		t.Fatal(err)
	}
	return p, id
}

func putSession(name, value string) *store.Batch {
	b := new(store.Batch)
	b.Put(store.Session(name), []byte(value))
	return b
}

func TestPostgresConformance(t *testing.T) {
	s := sharedServer(t)
	storetest.Run(t, func(t *testing.T) store.Backend { return openPG(t, s.database(t)) })
}

func TestPostgresAccount(t *testing.T) { accounttest.Run(t, openPGAccounts) }

func TestPostgresLeasedAccount(t *testing.T) { accounttest.RunLeased(t, openPGAccounts) }

func openPGAccounts(t *testing.T) (store.Backend, func() store.Backend) {
	source := sharedServer(t).database(t)
	p := openPG(t, source)
	return p, func() store.Backend {
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		p = openPG(t, source)
		return p
	}
}

// atPlace opens the database that belongs to a folder and makes it if there is
// none. The process that is killed finds it made, and so needs no server.
func atPlace(t *testing.T) func(place string) (store.Backend, error) {
	return func(place string) (store.Backend, error) {
		file := filepath.Join(place, "source")
		source, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			source = []byte(sharedServer(t).database(t))
			err = os.WriteFile(file, source, 0o600)
		}
		if err != nil {
			return nil, err
		}
		return OpenPostgres(context.Background(), string(source))
	}
}

func TestPostgresKill(t *testing.T) { testKill(t, atPlace(t)) }

func TestPostgresKillAccount(t *testing.T) { accounttest.Kill(t, atPlace(t)) }

// TestPostgresServerKilled kills the server in the middle of writes. What was
// acknowledged is there when it runs again, and the backend goes on.
func TestPostgresServerKilled(t *testing.T) {
	s, err := startServer()
	orSkip(t, s, err)
	defer s.stop()
	p := openPG(t, s.database(t))
	id, err := p.CreateAccount(t.Context(), "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	rounds := 4
	if testing.Short() {
		rounds = 2
	}
	gen := 0
	for round := range rounds {
		for last := gen + 5 + round; ; gen++ {
			if _, err := p.Apply(t.Context(), id, killBatch(gen)); err != nil {
				break
			}
			if gen == last {
				// The next batches are under way meanwhile.
				go s.process.Kill()
			}
		}
		<-s.ended
		if _, _, err := p.Read(t.Context(), id, []store.Key{store.PreKey(1)}); err == nil {
			t.Error("a read without a server has no error")
		}
		if err := s.run(); err != nil {
			t.Fatal(err)
		}
		checkKillBatch(t, p, gen-1)
		gen++
	}
	// All connections of the pool break at once.
	var wg sync.WaitGroup
	use := func() {
		for i := range 3 * connections {
			wg.Go(func() {
				if _, err := p.Apply(t.Context(), id, putSession(fmt.Sprint(i), "v")); err != nil {
					t.Error(err)
				}
				if _, _, err := p.Read(t.Context(), id, []store.Key{store.Session("0")}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	use()
	s.kill()
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
	use()
}

// TestPostgresSettings reads back what the promises of the package rest on,
// inside the transactions that write. The server's own setting is another one.
func TestPostgresSettings(t *testing.T) {
	s := sharedServer(t)
	source := s.database(t)
	for _, statement := range []string{
		"SET synchronous_commit = off",
		"SET default_transaction_isolation = serializable",
		"SET default_transaction_read_only = on",
	} {
		database, _, _ := strings.Cut(source[len("postgres://sigcore@/"):], "?")
		s.admin(t, "ALTER DATABASE "+database+" "+statement)
	}
	p := openPG(t, source)
	show := func(run func(context.Context, func(*pgConn) error) error, name string) (v string) {
		t.Helper()
		err := run(t.Context(), func(c *pgConn) error {
			_, err := c.queryRow("SELECT current_setting($1)", []any{name}, &v)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct{ name, write, outside string }{
		{"synchronous_commit", "on", "off"},
		{"transaction_isolation", "read committed", "serializable"},
		{"transaction_read_only", "off", "on"},
		{"fsync", "on", "on"},
	} {
		if got := show(p.write, c.name); got != c.write {
			t.Errorf("%s is %s in a transaction that writes, want %s", c.name, got, c.write)
		}
		if got := show(p.read, c.name); got != c.outside {
			t.Errorf("%s is %s outside, want %s: the test shows nothing", c.name, got, c.outside)
		}
	}
	// The conformance of the writes under such defaults.
	id, err := p.CreateAccount(t.Context(), "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Apply(t.Context(), id, putSession("s", "v")); err != nil {
		t.Error(err)
	}
}

// counter counts the statements that are sent.
type counter struct{ n atomic.Int64 }

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.n.Add(1)
	return ctx
}

func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestPostgresStatements counts the statements of large operations, BEGIN and
// COMMIT among them.
func TestPostgresStatements(t *testing.T) {
	config, err := pgx.ParseConfig(sharedServer(t).database(t))
	if err != nil {
		t.Fatal(err)
	}
	sent := new(counter)
	config.Tracer = sent
	p, err := openPostgres(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	id, err := p.CreateAccount(t.Context(), "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	var devices store.Batch
	var keys []store.Key
	for i := range 1000 {
		name := fmt.Sprint("1555000", i, "@c.us.0")
		devices.Put(store.Session(name), []byte("s"))
		devices.Put(store.Identity(name), []byte("i"))
		keys = append(keys, store.Session(name), store.Identity(name))
	}
	for _, c := range []struct {
		name string
		most int64
		f    func() error
	}{
		{"812 prekeys", 4, func() error { return second(p.Apply(t.Context(), id, storetest.PreKeyBatch(1, 812))) }},
		{"write of 1,000 devices", 5, func() error { return second(p.Apply(t.Context(), id, &devices)) }},
		{"read of 1,000 devices", 1, func() error { return third(p.Read(t.Context(), id, keys)) }},
		{"read of 40,000 keys", 1, func() error { return third(p.Read(t.Context(), id, slices.Repeat(keys, 20))) }},
	} {
		before := sent.n.Load()
		if err := c.f(); err != nil {
			t.Fatal(err)
		}
		if n := sent.n.Load() - before; n == 0 || n > c.most {
			t.Errorf("%s: %d statements, want at most %d", c.name, n, c.most)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func third[T, U any](_ T, _ U, err error) error { return err }

func TestPostgresReopen(t *testing.T) {
	source := sharedServer(t).database(t)
	// Whoever opens an empty database at once finds one set of tables.
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			p, err := OpenPostgres(t.Context(), source)
			if err != nil {
				t.Error(err)
				return
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	p := openPG(t, source)
	id, err := p.CreateAccount(t.Context(), "a", []byte("row"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.DeleteAccount(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p = openPG(t, source)
	if again, err := p.CreateAccount(t.Context(), "a", nil); err != nil || again == id {
		t.Errorf("handle %d is given again: %d, %v", id, again, err)
	}
}

func TestPostgresUpgrade(t *testing.T) {
	source := sharedServer(t).database(t)
	p := openPG(t, source)
	drop := []string{`DROP TABLE schema_version, accounts, identities, sessions, prekeys, signed_prekeys, sender_keys, sender_key_devices, lids, base_keys`}
	err := p.write(t.Context(), func(c *pgConn) error {
		for _, s := range append(drop, versionOne(dialectPostgres)...) {
			if _, err := c.exec(s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	checkUpgraded(t, openPG(t, source))
}

func TestPostgresSchemaVersion(t *testing.T) {
	source := sharedServer(t).database(t)
	p := openPG(t, source)
	for _, version := range []int{0, 999} {
		err := p.write(t.Context(), func(c *pgConn) error {
			_, err := c.exec(`UPDATE schema_version SET version = $1`, version)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = OpenPostgres(t.Context(), source)
		var se *SchemaError
		if !errors.As(err, &se) || se.Got != version || se.Want != schemaVersion {
			t.Errorf("open of a database of schema %d: %v", version, err)
		}
	}
}

func TestPostgresOpenErrors(t *testing.T) {
	for _, source := range []string{"", "postgres://user:hunter2@localhost:port/x"} {
		if _, err := OpenPostgres(t.Context(), source); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", source, err)
		}
	}
	_, err := OpenPostgres(t.Context(), "postgres://user:hunter2@/x?host="+t.TempDir())
	var dial *pgconn.ConnectError
	if !errors.As(err, &dial) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("no server: %v", err)
	}
	_, err = OpenPostgres(t.Context(), sharedServer(t).source("absent"))
	var server *pgconn.PgError
	if !errors.As(err, &server) || server.Code != "3D000" {
		t.Errorf("absent database: %v", err)
	}
}

// TestPostgresTransient holds that what the server ends for no fault of the
// operation's is tried again, and not without end.
func TestPostgresTransient(t *testing.T) {
	p, _ := newPG(t)
	fail := func(c *pgConn, code string) error {
		_, err := c.exec(fmt.Sprintf(`DO $$ BEGIN RAISE EXCEPTION 'on purpose' USING ERRCODE = '%s'; END $$`, code))
		return err
	}
	for _, c := range []struct {
		code     string
		failures int // of the first attempts
		want     int // attempts
	}{
		{"40001", 3, 4},
		{"40P01", 3, 4},
		{"40001", 1000, maxAttempts},
		{"23505", 1, 1},
	} {
		n := 0
		err := p.write(t.Context(), func(c2 *pgConn) error {
			n++
			if _, err := c2.exec(`UPDATE accounts SET record = record || 'x'::bytea`); err != nil {
				return err
			}
			if n <= c.failures {
				return fail(c2, c.code)
			}
			return nil
		})
		var server *pgconn.PgError
		if n != c.want || (err == nil) != (c.failures < c.want) || err != nil && (!errors.As(err, &server) || server.Code != c.code) {
			t.Errorf("%s, %d failures: %d attempts, %v", c.code, c.failures, n, err)
		}
	}
	// What the attempts that failed did is undone.
	if a, err := p.OpenAccount(t.Context(), "a"); err != nil || string(a.Row.Value) != "rowxx" {
		t.Errorf("row %q, %v", a.Row.Value, err)
	}
	// The wait between attempts ends with the context.
	ctx, cancel := context.WithCancel(t.Context())
	err := p.write(ctx, func(c *pgConn) error {
		defer cancel()
		return fail(c, "40001")
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// So does a transaction whose context ends before its commit.
	ctx, cancel = context.WithCancel(t.Context())
	err = p.write(ctx, func(c *pgConn) error {
		defer cancel()
		_, err := c.exec(`UPDATE accounts SET record = ''`)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before the commit: %v", err)
	}
	if a, err := p.OpenAccount(t.Context(), "a"); err != nil || string(a.Row.Value) != "rowxx" {
		t.Errorf("row %q, %v", a.Row.Value, err)
	}
}

// TestPostgresDeadlock holds that two transactions that wait for each other
// both end well.
func TestPostgresDeadlock(t *testing.T) {
	p, one := newPG(t)
	two, err := p.CreateAccount(t.Context(), "b", nil)
	if err != nil {
		t.Fatal(err)
	}
	var both, wg sync.WaitGroup
	both.Add(2)
	var attempts atomic.Int64
	for _, order := range [][2]store.AccountID{{one, two}, {two, one}} {
		wg.Go(func() {
			first := true
			err := p.write(t.Context(), func(c *pgConn) error {
				attempts.Add(1)
				if _, err := c.lock(order[0]); err != nil {
					return err
				}
				if first {
					first = false
					both.Done()
					both.Wait()
				}
				_, err := c.lock(order[1])
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := attempts.Load(); n < 3 {
		t.Errorf("%d attempts: there was no deadlock", n)
	}
}

// TestPostgresForeignLock holds that a lock of another process is waited for as
// long as the context allows, and that the answer then is the context's.
func TestPostgresForeignLock(t *testing.T) {
	p, id := newPG(t)
	locked, release := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- p.write(context.Background(), func(c *pgConn) error {
			_, err := c.lock(id)
			close(locked)
			<-release
			return err
		})
	}()
	<-locked
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.Apply(ctx, id, putSession("s", "v")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("write under a foreign lock: %v", err)
	}
	if recs, _, err := p.Read(t.Context(), id, []store.Key{store.Session("s")}); err != nil || recs[0].Found {
		t.Errorf("read under a foreign lock: %v, %v", recs, err)
	}
	close(release)
	if _, err := p.Apply(t.Context(), id, putSession("s", "v")); err != nil {
		t.Errorf("write after a foreign lock: %v", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestPostgresPanic holds that a panic gives the connection back with the
// transaction rolled back, and that Close does not wait for it.
func TestPostgresPanic(t *testing.T) {
	p, id := newPG(t)
	for range 2 * connections {
		func() {
			defer func() {
				if v := recover(); v != "on purpose" {
					t.Errorf("recovered %v", v)
				}
			}()
			p.write(t.Context(), func(c *pgConn) error {
				if _, err := c.exec(`UPDATE accounts SET record = ''`); err != nil {
					t.Error(err)
				}
				panic("on purpose")
			})
		}()
	}
	if a, err := p.OpenAccount(t.Context(), "a"); err != nil || string(a.Row.Value) != "row" {
		t.Errorf("row after a panic: %q, %v", a.Row.Value, err)
	}
	if _, err := p.Apply(t.Context(), id, putSession("s", "v")); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestPostgresLongName holds that a name that does not fit into an index is an
// error that changes nothing.
func TestPostgresLongName(t *testing.T) {
	p, id := newPG(t)
	name := make([]byte, 10000)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range name {
		name[i] = byte(rng.Uint32())
	}
	b := putSession("short", "v")
	b.Put(store.Session(string(name)), []byte("v"))
	_, err := p.Apply(t.Context(), id, b)
	var server *pgconn.PgError
	if !errors.As(err, &server) || server.Code != "54000" {
		t.Errorf("long name: %v", err)
	}
	keys, err := p.List(t.Context(), id, store.Query{Table: store.Sessions})
	if err != nil || len(keys) != 0 {
		t.Errorf("%d rows of a refused batch, %v", len(keys), err)
	}
}

// TestPostgresDeleteRace holds that no row of an account is left when batches
// race with its deletion.
func TestPostgresDeleteRace(t *testing.T) {
	p, _ := newPG(t)
	for round := range 10 {
		id, err := p.CreateAccount(t.Context(), fmt.Sprint("race", round), nil)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for i := range 200 {
					_, err := p.Apply(t.Context(), id, putSession(fmt.Sprint(w, i), "v"))
					if errors.Is(err, store.ErrNoAccount) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		if err := p.DeleteAccount(t.Context(), id); err != nil {
			t.Error(err)
		}
		wg.Wait()
		err = p.read(t.Context(), func(c *pgConn) error {
			var n int
			_, err := c.queryRow(`SELECT count(*) FROM sessions WHERE account = $1`, []any{int64(id)}, &n)
			if n != 0 {
				t.Errorf("%d rows of a deleted account", n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
