package signal

import (
	"testing"

	"github.com/sigcore/sigcore/internal/impl"
)

// aesAllocs is how often a message allocates: for the key schedule of crypto/aes,
// which is on the heap, where no kernel has it on the stack.
func aesAllocs() float64 {
	for _, o := range impl.Report() {
		if o.Package == "aescbc" && o.Tier == "generic" {
			return 1
		}
	}
	return 0
}

func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	alice, bob := conversation(t)
	exchange(t, alice, bob, "so that bob has the chain")
	plaintext := make([]byte, 160)
	body, plain := make([]byte, 0, 512), make([]byte, 0, 512)
	check := func(what string, want float64, f func()) {
		t.Helper()
		if got := testing.AllocsPerRun(100, f); got > want {
			t.Errorf("%s allocates %v times, want %v", what, got, want)
		}
	}
	check("a message and its reading", 2*aesAllocs(), func() {
		_, b, err := alice.session.Encrypt(body, plaintext)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := bob.session.Decrypt(plain, b, nil); err != nil {
			t.Fatal(err)
		}
	})
	pending := newDevice(t, 3, 0)
	if err := pending.session.Initiate(pending.local, bob.bundle(0)); err != nil {
		t.Fatal(err)
	}
	check("a prekey message", aesAllocs(), func() {
		if _, _, err := pending.session.Encrypt(body, plaintext); err != nil {
			t.Fatal(err)
		}
	})
	_, b, err := alice.session.Encrypt(nil, plaintext)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	check("a forgery", 0, func() {
		if _, _, err := bob.session.Decrypt(plain, b, nil); err != ErrBadMAC {
			t.Fatal(err)
		}
	})
	sender, receiver := group(t)
	check("a group message and its reading", 2*aesAllocs(), func() {
		b, err := sender.Encrypt(body, plaintext)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := receiver.Decrypt(plain, b); err != nil {
			t.Fatal(err)
		}
	})
	buf := make([]byte, 0, 1<<16)
	check("writing a record", 0, func() {
		if _, err := bob.session.AppendBinary(buf); err != nil {
			t.Fatal(err)
		}
		bob.session.AppendPortable(buf)
		if _, err := receiver.AppendBinary(buf); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkEncrypt(b *testing.B) {
	alice, _ := conversation(b)
	plaintext, body := make([]byte, 160), make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := alice.session.Encrypt(body, plaintext); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecrypt(b *testing.B) {
	alice, bob := conversation(b)
	exchange(b, alice, bob, "so that bob has the chain")
	bodies := make([][]byte, b.N)
	for i := range bodies {
		_, bodies[i], _ = alice.session.Encrypt(nil, make([]byte, 160))
	}
	plain := make([]byte, 0, 512)
	b.ReportAllocs()
	b.ResetTimer()
	for _, body := range bodies {
		if _, _, err := bob.session.Decrypt(plain, body, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRatchetTurn(b *testing.B) {
	alice, bob := conversation(b)
	b.ReportAllocs()
	for b.Loop() {
		exchange(b, alice, bob, "ping")
		exchange(b, bob, alice, "pong")
	}
}

func BenchmarkGroupEncrypt(b *testing.B) {
	sender, _ := group(b)
	plaintext, body := make([]byte, 160), make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sender.Encrypt(body, plaintext); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseSession(b *testing.B) {
	alice, bob := conversation(b)
	exchange(b, alice, bob, "more")
	for name, skipped := range map[string]int{"skipped=0": 0, "skipped=2000": 2000} {
		b.Run(name, func(b *testing.B) {
			s := bob.session.Clone()
			r := &s.current.receivers[len(s.current.receivers)-1]
			for i := range skipped {
				r.skipped.list = append(r.skipped.list, skippedKey{counter: uint32(i)})
			}
			data := record(s)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseSession(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncryptMany(b *testing.B) {
	items := make([]Encryption, 64)
	for i := range items {
		alice, _ := conversation(b)
		items[i] = Encryption{Session: alice.session, Plaintext: make([]byte, 128)}
	}
	buf := make([]byte, 0, 1<<16)
	b.ReportAllocs()
	for b.Loop() {
		EncryptMany(buf, items)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(items)), "ns/message")
}

func BenchmarkDecryptGroupMany(b *testing.B) {
	sender, receiver := group(b)
	buf := make([]byte, 0, 1<<16)
	items := make([]GroupDecryption, 64)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		for i := range items {
			items[i] = GroupDecryption{Key: receiver, Message: must(sender.Encrypt(nil, make([]byte, 128)))(b)}
		}
		b.StartTimer()
		DecryptGroupMany(buf, items)
		if items[63].Err != nil {
			b.Fatal(items[63].Err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(items)), "ns/message")
}
