package curve

import (
	"fmt"

	"github.com/sigcore/sigcore/field"
	"github.com/sigcore/sigcore/internal/random"
)

// Batches: many operations of one kind at once. The result of each item is that of
// the single operation, whatever the others are. An inversion serves for a group
// of items, and kernels may compute several items side by side. Their scratch is
// on the stack, its size does not depend on the number of items, and no kernel
// runs for 100 µs, so that the scheduler gets its turn.

// batchGroup is how many items share an inversion.
const batchGroup = 64

// checkBatch panics if the slices of a batch differ in length, which is an error of
// the program.
func checkBatch(n int, others ...int) {
	for _, m := range others {
		if m != n {
			panic("curve: mismatched batch lengths")
		}
	}
}

// X25519Batch sets each of dst to what X25519 gives for the scalar and the point of
// the same index. It panics if the lengths differ. dst may be scalars or points,
// and must not overlap them otherwise. Constant time: it depends on the length
// only.
func X25519Batch(dst, scalars, points [][32]byte) {
	checkBatch(len(dst), len(scalars), len(points))
	if len(dst) == 1 {
		X25519(&dst[0], &scalars[0], &points[0])
		return
	}
	var k [batchGroup][32]byte
	var x, z, inverse [batchGroup]field.Element
	for len(dst) > 0 {
		n := min(batchGroup, len(dst))
		copy(k[:], scalars[:n])
		for i := range k[:n] {
			clamp(&k[i])
		}
		ladderMany(x[:n], z[:n], k[:n], points[:n])
		field.InvertBatch(inverse[:n], z[:n])
		for i := range dst[:n] {
			x[i].Multiply(&x[i], &inverse[i])
			x[i].BytesInto(&dst[i])
		}
		dst, scalars, points = dst[n:], scalars[n:], points[n:]
	}
}

// PublicKeys sets each of dst to the public key of the scalar of the same index,
// as PublicKey does. It panics if the lengths differ. dst may be scalars, and must
// not overlap it otherwise. Constant time: it depends on the length only.
func PublicKeys(dst, scalars [][32]byte) {
	checkBatch(len(dst), len(scalars))
	if len(dst) == 1 {
		PublicKey(&dst[0], &scalars[0])
		return
	}
	var k [batchGroup][32]byte
	var p [batchGroup]Point
	var z, inverse [batchGroup]field.Element
	for len(dst) > 0 {
		n := min(batchGroup, len(dst))
		copy(k[:], scalars[:n])
		for i := range k[:n] {
			clamp(&k[i])
		}
		fixedBaseMany(p[:n], k[:n])
		// u = (Z+Y)/(Z-Y). No point is the identity: see PublicKey.
		for i := range p[:n] {
			z[i].Subtract(&p[i].z, &p[i].y)
		}
		field.InvertBatch(inverse[:n], z[:n])
		for i := range dst[:n] {
			z[i].Add(&p[i].z, &p[i].y)
			z[i].Multiply(&z[i], &inverse[i])
			z[i].BytesInto(&dst[i])
		}
		dst, scalars = dst[n:], scalars[n:]
	}
}

// GenerateKeys returns n keys, whose public keys are computed together. It draws
// 32 bytes for each, in their order, and fails only if a draw does. The keys share
// memory, which stays as long as any of them.
func GenerateKeys(n int) ([]*PrivateKey, error) {
	if n <= 0 {
		return nil, nil
	}
	private, public := make([][32]byte, n), make([][32]byte, n)
	defer clear(private)
	for i := range private {
		if err := random.Read(private[i][:]); err != nil {
			return nil, fmt.Errorf("curve: generate key %d of %d: %w", i, n, err)
		}
	}
	PublicKeys(public, private)
	keys, list := make([]PrivateKey, n), make([]*PrivateKey, n)
	for i := range keys {
		keys[i].k = private[i]
		clamp(&keys[i].k)
		keys[i].public.Store(&public[i])
		list[i] = &keys[i]
	}
	return list, nil
}

// ladderOne sets x/z to what ladder gives.
func ladderOne(x, z *field.Element, k, u *[32]byte) {
	var xw, zw [4]uint64
	ladder(&xw, &zw, k, u)
	x.SetWords(&xw)
	z.SetWords(&zw)
}

// encodeMany sets each of out to the encoding of the point of the same index, with
// one inversion. There are at most batchGroup of them.
func encodeMany(out [][32]byte, p []Point) {
	var z, inverse [batchGroup]field.Element
	for i := range p {
		z[i].Set(&p[i].z)
	}
	field.InvertBatch(inverse[:len(p)], z[:len(p)])
	for i := range p {
		var x, y field.Element
		x.Multiply(&p[i].x, &inverse[i])
		y.Multiply(&p[i].y, &inverse[i])
		y.BytesInto(&out[i])
		out[i][31] |= byte(x.IsNegative() << 7)
	}
}
