package signal_test

import (
	"context"
	"fmt"
	"time"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// A client that registers uploads a signed prekey and one-time prekeys, and more
// of these when the server runs low.
func ExampleAccount_PreKeysToUpload() {
	ctx := context.Background()
	backend := store.NewMemory()
	defer backend.Close()
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	account, err := signal.CreateAccount(ctx, backend, "15550000001", signal.AccountOptions{})
	check(err)

	now := time.Date(2026, time.December, 1, 0, 0, 0, 0, time.UTC)
	rotation, err := account.RotateSignedPreKey(ctx, now, signal.DefaultSignedPreKeyRetention)
	check(err)
	check(account.MarkSignedPreKeyUploaded(ctx, rotation.Current.ID, now)) // when the server has it

	window := signal.PreKeyWindow{Low: 5, Target: 20}
	upload := func(onServer int, accepted bool) {
		keys, err := account.PreKeysToUpload(ctx, window.Missing(onServer))
		check(err)
		fmt.Printf("server has %d: upload %d", onServer, len(keys))
		if len(keys) > 0 {
			fmt.Printf(", ids %d to %d", keys[0].ID, keys[len(keys)-1].ID)
		}
		fmt.Println()
		var ids []uint32
		for _, k := range keys {
			ids = append(ids, k.ID)
		}
		if accepted {
			check(account.MarkUploaded(ctx, ids))
		}
	}
	upload(0, false) // the answer is lost
	upload(0, true)
	upload(12, true)
	upload(4, true)
	// Output:
	// server has 0: upload 20, ids 1 to 20
	// server has 0: upload 20, ids 1 to 20
	// server has 12: upload 0
	// server has 4: upload 16, ids 21 to 36
}

// When a phone number's LID becomes known, what was kept under the number moves.
func ExampleAccount_MigrateToLID() {
	ctx := context.Background()
	backend := store.NewMemory()
	defer backend.Close()
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	alice, err := signal.CreateAccount(ctx, backend, "alice", signal.AccountOptions{})
	check(err)
	bob, err := signal.CreateAccount(ctx, backend, "bob", signal.AccountOptions{})
	check(err)
	_, err = bob.GenerateSignedPreKey(ctx, 1, 0)
	check(err)
	bundle, err := bob.Bundle(ctx, 0)
	check(err)
	phone := signal.Address{Name: "15550000002:5@c.us"}
	_, err = alice.ProcessBundle(ctx, phone, bundle)
	check(err)

	moved, err := alice.MigrateToLID(ctx, signal.LIDMapping{PN: "15550000002@c.us", LID: "100000000000002@lid"})
	check(err)
	for _, d := range moved.Devices {
		fmt.Println(d.From.Name, "to", d.To.Name, "session", d.Session)
	}
	addrs, err := alice.ResolveLIDs(ctx, []signal.Address{phone})
	check(err)
	ok, err := alice.HasSession(ctx, addrs[0])
	check(err)
	fmt.Println(addrs[0].Name, ok)
	// Output:
	// 15550000002:5@c.us to 100000000000002:5@lid session moved
	// 100000000000002:5@lid true
}
