package convert

import (
	"errors"
	"runtime"
	"testing"

	"github.com/sigcore/sigcore/signal"
)

// bounded fails if f allocates more than an input of n bytes may cost.
func bounded(t *testing.T, n int, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > uint64(64*n+64<<10) {
		t.Errorf("%d bytes of input allocate %d", n, got)
	}
}

func FuzzParseGoSession(f *testing.F) {
	alice, bob, _ := conversation(f)
	f.Add(must(AppendGoSession(nil, alice))(f))
	f.Add(must(AppendGoSession(nil, bob))(f))
	f.Add([]byte(`{"SessionState":null,"PreviousStates":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s *signal.Session
		var err error
		bounded(t, len(data), func() { s, err = ParseGoSession(data) })
		if err != nil {
			if !errors.Is(err, signal.ErrCorruptRecord) {
				t.Fatal(err)
			}
			return
		}
		b, err := AppendGoSession(nil, s)
		if err != nil {
			if !errors.Is(err, ErrInexpressible) {
				t.Fatal(err)
			}
			return
		}
		same(t, "written and read", must(ParseGoSession(b))(t), s)
	})
}

func FuzzParseNodeSession(f *testing.F) {
	alice, bob, local := conversation(f)
	f.Add(must(AppendNodeSession(nil, alice, now))(f))
	f.Add(must(AppendNodeSession(nil, bob, now))(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s *signal.Session
		var err error
		bounded(t, len(data), func() { s, err = ParseNodeSession(data, local.Identity.PublicKey(), 2) })
		if err != nil {
			if !errors.Is(err, signal.ErrCorruptRecord) {
				t.Fatal(err)
			}
			return
		}
		b, err := AppendNodeSession(nil, s, now)
		if err != nil {
			if !errors.Is(err, ErrInexpressible) {
				t.Fatal(err)
			}
			return
		}
		must(ParseNodeSession(b, local.Identity.PublicKey(), 2))(t)
	})
}

func FuzzParseGoSenderKey(f *testing.F) {
	k := new(signal.SenderKey)
	if err := k.Create(); err != nil {
		f.Fatal(err)
	}
	f.Add(must(AppendGoSenderKey(nil, k))(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		var k *signal.SenderKey
		var err error
		bounded(t, len(data), func() { k, err = ParseGoSenderKey(data) })
		if err != nil {
			if !errors.Is(err, signal.ErrCorruptRecord) {
				t.Fatal(err)
			}
			return
		}
		again := must(ParseGoSenderKey(must(AppendGoSenderKey(nil, k))(t)))(t)
		if string(again.AppendPortable(nil)) != string(k.AppendPortable(nil)) {
			t.Error("the record has changed")
		}
	})
}

func FuzzParseBaileysSenderKey(f *testing.F) {
	k := new(signal.SenderKey)
	if err := k.Create(); err != nil {
		f.Fatal(err)
	}
	f.Add(must(AppendBaileysSenderKey(nil, k))(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		var k *signal.SenderKey
		var err error
		bounded(t, len(data), func() { k, err = ParseBaileysSenderKey(data) })
		if err != nil {
			if !errors.Is(err, signal.ErrCorruptRecord) {
				t.Fatal(err)
			}
			return
		}
		again := must(ParseBaileysSenderKey(must(AppendBaileysSenderKey(nil, k))(t)))(t)
		if string(again.AppendPortable(nil)) != string(k.AppendPortable(nil)) {
			t.Error("the record has changed")
		}
	})
}
