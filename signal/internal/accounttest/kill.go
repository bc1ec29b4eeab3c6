package accounttest

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// killEnv holds the place of the database in the process that Kill kills.
const killEnv = "SIGCORE_TEST_KILL_ACCOUNT"

// Kill kills a process in the middle of a conversation, again and again. No
// message key that the process used is used by the next one, and what it sent
// is read. open opens the backend at a place that outlives a process; t is a
// top-level test that does nothing but call Kill.
func Kill(t *testing.T, open func(place string) (store.Backend, error)) {
	if place := os.Getenv(killEnv); place != "" {
		sendUntilKilled(open, place)
	}
	place := t.TempDir()
	b, err := open(place)
	if err != nil {
		t.Fatal(err)
	}
	alice, bob := newParty(t, b, 1), newParty(t, store.NewMemory(), 2)
	alice.start(bob)
	skdm := alice.distribute(bob)
	if err := alice.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	used := newKeySet(t)
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), killEnv+"="+place)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		sent := 0
		for in := bufio.NewScanner(out); in.Scan(); {
			var kind, text string
			if _, err := fmt.Sscan(in.Text(), &kind, &text); err != nil {
				t.Fatalf("the child said %q", in.Text())
			}
			if !in.Scan() || in.Text() != "end" {
				break // the kill has cut the line
			}
			body, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			if sent++; sent == 2 { // however long the start has taken
				time.AfterFunc(time.Duration(50+41*round)*time.Millisecond, func() { cmd.Process.Kill() })
			}
			if kind == "group" {
				used.addGroup(body)
				bob.decryptGroup(alice, body, "killed")
				continue
			}
			c := signal.Ciphertext{Type: signal.TypePreKey, Body: body}
			if kind == "msg" {
				c.Type = signal.TypeSignal
			}
			used.add(c)
			bob.decrypt(alice, c, "killed")
		}
		cmd.Wait()
		if sent < 2 {
			t.Fatal("the child ended before it was killed")
		}

		b, err := open(place)
		if err != nil {
			t.Fatal(err)
		}
		alice.store = &Faulty{Backend: b}
		if alice.Account, err = signal.OpenAccount(t.Context(), alice.store, alice.addr.Name, options); err != nil {
			t.Fatal(err)
		}
		c, _ := alice.say(bob, "after the crash")
		used.add(c)
		body := alice.encryptGroup("after the crash")
		used.addGroup(body)
		bob.decryptGroup(alice, body, "after the crash")
		bob.say(alice, "I read you")
		if d, err := bob.ProcessSenderKey(t.Context(), alice.senderKey(), skdm); err != nil || d != signal.DistributionKnown {
			t.Errorf("distribution message after the crash: %v, %v", d, err)
		}
		if err := alice.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// sendUntilKilled is the process that is killed: it sends and says what it
// sent.
func sendUntilKilled(open func(string) (store.Backend, error), place string) {
	ctx := context.Background()
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	b, err := open(place)
	check(err)
	names, err := b.Accounts(ctx)
	check(err)
	a, err := signal.OpenAccount(ctx, b, names[0], options)
	check(err)
	self := signal.Address{Name: names[0]}
	peer := signal.Address{Name: "15550000002@c.us"}
	for {
		c, err := a.Encrypt(ctx, peer, []byte("killed"))
		check(err)
		kind := "msg"
		if c.Type == signal.TypePreKey {
			kind = "prekey"
		}
		fmt.Printf("%s %x\nend\n", kind, c.Body)
		body, err := a.EncryptGroup(ctx, signal.SenderKeyName{Group: group, Sender: self}, []byte("killed"))
		check(err)
		fmt.Printf("group %x\nend\n", body)
	}
}

// KillLeased is Kill with a leased account: the owner that was killed is known to
// be dead.
func KillLeased(t *testing.T, open func(place string) (store.Backend, error)) {
	options = leased
	defer func() { options = signal.OpenOptions{} }()
	Kill(t, open)
}
