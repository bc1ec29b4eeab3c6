// Package storetest is the conformance suite of store.Backend. Every backend
// runs it, and so can the author of one outside this module.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sigcore/sigcore/signal/store"
)

// Open returns a new, empty backend for one test. It fails the test if it
// cannot.
type Open func(t *testing.T) store.Backend

// Run runs the suite against the backends that open returns.
func Run(t *testing.T, open Open) {
	for _, c := range []struct {
		name string
		f    func(*testing.T, store.Backend)
	}{
		{"Accounts", testAccounts},
		{"ThreeAnswers", testThreeAnswers},
		{"ReadOrder", testReadOrder},
		{"Tables", testTables},
		{"Names", testNames},
		{"MixedBatch", testMixedBatch},
		{"LastWins", testLastWins},
		{"PreKeyBatch", testPreKeyBatch},
		{"LargeBatch", testLargeBatch},
		{"List", testList},
		{"ListPages", testListPages},
		{"Versions", testVersions},
		{"Conflict", testConflict},
		{"ConflictRace", testConflictRace},
		{"Owner", testOwner},
		{"Isolation", testIsolation},
		{"UnknownAccount", testUnknownAccount},
		{"Cancellation", testCancellation},
		{"Atomicity", testAtomicity},
		{"Concurrency", testConcurrency},
		{"Model", testModel},
		{"ProgrammerErrors", testProgrammerErrors},
		{"Close", testClose},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t)
			t.Cleanup(func() {
				if err := b.Close(); err != nil && !errors.Is(err, store.ErrClosed) {
					t.Errorf("close: %v", err)
				}
			})
			c.f(t, b)
		})
	}
}

func create(t *testing.T, b store.Backend, name string) store.AccountID {
	t.Helper()
	id, err := b.CreateAccount(t.Context(), name, []byte("row of "+name))
	if err != nil {
		t.Fatalf("create account: %v", err)
	}
	return id
}

func read(t *testing.T, b store.Backend, id store.AccountID, keys ...store.Key) []store.Record {
	t.Helper()
	recs, _, err := b.Read(t.Context(), id, keys)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	if len(recs) != len(keys) {
		t.Fatalf("read of %d keys returned %d records", len(keys), len(recs))
	}
	return recs
}

func apply(t *testing.T, b store.Backend, id store.AccountID, batch *store.Batch) {
	t.Helper()
	if _, err := b.Apply(t.Context(), id, batch); err != nil {
		t.Fatalf("apply: %v", err)
	}
}

func put(t *testing.T, b store.Backend, id store.AccountID, k store.Key, v string) {
	t.Helper()
	var batch store.Batch
	batch.Put(k, []byte(v))
	apply(t, b, id, &batch)
}

// want checks that k holds v, or is absent if v is "absent".
func want(t *testing.T, b store.Backend, id store.AccountID, k store.Key, v string) {
	t.Helper()
	r := read(t, b, id, k)[0]
	got := "absent"
	if r.Found {
		got = string(r.Value)
	}
	if got != v {
		t.Errorf("%v %q %d: got %q, want %q", k.Table, k.Name, k.ID, got, v)
	}
}

// oneOfEach returns a key of every table.
func oneOfEach() []store.Key {
	return []store.Key{
		store.Identity("a.0"), store.Session("a.0"), store.PreKey(7), store.SignedPreKey(7), store.SenderKey("g:a.0"),
		store.SenderKeyDevice("g:a.0"), store.LID("a"), store.BaseKey("a.0"),
	}
}

