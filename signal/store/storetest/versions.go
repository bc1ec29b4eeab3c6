package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/sigcore/sigcore/signal/store"
)

// testListPages walks tables in pages of every size.
func testListPages(t *testing.T, b store.Backend) {
	id := create(t, b, "a")
	var batch store.Batch
	var names, ids []store.Key
	for i := range 10 {
		names = append(names, store.Session(fmt.Sprint("p", i)))
		ids = append(ids, store.PreKey(uint32(i)))
		batch.Put(names[i], nil)
		batch.Put(ids[i], nil)
	}
	batch.Put(store.Session("a"), nil)
	batch.Put(store.Session("q"), nil)
	apply(t, b, id, &batch)
	for _, want := range [][]store.Key{names, ids} {
		for size := 1; size <= 11; size++ {
			q := store.Query{Table: want[0].Table, Prefix: "p", Limit: size}
			var got []store.Key
			for {
				page, err := b.List(t.Context(), id, q)
				if err != nil || len(page) > size {
					t.Fatalf("a page of %d has %d keys, %v", size, len(page), err)
				}
				if len(page) == 0 {
					break
				}
				got = append(got, page...)
				q.After = page[len(page)-1]
			}
			if !slices.Equal(got, want) {
				t.Errorf("pages of %d: %v, want %v", size, got, want)
			}
		}
	}
	page, err := b.List(t.Context(), id, store.Query{Table: store.Sessions, After: store.Session("p55")})
	if err != nil || len(page) != 5 || page[0] != names[6] {
		t.Errorf("after an absent row: %v, %v", page, err)
	}
}

// testVersions follows the generation of an account and the versions of its
// rows.
func testVersions(t *testing.T, b store.Backend) {
	ctx := t.Context()
	id, other := create(t, b, "a"), create(t, b, "b")
	generation := uint64(1)
	write := func(batch *store.Batch) {
		t.Helper()
		got, err := b.Apply(ctx, id, batch)
		if err != nil || got != generation {
			t.Fatalf("apply: generation %d, %v, want %d", got, err, generation)
		}
	}
	check := func(want map[store.Key]uint64) {
		t.Helper()
		recs, got, err := b.Read(ctx, id, oneOfEach())
		if err != nil || got != generation {
			t.Fatalf("read: generation %d, %v, want %d", got, err, generation)
		}
		for i, k := range oneOfEach() {
			if r := recs[i]; r.Version != want[k] || r.Found != (want[k] != 0) {
				t.Errorf("%v: version %d, want %d", k.Table, r.Version, want[k])
			}
		}
	}
	check(nil)
	write(new(store.Batch)) // writes nothing
	check(nil)
	want := map[store.Key]uint64{}
	for _, k := range oneOfEach() {
		var batch store.Batch
		batch.Put(k, []byte("x"))
		generation++
		write(&batch)
		want[k] = generation
		check(want)
	}
	var all store.Batch
	generation++
	for _, k := range oneOfEach() {
		all.Put(k, []byte("x")) // the same value is a new version all the same
		want[k] = generation
	}
	write(&all)
	check(want)
	var del store.Batch
	del.Delete(oneOfEach()[2])
	del.Delete(store.Session("absent"))
	generation++
	write(&del)
	delete(want, oneOfEach()[2])
	check(want)
	var row store.Batch
	row.PutAccount([]byte("row"))
	generation++
	write(&row)
	check(want)
	a, err := b.OpenAccount(ctx, "a")
	if err != nil || a.Generation != generation || a.Row.Version != generation {
		t.Errorf("account: %+v, %v", a, err)
	}
	if _, got, err := b.Read(ctx, other, nil); err != nil || got != 1 {
		t.Errorf("generation of the other account: %d, %v", got, err)
	}
}

// conflict checks that err is a ConflictError about these tables.
func conflict(t *testing.T, what string, err error, want ...store.Table) {
	t.Helper()
	var c *store.ConflictError
	if !errors.As(err, &c) || !errors.Is(err, store.ErrConflict) || !slices.Equal(c.Tables, want) {
		t.Errorf("%s: %v, want a conflict about %v", what, err, want)
	}
}

// testConflict holds that a batch is applied exactly if all rows are of the
// versions that it expects.
func testConflict(t *testing.T, b store.Backend) {
	ctx := t.Context()
	id := create(t, b, "a")
	keys := oneOfEach()
	for _, k := range keys { // each row is expected to be absent, and is
		var batch store.Batch
		batch.Put(k, []byte("old"))
		batch.Expect(k, 0)
		apply(t, b, id, &batch)
	}
	for i, k := range keys {
		recs, generation, err := b.Read(ctx, id, keys)
		if err != nil {
			t.Fatal(err)
		}
		update := func(version uint64) *store.Batch {
			var batch store.Batch
			for j, k := range keys {
				batch.Put(k, []byte("new"))
				if j != i {
					batch.Expect(k, recs[j].Version)
				}
			}
			batch.PutAccount([]byte("new"))
			batch.Expect(k, version)
			return &batch
		}
		for _, version := range []uint64{0, 1, recs[i].Version - 1, recs[i].Version + 1} {
			_, err := b.Apply(ctx, id, update(version))
			conflict(t, fmt.Sprint(k.Table), err, k.Table)
		}
		want(t, b, id, k, "old")
		batch := update(recs[i].Version)
		batch.ReadAt(generation)
		apply(t, b, id, batch)
		want(t, b, id, k, "new")
		_, err = b.Apply(ctx, id, batch)
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("%v: the same batch again: %v", k.Table, err)
		}
		for _, k := range keys {
			put(t, b, id, k, "old")
		}
	}
	var gone store.Batch
	gone.Delete(keys[1])
	apply(t, b, id, &gone)
	recs := read(t, b, id, keys...)
	var batch store.Batch
	for i, k := range keys {
		batch.Expect(k, recs[i].Version+1)
	}
	batch.Expect(store.Key{}, 77)
	_, err := b.Apply(ctx, id, &batch)
	conflict(t, "all rows", err, 0, store.Identities, store.Sessions, store.PreKeys, store.SignedPreKeys,
		store.SenderKeys, store.SenderKeyDevices, store.LIDs, store.BaseKeys)
	a, err := b.OpenAccount(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	var row store.Batch
	row.PutAccount([]byte("newer"))
	row.Expect(store.Key{}, a.Row.Version)
	apply(t, b, id, &row)
	_, err = b.Apply(ctx, id, &row)
	conflict(t, "account row", err, 0)
}

