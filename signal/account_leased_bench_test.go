package signal_test

import (
	"fmt"
	"testing"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// BenchmarkDurability measures what an account adds to a session, durable and leased,
// in memory, for a message that is sent.
func BenchmarkDurability(b *testing.B) {
	for name, d := range map[string]signal.Durability{"durable": signal.Durable, "leased": signal.Leased} {
		b.Run(name, func(b *testing.B) {
			ctx := b.Context()
			rows := store.NewMemory()
			var accounts [2]*signal.Account
			var addrs [2]signal.Address
			for i := range accounts {
				addrs[i] = signal.Address{Name: fmt.Sprintf("1555000000%d@c.us", i)}
				var err error
				accounts[i], err = signal.CreateAccount(ctx, rows, addrs[i].Name, signal.AccountOptions{OpenOptions: signal.OpenOptions{Durability: d}})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := accounts[i].GenerateSignedPreKey(ctx, 1, 0); err != nil {
					b.Fatal(err)
				}
			}
			bundle, err := accounts[1].Bundle(ctx, 0)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := accounts[0].ProcessBundle(ctx, addrs[1], bundle); err != nil {
				b.Fatal(err)
			}
			say := func(from, to int) signal.Ciphertext {
				c, err := accounts[from].Encrypt(ctx, addrs[to], []byte("a short message of some bytes"))
				if err != nil {
					b.Fatal(err)
				}
				return c
			}
			read := func(from, to int, c signal.Ciphertext) {
				if _, err := accounts[to].Decrypt(ctx, addrs[from], c.Type, c.Body); err != nil {
					b.Fatal(err)
				}
			}
			read(0, 1, say(0, 1))
			read(1, 0, say(1, 0))
			b.Run("send", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					say(0, 1)
				}
			})
		})
	}
}
