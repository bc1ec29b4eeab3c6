package sqlstore

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// sessionRecord returns the record of a session that both sides have used, with
// two receiver chains.
func sessionRecord(t *testing.T) []byte {
	t.Helper()
	ctx := t.Context()
	b := store.NewMemory()
	var accounts [2]*signal.Account
	var addrs [2]signal.Address
	for i := range accounts {
		addrs[i] = signal.Address{Name: fmt.Sprintf("1555000000%d@c.us", i)}
		var err error
		if accounts[i], err = signal.CreateAccount(ctx, b, addrs[i].Name, signal.AccountOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := accounts[i].GenerateSignedPreKey(ctx, 1, 0); err != nil {
			t.Fatal(err)
		}
	}
	bundle, err := accounts[1].Bundle(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := accounts[0].ProcessBundle(ctx, addrs[1], bundle); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		from, to := i%2, 1-i%2
		c, err := accounts[from].Encrypt(ctx, addrs[to], []byte("text"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := accounts[to].Decrypt(ctx, addrs[from], c.Type, c.Body); err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			rec, err := accounts[1].ExportSession(ctx, addrs[0], signal.FormatSigcore)
			if err != nil {
				t.Fatal(err)
			}
			return rec
		}
	}
	return nil
}

// TestHeap measures the heap of many leased accounts with the default cache: each
// has looked at 200 sessions with two receiver chains. It is 1,000 accounts with
// SIGCORE_TEST_LONG, and a tenth of that otherwise. After Close nothing is left of
// them.
func TestHeap(t *testing.T) {
	const sessions = 200
	accounts := 100
	switch {
	case os.Getenv("SIGCORE_TEST_LONG") != "":
		accounts = 1000
	case testing.Short():
		accounts = 20
	}
	ctx := t.Context()
	s := open(t, filepath.Join(t.TempDir(), "test.db"))
	rec := sessionRecord(t)
	key, err := signal.GenerateIdentityKeyPair()
	if err != nil {
		t.Fatal(err)
	}
	addrs := make([]signal.Address, sessions)
	for i := range addrs {
		addrs[i] = signal.Address{Name: fmt.Sprintf("15550%06d@c.us", i)}
	}
	for i := range accounts {
		if _, err := signal.CreateAccount(ctx, s, fmt.Sprint(i), signal.AccountOptions{Identity: key, RegistrationID: 1}); err != nil {
			t.Fatal(err)
		}
		a, err := s.OpenAccount(ctx, fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		var b store.Batch
		for _, addr := range addrs {
			b.Put(store.Session(addr.String()), rec)
		}
		identity := key.PublicKey()
		for _, addr := range addrs {
			b.Put(store.Identity(addr.String()), identity[:])
		}
		if _, err := s.Apply(ctx, a.ID, &b); err != nil {
			t.Fatal(err)
		}
	}
	measure := func() (heap uint64, goroutines int) {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, runtime.NumGoroutine()
	}
	before, goroutines := measure()
	list := make([]*signal.Account, accounts)
	for i := range list {
		if list[i], err = signal.OpenAccount(ctx, s, fmt.Sprint(i), signal.OpenOptions{Durability: signal.Leased}); err != nil {
			t.Fatal(err)
		}
		have, err := list[i].HasSessions(ctx, addrs)
		if err != nil || !have[sessions-1] {
			t.Fatalf("sessions: %v", err)
		}
		for _, addr := range addrs {
			if _, _, err := list[i].RemoteIdentity(ctx, addr); err != nil {
				t.Fatal(err)
			}
		}
	}
	open, n := measure()
	per := (open - before) / uint64(accounts)
	t.Logf("%d accounts of %d sessions: %d MiB of heap, %d kB each, records of %d bytes", accounts, sessions, (open-before)>>20, per>>10, len(rec))
	if limit := uint64(512<<20) / 1000; per > limit {
		t.Errorf("an account takes %d bytes of heap, want at most %d", per, limit)
	}
	if n != goroutines {
		t.Errorf("%d goroutines with accounts open, %d before", n, goroutines)
	}
	for _, a := range list {
		if err := a.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
	clear(list)
	after, n := measure()
	t.Logf("%d kB more than before after Close", (int64(after)-int64(before))/1024)
	if int64(after)-int64(before) > 256<<10+int64(accounts)*512 || n != goroutines {
		t.Errorf("after Close: %d bytes of heap, %d before; %d goroutines, %d before", after, before, n, goroutines)
	}
}
