package signal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// TestRandomSchedules lets two devices talk over a network that loses,
// reorders, repeats and changes messages, while sessions are set up anew and
// records are reloaded, and compares with a model of what must be readable.
func TestRandomSchedules(t *testing.T) {
	runs, steps := 20, 400
	if testing.Short() {
		runs, steps = 4, 200
	}
	if s := os.Getenv("SIGCORE_TEST_STEPS"); s != "" {
		steps = must(strconv.Atoi(s))(t)
	}
	seed := uint64(1)
	if s := os.Getenv("SIGCORE_TEST_SEED"); s != "" {
		seed = must(strconv.ParseUint(s, 10, 64))(t)
	}
	for run := range runs {
		t.Run(fmt.Sprintf("seed=%d", seed+uint64(run)), func(t *testing.T) {
			newSchedule(t, seed+uint64(run)).play(t, steps)
		})
	}
}

// A sentMessage is one on the network.
type sentMessage struct {
	typ       MessageType
	body      []byte
	plaintext string
	session   PublicKey // base key
	chain     PublicKey // ratchet key
	delivered bool
}

// A schedSide is one device and what the model knows of it: the receiver
// chains of each session, oldest first.
type schedSide struct {
	*device
	handedOut uint32 // one-time prekeys 1 to this
	inbox     []*sentMessage
	chains    map[PublicKey][]PublicKey
	gone      map[PublicKey]bool // chains that were dropped
}

type schedule struct {
	r     *rand.Rand
	sides [2]*schedSide
	n     int
	read  int
}

func newSchedule(t *testing.T, seed uint64) *schedule {
	s := &schedule{r: rand.New(rand.NewPCG(seed, 7))}
	for i := range s.sides {
		s.sides[i] = &schedSide{device: newDevice(t, uint32(i+1), MaxArchived/4), chains: map[PublicKey][]PublicKey{}, gone: map[PublicKey]bool{}}
	}
	return s
}

func (s *schedule) play(t *testing.T, steps int) {
	s.initiate(t, 0)
	setups := 1
	for range steps {
		i := s.r.IntN(2)
		side, other := s.sides[i], s.sides[1-i]
		switch p := s.r.IntN(100); {
		case p < 2 && setups < MaxArchived/2:
			setups++
			s.initiate(t, i)
		case p < 6:
			form := record(side.session)
			if p < 4 {
				form = side.session.AppendPortable(nil)
			}
			side.session = must(ParseSession(form))(t)
		case p < 45:
			if side.session.HasCurrent() {
				s.send(t, side, other)
			}
		case p < 50 && len(side.inbox) > 0: // lost
			k := s.r.IntN(len(side.inbox))
			side.inbox = slices.Delete(side.inbox, k, k+1)
		case p < 58 && len(side.inbox) > 0:
			m := *side.inbox[s.r.IntN(len(side.inbox))]
			m.body = slices.Clone(m.body)
			m.body[s.r.IntN(len(m.body))] ^= 1 << s.r.IntN(8)
			// A bit of the envelope need not be authenticated; what is read
			// must be what was sent, and only once.
			c := &device{local: side.local, signed: side.signed, oneTime: cloneMap(side.oneTime), session: side.session.Clone()}
			before := record(c.session)
			plain, _, err := c.decrypt(m.typ, m.body)
			if err == nil && string(plain) != m.plaintext {
				t.Fatalf("a changed message reads as %q", plain)
			}
			if err != nil && string(record(c.session)) != string(before) {
				t.Fatalf("a changed message changed the record, after %v", err)
			}
		default:
			if len(side.inbox) > 0 {
				k := s.r.IntN(len(side.inbox))
				if s.r.IntN(2) == 0 {
					k = 0 // mostly in order
				}
				m := side.inbox[k]
				if !m.delivered || s.r.IntN(4) == 0 { // the second time it is a replay
					s.deliver(t, side, m)
				} else {
					side.inbox = slices.Delete(side.inbox, k, k+1)
				}
			}
		}
	}
	if s.read < steps/10 {
		t.Errorf("only %d messages read in %d steps", s.read, steps)
	}
}

func cloneMap(m map[uint32]*PreKey) map[uint32]*PreKey {
	c := make(map[uint32]*PreKey, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

func (s *schedule) initiate(t *testing.T, i int) {
	side, other := s.sides[i], s.sides[1-i]
	other.handedOut++ // a one-time prekey, once; after the last one there is none
	b := other.bundle(other.handedOut)
	if err := side.session.Initiate(side.local, b); err != nil {
		t.Fatal(err)
	}
	st := side.session.current
	side.chains[st.baseKey] = []PublicKey{b.SignedPreKey}
}

func (s *schedule) send(t *testing.T, from, to *schedSide) {
	s.n++
	m := &sentMessage{plaintext: fmt.Sprintf("message %d", s.n)}
	st := from.session.current
	m.session, m.chain = st.baseKey, st.sender.public
	var err error
	if m.typ, m.body, err = from.session.Encrypt(nil, []byte(m.plaintext)); err != nil {
		t.Fatal(err)
	}
	to.inbox = append(to.inbox, m)
}

func (s *schedule) deliver(t *testing.T, to *schedSide, m *sentMessage) {
	before := record(to.session)
	plain, _, err := to.decrypt(m.typ, m.body)
	chains, known := to.chains[m.session]
	has := slices.Contains(chains, m.chain)
	switch {
	case m.delivered && (has || !to.gone[m.chain]):
		if !errors.Is(err, ErrDuplicate) {
			t.Fatalf("replay of %q: %v", m.plaintext, err)
		}
	case to.gone[m.chain]:
		if err == nil {
			t.Fatalf("%q was read with a chain that is gone", m.plaintext)
		}
	case !known && m.typ == TypeSignal:
		// Its session was never set up here: the message that would have is
		// lost or late.
		if err == nil {
			t.Fatalf("%q was read without a session", m.plaintext)
		}
	default:
		if err != nil || string(plain) != m.plaintext {
			t.Fatalf("%q reads as %q, %v", m.plaintext, plain, err)
		}
		if !has {
			chains = append(chains, m.chain)
			if len(chains) > MaxReceiverChains {
				to.gone[chains[0]] = true
				chains = chains[1:]
			}
			to.chains[m.session] = chains
		}
		m.delivered = true
		s.read++
		return
	}
	if string(record(to.session)) != string(before) {
		t.Fatalf("a refused message changed the record, after %v", err)
	}
}
