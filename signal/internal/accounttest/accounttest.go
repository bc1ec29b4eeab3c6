// Package accounttest tests the account layer of signal over any backend: the
// in-memory one in signal, SQLite and PostgreSQL in signal/sqlstore.
package accounttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// Open returns a new, empty backend and a function that closes it and opens it
// again, as after a restart. It fails the test if it cannot.
type Open func(t *testing.T) (b store.Backend, reopen func() store.Backend)

// Run runs all tests over the backends that open returns.
func Run(t *testing.T, open Open) {
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) { c.f(t, open) })
	}
}

// tests are the tests of Run.
var tests = []struct {
	name string
	f    func(*testing.T, Open)
}{
	{"Open", testOpen},
	{"Conversation", testConversation},
	{"Restart", testRestart},
	{"Bundles", testBundles},
	{"RottenBundles", testRottenBundles},
	{"PreKeyConsumed", testPreKeyConsumed},
	{"PreKeyRace", testPreKeyRace},
	{"PreKeyIDs", testPreKeyIDs},
	{"SignedPreKeys", testSignedPreKeys},
	{"ForeignKeys", testForeignKeys},
	{"Uploads", testUploads},
	{"PreKeyWrap", testPreKeyWrap},
	{"RetryPreKey", testRetryPreKey},
	{"Rotation", testRotation},
	{"KeyFailures", testKeyFailures},
	{"KeyModel", testKeyModel},
	{"Devices", testDevices},
	{"BaseKeys", testBaseKeys},
	{"LIDs", testLIDs},
	{"Migration", testMigration},
	{"MigrationMerge", testMigrationMerge},
	{"MigrationCopy", testMigrationCopy},
	{"MigrationConflict", testMigrationConflict},
	{"MigrationRows", testMigrationRows},
	{"MigrationRace", testMigrationRace},
	{"Usage", testUsage},
	{"Sweep", testSweep},
	{"SweepBounds", testSweepBounds},
	{"EncryptMany", testEncryptMany},
	{"Trust", testTrust},
	{"Records", testRecords},
	{"Group", testGroup},
	{"GroupTwice", testGroupTwice},
	{"GroupRecords", testGroupRecords},
	{"SendGroup", testSendGroup},
	{"ThreeAnswers", testThreeAnswers},
	{"Truncated", testTruncated},
	{"Forged", testForged},
	{"Malformed", testMalformed},
	{"MalformedGroup", testMalformedGroup},
	{"FailedWrite", testFailedWrite},
	{"CancelEverywhere", testCancelEverywhere},
	{"LockWait", testLockWait},
	{"Panic", testPanic},
	{"Parked", testParked},
	{"TwoHandles", testTwoHandles},
	{"Interleaved", testInterleaved},
	{"Processes", testProcesses},
	{"ProcessesDuplicate", testProcessesDuplicate},
	{"ProcessesLose", testProcessesLose},
	{"ProcessesKeys", testProcessesKeys},
	{"ProcessesInterleaved", testProcessesInterleaved},
	{"GroupInterleaved", testGroupInterleaved},
}

// steps returns how often a random schedule is repeated.
func steps(normal, short int) int {
	if n, err := strconv.Atoi(os.Getenv("SIGCORE_TEST_STEPS")); err == nil {
		return n
	}
	if testing.Short() {
		return short
	}
	return normal
}

// options is how parties open their accounts. Tests run one after the other.
var options signal.OpenOptions

// party is one account of a test, with the backend that the test can make
// fail.
type party struct {
	*signal.Account
	t     *testing.T
	store *Faulty
	addr  signal.Address
}

// group is the name of the only group of a test.
const group = "120363000000000001@g.us"

// names returns the name of p's sender key in the group.
func (p *party) senderKey() signal.SenderKeyName {
	return signal.SenderKeyName{Group: group, Sender: p.addr}
}

// newParty makes an account over b.
func newParty(t *testing.T, b store.Backend, number int) *party {
	t.Helper()
	p := &party{t: t, store: &Faulty{Backend: b}, addr: signal.Address{Name: fmt.Sprintf("1555000%04d@c.us", number)}}
	var err error
	p.Account, err = signal.CreateAccount(t.Context(), p.store, p.addr.Name, signal.AccountOptions{OpenOptions: options})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.GenerateSignedPreKey(t.Context(), 1, 0); err != nil {
		t.Fatal(err)
	}
	return p
}

