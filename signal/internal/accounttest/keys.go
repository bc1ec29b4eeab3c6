package accounttest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sigcore/sigcore/signal"
)

// testForeignKeys: what is not the account's own does not become its prekey.
func testForeignKeys(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := pair(t, open)
	of := func(p *party) *signal.SignedPreKey {
		k, err := signal.GenerateSignedPreKey(9, p.Identity(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	flipped, mixed := of(alice), of(alice)
	flipped.Signature[7] ^= 1
	mixed.Private = of(alice).Private
	single, err := signal.GeneratePreKey(9)
	if err != nil {
		t.Fatal(err)
	}
	other, err := signal.GeneratePreKey(10)
	if err != nil {
		t.Fatal(err)
	}
	other.Public = single.Public
	alice.unchanged("a foreign key", func() {
		wantError(t, "another's signed prekey", alice.SetSignedPreKey(ctx, of(bob)), signal.ErrBadSignature)
		wantError(t, "a flipped signature", alice.SetSignedPreKey(ctx, flipped), signal.ErrBadSignature)
		wantError(t, "a signed prekey of two pairs", alice.SetSignedPreKey(ctx, mixed), signal.ErrMalformed)
		wantError(t, "a prekey of two pairs", alice.SetPreKeys(ctx, single, other), signal.ErrMalformed)
	})
	if err := alice.SetSignedPreKey(ctx, of(alice)); err != nil {
		t.Error(err)
	}
}

func preKeyIDs(keys []signal.PublicPreKey) (ids []uint32) {
	for _, k := range keys {
		ids = append(ids, k.ID)
	}
	return ids
}

// toUpload has p name n prekeys to upload.
func (p *party) toUpload(n int) []signal.PublicPreKey {
	p.t.Helper()
	keys, err := p.PreKeysToUpload(p.t.Context(), n)
	if err != nil || len(keys) != n {
		p.t.Fatalf("%d prekeys to upload, want %d: %v", len(keys), n, err)
	}
	return keys
}

// wantPool fails the test unless the pool of p has these sizes.
func (p *party) wantPool(what string, uploaded, not int) {
	p.t.Helper()
	got, err := p.PreKeyPool(p.t.Context())
	if err != nil || got.Stored != uploaded+not || got.Uploaded != uploaded || got.NotUploaded != not {
		p.t.Errorf("%s: pool %+v, want %d uploaded and %d not: %v", what, got, uploaded, not, err)
	}
}

// use has a fresh account use up the prekey of that id.
func (p *party) use(number int, id uint32) {
	p.t.Helper()
	q := newParty(p.t, p.store.Backend, number)
	b, err := p.Bundle(p.t.Context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := q.ProcessBundle(p.t.Context(), p.addr, b); err != nil {
		p.t.Fatal(err)
	}
	q.say(p, "hello")
}

// testUploads: prekeys are offered until they are marked, in the order in which
// they were made, and marks bring none back.
func testUploads(t *testing.T, open Open) {
	ctx := t.Context()
	b, reopen := open(t)
	alice := newParty(t, b, 1)
	first := alice.toUpload(20)
	alice.store.counts()
	if again := alice.toUpload(20); !slices.Equal(again, first) {
		t.Error("an upload is not repeated with the same keys")
	}
	if _, w := alice.store.counts(); w != 0 {
		t.Errorf("offering the same keys took %d writes", w)
	}
	alice.wantPool("after two offers", 0, 20)
	if got := preKeyIDs(alice.toUpload(22)); !slices.Equal(got[:20], preKeyIDs(first)) || got[20] != 21 || got[21] != 22 {
		t.Errorf("offered %v", got)
	}
	if keys, err := alice.PreKeysToUpload(ctx, 0); err != nil || len(keys) != 0 {
		t.Errorf("no keys to upload: %v, %v", keys, err)
	}

	// Two are used up before they are marked.
	alice.use(50, 3)
	alice.use(51, 12)
	if err := alice.MarkUploaded(ctx, []uint32{12, 1, 2, 3, 7, 7, 9999}); err != nil {
		t.Fatal(err)
	}
	alice.wantPool("after the marks", 3, 17)
	_, err := alice.Bundle(ctx, 3)
	wantError(t, "a prekey that was used up and marked", err, signal.ErrNoPreKey)
	alice.store.counts()
	if err := alice.MarkUploaded(ctx, []uint32{7, 1}); err != nil {
		t.Fatal(err)
	}
	if _, w := alice.store.counts(); w != 0 {
		t.Errorf("marks that are there took %d writes", w)
	}
	want := []uint32{4, 5, 6, 8, 9, 10, 11, 13}
	if got := preKeyIDs(alice.toUpload(8)); !slices.Equal(got, want) {
		t.Errorf("offered %v, want %v", got, want)
	}
	// One that was used up without a mark is passed over.
	alice.use(52, 5)
	want = []uint32{4, 6, 8, 9, 10, 11, 13, 14}
	if got := preKeyIDs(alice.toUpload(8)); !slices.Equal(got, want) {
		t.Errorf("offered %v, want %v", got, want)
	}

	alice.store.Backend = reopen()
	again, err := signal.OpenAccount(ctx, alice.store, alice.addr.Name, options)
	if err != nil {
		t.Fatal(err)
	}
	alice.Account = again
	if got := preKeyIDs(alice.toUpload(8)); !slices.Equal(got, want) {
		t.Errorf("offered %v after a restart, want %v", got, want)
	}
	if err := alice.ForgetUploads(ctx); err != nil {
		t.Fatal(err)
	}
	alice.wantPool("after the server lost them", 0, 19)
	if got := preKeyIDs(alice.toUpload(4)); !slices.Equal(got, []uint32{1, 2, 4, 6}) {
		t.Errorf("offered %v after the server lost them", got)
	}

	// One that is set is taken for uploaded.
	own, err := signal.GeneratePreKey(2)
	if err != nil {
		t.Fatal(err)
	}
	if err := alice.SetPreKeys(ctx, own); err != nil {
		t.Fatal(err)
	}
	if got := preKeyIDs(alice.toUpload(2)); !slices.Equal(got, []uint32{1, 4}) {
		t.Errorf("offered %v after prekey 2 was set", got)
	}

	w := signal.PreKeyWindow{Low: 5, Target: 20}
	for have, want := range map[int]int{-1: 20, 0: 20, 4: 16, 5: 0, 6: 0, 100: 0} {
		if got := w.Missing(have); got != want {
			t.Errorf("%d prekeys are missing to %d, want %d", got, have, want)
		}
	}
	if n := (signal.PreKeyWindow{Low: 30, Target: 20}).Missing(25); n != 0 {
		t.Errorf("%d prekeys are missing over the target", n)
	}
}

// testPreKeyWrap: after the last id comes 1, and what is stored is kept.
func testPreKeyWrap(t *testing.T, open Open) {
	ctx := t.Context()
	alice, _ := pair(t, open)
	old := alice.toUpload(3)
	last, err := signal.GeneratePreKey(signal.MaxPreKeyID - 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := alice.SetPreKeys(ctx, last); err != nil {
		t.Fatal(err)
	}
	if err := alice.MarkUploaded(ctx, []uint32{2}); err != nil {
		t.Fatal(err)
	}
	const m = signal.MaxPreKeyID
	want := []uint32{1, 3, m - 2, m - 1, m, 4, 5}
	got := alice.toUpload(7)
	if !slices.Equal(preKeyIDs(got), want) || got[0] != old[0] {
		t.Errorf("offered %v, want %v", preKeyIDs(got), want)
	}
	// Those from before the wrap are the older ones.
	want = []uint32{m - 2, m - 1, m, 1, 3, 4, 5}
	if got := preKeyIDs(alice.toUpload(7)); !slices.Equal(got, want) {
		t.Errorf("offered %v, want %v", got, want)
	}
	b, err := alice.Bundle(ctx, 2)
	if err != nil || b.PreKey != old[1].Public {
		t.Errorf("prekey 2 after the wrap: %v", err)
	}
	if b, err := alice.Bundle(ctx, 0); err != nil || b.HasPreKey {
		t.Errorf("prekey 0: %v", err)
	}
}

// testRetryPreKey: receipts give one prekey until it is used up, and it is not
// uploaded.
func testRetryPreKey(t *testing.T, open Open) {
	ctx := t.Context()
	alice, _ := pair(t, open)
	get := func() signal.PublicPreKey {
		t.Helper()
		k, err := alice.RetryPreKey(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	first := get()
	if first.ID != 1 || get() != first {
		t.Errorf("prekey %d of retry receipts changed", first.ID)
	}
	alice.wantPool("after a retry receipt", 1, 0)
	offered := alice.toUpload(4)
	if offered[0].ID != 2 {
		t.Errorf("offered %v", preKeyIDs(offered))
	}
	alice.use(50, first.ID)
	if k := get(); k != offered[0] {
		t.Errorf("prekey %d follows the one that was used up", k.ID)
	}
	if err := alice.ForgetUploads(ctx); err != nil {
		t.Fatal(err)
	}
	if got := preKeyIDs(alice.toUpload(3)); !slices.Equal(got, []uint32{3, 4, 5}) {
		t.Errorf("offered %v", got)
	}
}

// testRotation: a signed prekey that the server may still give out stays, others
// go when retention says so.
func testRotation(t *testing.T, open Open) {
	ctx := t.Context()
	b, _ := open(t)
	alice, bob := newParty(t, b, 1), newParty(t, b, 2)
	const day = 24 * time.Hour
	start := time.Unix(1_700_000_000, 0)
	keep := signal.SignedPreKeyRetention{Count: 1, Age: 30 * day}
	rotate := func(after time.Duration, current uint32, removed ...uint32) {
		t.Helper()
		r, err := bob.RotateSignedPreKey(ctx, start.Add(after), keep)
		if err != nil || r.Current.ID != current || !slices.Equal(r.Removed, removed) {
			t.Fatalf("rotation to %d removed %v, want %d and %v: %v", r.Current.ID, r.Removed, current, removed, err)
		}
		if r.Current.Timestamp != uint64(start.Add(after).Unix()) {
			t.Errorf("signed prekey of %d", r.Current.Timestamp)
		}
	}
	mark := func(id uint32, after time.Duration) {
		t.Helper()
		if err := bob.MarkSignedPreKeyUploaded(ctx, id, start.Add(after)); err != nil {
			t.Fatal(err)
		}
	}
	status := func(id uint32, uploaded bool, retained ...uint32) {
		t.Helper()
		s, err := bob.SignedPreKeyStatus(ctx)
		if err != nil || !s.Exists || s.ID != id || s.Uploaded != uploaded || !slices.Equal(s.Retained, retained) {
			t.Errorf("status %+v, want %d, %v, %v: %v", s, id, uploaded, retained, err)
		}
	}
	alice.start(bob)
	old := alice.encrypt(bob, "to the first")

	rotate(0, 2)
	rotate(100*day, 3)
	rotate(200*day, 4) // nothing was uploaded, nothing is removed
	status(4, false, 1, 2, 3)
	mark(3, 200*day) // an answer that came too late
	status(4, false, 1, 2, 3)
	mark(4, 201*day)
	status(4, true, 1, 2, 3)
	bob.decrypt(alice, old, "to the first")
	rotate(210*day, 5) // the mark is too young
	status(5, false, 1, 2, 3, 4)
	mark(5, 211*day)
	mark(5, 500*day) // once is enough
	rotate(235*day, 6, 1, 2, 3)
	status(6, false, 4, 5)
	ids, err := bob.SignedPreKeyIDs(ctx)
	if err != nil || !slices.Equal(ids, []uint32{4, 5, 6}) {
		t.Errorf("signed prekeys %v, %v", ids, err)
	}
	mark(6, 236*day)
	rotate(241*day, 7, 4) // 5 is old enough now, and 6 is the one that Count keeps
	status(7, false, 5, 6)

	// A message to one that is gone.
	late := newParty(t, b, 3)
	bundle, err := bob.Bundle(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := late.ProcessBundle(ctx, bob.addr, bundle); err != nil {
		t.Fatal(err)
	}
	c := late.encrypt(bob, "late")
	mark(7, 242*day)
	keep = signal.SignedPreKeyRetention{}
	rotate(243*day, 8, 5, 6)
	mark(8, 243*day)
	rotate(244*day, 9, 7)
	bob.unchanged("a signed prekey that was removed", func() {
		_, err := bob.Decrypt(ctx, late.addr, c.Type, c.Body)
		wantError(t, "a signed prekey that was removed", err, signal.ErrSignedPreKeyID)
		var gone *signal.PreKeyIDError
		if !errors.As(err, &gone) || gone.ID != bundle.SignedPreKeyID || !gone.Signed {
			t.Errorf("a signed prekey that was removed: %v", err)
		}
	})

	// One that is set by hand takes part, and its id is not minted again.
	own, err := signal.GenerateSignedPreKey(40, bob.Identity(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := bob.SetSignedPreKey(ctx, own); err != nil {
		t.Fatal(err)
	}
	rotate(245*day, 41)
	if err := bob.SetSignedPreKey(ctx, own); err != nil { // back to it
		t.Fatal(err)
	}
	status(40, false, 8, 9, 41)
	if err := bob.RemoveSignedPreKey(ctx, 9); err != nil {
		t.Fatal(err)
	}
	status(40, false, 8, 41)
	rotate(246*day, 42)
	_, err = bob.SignedPreKey(ctx, 9)
	wantError(t, "a signed prekey that was removed", err, signal.ErrNoPreKey)
	if k, err := bob.SignedPreKey(ctx, 40); err != nil || k.Public != own.Public {
		t.Errorf("signed prekey 40: %v", err)
	}

	// Ids wrap as those of prekeys do.
	own.ID = signal.MaxPreKeyID
	if err := bob.SetSignedPreKey(ctx, own); err != nil {
		t.Fatal(err)
	}
	rotate(247*day, 1)
}

// testKeyFailures: a call that fails, at any call of the backend or because of
// its context, has given nothing away and changed nothing.
func testKeyFailures(t *testing.T, open Open) {
	alice, _ := pair(t, open)
	ctx := t.Context()
	alice.toUpload(5)
	if _, err := alice.RetryPreKey(ctx); err != nil {
		t.Fatal(err)
	}
	own, err := signal.GeneratePreKey(77)
	if err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func(context.Context) (any, error){
		"to upload": func(ctx context.Context) (any, error) {
			k, err := alice.PreKeysToUpload(ctx, 9)
			return k == nil, err
		},
		"mark":   func(ctx context.Context) (any, error) { return true, alice.MarkUploaded(ctx, []uint32{2}) },
		"forget": func(ctx context.Context) (any, error) { return true, alice.ForgetUploads(ctx) },
		"set":    func(ctx context.Context) (any, error) { return true, alice.SetPreKeys(ctx, own) },
		"rotate": func(ctx context.Context) (any, error) {
			r, err := alice.RotateSignedPreKey(ctx, time.Unix(1, 0), signal.SignedPreKeyRetention{})
			return r.Current == nil, err
		},
		"mark signed": func(ctx context.Context) (any, error) {
			return true, alice.MarkSignedPreKeyUploaded(ctx, 1, time.Unix(1, 0))
		},
		"remove": func(ctx context.Context) (any, error) { return true, alice.RemoveSignedPreKey(ctx, 5) },
	} {
		alice.failEverywhere(name, do)
	}
	alice.wantPool("after failures", 1, 4)

	// Callers at once do not undo each other.
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			if _, err := alice.GeneratePreKeys(ctx, 3); err != nil {
				t.Error(err)
			}
			if err := alice.MarkUploaded(ctx, []uint32{uint32(2 + i)}); err != nil {
				t.Error(err)
			}
			if _, err := alice.RetryPreKey(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	alice.wantPool("after many at once", 5, 12)
}

// failEverywhere has each call of the backend that do makes fail in turn, before
// it took place and by the end of the context, and holds that do then reports
// it, gives nothing away, and changes nothing. do's result says whether nothing
// was given away. The calls that go through the party's store are counted.
func (p *party) failEverywhere(what string, do func(context.Context) (any, error)) {
	p.t.Helper()
	for _, cancel := range []bool{false, true} {
		for n := 0; ; n++ {
			ctx, stop := context.WithCancel(p.t.Context())
			calls, want := 0, errLocked
			if cancel {
				want = context.Canceled
			}
			p.store.hooks(func(_ ctxt, c call) error {
				calls++
				if calls-1 != n {
					return nil
				}
				if cancel {
					stop()
					return ctx.Err()
				}
				return errLocked
			}, nil)
			done := !p.reaches(n, do)
			if !done {
				p.unchanged(what, func() {
					calls = 0
					nothing, err := do(ctx)
					wantError(p.t, what, err, want)
					if nothing != true {
						p.t.Errorf("%s: failed and gave something away", what)
					}
				})
			}
			stop()
			p.store.heal()
			if done {
				if n == 0 {
					p.t.Errorf("%s makes no call of the backend", what)
				}
				break
			}
		}
	}
}

var errProbe = errors.New("accounttest: probe")

// reaches reports whether do makes more than n calls of the backend that can be
// made to fail. It changes nothing: no write is let through.
func (p *party) reaches(n int, do func(context.Context) (any, error)) bool {
	p.store.mu.Lock()
	before, after := p.store.before, p.store.after
	p.store.mu.Unlock()
	calls := 0
	p.store.hooks(func(_ ctxt, c call) error {
		calls++
		if calls > n || c.write {
			return errProbe
		}
		return nil
	}, nil)
	_, err := do(context.Background())
	p.store.hooks(before, after)
	return calls > n && errors.Is(err, errProbe)
}
