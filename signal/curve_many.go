package signal

import "github.com/sigcore/sigcore/curve"

// This file has the operations on the curve that the functions over slices
// share. Each is as if its items were done one after the other.

// agreeMany sets each of dst to the shared secret of the private key and the
// public key of the same index. Constant time.
func agreeMany(dst, private, point [][32]byte) { curve.X25519Batch(dst, private, point) }

// publicMany sets each of dst to the public key of the private key of the same
// index. Constant time.
func publicMany(dst, private [][32]byte) { curve.PublicKeys(dst, private) }

// bundleChecks is the memory for the signatures of bundles that are checked
// together.
type bundleChecks struct {
	tagged [initiationChunk][PublicKeySize]byte
	signed [initiationChunk]curve.SignedMessage
}

// verify sets each of valid to whether the signature of the bundle of the same
// index holds; there are at most initiationChunk. Variable time: all of it is
// public.
func (c *bundleChecks) verify(valid []bool, bundles []*Bundle) {
	for i, b := range bundles {
		c.tagged[i] = b.SignedPreKey.Tagged()
		c.signed[i] = curve.SignedMessage{Key: (*[32]byte)(&b.Identity), Message: c.tagged[i][:], Signature: b.Signature[:]}
	}
	curve.VerifyBatch(valid, c.signed[:len(bundles)])
}

// verifyGroup sets the errors of the messages of items whose signature does not
// hold; there are at most groupChunk. Variable time: all of it is public.
func verifyGroup(items []GroupDecryption, w []groupOpening) {
	var signed [groupChunk]curve.SignedMessage
	var at [groupChunk]int
	var valid [groupChunk]bool
	n := 0
	for i := range items {
		if items[i].Err == nil {
			m := &w[i].m
			signed[n] = curve.SignedMessage{Prepared: w[i].st.verifier, Message: m.signed, Signature: m.Signature[:]}
			at[n] = i
			n++
		}
	}
	curve.VerifyBatch(valid[:n], signed[:n])
	for k, i := range at[:n] {
		if !valid[k] {
			items[i].Err = ErrBadSignature
		}
	}
}