// pair returns two parties over one backend.
func pair(t *testing.T, open Open) (alice, bob *party) {
	t.Helper()
	b, _ := open(t)
	return newParty(t, b, 1), newParty(t, b, 2)
}

// established returns two parties with a session that both have used.
func established(t *testing.T, open Open) (alice, bob *party) {
	t.Helper()
	alice, bob = pair(t, open)
	alice.start(bob)
	alice.say(bob, "hello")
	bob.say(alice, "hello yourself")
	return alice, bob
}

// bundle returns p's bundle with a fresh one-time prekey.
func (p *party) bundle() *signal.Bundle {
	p.t.Helper()
	keys, err := p.GeneratePreKeys(p.t.Context(), 1)
	if err != nil {
		p.t.Fatal(err)
	}
	b, err := p.Bundle(p.t.Context(), keys[0].ID)
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

// start has p start a session with q.
func (p *party) start(q *party) {
	p.t.Helper()
	if _, err := p.ProcessBundle(p.t.Context(), q.addr, q.bundle()); err != nil {
		p.t.Fatal(err)
	}
}

// encrypt has p encrypt text to q.
func (p *party) encrypt(q *party, text string) signal.Ciphertext {
	p.t.Helper()
	c, err := p.Encrypt(p.t.Context(), q.addr, []byte(text))
	if err != nil {
		p.t.Fatalf("encrypt: %v", err)
	}
	return c
}

// decrypt has p decrypt a message of q, which must be text.
func (p *party) decrypt(q *party, c signal.Ciphertext, text string) *signal.Decrypted {
	p.t.Helper()
	d, err := p.Decrypt(p.t.Context(), q.addr, c.Type, c.Body)
	if err != nil {
		p.t.Fatalf("decrypt of %q: %v", text, err)
	}
	if string(d.Plaintext) != text {
		p.t.Fatalf("decrypted %q, want %q", d.Plaintext, text)
	}
	return d
}

// say sends text from p to q.
func (p *party) say(q *party, text string) (signal.Ciphertext, *signal.Decrypted) {
	p.t.Helper()
	c := p.encrypt(q, text)
	return c, q.decrypt(p, c, text)
}

// talk exchanges messages in both directions, some of them out of order.
func (p *party) talk(q *party, rounds int) {
	p.t.Helper()
	for i := range rounds {
		p.say(q, fmt.Sprint("there ", i))
		first, second := q.encrypt(p, "first"), q.encrypt(p, "second")
		p.decrypt(q, second, "second")
		p.decrypt(q, first, "first")
	}
}

// rows returns everything that p has stored, by key.
func (p *party) rows() map[store.Key]string {
	p.t.Helper()
	ctx := context.Background()
	stored, err := p.store.Backend.OpenAccount(ctx, p.addr.Name)
	if err != nil {
		p.t.Fatal(err)
	}
	id, row := stored.ID, stored.Row.Value
	out := map[store.Key]string{{}: string(row)}
	for table := store.Identities; table.Valid(); table++ {
		keys, err := p.store.Backend.List(ctx, id, store.Query{Table: table})
		if err != nil {
			p.t.Fatal(err)
		}
		recs, _, err := p.store.Backend.Read(ctx, id, keys)
		if err != nil {
			p.t.Fatal(err)
		}
		for i, k := range keys {
			out[k] = string(recs[i].Value)
		}
	}
	return out
}

// unchanged runs f and fails the test if it changed anything that p stores,
// or a byte of the live records that the backend handed out.
func (p *party) unchanged(what string, f func()) {
	p.t.Helper()
	before := p.rows()
	f()
	if err := p.store.intact(); err != nil {
		p.t.Errorf("%s: %v", what, err)
	}
	after := p.rows()
	for k, v := range before {
		if w, ok := after[k]; !ok || v != w {
			p.t.Errorf("%s: row %v %d changed", what, k.Table, k.ID)
		}
	}
	for k := range after {
		if _, ok := before[k]; !ok {
			p.t.Errorf("%s: row %v %d was made", what, k.Table, k.ID)
		}
	}
}

// wantError fails the test unless err has target in its chain.
func wantError(t *testing.T, what string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("%s: got error %v, want %v", what, err, target)
	}
}

// wantBytes fails the test unless got is want.
func wantBytes(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	if !bytes.Equal(got, []byte(want)) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}
