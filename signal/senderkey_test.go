package signal

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"
)

// group returns a sender's record and that of a receiver of its key.
func group(t testing.TB) (sender, receiver *SenderKey) {
	t.Helper()
	sender, receiver = new(SenderKey), new(SenderKey)
	if err := sender.Create(); err != nil {
		t.Fatal(err)
	}
	if d, err := receiver.Process(must(sender.AppendDistribution(nil))(t)); err != nil || d != DistributionNew {
		t.Fatal(d, err)
	}
	return sender, receiver
}

// TestDistributionTwice: a distribution message that comes again sets nothing
// back, and one of the same id with another key is told apart.
func TestDistributionTwice(t *testing.T) {
	sender, receiver := new(SenderKey), new(SenderKey)
	// Two keys before, which must stay.
	var old [2][]byte
	for i := range old {
		if err := sender.Rotate(); err != nil {
			t.Fatal(err)
		}
		if _, err := receiver.Process(must(sender.AppendDistribution(nil))(t)); err != nil {
			t.Fatal(err)
		}
		old[i] = must(sender.Encrypt(nil, []byte{byte(i)}))(t)
	}
	if err := sender.Rotate(); err != nil {
		t.Fatal(err)
	}
	d := must(sender.AppendDistribution(nil))(t)
	var messages [10][]byte
	for i := range messages {
		messages[i] = must(sender.Encrypt(nil, []byte{100, byte(i)}))(t)
	}
	process := func(want Distribution) {
		t.Helper()
		if got, err := receiver.Process(d); err != nil || got != want {
			t.Fatalf("processed as %d, %v; want %d", got, err, want)
		}
	}
	read := func(i int) {
		t.Helper()
		if plain, err := receiver.Decrypt(nil, messages[i]); err != nil || !bytes.Equal(plain, []byte{100, byte(i)}) {
			t.Fatalf("message %d: %x, %v", i, plain, err)
		}
	}
	process(DistributionNew)
	for i := range 5 {
		read(i)
	}
	before := groupRecord(receiver)
	process(DistributionKnown)
	if !bytes.Equal(groupRecord(receiver), before) {
		t.Fatal("a known key changed the record")
	}
	for i := range 5 {
		_, err := receiver.Decrypt(nil, messages[i])
		wantError(t, "replay", err, ErrDuplicate)
		var dup *DuplicateError
		if !errors.As(err, &dup) || dup.Next != 5 || dup.Counter != uint32(i) {
			t.Fatalf("replay of %d: %#v", i, err)
		}
	}
	read(5)
	for range 5 {
		process(DistributionKnown)
	}
	read(6)
	if receiver.States() != 3 {
		t.Fatalf("%d keys, want 3", receiver.States())
	}
	for i := range old {
		if plain, err := receiver.Decrypt(nil, old[i]); err != nil || !bytes.Equal(plain, []byte{byte(i)}) {
			t.Fatalf("message of an earlier key: %x, %v", plain, err)
		}
	}

	m := must(ParseSenderKeyDistributionMessage(d))(t)
	m.SigningKey[5] ^= 1
	d = must(m.AppendBinary(nil))(t)
	process(DistributionConflict)
	if receiver.States() != 3 {
		t.Fatalf("%d keys after a conflict, want 3", receiver.States())
	}
	_, err := receiver.Decrypt(nil, messages[7])
	wantError(t, "message of the replaced key", err, ErrBadSignature)
	for d, want := range map[Distribution]error{DistributionNew: nil, DistributionKnown: ErrAlreadyKnown, DistributionConflict: ErrConflict} {
		if d.Err() != want {
			t.Errorf("%d: %v, want %v", d, d.Err(), want)
		}
	}
	before = groupRecord(receiver)
	if _, err := receiver.Process(d[:len(d)-1]); err == nil || !bytes.Equal(groupRecord(receiver), before) {
		t.Errorf("a cut distribution message: %v", err)
	}
}

