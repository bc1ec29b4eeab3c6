package curve

import (
	"crypto/sha512"
	"fmt"

	"github.com/sigcore/sigcore/internal/random"
)

// SignBatch draws 64 bytes for each of msgs, in their order, and sets the signature
// of the same index to what SignWithRandom gives with them. It fails only if a draw
// does; sigs are zeros then. It panics if the lengths differ. Constant time but for
// the lengths.
func (p *PrivateKey) SignBatch(sigs [][SignatureSize]byte, msgs [][]byte) error {
	checkBatch(len(sigs), len(msgs))
	for i := range sigs {
		if err := random.Read(sigs[i][:]); err != nil {
			clear(sigs)
			return fmt.Errorf("curve: sign message %d of %d: %w", i, len(sigs), err)
		}
	}
	p.SignBatchWithRandom(sigs, sigs, msgs)
	return nil
}

// SignBatchWithRandom is SignBatch with the given 64 bytes for each message, which
// must be uniformly random and never used twice. sigs may be z, and must not
// overlap it otherwise. It panics if the lengths differ.
func (p *PrivateKey) SignBatchWithRandom(sigs, z [][SignatureSize]byte, msgs [][]byte) {
	checkBatch(len(sigs), len(z), len(msgs))
	if len(sigs) == 0 {
		return
	}
	st := p.signingState()
	var r [batchGroup]Scalar
	var k [batchGroup][32]byte
	var R [batchGroup]Point
	for len(sigs) > 0 {
		n := min(batchGroup, len(sigs))
		for i := range r[:n] {
			var digest [sha512.Size]byte
			p.nonce(&digest, msgs[i:i+1], &z[i])
			r[i].setUniform(&digest)
			r[i].bytesInto(&k[i])
		}
		fixedBaseMany(R[:n], k[:n])
		encodeMany(k[:n], R[:n])
		for i := range sigs[:n] {
			copy(sigs[i][:32], k[i][:])
			st.answer(&sigs[i], &r[i], msgs[i:i+1])
			sigs[i][63] |= st.public[31] & 0x80
		}
		sigs, z, msgs = sigs[n:], z[n:], msgs[n:]
	}
}
