package sqlstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// TestManyAccounts has 64 goroutines work with 200 accounts, durable and leased
// ones, in one file: no lock error reaches a caller, no update is lost, nothing is
// left behind after Close, and the file does not grow beyond what it holds. It is
// 20,000 operations with SIGCORE_TEST_LONG, and a tenth of that otherwise.
func TestManyAccounts(t *testing.T) {
	const accounts, workers = 200, 64
	operations := 2000
	switch {
	case os.Getenv("SIGCORE_TEST_LONG") != "":
		operations = 20_000
	case testing.Short():
		operations = 500
	}
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "test.db")
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	// What the driver and the kernels make once is not of this test.
	warm := open(t, filepath.Join(t.TempDir(), "warm.db"))
	talkOnce(t, warm)
	if err := warm.Close(); err != nil {
		t.Fatal(err)
	}
	before, goroutines := heap(), runtime.NumGoroutine()

	s := open(t, path)
	type peer struct {
		*signal.Account
		addr signal.Address
	}
	peers := make([]peer, accounts)
	for i := range peers {
		p := &peers[i]
		p.addr = signal.Address{Name: fmt.Sprintf("1555000%04d@c.us", i)}
		o := signal.AccountOptions{OpenOptions: signal.OpenOptions{Durability: signal.Durability(i / 2 % 2), CacheBytes: 4096 * (i % 3)}}
		var err error
		if p.Account, err = signal.CreateAccount(ctx, s, p.addr.Name, o); err != nil {
			t.Fatal(err)
		}
		if _, err := p.GenerateSignedPreKey(ctx, 1, 0); err != nil {
			t.Fatal(err)
		}
	}
	say := func(from, to *peer, text string) error {
		c, err := from.Encrypt(ctx, to.addr, []byte(text))
		if err != nil {
			return fmt.Errorf("encrypt: %w", err)
		}
		d, err := to.Decrypt(ctx, from.addr, c.Type, c.Body)
		if err == nil && string(d.Plaintext) != text {
			err = fmt.Errorf("read %q", d.Plaintext)
		}
		return err
	}
	for i := 0; i < accounts; i += 2 {
		bundle, err := peers[i+1].Bundle(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := peers[i].ProcessBundle(ctx, peers[i+1].addr, bundle); err != nil {
			t.Fatal(err)
		}
		if err := say(&peers[i], &peers[i+1], "hello"); err != nil {
			t.Fatal(err)
		}
		if err := say(&peers[i+1], &peers[i], "hello"); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(20, uint64(w)))
			for n := range operations / workers {
				i := rng.IntN(accounts)
				p, q := &peers[i], &peers[i^1]
				var err error
				switch rng.IntN(8) {
				case 0:
					_, err = p.GeneratePreKeys(ctx, 3)
				case 1:
					_, err = p.HasSession(ctx, q.addr)
				case 2:
					name := signal.SenderKeyName{Group: "g", Sender: p.addr}
					if _, err = p.CreateSenderKey(ctx, name); err == nil {
						_, err = p.EncryptGroup(ctx, name, []byte("group"))
					}
				default:
					err = say(p, q, fmt.Sprint(w, n))
				}
				if err != nil {
					t.Errorf("worker %d, operation %d: %v", w, n, err)
					return
				}
			}
		})
	}
	wg.Wait()
	for i := range peers {
		if err := peers[i].Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
	// Everything that was sent was read: nothing is left of what came out of order.
	for i := range peers {
		a, err := signal.OpenAccount(ctx, s, peers[i].addr.Name, signal.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		peers[i].Account = a
		info, err := a.SessionInfo(ctx, peers[i^1].addr)
		if err != nil || !info.Exists || info.Skipped != 0 {
			t.Errorf("session of account %d: %+v, %v", i, info, err)
		}
	}
	for i := range peers {
		if err := say(&peers[i], &peers[i^1], "after"); err != nil {
			t.Errorf("account %d: %v", i, err)
		}
	}
	live := liveBytes(t, s)
	clear(peers)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes of rows in a file of %d", live, info.Size())
	if info.Size() > 2*live {
		t.Errorf("%d bytes of rows take a file of %d", live, info.Size())
	}
	// The runtime takes its time to end a goroutine that is done.
	for range 100 {
		if runtime.NumGoroutine() <= goroutines {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines after Close, %d before", n, goroutines)
	}
	if after := heap(); after > before+512<<10 {
		t.Errorf("%d bytes of heap after Close, %d before", after, before)
	}
}

// talkOnce uses everything once.
func talkOnce(t *testing.T, b store.Backend) {
	t.Helper()
	ctx := context.Background()
	a, err := signal.CreateAccount(ctx, b, "a", signal.AccountOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.GenerateSignedPreKey(ctx, 1, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := a.GeneratePreKeys(ctx, 1); err != nil {
		t.Fatal(err)
	}
	bundle, err := a.Bundle(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.ProcessBundle(ctx, signal.Address{Name: "b"}, bundle); err != nil {
		t.Fatal(err)
	}
}

// liveBytes returns the size of all rows, of their keys and the values, in bytes.
func liveBytes(t *testing.T, b store.Backend) (n int64) {
	t.Helper()
	ctx := t.Context()
	names, err := b.Accounts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		a, err := b.OpenAccount(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		n += int64(len(name) + len(a.Row.Value))
		for table := store.Identities; table.Valid(); table++ {
			keys, err := b.List(ctx, a.ID, store.Query{Table: table})
			if err != nil {
				t.Fatal(err)
			}
			recs, _, err := b.Read(ctx, a.ID, keys)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range recs {
				n += int64(len(keys[i].Name)+len(r.Value)) + 8
			}
		}
	}
	return n
}