func testAccounts(t *testing.T, b store.Backend) {
	ctx := t.Context()
	if _, err := b.OpenAccount(ctx, "one"); !errors.Is(err, store.ErrNoAccount) {
		t.Errorf("open of an absent account: %v", err)
	}
	names, err := b.Accounts(ctx)
	if err != nil || len(names) != 0 {
		t.Errorf("accounts of an empty backend: %q, %v", names, err)
	}
	two, one := create(t, b, "two"), create(t, b, "one")
	if one == two {
		t.Fatal("two accounts have one handle")
	}
	if _, err := b.CreateAccount(ctx, "one", []byte("other")); !errors.Is(err, store.ErrAccountExists) {
		t.Errorf("second account of a name: %v", err)
	}
	names, err = b.Accounts(ctx)
	if err != nil || !slices.Equal(names, []string{"one", "two"}) {
		t.Errorf("accounts: %q, %v", names, err)
	}
	a, err := b.OpenAccount(ctx, "one")
	if err != nil || a.ID != one || string(a.Row.Value) != "row of one" || a.Generation != 1 || a.Row.Version != 1 || a.Owner != (store.Owner{}) {
		t.Errorf("open: %+v %v", a, err)
	}
	var batch store.Batch
	batch.PutAccount([]byte("second row"))
	apply(t, b, one, &batch)
	if a, _ = b.OpenAccount(ctx, "one"); string(a.Row.Value) != "second row" || a.Row.Version != 2 || a.Generation != 2 {
		t.Errorf("account after a write: %+v", a)
	}
	if a, _ = b.OpenAccount(ctx, "two"); string(a.Row.Value) != "row of two" || a.Generation != 1 {
		t.Errorf("the other account: %+v", a)
	}

	for _, k := range oneOfEach() {
		put(t, b, one, k, "x")
	}
	if err := b.DeleteAccount(ctx, one); err != nil {
		t.Fatalf("delete account: %v", err)
	}
	if err := b.DeleteAccount(ctx, one); !errors.Is(err, store.ErrNoAccount) {
		t.Errorf("second deletion: %v", err)
	}
	again := create(t, b, "one")
	if again == one || again == two {
		t.Error("a handle was given a second time")
	}
	for i, r := range read(t, b, again, oneOfEach()...) {
		if r.Found {
			t.Errorf("a deleted account left its row in %v", oneOfEach()[i].Table)
		}
	}
}

func testThreeAnswers(t *testing.T, b store.Backend) {
	id := create(t, b, "a")
	for _, k := range oneOfEach() {
		want(t, b, id, k, "absent")
		put(t, b, id, k, "")
		if r := read(t, b, id, k)[0]; !r.Found || len(r.Value) != 0 {
			t.Errorf("%v: an empty record reads as %+v", k.Table, r)
		}
		var nilValue store.Batch
		nilValue.Put(k, nil)
		apply(t, b, id, &nilValue)
		if r := read(t, b, id, k)[0]; !r.Found || len(r.Value) != 0 {
			t.Errorf("%v: a nil record reads as %+v", k.Table, r)
		}
		var del store.Batch
		del.Delete(k)
		apply(t, b, id, &del)
		want(t, b, id, k, "absent")
		apply(t, b, id, &del)
		want(t, b, id, k, "absent")
	}
}

func testReadOrder(t *testing.T, b store.Backend) {
	id := create(t, b, "a")
	if recs := read(t, b, id); len(recs) != 0 {
		t.Errorf("read of no keys: %v", recs)
	}
	var batch store.Batch
	var keys []store.Key
	for i := range 3000 {
		for _, k := range []store.Key{
			store.Session(fmt.Sprintf("s%d.0", i)), store.PreKey(uint32(i)), store.Identity(fmt.Sprintf("s%d.0", i)),
		} {
			keys = append(keys, k)
			if i%3 != 0 {
				batch.Put(k, fmt.Appendf(nil, "%v %d", k.Table, i))
			}
		}
	}
	apply(t, b, id, &batch)
	keys = append(keys, keys[:100]...)
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for i, r := range read(t, b, id, keys...) {
		n := int(keys[i].ID)
		if !keys[i].Table.ByID() {
			fmt.Sscanf(keys[i].Name, "s%d.0", &n)
		}
		if r.Found != (n%3 != 0) {
			t.Fatalf("position %d: found is %v", i, r.Found)
		}
		if r.Found && string(r.Value) != fmt.Sprintf("%v %d", keys[i].Table, n) {
			t.Fatalf("position %d: %q", i, r.Value)
		}
	}
}

func testTables(t *testing.T, b store.Backend) {
	id := create(t, b, "a")
	keys := []store.Key{
		store.Identity("x"), store.Session("x"), store.SenderKey("x"), store.PreKey(1), store.SignedPreKey(1),
	}
	for i, k := range keys {
		put(t, b, id, k, fmt.Sprint(i))
	}
	for i, k := range keys {
		want(t, b, id, k, fmt.Sprint(i))
	}
	var del store.Batch
	del.Delete(keys[0])
	del.Delete(keys[3])
	apply(t, b, id, &del)
	for i, k := range keys {
		v := fmt.Sprint(i)
		if i == 0 || i == 3 {
			v = "absent"
		}
		want(t, b, id, k, v)
	}
}

