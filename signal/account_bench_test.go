package signal_test

import (
	"fmt"
	"testing"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// benchPair returns two accounts in memory whose sessions both have used.
func benchPair(b *testing.B) (alice, bob *signal.Account, addrA, addrB signal.Address) {
	b.Helper()
	ctx := b.Context()
	m := store.NewMemory()
	addrA, addrB = signal.Address{Name: "15550000001@c.us"}, signal.Address{Name: "15550000002@c.us"}
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	var err error
	alice, err = signal.CreateAccount(ctx, m, addrA.Name, signal.AccountOptions{})
	check(err)
	bob, err = signal.CreateAccount(ctx, m, addrB.Name, signal.AccountOptions{})
	check(err)
	_, err = bob.GenerateSignedPreKey(ctx, 1, 0)
	check(err)
	bundle, err := bob.Bundle(ctx, 0)
	check(err)
	_, err = alice.ProcessBundle(ctx, addrB, bundle)
	check(err)
	for range 2 {
		c, err := alice.Encrypt(ctx, addrB, []byte("hello"))
		check(err)
		_, err = bob.Decrypt(ctx, addrA, c.Type, c.Body)
		check(err)
		c, err = bob.Encrypt(ctx, addrA, []byte("hello"))
		check(err)
		_, err = alice.Decrypt(ctx, addrB, c.Type, c.Body)
		check(err)
	}
	return alice, bob, addrA, addrB
}

func BenchmarkAccountEncrypt(b *testing.B) {
	alice, _, _, addrB := benchPair(b)
	plaintext := make([]byte, 160)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := alice.Encrypt(b.Context(), addrB, plaintext); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAccountDecrypt(b *testing.B) {
	alice, bob, addrA, addrB := benchPair(b)
	plaintext := make([]byte, 160)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		c, err := alice.Encrypt(b.Context(), addrB, plaintext)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if _, err := bob.Decrypt(b.Context(), addrA, c.Type, c.Body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAccountSendGroup(b *testing.B) {
	alice, _, addrA, _ := benchPair(b)
	g := signal.GroupSend{
		Name:      signal.SenderKeyName{Group: "120363000000000001@g.us", Sender: addrA},
		Plaintext: make([]byte, 160),
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := alice.SendGroup(b.Context(), &g); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGeneratePreKeys(b *testing.B) {
	for _, n := range []int{1, 812} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				a, err := signal.CreateAccount(b.Context(), store.NewMemory(), "a", signal.AccountOptions{})
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if _, err := a.GeneratePreKeys(b.Context(), n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
