package sigcore_test

import (
	"context"
	"fmt"
	"time"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// Two accounts set up a session and talk. This is the example of README.md.
func Example() {
	ctx := context.Background()
	backend := store.NewMemory() // or sqlstore.OpenSQLite, for a database

	alice, err := signal.CreateAccount(ctx, backend, "alice", signal.AccountOptions{})
	check(err)
	bob, err := signal.CreateAccount(ctx, backend, "bob", signal.AccountOptions{})
	check(err)

	// Bob publishes a bundle: his identity, a signed prekey, a one-time prekey.
	_, err = bob.GenerateSignedPreKey(ctx, 1, uint64(time.Now().Unix()))
	check(err)
	prekeys, err := bob.GeneratePreKeys(ctx, 100)
	check(err)
	bundle, err := bob.Bundle(ctx, prekeys[0].ID)
	check(err)

	// Alice starts a session from it and writes.
	toBob := signal.Address{Name: "15550000002@c.us"}
	_, err = alice.ProcessBundle(ctx, toBob, bundle)
	check(err)
	ct, err := alice.Encrypt(ctx, toBob, []byte("hello"))
	check(err)

	// Bob reads; his session is set up by the message.
	fromAlice := signal.Address{Name: "15550000001@c.us"}
	got, err := bob.Decrypt(ctx, fromAlice, ct.Type, ct.Body)
	check(err)
	fmt.Println(ct.Type, string(got.Plaintext))

	// Output: pkmsg hello
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