// testNames holds that names are compared byte for byte and ids over their
// whole range.
func testNames(t *testing.T, b store.Backend) {
	id := create(t, b, "a")
	names := []string{
		"a", "A", "a ", " a", "a\x00", "a\x00b", "ä", "a\u0308", "\xff\xfe", "%", "_", "'", `"`, "a.0", "a.00", "1", "01", "1.0",
		strings.Repeat("n", 5000),
	}
	var batch store.Batch
	for _, n := range names {
		batch.Put(store.Session(n), []byte("s:"+n))
		batch.Put(store.SenderKey(n), []byte("k:"+n))
	}
	ids := []uint32{0, 1, 1<<24 - 1, 1 << 24, 1<<31 - 1, 1 << 31, 1<<32 - 1}
	for _, n := range ids {
		batch.Put(store.PreKey(n), fmt.Append(nil, "p", n))
	}
	value := make([]byte, 256)
	for i := range value {
		value[i] = byte(i)
	}
	batch.Put(store.Identity("binary"), value)
	apply(t, b, id, &batch)
	for _, n := range names {
		want(t, b, id, store.Session(n), "s:"+n)
		want(t, b, id, store.SenderKey(n), "k:"+n)
	}
	for _, n := range ids {
		want(t, b, id, store.PreKey(n), fmt.Sprint("p", n))
	}
	want(t, b, id, store.Identity("binary"), string(value))
	keys, err := b.List(t.Context(), id, store.Query{Table: store.PreKeys})
	if err != nil || len(keys) != len(ids) {
		t.Fatalf("list: %v, %v", keys, err)
	}
	for i, k := range keys {
		if k != store.PreKey(ids[i]) {
			t.Errorf("id %d of the list is %d", i, k.ID)
		}
	}
}

func testMixedBatch(t *testing.T, b store.Backend) {
	id := create(t, b, "a")
	put(t, b, id, store.PreKey(5), "one-time")
	put(t, b, id, store.Session("p.0"), "old")
	var batch store.Batch
	batch.Put(store.Session("p.0"), []byte("new"))
	batch.Put(store.Identity("p.0"), []byte("identity"))
	batch.Delete(store.PreKey(5))
	batch.PutAccount([]byte("row"))
	if batch.Len() != 4 {
		t.Errorf("a batch of 4 rows has length %d", batch.Len())
	}
	apply(t, b, id, &batch)
	want(t, b, id, store.Session("p.0"), "new")
	want(t, b, id, store.Identity("p.0"), "identity")
	want(t, b, id, store.PreKey(5), "absent")
	if a, err := b.OpenAccount(t.Context(), "a"); err != nil || string(a.Row.Value) != "row" {
		t.Errorf("account row: %q, %v", a.Row.Value, err)
	}
	apply(t, b, id, new(store.Batch))
	want(t, b, id, store.Session("p.0"), "new")
}

func testLastWins(t *testing.T, b store.Backend) {
	id := create(t, b, "a")
	var batch store.Batch
	for _, k := range oneOfEach() {
		batch.Put(k, []byte("first"))
		batch.Put(k, []byte("second"))
	}
	apply(t, b, id, &batch)
	for _, k := range oneOfEach() {
		want(t, b, id, k, "second")
	}
	batch = store.Batch{}
	for _, k := range oneOfEach() {
		batch.Put(k, []byte("third"))
		batch.Delete(k)
	}
	apply(t, b, id, &batch)
	for _, k := range oneOfEach() {
		want(t, b, id, k, "absent")
	}
	batch = store.Batch{}
	for _, k := range oneOfEach() {
		batch.Delete(k)
		batch.Put(k, []byte("fourth"))
	}
	apply(t, b, id, &batch)
	for _, k := range oneOfEach() {
		want(t, b, id, k, "fourth")
	}
}

// PreKeyBatch returns a batch of n one-time prekeys with the ids from first
// on, whose records are parts of one buffer, as an account makes it.
func PreKeyBatch(first uint32, n int) *store.Batch {
	const size = 74
	var b store.Batch
	b.Grow(n)
	buf := make([]byte, n*size)
	for i := range n {
		rec := buf[i*size : (i+1)*size : (i+1)*size]
		for j := range rec {
			rec[j] = byte(i + j)
		}
		b.Put(store.PreKey(first+uint32(i)), rec)
	}
	return &b
}

