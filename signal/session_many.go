package signal

import "slices"

// An Initiation is one session of [InitiateMany]: who it is with, and what came
// of it.
type Initiation struct {
	Session *Session
	Bundle  *Bundle

	// Err is set by InitiateMany, to nil if the session was started.
	Err error
}

// initiationChunk is how many sessions are started together: enough for every
// batch of the curve, and 40 kB of memory.
const initiationChunk = 64

// InitiateMany starts many sessions: the results are those of [Session.Initiate]
// of each item in order, the errors, the records and the draws too. All bundles
// are checked together, and all keys agreed on together. A session may be named
// more than once.
func InitiateMany(local Local, items []Initiation) {
	if len(items) == 0 {
		return
	}
	w := newInitiationWork(min(len(items), initiationChunk))
	defer w.wipe()
	w.identity = [32]byte(local.Identity.key.Bytes())
	for len(items) > 0 {
		n := min(len(items), initiationChunk)
		w.start(&local, items[:n])
		items = items[n:]
	}
}

// An initiationWork is the memory of one chunk.
type initiationWork struct {
	identity [32]byte
	drawn    []initiatorKeys
	bundles  []*Bundle
	valid    []bool

	private, point, shared [][32]byte // of the agreements
	secret, public         [][32]byte // base and ratchet key of each
}

func newInitiationWork(n int) *initiationWork {
	keys := make([][32]byte, n*(3*maxAgreements+2*2))
	cut := func(k int) (part [][32]byte) {
		part, keys = keys[:0:k], keys[k:]
		return part
	}
	return &initiationWork{
		drawn: make([]initiatorKeys, n), bundles: make([]*Bundle, n), valid: make([]bool, n),
		private: cut(n * maxAgreements), point: cut(n * maxAgreements), shared: cut(n * maxAgreements),
		secret: cut(2 * n), public: cut(2 * n),
	}
}

func (w *initiationWork) wipe() {
	w.identity = [32]byte{}
	clear(w.drawn)
	for _, keys := range [][][32]byte{w.private, w.shared, w.secret} {
		clear(keys[:cap(keys)])
	}
}

// start starts the sessions of one chunk.
func (w *initiationWork) start(local *Local, items []Initiation) {
	for i := range items {
		w.bundles[i] = items[i].Bundle
	}
	verifyBundles(w.valid[:len(items)], w.bundles[:len(items)])
	w.private, w.point, w.secret = w.private[:0], w.point[:0], w.secret[:0]
	for i := range items {
		item, k := &items[i], &w.drawn[i]
		item.Err = ErrBadSignature
		if !w.valid[i] {
			continue
		}
		if item.Err = k.draw(); item.Err != nil {
			continue
		}
		var private, point [maxAgreements][32]byte
		n := k.agreements(&private, &point, &w.identity, item.Bundle)
		w.private, w.point = append(w.private, private[:n]...), append(w.point, point[:n]...)
		w.secret = append(w.secret, k.base, k.ratchet)
		clear(private[:])
	}
	w.shared, w.public = w.shared[:len(w.private)], w.public[:len(w.secret)]
	agreeMany(w.shared, w.private, w.point)
	publicMany(w.public, w.secret)

	shared, public := w.shared, w.public
	for i := range items {
		item := &items[i]
		if item.Err != nil {
			continue
		}
		n := maxAgreements
		if !item.Bundle.HasPreKey {
			n--
		}
		item.Session.install(w.drawn[i].state(local, item.Bundle, &[2]PublicKey{public[0], public[1]}, shared[:n]))
		shared, public = shared[n:], public[2:]
	}
}

// An Encryption is one message of [EncryptMany].
type Encryption struct {
	Session   *Session
	Plaintext []byte

	// What EncryptMany sets: the message, which is a part of what it returns, or
	// the reason why there is none.
	Type MessageType
	Body []byte
	Err  error
}

// EncryptMany appends many messages to dst, one behind the other: the results
// are those of [Session.Encrypt] of each item in order, errors and records too.
// dst's capacity must not overlap a plaintext. A session may be named more than
// once.
func EncryptMany(dst []byte, items []Encryption) []byte {
	size := 0
	for i := range items {
		if st := items[i].Session.current; st != nil {
			size += len(items[i].Plaintext) + st.maxOverhead()
		}
	}
	dst = slices.Grow(dst, size)
	for i := range items {
		item := &items[i]
		start := len(dst)
		typ, b, err := item.Session.Encrypt(dst, item.Plaintext)
		item.Type, item.Body, item.Err = typ, nil, err
		if err == nil {
			dst = b
			item.Body = dst[start:len(dst):len(dst)]
		}
	}
	return dst
}
