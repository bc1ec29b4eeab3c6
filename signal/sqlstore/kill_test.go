package sqlstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/sigcore/sigcore/signal/store"
)

// killEnv holds the place of the database in the process that testKill kills.
const killEnv = "SIGCORE_TEST_KILL_DB"

const killRows = 100

func killBatch(gen int) *store.Batch {
	var b store.Batch
	for i := range killRows {
		b.Put(store.Session(fmt.Sprint(i)), fmt.Append(nil, gen))
		b.Put(store.PreKey(uint32(i)), fmt.Append(nil, gen))
	}
	b.PutAccount(fmt.Append(nil, gen))
	return &b
}

// testKill kills a process that writes one batch after the other, at a random
// moment. All rows are then of one batch, which is the last one acknowledged
// or the one after it. open opens the backend at a place that outlives a
// process; t is a top-level test that does nothing but call testKill.
func testKill(t *testing.T, open func(place string) (store.Backend, error)) {
	if place := os.Getenv(killEnv); place != "" {
		writeUntilKilled(open, place)
	}
	rounds := 5
	if testing.Short() {
		rounds = 2
	}
	place := t.TempDir()
	if b, err := open(place); err != nil {
		t.Fatal(err)
	} else if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for round := range rounds {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), killEnv+"="+place)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		acked := -1
		for in := bufio.NewScanner(out); in.Scan(); {
			if acked < 0 { // however long the start has taken
				time.AfterFunc(time.Duration(50+37*round)*time.Millisecond, func() { cmd.Process.Kill() })
			}
			if _, err := fmt.Sscanf(in.Text(), "acked %d", &acked); err != nil {
				t.Fatalf("the child said %q", in.Text())
			}
		}
		cmd.Wait()
		if acked < 0 {
			t.Fatal("the child acknowledged nothing before it was killed")
		}

		b, err := open(place)
		if err != nil {
			t.Fatal(err)
		}
		checkKillBatch(t, b, acked)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// checkKillBatch holds that the rows are all of batch acked or all of the next.
func checkKillBatch(t *testing.T, b store.Backend, acked int) {
	t.Helper()
	a, err := b.OpenAccount(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	gen := string(a.Row.Value)
	if gen != fmt.Sprint(acked) && gen != fmt.Sprint(acked+1) {
		t.Errorf("batch %d was acknowledged, the account row is of %s", acked, gen)
	}
	var keys []store.Key
	for _, op := range killBatch(0).Ops() {
		keys = append(keys, op.Key)
	}
	recs, _, err := b.Read(t.Context(), a.ID, keys)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range recs {
		if string(r.Value) != gen {
			t.Errorf("row %d is of batch %s, the account row of %s", i, r.Value, gen)
		}
	}
}

func writeUntilKilled(open func(string) (store.Backend, error), place string) {
	ctx := context.Background()
	s, err := open(place)
	if err != nil {
		panic(err)
	}
	a, err := s.OpenAccount(ctx, "a")
	id := a.ID
	if errors.Is(err, store.ErrNoAccount) {
		id, err = s.CreateAccount(ctx, "a", nil)
	}
	if err != nil {
		panic(err)
	}
	for gen := 0; ; gen++ {
		if _, err := s.Apply(ctx, id, killBatch(gen)); err != nil {
			panic(err)
		}
		fmt.Println("acked", gen)
	}
}