func testPreKeyBatch(t *testing.T, b store.Backend) {
	id := create(t, b, "a")
	count := func(n int) {
		t.Helper()
		keys, err := b.List(t.Context(), id, store.Query{Table: store.PreKeys})
		if err != nil || len(keys) != n {
			t.Fatalf("%d prekeys are stored, want %d (%v)", len(keys), n, err)
		}
	}
	apply(t, b, id, PreKeyBatch(1, 812))
	count(812)
	apply(t, b, id, PreKeyBatch(1, 812))
	count(812)
	put(t, b, id, store.PreKey(7), "other")
	count(812)
	want(t, b, id, store.PreKey(7), "other")
	var same store.Batch
	for i := range 100 {
		same.Put(store.PreKey(9000), []byte{byte(i)})
	}
	apply(t, b, id, &same)
	count(813)
	want(t, b, id, store.PreKey(9000), "\x63")
	var del store.Batch
	for i := range 813 {
		del.Delete(store.PreKey(uint32(i + 1)))
	}
	apply(t, b, id, &del)
	count(1)
}

func testLargeBatch(t *testing.T, b store.Backend) {
	id := create(t, b, "a")
	big := bytes.Repeat([]byte("0123456789abcdef"), 20_000) // 320 kB
	var batch store.Batch
	batch.Put(store.Session("big"), big)
	for i := range 5000 {
		batch.Put(store.Session(fmt.Sprint("n", i)), []byte{byte(i)})
		batch.Put(store.SenderKey(fmt.Sprint("n", i)), []byte{byte(i), 1})
	}
	apply(t, b, id, &batch)
	want(t, b, id, store.Session("big"), string(big))
	want(t, b, id, store.Session("n4999"), string([]byte{4999 & 255}))
	want(t, b, id, store.SenderKey("n0"), "\x00\x01")
	keys, err := b.List(t.Context(), id, store.Query{Table: store.Sessions})
	if err != nil || len(keys) != 5001 {
		t.Errorf("%d sessions, %v", len(keys), err)
	}
}