// testConflictRace has several writers count a row up: none of their updates is
// lost.
func testConflictRace(t *testing.T, b store.Backend) {
	const writers, rounds = 6, 15
	ctx := t.Context()
	id := create(t, b, "a")
	k := store.Session("counter")
	put(t, b, id, k, "0")
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for done := 0; done < rounds; {
				recs, generation, err := b.Read(ctx, id, []store.Key{k})
				if err != nil {
					t.Errorf("read: %v", err)
					return
				}
				var n int
				fmt.Sscan(string(recs[0].Value), &n)
				var batch store.Batch
				batch.Put(k, fmt.Append(nil, n+1))
				batch.Expect(k, recs[0].Version)
				batch.ReadAt(generation)
				_, err = b.Apply(ctx, id, &batch)
				switch {
				case err == nil:
					done++
				case !errors.Is(err, store.ErrConflict):
					t.Errorf("apply: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	want(t, b, id, k, fmt.Sprint(writers*rounds))
}

// testOwner holds that only the owner writes, and only the last one.
func testOwner(t *testing.T, b store.Backend) {
	ctx := t.Context()
	id, other := create(t, b, "a"), create(t, b, "b")
	owned := func(what string, err error, fence uint64, held bool) {
		t.Helper()
		var o *store.OwnedError
		if !errors.As(err, &o) || !errors.Is(err, store.ErrOwned) || o.Owner.Fence != fence || o.Owner.Held != held {
			t.Errorf("%s: %v, want it refused for owner %d, held %v", what, err, fence, held)
		}
	}
	write := func(fence uint64) error {
		var batch store.Batch
		batch.SetFence(fence)
		batch.Put(store.Session("s"), fmt.Append(nil, fence))
		_, err := b.Apply(ctx, id, &batch)
		return err
	}
	if err := write(0); err != nil {
		t.Fatal(err)
	}
	owned("a fence of nobody", write(1), 0, false)
	owned("release of nobody", b.Release(ctx, id, 0), 0, false)
	first, err := b.Acquire(ctx, id, "first", false)
	if err != nil || first != 1 {
		t.Fatalf("acquire: %d, %v", first, err)
	}
	if a, err := b.OpenAccount(ctx, "a"); err != nil || a.Owner != (store.Owner{Fence: 1, Held: true, Holder: "first"}) {
		t.Errorf("owner: %+v, %v", a.Owner, err)
	}
	_, err = b.Acquire(ctx, id, "second", false)
	owned("acquire", err, 1, true)
	owned("no fence", write(0), 1, true)
	var empty store.Batch
	_, err = b.Apply(ctx, id, &empty)
	owned("an empty batch", err, 1, true)
	if err := write(first); err != nil {
		t.Error(err)
	}
	second, err := b.Acquire(ctx, id, "second", true)
	if err != nil || second != 2 {
		t.Fatalf("take over: %d, %v", second, err)
	}
	owned("the former owner", write(first), 2, true)
	owned("release by the former owner", b.Release(ctx, id, first), 2, true)
	if err := write(second); err != nil {
		t.Error(err)
	}
	if err := b.Release(ctx, id, second); err != nil {
		t.Error(err)
	}
	owned("second release", b.Release(ctx, id, second), 2, false)
	owned("after the release", write(second), 2, false)
	if err := write(0); err != nil {
		t.Error(err)
	}
	third, err := b.Acquire(ctx, id, "third", false)
	if err != nil || third != 3 {
		t.Errorf("acquire after a release: %d, %v", third, err)
	}
	put(t, b, other, store.Session("s"), "other")
	// Whoever owns it, an account can be deleted.
	if err := b.DeleteAccount(ctx, id); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"acquire": errOf(b.Acquire(ctx, id, "", true)), "release": b.Release(ctx, id, third),
	} {
		if !errors.Is(err, store.ErrNoAccount) {
			t.Errorf("%s of a deleted account: %v", what, err)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for what, err := range map[string]error{
		"acquire": errOf(b.Acquire(cancelled, other, "", true)), "release": b.Release(cancelled, other, 1),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: %v", what, err)
		}
	}
	put(t, b, other, store.Session("s"), "other")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"acquire": errOf(b.Acquire(ctx, other, "", true)), "release": b.Release(ctx, other, 1),
	} {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s after close: %v", what, err)
		}
	}
}

func errOf(_ uint64, err error) error { return err }
