package accounttest

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sigcore/sigcore/signal"
)

// testKeyModel compares the pool of prekeys with a simple model of it, over random
// steps in any order, some of which fail, and across the wrap of ids.
func testKeyModel(t *testing.T, open Open) {
	for seed := range uint64(steps(6, 2)) {
		rng := rand.New(rand.NewPCG(seed, 3))
		b, _ := open(t)
		alice := newParty(t, b, 1)
		if seed%2 == 1 {
			// Near the end of the ids.
			k, err := signal.GeneratePreKey(signal.MaxPreKeyID - 40)
			if err != nil {
				t.Fatal(err)
			}
			if err := alice.SetPreKeys(t.Context(), k); err != nil {
				t.Fatal(err)
			}
		}
		keyModel(alice, rng)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// modelKey is what the model knows of a prekey that is stored.
type modelKey struct {
	public   signal.PublicKey
	uploaded bool
	age      int // in the order of minting
}

func keyModel(p *party, rng *rand.Rand) {
	t, ctx := p.t, p.t.Context()
	stored := map[uint32]*modelKey{}
	ids, err := p.PreKeyIDs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		stored[id] = &modelKey{uploaded: true}
	}
	given := map[uint32]bool{} // ids that were ever minted
	age, retry := 0, uint32(0)
	take := func(k signal.PublicPreKey, fresh bool) {
		switch have := stored[k.ID]; {
		case fresh:
			if k.ID == 0 || k.ID > signal.MaxPreKeyID || have != nil || given[k.ID] {
				t.Errorf("id %d was minted", k.ID)
			}
			given[k.ID] = true
			stored[k.ID] = &modelKey{public: k.Public, age: age}
			age++
		case have == nil || have.public != k.Public:
			t.Errorf("prekey %d is not what was minted", k.ID)
		}
	}
	// waiting returns the ids that were not uploaded, the oldest first.
	waiting := func() []uint32 {
		var out []uint32
		for id, k := range stored {
			if !k.uploaded {
				out = append(out, id)
			}
		}
		slices.SortFunc(out, func(a, b uint32) int { return stored[a].age - stored[b].age })
		return out
	}
	random := func() uint32 {
		ids := slices.Sorted(maps.Keys(stored))
		if len(ids) == 0 {
			return 0
		}
		return ids[rng.IntN(len(ids))]
	}
	next := 100
	for step := range 120 {
		calls, fault := 0, 0
		if rng.IntN(4) == 0 {
			fault = 1 + rng.IntN(4)
		}
		p.store.hooks(func(ctxt, call) error {
			if calls++; calls == fault {
				return errLocked
			}
			return nil
		}, nil)
		var err error
		switch rng.IntN(6) {
		case 0, 1:
			n := rng.IntN(12)
			want := waiting()
			var keys []signal.PublicPreKey
			if keys, err = p.PreKeysToUpload(ctx, n); err != nil {
				break
			}
			if len(keys) != n || !slices.Equal(preKeyIDs(keys)[:min(n, len(want))], want[:min(n, len(want))]) {
				t.Errorf("step %d: offered %v of %v", step, preKeyIDs(keys), want)
			}
			for i, k := range keys {
				take(k, i >= len(want))
			}
		case 2:
			marks := []uint32{random(), random(), 70_000}
			if err = p.MarkUploaded(ctx, marks); err == nil {
				for _, id := range marks {
					if k := stored[id]; k != nil {
						k.uploaded = true
					}
				}
			}
		case 3:
			var keys []signal.PublicPreKey
			keys, err = p.GeneratePreKeys(ctx, rng.IntN(4))
			for _, k := range keys {
				take(k, true)
			}
		case 4:
			want := waiting()
			var k signal.PublicPreKey
			if k, err = p.RetryPreKey(ctx); err != nil {
				break
			}
			switch {
			case stored[retry] != nil:
				if k.ID != retry {
					t.Errorf("step %d: prekey %d for retries, not %d", step, k.ID, retry)
				}
			case len(want) > 0 && k.ID != want[0]:
				t.Errorf("step %d: prekey %d for retries, not %d", step, k.ID, want[0])
			}
			take(k, stored[k.ID] == nil)
			retry = k.ID
			stored[retry].uploaded = true
		case 5:
			p.store.heal()
			if id := random(); id != 0 && stored[id].public != (signal.PublicKey{}) {
				p.use(next, id)
				next++
				delete(stored, id)
			}
		}
		if err != nil && (!errors.Is(err, errLocked) || calls < fault) {
			t.Errorf("step %d: %v", step, err)
		}
		p.store.heal()
		if t.Failed() {
			return
		}
		if step%10 != 9 {
			continue
		}
		n := 0
		for _, k := range stored {
			if k.uploaded {
				n++
			}
		}
		p.wantPool("the model", n, len(stored)-n)
	}
}