func testList(t *testing.T, b store.Backend) {
	id := create(t, b, "a")
	var batch store.Batch
	for _, n := range []string{"b", "a", "ab", "a:1@x", "A", "a%", "a_", "\xff", "\xff\xff", "b\xff"} {
		batch.Put(store.Session(n), nil)
	}
	batch.Put(store.Identity("a"), nil)
	apply(t, b, id, &batch)
	for _, c := range []struct {
		prefix string
		want   []string
	}{
		{"", []string{"A", "a", "a%", "a:1@x", "a_", "ab", "b", "b\xff", "\xff", "\xff\xff"}},
		{"a", []string{"a", "a%", "a:1@x", "a_", "ab"}},
		{"a_", []string{"a_"}},
		{"a%", []string{"a%"}},
		{"b\xff", []string{"b\xff"}},
		{"\xff", []string{"\xff", "\xff\xff"}},
		{"c", nil},
	} {
		keys, err := b.List(t.Context(), id, store.Query{Table: store.Sessions, Prefix: c.prefix})
		if err != nil {
			t.Fatalf("list: %v", err)
		}
		var got []string
		for _, k := range keys {
			if k.Table != store.Sessions || k.ID != 0 {
				t.Errorf("list of sessions returned %+v", k)
			}
			got = append(got, k.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("prefix %q: %q, want %q", c.prefix, got, c.want)
		}
	}
}

func testIsolation(t *testing.T, b store.Backend) {
	one, two := create(t, b, "one"), create(t, b, "two")
	for _, k := range oneOfEach() {
		put(t, b, one, k, "of one")
		want(t, b, two, k, "absent")
		var del store.Batch
		del.Delete(k)
		apply(t, b, two, &del)
		want(t, b, one, k, "of one")
		put(t, b, two, k, "of two")
		want(t, b, one, k, "of one")
	}
	if err := b.DeleteAccount(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	for _, k := range oneOfEach() {
		want(t, b, two, k, "of two")
	}
}

func testUnknownAccount(t *testing.T, b store.Backend) {
	ctx := t.Context()
	id := create(t, b, "a")
	if err := b.DeleteAccount(ctx, id); err != nil {
		t.Fatal(err)
	}
	for _, id := range []store.AccountID{0, -1, id, id + 1} {
		if _, _, err := b.Read(ctx, id, oneOfEach()); !errors.Is(err, store.ErrNoAccount) {
			t.Errorf("read: %v", err)
		}
		if _, _, err := b.Read(ctx, id, nil); !errors.Is(err, store.ErrNoAccount) {
			t.Errorf("read of nothing: %v", err)
		}
		if _, err := b.List(ctx, id, store.Query{Table: store.PreKeys}); !errors.Is(err, store.ErrNoAccount) {
			t.Errorf("list: %v", err)
		}
		var batch store.Batch
		batch.Put(store.PreKey(1), []byte("x"))
		if _, err := b.Apply(ctx, id, &batch); !errors.Is(err, store.ErrNoAccount) {
			t.Errorf("apply: %v", err)
		}
		batch.PutAccount([]byte("x"))
		if _, err := b.Apply(ctx, id, &batch); !errors.Is(err, store.ErrNoAccount) {
			t.Errorf("apply with an account row: %v", err)
		}
	}
}

func testCancellation(t *testing.T, b store.Backend) {
	id := create(t, b, "a")
	put(t, b, id, store.Session("s"), "old")
	cause, cancel := context.WithCancel(t.Context())
	cancel()
	var batch store.Batch
	batch.Put(store.Session("s"), []byte("new"))
	for name, err := range map[string]error{
		"create": second(b.CreateAccount(cause, "b", nil)),
		"delete": b.DeleteAccount(cause, id),
		"apply":  second(b.Apply(cause, id, &batch)),
		"read":   third(b.Read(cause, id, oneOfEach())),
		"list":   second(b.List(cause, id, store.Query{Table: store.Sessions})),
		"names":  second(b.Accounts(cause)),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: %v", name, err)
		}
	}
	want(t, b, id, store.Session("s"), "old")
	names, err := b.Accounts(t.Context())
	if err != nil || !slices.Equal(names, []string{"a"}) {
		t.Errorf("accounts: %q, %v", names, err)
	}
}

func second[T any](_ T, err error) error { return err }

func third[T, U any](_ T, _ U, err error) error { return err }

// testAtomicity cancels batches while they are applied: whatever the answer,
// all rows are of one batch, and after success they are of that batch.
func testAtomicity(t *testing.T, b store.Backend) {
	id := create(t, b, "a")
	const rows = 400
	write := func(ctx context.Context, gen int) error {
		var batch store.Batch
		for i := range rows {
			batch.Put(store.Session(fmt.Sprint(i)), fmt.Append(nil, gen))
			batch.Put(store.PreKey(uint32(i)), fmt.Append(nil, gen))
		}
		_, err := b.Apply(ctx, id, &batch)
		return err
	}
	if err := write(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	keys := make([]store.Key, 0, 2*rows)
	for i := range rows {
		keys = append(keys, store.Session(fmt.Sprint(i)), store.PreKey(uint32(i)))
	}
	generation := func() string {
		recs := read(t, b, id, keys...)
		for i, r := range recs {
			if !bytes.Equal(r.Value, recs[0].Value) {
				t.Fatalf("row %d is of generation %s, row 0 of %s", i, r.Value, recs[0].Value)
			}
		}
		return string(recs[0].Value)
	}

	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { // a reader alongside sees no half of a batch
		for {
			select {
			case <-stop:
				return
			default:
			}
			recs, _, err := b.Read(t.Context(), id, keys)
			if err != nil {
				t.Errorf("read: %v", err)
				return
			}
			for i, r := range recs {
				if !bytes.Equal(r.Value, recs[0].Value) {
					t.Errorf("a reader saw row %d of generation %s beside %s", i, r.Value, recs[0].Value)
					return
				}
			}
		}
	})
	last := generation()
	for gen := 1; gen <= 40; gen++ {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			for range rand.IntN(5000) {
				select {
				case <-done:
				default:
				}
			}
			cancel()
			close(done)
		}()
		err := write(ctx, gen)
		<-done
		got := generation()
		switch {
		case err == nil && got != fmt.Sprint(gen):
			t.Fatalf("generation %d was acknowledged, the rows are of %s", gen, got)
		case err != nil && !errors.Is(err, context.Canceled):
			t.Fatalf("apply: %v", err)
		case err != nil && got != last:
			t.Fatalf("generation %d was refused, the rows are of %s and were of %s", gen, got, last)
		}
		last = got
	}
	close(stop)
	wg.Wait()
}