func TestSenderKeyStates(t *testing.T) {
	var empty SenderKey
	if _, err := empty.Encrypt(nil, nil); !errors.Is(err, ErrNoSenderKey) {
		t.Error(err)
	}
	if _, err := empty.AppendDistribution(nil); !errors.Is(err, ErrNoSenderKey) {
		t.Error(err)
	}
	if _, ok := empty.KeyID(); ok || !empty.Empty() || empty.CanEncrypt() || empty.Iteration() != 0 || len(groupRecord(&empty)) != 0 {
		t.Error("an empty record is not empty")
	}
	sender, receiver := group(t)
	if _, err := receiver.Encrypt(nil, nil); !errors.Is(err, ErrCannotSign) {
		t.Error(err)
	}
	if receiver.CanEncrypt() || !sender.CanEncrypt() {
		t.Error("CanEncrypt")
	}
	id, _ := sender.KeyID()
	if id >= 1<<31 {
		t.Errorf("id %#x", id)
	}
	if err := sender.Create(); err != nil {
		t.Fatal(err)
	}
	if again, _ := sender.KeyID(); again != id {
		t.Error("Create made another key")
	}
	body := must(sender.Encrypt([]byte("dst:"), []byte("x")))(t)
	if string(body[:4]) != "dst:" {
		t.Errorf("%x", body)
	}
	if _, err := empty.Decrypt(nil, body[4:]); !errors.Is(err, ErrNoSenderKey) {
		t.Error(err)
	}
	if plain, err := receiver.Decrypt([]byte("dst:"), body[4:]); err != nil || string(plain) != "dst:x" {
		t.Errorf("%q, %v", plain, err)
	}

	// Who joins now reads from now on.
	late := new(SenderKey)
	if _, err := late.Process(must(sender.AppendDistribution(nil))(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := late.Decrypt(nil, body[4:]); !errors.Is(err, ErrNoMessageKey) {
		t.Error(err)
	}
	body = must(sender.Encrypt(nil, []byte("y")))(t)
	if plain, err := late.Decrypt(nil, body); err != nil || string(plain) != "y" {
		t.Errorf("%q, %v", plain, err)
	}

	// The oldest key goes.
	first := must(sender.Encrypt(nil, []byte("late")))(t)
	for i := range MaxSenderKeyStates {
		if receiver.States() != i+1 {
			t.Fatalf("%d keys", receiver.States())
		}
		if i == MaxSenderKeyStates-1 {
			if plain, err := receiver.Clone().Decrypt(nil, first); err != nil || string(plain) != "late" {
				t.Fatalf("%q, %v", plain, err)
			}
		}
		if err := sender.Rotate(); err != nil {
			t.Fatal(err)
		}
		if _, err := receiver.Process(must(sender.AppendDistribution(nil))(t)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := receiver.Decrypt(nil, first); !errors.Is(err, ErrNoSenderKey) || receiver.States() != MaxSenderKeyStates {
		t.Error(err, receiver.States())
	}
	if sender.States() != 1 {
		t.Errorf("a sender keeps %d keys", sender.States())
	}
}

func TestSenderKeyLimits(t *testing.T) {
	sender, receiver := group(t)
	at := func(iteration uint32) []byte {
		t.Helper()
		c := sender.Clone()
		st := c.states[0]
		var seed [32]byte
		for st.chain.index < iteration {
			if err := st.chain.step(&seed); err != nil {
				t.Fatal(err)
			}
		}
		return must(c.Encrypt(nil, fmt.Append(nil, iteration)))(t)
	}
	read := func(iteration uint32, body []byte) {
		t.Helper()
		if plain, err := receiver.Decrypt(nil, body); err != nil || string(plain) != fmt.Sprint(iteration) {
			t.Fatalf("iteration %d: %q, %v", iteration, plain, err)
		}
	}
	early := at(1)
	before := groupRecord(receiver)
	_, err := receiver.Decrypt(nil, at(2001))
	var skip *SkipError
	if !errors.As(err, &skip) || *skip != (SkipError{Next: 0, Counter: 2001, Max: 2000}) || !errors.Is(err, ErrTooFar) {
		t.Fatalf("%#v", err)
	}
	if !bytes.Equal(groupRecord(receiver), before) {
		t.Fatal("the record changed")
	}
	read(2000, at(2000))
	read(1999, at(1999))
	read(1, early)
	_, err = receiver.Decrypt(nil, early)
	wantError(t, "skipped key used twice", err, ErrDuplicate)
	read(4001, at(4001))
	if n := receiver.states[0].skipped.len(); n != MaxSkippedKeys {
		t.Errorf("%d skipped keys, want %d", n, MaxSkippedKeys)
	}
	_, err = receiver.Decrypt(nil, at(2))
	wantError(t, "pruned key", err, ErrNoMessageKey)
	read(3000, at(3000))

	// The end of a chain, on both sides.
	for _, k := range []*SenderKey{sender, receiver} {
		k.states[0].chain = chainKey{key: [32]byte{1}, index: math.MaxUint32 - 1}
	}
	if sender.NeedsRotation() != true {
		t.Error("no rotation needed at the end of a chain")
	}
	last := must(sender.Encrypt(nil, []byte("4294967294")))(t)
	read(math.MaxUint32-1, last)
	before = groupRecord(sender)
	if _, err := sender.Encrypt(nil, nil); !errors.Is(err, ErrChainEnd) || !bytes.Equal(groupRecord(sender), before) {
		t.Error(err)
	}
	st := sender.states[0]
	b := append(appendSenderHeader(nil, st.id, math.MaxUint32, 16), make([]byte, 16)...)
	sig, err := st.signer.Sign(b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := receiver.Decrypt(nil, append(b, sig[:]...)); !errors.Is(err, ErrChainEnd) {
		t.Error(err)
	}
}

// TestSenderKeyRecordCut: a record that is cut anywhere is corrupt.
func TestSenderKeyRecordCut(t *testing.T) {
	sender, receiver := group(t)
	leased := sender.Clone()
	leased.SetLease(64, [16]byte{1}, true)
	for range 3 {
		other, _ := group(t)
		if _, err := receiver.Process(must(other.AppendDistribution(nil))(t)); err != nil {
			t.Fatal(err)
		}
	}
	for _, whole := range [][]byte{groupRecord(sender), groupRecord(leased), groupRecord(receiver)} {
		if again := groupRecord(must(ParseSenderKey(whole))(t)); !bytes.Equal(again, whole) {
			t.Fatalf("%x is written as %x", whole, again)
		}
		for n := 1; n < len(whole); n++ {
			k, err := ParseSenderKey(whole[:n])
			if !errors.Is(err, ErrCorruptRecord) || k != nil {
				t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
			}
		}
	}
}

// TestCreateOverEmptyRecord: a stored record without a key is not the same as
// none.
func TestCreateOverEmptyRecord(t *testing.T) {
	lost := must(ParseSenderKey(nil))(t)
	for _, k := range []*SenderKey{lost, lost.Clone()} {
		err := withDraws(t, k.Create)
		if !errors.Is(err, ErrCorruptRecord) || !k.Empty() {
			t.Fatalf("%v", err)
		}
	}
	if err := lost.Rotate(); err != nil || lost.Create() != nil || !lost.CanEncrypt() {
		t.Fatal(err)
	}
	if err := new(SenderKey).Create(); err != nil {
		t.Fatal(err)
	}
}
