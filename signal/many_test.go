package signal

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/sigcore/sigcore/internal/aescbc"
	"github.com/sigcore/sigcore/internal/random"
)

// A clumsySource is deterministic, fails at some draws, and remembers how long
// all draws were.
type clumsySource struct {
	r     *rand.Rand
	draws []int
}

func newClumsySource(seed uint64) *clumsySource {
	return &clumsySource{r: rand.New(rand.NewPCG(seed, 1))}
}

func (c *clumsySource) Read(b []byte) (int, error) {
	c.draws = append(c.draws, len(b))
	if c.r.IntN(12) == 0 {
		return 0, fmt.Errorf("draw %d fails", len(c.draws))
	}
	for i := range b {
		b[i] = byte(c.r.Uint32())
	}
	return len(b), nil
}

// sameError compares what a caller sees of two errors.
func sameError(a, b error) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && fmt.Sprint(a) == fmt.Sprint(b)
}

var manySizes = []int{0, 1, 2, 3, 5, 33, 64, 65, 130}

func TestInitiateManyIsInitiate(t *testing.T) {
	alice := newDevice(t, 1, 0)
	bobs := make([]*device, 5)
	for i := range bobs {
		bobs[i] = newDevice(t, uint32(10+i), 2)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range manySizes {
		sessions, twins := make([]*Session, n), make([]*Session, n)
		items := make([]Initiation, n)
		for i := range items {
			sessions[i] = new(Session)
			if r.IntN(3) == 0 {
				sessions[i], _ = established(t)
			}
			twins[i] = sessions[i].Clone()
			if i > 0 && r.IntN(4) == 0 { // one that was named before
				k := r.IntN(i)
				sessions[i], twins[i] = sessions[k], twins[k]
			}
			b := bobs[r.IntN(len(bobs))].bundle(uint32(r.IntN(3)))
			if r.IntN(6) == 0 {
				b.Signature[r.IntN(64)] ^= 1 << r.IntN(8)
			}
			items[i] = Initiation{Session: sessions[i], Bundle: b, Err: ErrMalformed}
		}
		seed := r.Uint64()
		many, single := newClumsySource(seed), newClumsySource(seed)
		restore := random.Install(many)
		InitiateMany(alice.local, items)
		restore()
		restore = random.Install(single)
		failed := 0
		for i := range items {
			want := twins[i].Initiate(alice.local, items[i].Bundle)
			if !sameError(items[i].Err, want) {
				t.Errorf("session %d of %d: error %v, want %v", i, n, items[i].Err, want)
			}
			if want != nil {
				failed++
			}
		}
		restore()
		for i := range items {
			if !bytes.Equal(record(sessions[i]), record(twins[i])) {
				t.Fatalf("session %d of %d differs", i, n)
			}
		}
		if !slices.Equal(many.draws, single.draws) {
			t.Fatalf("%d sessions draw %v, want %v", n, many.draws, single.draws)
		}
		if n >= 33 && (failed < n/20 || failed > n/2) {
			t.Errorf("%d of %d fail: the test does not do what it is for", failed, n)
		}
	}
}

// established returns the two ends of an acknowledged session.
func established(t testing.TB) (alice, bob *Session) {
	a, b := conversation(t)
	return a.session, b.session
}

func TestEncryptManyIsEncrypt(t *testing.T) {
	alice := newDevice(t, 1, 0)
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range manySizes {
		sessions, twins := make([]*Session, n), make([]*Session, n)
		items := make([]Encryption, n)
		for i := range items {
			s, _ := established(t)
			switch r.IntN(9) {
			case 0:
				s = new(Session)
			case 1:
				s.current.version = 2
			case 2:
				s.current.sender.chain.index = math.MaxUint32 - uint32(r.IntN(2))
			case 3, 4: // not acknowledged
				s = new(Session)
				if err := s.Initiate(alice.local, newDevice(t, 2, 1).bundle(uint32(r.IntN(2)))); err != nil {
					t.Fatal(err)
				}
			case 5:
				s.current.sender.chain.index = 1 << r.IntN(32)
			}
			sessions[i], twins[i] = s, s.Clone()
			if i > 0 && r.IntN(3) == 0 {
				k := r.IntN(i)
				sessions[i], twins[i] = sessions[k], twins[k]
			}
			plaintext := make([]byte, r.IntN(200)*r.IntN(3))
			for k := range plaintext {
				plaintext[k] = byte(i + k)
			}
			items[i] = Encryption{Session: sessions[i], Plaintext: plaintext, Err: ErrMalformed, Body: []byte("old")}
		}
		prefix := []byte("before")
		out := EncryptMany(slices.Clone(prefix), items)
		for i := range items {
			typ, body, err := twins[i].Encrypt(nil, items[i].Plaintext)
			if items[i].Type != typ || !bytes.Equal(items[i].Body, body) || (items[i].Body == nil) != (body == nil) || !sameError(items[i].Err, err) {
				t.Fatalf("message %d of %d: %v %x %v, want %v %x %v", i, n, items[i].Type, items[i].Body, items[i].Err, typ, body, err)
			}
			if cap(items[i].Body) != len(items[i].Body) {
				t.Fatalf("message %d of %d has room for the one after it", i, n)
			}
			prefix = append(prefix, body...)
		}
		if !bytes.Equal(out, prefix) {
			t.Fatalf("%d messages are not one behind the other", n)
		}
		for i := range items {
			if !bytes.Equal(record(sessions[i]), record(twins[i])) {
				t.Fatalf("session %d of %d differs", i, n)
			}
		}
	}
}

func TestDecryptGroupManyIsDecrypt(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for run := range 40 {
		n := manySizes[run%len(manySizes)]
		var receivers, twins []*SenderKey
		var backlog [][]byte
		var whose []int
		for i := range 1 + r.IntN(3) {
			sender, receiver := group(t)
			receivers = append(receivers, receiver)
			for range n / 2 {
				if r.IntN(5) == 0 {
					// An authentic message whose padding is not one.
					st := sender.states[0]
					backlog = append(backlog, badGroupMessage(t, st))
					if err := st.chain.step(new([32]byte)); err != nil {
						t.Fatal(err)
					}
				} else {
					backlog = append(backlog, must(sender.Encrypt(nil, make([]byte, r.IntN(100))))(t))
				}
				whose = append(whose, i)
				if r.IntN(9) == 0 {
					// A rotation with messages in flight.
					if err := sender.Rotate(); err != nil {
						t.Fatal(err)
					}
					if _, err := receiver.Process(must(sender.AppendDistribution(nil))(t)); err != nil {
						t.Fatal(err)
					}
				}
				if r.IntN(30) == 0 {
					sender.states[0].chain.index += 1990
				}
			}
		}
		for i := range receivers {
			twins = append(twins, receivers[i].Clone())
		}
		items := make([]GroupDecryption, n)
		at := make([]int, n)
		for i := range items {
			message, k := []byte(nil), 0
			if len(backlog) > 0 {
				p := min(i, len(backlog)-1) // mostly in order
				if r.IntN(4) == 0 {
					p = r.IntN(len(backlog)) // any, also twice
				}
				message, k = backlog[p], whose[p]
			}
			switch r.IntN(12) {
			case 0:
				message = slices.Clone(message)
				if len(message) > 0 {
					message[r.IntN(len(message))] ^= 1 << r.IntN(8)
				}
			case 1:
				message = message[:r.IntN(len(message)+1)]
			case 2:
				k = r.IntN(len(receivers))
			}
			items[i] = GroupDecryption{Key: receivers[k], Message: message, Err: ErrMalformed}
			at[i] = k
		}
		prefix := []byte("before")
		out := DecryptGroupMany(slices.Clone(prefix), items)
		for i := range items {
			plaintext, err := twins[at[i]].Decrypt(nil, items[i].Message)
			if !bytes.Equal(items[i].Plaintext, plaintext) || !sameError(items[i].Err, err) {
				t.Fatalf("run %d, message %d of %d: %x %v, want %x %v", run, i, n, items[i].Plaintext, items[i].Err, plaintext, err)
			}
			prefix = append(prefix, plaintext...)
		}
		if !bytes.Equal(out, prefix) {
			t.Fatalf("%d plaintexts are not one behind the other", n)
		}
		for i := range receivers {
			if !bytes.Equal(groupRecord(receivers[i]), groupRecord(twins[i])) {
				t.Fatalf("run %d: key %d differs", run, i)
			}
		}
	}
}

// badGroupMessage is a signed message of the next iteration whose padding is not
// one.
func badGroupMessage(t testing.TB, st *senderKeyState) []byte {
	t.Helper()
	chain := st.chain
	var seed [32]byte
	if err := chain.step(&seed); err != nil {
		t.Fatal(err)
	}
	var keys groupKeys
	keys.derive(&seed)
	b := appendSenderHeader(nil, st.id, st.chain.index, 16)
	text := len(b)
	b = append(b, make([]byte, 16)...)
	aescbc.Encrypt(b[text:], &keys.cipher, &keys.iv)
	sig, err := st.signer.Sign(b)
	if err != nil {
		t.Fatal(err)
	}
	return append(b, sig[:]...)
}
