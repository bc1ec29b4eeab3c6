package signal

import (
	"slices"

	"github.com/sigcore/sigcore/internal/aescbc"
	"github.com/sigcore/sigcore/internal/kdf"
)

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
func InitiateMany(local Local, items []Initiation) { initiateMany(&local, items, 1) }

// initiateMany is InitiateMany by at most so many workers. If they are more
// than one, no session may be named twice.
func initiateMany(local *Local, items []Initiation, workers int) {
	inChunks(len(items), initiationChunk, workers, func(next chunks) {
		var w bundleWork
		for from, to, ok := next(); ok; from, to, ok = next() {
			w.check(items[from:to])
		}
	})
	// The draws are those of one session after the other, whoever goes on.
	drawn := make([]initiatorKeys, len(items))
	defer clear(drawn)
	for i := range items {
		if items[i].Err == nil {
			items[i].Err = drawn[i].draw()
		}
	}
	inChunks(len(items), initiationChunk, workers, func(next chunks) {
		w := newInitiationWork(min(len(items), initiationChunk))
		defer w.wipe()
		w.identity = [32]byte(local.Identity.key.Bytes())
		for from, to, ok := next(); ok; from, to, ok = next() {
			w.start(local, items[from:to], drawn[from:to])
		}
	})
}

// A bundleWork is the memory for the bundles of one chunk.
type bundleWork struct {
	bundles [initiationChunk]*Bundle
	valid   [initiationChunk]bool
	checks  bundleChecks
}

// check sets the errors of the items.
func (w *bundleWork) check(items []Initiation) {
	for i := range items {
		w.bundles[i] = items[i].Bundle
	}
	w.checks.verify(w.valid[:len(items)], w.bundles[:len(items)])
	for i := range items {
		items[i].Err = nil
		if !w.valid[i] {
			items[i].Err = ErrBadSignature
		}
	}
}

// An initiationWork is the memory for the keys of one chunk.
type initiationWork struct {
	identity [32]byte

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
		private: cut(n * maxAgreements), point: cut(n * maxAgreements), shared: cut(n * maxAgreements),
		secret: cut(2 * n), public: cut(2 * n),
	}
}

func (w *initiationWork) wipe() {
	w.identity = [32]byte{}
	for _, keys := range [][][32]byte{w.private, w.shared, w.secret} {
		clear(keys[:cap(keys)])
	}
}

// start starts the sessions of the items without an error, with the keys drawn
// for each.
func (w *initiationWork) start(local *Local, items []Initiation, drawn []initiatorKeys) {
	w.private, w.point, w.secret = w.private[:0], w.point[:0], w.secret[:0]
	for i := range items {
		if items[i].Err != nil {
			continue
		}
		k := &drawn[i]
		var private, point [maxAgreements][32]byte
		n := k.agreements(&private, &point, &w.identity, items[i].Bundle)
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
		item.Session.install(drawn[i].state(local, item.Bundle, &[2]PublicKey{public[0], public[1]}, shared[:n]))
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
	// Messages of two sessions are made side by side.
	var first, second sealing
	waiting := -1 // the item of first
	for i := range items {
		item := &items[i]
		if waiting >= 0 && items[waiting].Session == item.Session {
			dst = first.one(dst, &items[waiting])
			waiting = -1
		}
		x := &first
		if waiting >= 0 {
			x = &second
		}
		item.Type, item.Body = 0, nil
		if item.Err = x.begin(item.Session); item.Err != nil {
			continue
		}
		if waiting < 0 {
			waiting = i
			continue
		}
		dst = sealTwo(dst, &first, &second, &items[waiting], item)
		waiting = -1
	}
	if waiting >= 0 {
		dst = first.one(dst, &items[waiting])
	}
	return dst
}

// encryptionChunk is how many messages one of several workers takes at a time.
const encryptionChunk = 32

// encryptMany is EncryptMany by at most so many workers. If they are more than
// one, no session may be named twice; the messages of a chunk share memory.
func encryptMany(items []Encryption, workers int) {
	if workers <= 1 || len(items) <= encryptionChunk {
		EncryptMany(nil, items)
		return
	}
	inChunks(len(items), encryptionChunk, workers, func(next chunks) {
		for from, to, ok := next(); ok; from, to, ok = next() {
			EncryptMany(nil, items[from:to])
		}
	})
}

// one appends the message of an item of EncryptMany.
func (x *sealing) one(dst []byte, item *Encryption) []byte {
	start := len(dst)
	dst = x.seal(dst, item.Plaintext)
	item.Type, item.Body = x.typ, dst[start:len(dst):len(dst)]
	return dst
}

// sealTwo appends the messages of two items, of different sessions.
func sealTwo(dst []byte, x0, x1 *sealing, item0, item1 *Encryption) []byte {
	deriveTwo(&x0.keys, &x1.keys, &x0.seed, &x1.seed)
	start := len(dst)
	dst = x0.write(dst, item0.Plaintext)
	middle := len(dst)
	dst = x1.write(dst, item1.Plaintext)
	aescbc.EncryptPair(dst[x0.text:x0.mac], dst[x1.text:x1.mac], &x0.keys.cipher, &x1.keys.cipher, &x0.keys.iv, &x1.keys.iv)
	tagTwo(dst, x0, x1)
	x0.commit()
	x1.commit()
	item0.Type, item0.Body = x0.typ, dst[start:middle:middle]
	item1.Type, item1.Body = x1.typ, dst[middle:len(dst):len(dst)]
	return dst
}

// tagTwo puts the MACs of two messages in their places.
func tagTwo(buf []byte, x0, x1 *sealing) {
	var prefix [2][2 * PublicKeySize]byte
	var mac [2][32]byte
	macPrefix(&prefix[0], &x0.st.localIdentity, &x0.st.remoteIdentity)
	macPrefix(&prefix[1], &x1.st.localIdentity, &x1.st.remoteIdentity)
	kdf.HMACPair(&mac[0], &mac[1], &x0.keys.mac, &x1.keys.mac,
		[][]byte{prefix[0][:], buf[x0.start:x0.mac]}, [][]byte{prefix[1][:], buf[x1.start:x1.mac]})
	copy(buf[x0.mac:], mac[0][:macSize])
	copy(buf[x1.mac:], mac[1][:macSize])
}