func testConcurrency(t *testing.T, b store.Backend) {
	const workers, rounds = 8, 40
	ids := []store.AccountID{create(t, b, "a"), create(t, b, "b")}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			id := ids[w%2]
			for i := range rounds {
				var batch store.Batch
				batch.Put(store.Session(fmt.Sprint("w", w)), fmt.Append(nil, i))
				batch.Put(store.PreKey(uint32(w*rounds+i)), []byte("k"))
				if _, err := b.Apply(t.Context(), id, &batch); err != nil {
					t.Errorf("apply: %v", err)
					return
				}
				recs, _, err := b.Read(t.Context(), id, []store.Key{store.Session(fmt.Sprint("w", w))})
				if err != nil || string(recs[0].Value) != fmt.Sprint(i) {
					t.Errorf("a write is not read back: %v, %v", recs, err)
					return
				}
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		keys, err := b.List(t.Context(), id, store.Query{Table: store.PreKeys})
		if err != nil || len(keys) != workers*rounds/2 {
			t.Errorf("%d prekeys, %v", len(keys), err)
		}
	}
}

// testModel compares random batches with a map.
func testModel(t *testing.T, b store.Backend) {
	rng := rand.New(rand.NewPCG(3, 4))
	id := create(t, b, "a")
	model := map[store.Key]string{}
	randomKey := func() store.Key {
		n := rng.IntN(12)
		switch rng.IntN(8) {
		case 0:
			return store.Identity(fmt.Sprint(n))
		case 4:
			return store.SenderKeyDevice(fmt.Sprint(n))
		case 5:
			return store.LID(fmt.Sprint(n))
		case 6:
			return store.BaseKey(fmt.Sprint(n))
		case 1:
			return store.Session(fmt.Sprint(n))
		case 2:
			return store.SenderKey(fmt.Sprint(n))
		case 3:
			return store.PreKey(uint32(n))
		}
		return store.SignedPreKey(uint32(n))
	}
	for round := range 150 {
		var batch store.Batch
		for range rng.IntN(20) {
			k := randomKey()
			if rng.IntN(3) == 0 {
				batch.Delete(k)
				delete(model, k)
				continue
			}
			v := fmt.Sprint(round, rng.Uint32())
			batch.Put(k, []byte(v))
			model[k] = v
		}
		apply(t, b, id, &batch)
		var keys []store.Key
		for range 10 {
			keys = append(keys, randomKey())
		}
		for i, r := range read(t, b, id, keys...) {
			if v, ok := model[keys[i]]; ok != r.Found || v != string(r.Value) {
				t.Fatalf("round %d: %+v is %q %v, want %q %v", round, keys[i], r.Value, r.Found, v, ok)
			}
		}
	}
	for table := store.Identities; table.Valid(); table++ {
		keys, err := b.List(t.Context(), id, store.Query{Table: table})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for k := range model {
			if k.Table == table {
				n++
			}
		}
		if len(keys) != n || !slices.IsSortedFunc(keys, store.Key.Compare) {
			t.Errorf("%v: %d rows, want %d, sorted", table, len(keys), n)
		}
	}
}

func testProgrammerErrors(t *testing.T, b store.Backend) {
	id := create(t, b, "a")
	for name, f := range map[string]func(){
		"no table":      func() { b.Read(t.Context(), id, []store.Key{{Name: "x"}}) },
		"unknown table": func() { b.Read(t.Context(), id, []store.Key{{Table: 99, Name: "x"}}) },
		"name for id":   func() { b.Read(t.Context(), id, []store.Key{{Table: store.PreKeys, Name: "x"}}) },
		"id for name":   func() { b.Read(t.Context(), id, []store.Key{{Table: store.Sessions, ID: 1}}) },
		"put":           func() { new(store.Batch).Put(store.Key{}, nil) },
		"delete":        func() { new(store.Batch).Delete(store.Key{Table: store.Sessions}) },
		"list":          func() { b.List(t.Context(), id, store.Query{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
	put(t, b, id, store.Session("s"), "still usable")
	want(t, b, id, store.Session("s"), "still usable")
}

func testClose(t *testing.T, b store.Backend) {
	id := create(t, b, "a")
	if err := b.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	ctx := t.Context()
	for name, err := range map[string]error{
		"create": second(b.CreateAccount(ctx, "b", nil)),
		"delete": b.DeleteAccount(ctx, id),
		"apply":  second(b.Apply(ctx, id, new(store.Batch))),
		"read":   third(b.Read(ctx, id, oneOfEach())),
		"list":   second(b.List(ctx, id, store.Query{Table: store.Sessions})),
		"names":  second(b.Accounts(ctx)),
	} {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s after close: %v", name, err)
		}
	}
	if _, err := b.OpenAccount(ctx, "a"); !errors.Is(err, store.ErrClosed) {
		t.Errorf("open after close: %v", err)
	}
	if err := b.Close(); err != nil && !errors.Is(err, store.ErrClosed) {
		t.Errorf("second close: %v", err)
	}
}
