package signal_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// A sender writes to a group with one key for all members. The key reaches each
// member once, inside a message of a session, which is not shown here.
func ExampleAccount_EncryptGroup() {
	ctx := context.Background()
	backend := store.NewMemory()
	defer backend.Close()
	alice, err := signal.CreateAccount(ctx, backend, "alice", signal.AccountOptions{})
	if err != nil {
		panic(err)
	}
	bob, err := signal.CreateAccount(ctx, backend, "bob", signal.AccountOptions{})
	if err != nil {
		panic(err)
	}

	// Both sides call the key by the group and the sender.
	name := signal.SenderKeyName{
		Group:  "120363000000000001@g.us",
		Sender: signal.Address{Name: "15550000001@c.us"},
	}
	distribution, err := alice.CreateSenderKey(ctx, name)
	if err != nil {
		panic(err)
	}
	body, err := alice.EncryptGroup(ctx, name, []byte("hello, all"))
	if err != nil {
		panic(err)
	}

	_, err = bob.DecryptGroup(ctx, name, body)
	fmt.Println("without the key:", errors.Is(err, signal.ErrNoSenderKey))

	if _, err := bob.ProcessSenderKey(ctx, name, distribution); err != nil {
		panic(err)
	}
	plaintext, err := bob.DecryptGroup(ctx, name, body)
	if err != nil {
		panic(err)
	}
	fmt.Println("with the key:", string(plaintext))

	_, err = bob.DecryptGroup(ctx, name, body)
	fmt.Println("a second time:", errors.Is(err, signal.ErrDuplicate))
	// Output:
	// without the key: true
	// with the key: hello, all
	// a second time: true
}

// A program that is started again opens the account that it created.
func ExampleOpenAccount() {
	ctx := context.Background()
	backend := store.NewMemory() // with sqlstore.OpenSQLite accounts outlive the process
	defer backend.Close()

	openOrCreate := func(name string) (*signal.Account, error) {
		account, err := signal.OpenAccount(ctx, backend, name, signal.OpenOptions{})
		if errors.Is(err, store.ErrNoAccount) {
			return signal.CreateAccount(ctx, backend, name, signal.AccountOptions{})
		}
		return account, err
	}
	first, err := openOrCreate("alice")
	if err != nil {
		panic(err)
	}
	second, err := openOrCreate("alice")
	if err != nil {
		panic(err)
	}
	fmt.Println(first.RegistrationID() == second.RegistrationID())
	// Output: true
}
