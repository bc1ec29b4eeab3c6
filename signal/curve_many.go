package signal

import "github.com/sigcore/sigcore/curve"

// This file has the operations on the curve that the functions over slices
// share. Each is as if its items were done one after the other.

// agreeMany sets each of dst to the shared secret of the private key and the
// public key of the same index. Constant time.
func agreeMany(dst, private, point [][32]byte) {
	for i := range dst {
		curve.X25519(&dst[i], &private[i], &point[i])
	}
}

// publicMany sets each of dst to the public key of the private key of the same
// index. Constant time.
func publicMany(dst, private [][32]byte) {
	for i := range dst {
		curve.PublicKey(&dst[i], &private[i])
	}
}

// verifyBundles sets each of valid to whether the signature of the bundle of the
// same index holds. Variable time: all of it is public.
func verifyBundles(valid []bool, bundles []*Bundle) {
	for i, b := range bundles {
		valid[i] = b.Verify() == nil
	}
}

// verifyGroup sets the errors of the messages of items whose signature does not
// hold. Variable time: all of it is public.
func verifyGroup(items []GroupDecryption, w []groupOpening) {
	for i := range items {
		if items[i].Err == nil && !w[i].st.verifier.Verify(w[i].m.signed, w[i].m.Signature[:]) {
			items[i].Err = ErrBadSignature
		}
	}
}
