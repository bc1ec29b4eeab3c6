package curve

import (
	"cmp"
	"crypto/ecdh"
	"crypto/ed25519"
	"slices"
	"testing"
	"time"

	"filippo.io/edwards25519"

	"github.com/sigcore/sigcore/internal/impl"
)

// A benchOp is an operation with the same of another library, if there is one.
type benchOp struct {
	name string
	n    int // calls in a round of about 0.1 ms
	f    func()
	lib  string
	peer func()
}

func benchOps(b *testing.B) map[string]benchOp {
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	valid := func(ok bool) {
		if !ok {
			b.Fatal("refused")
		}
	}
	var k, u, out [32]byte
	var z [64]byte
	k[5], u[0] = 1, 9
	msg := make([]byte, 33)

	p, err := NewPrivateKey(k[:])
	must(err)
	e, err := NewEd25519PrivateKey(k[:])
	must(err)
	pub, ePub := p.PublicKey(), e.PublicKey()
	sig, eSig := p.SignWithRandom(&z, msg), e.Sign(msg)
	v := NewVerificationKey(&pub)
	v.Precompute()
	s, err := new(Scalar).SetBytesWithClamping(k[:])
	must(err)
	var q, base Point
	_, err = base.SetBytes(ePub[:])
	must(err)

	libKey, err := ecdh.X25519().NewPrivateKey(k[:])
	must(err)
	libPub, err := ecdh.X25519().NewPublicKey(pub[:])
	must(err)
	libEd := ed25519.NewKeyFromSeed(k[:])
	libScalar, err := edwards25519.NewScalar().SetBytesWithClamping(k[:])
	must(err)
	var libPoint edwards25519.Point
	libBase, err := new(edwards25519.Point).SetBytes(ePub[:])
	must(err)

	ops := make(map[string]benchOp)
	for _, op := range []benchOp{
		{"X25519", 4, func() { X25519(&out, &k, &pub) }, "ecdh", func() {
			_, err := libKey.ECDH(libPub)
			must(err)
		}},
		{"PublicKey", 8, func() { PublicKey(&out, &k) }, "ecdh", func() {
			_, err := ecdh.X25519().NewPrivateKey(k[:])
			must(err)
		}},
		{"Ed25519Sign", 8, func() { e.Sign(msg) }, "ed25519", func() { ed25519.Sign(libEd, msg) }},
		{"Ed25519Verify", 4, func() { valid(VerifyEd25519(&ePub, msg, eSig[:])) }, "ed25519", func() {
			valid(ed25519.Verify(ePub[:], msg, eSig[:]))
		}},
		{"XEdDSASign", 8, func() { p.SignWithRandom(&z, msg) }, "", nil},
		{"XEdDSAVerify", 4, func() { valid(Verify(&pub, msg, sig[:])) }, "", nil},
		{"XEdDSAVerifyPrepared", 4, func() { valid(v.Verify(msg, sig[:])) }, "", nil},
		{"ScalarBaseMult", 8, func() { q.ScalarBaseMult(s) }, "filippo", func() { libPoint.ScalarBaseMult(libScalar) }},
		{"ScalarMult", 4, func() { q.ScalarMult(s, &base) }, "filippo", func() { libPoint.ScalarMult(libScalar, libBase) }},
		{"DoubleBase", 4, func() { q.VarTimeDoubleScalarBaseMult(s, &base, s) }, "filippo", func() {
			libPoint.VarTimeDoubleScalarBaseMult(libScalar, libBase, libScalar)
		}},
	} {
		ops[op.name] = op
	}
	return ops
}

// selectTier turns on the kernel set name of field and of this package.
func selectTier(name string) bool {
	field := impl.Select("field", name)
	return impl.Select("curve", name) && field
}

func benchOperation(b *testing.B, name string) {
	op := benchOps(b)[name]
	b.Cleanup(func() { impl.Reset("field"); impl.Reset("curve") })
	for _, tier := range append(impl.List("curve"), "") {
		b.Run("impl="+cmp.Or(tier, "generic"), func(b *testing.B) {
			if !selectTier(tier) {
				b.Skip("may not run on this machine or in this build")
			}
			b.ReportAllocs()
			for b.Loop() {
				op.f()
			}
		})
	}
	if op.peer != nil {
		b.Run("lib="+op.lib, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				op.peer()
			}
		})
	}
}

func BenchmarkX25519(b *testing.B)               { benchOperation(b, "X25519") }
func BenchmarkPublicKey(b *testing.B)            { benchOperation(b, "PublicKey") }
func BenchmarkEd25519Sign(b *testing.B)          { benchOperation(b, "Ed25519Sign") }
func BenchmarkEd25519Verify(b *testing.B)        { benchOperation(b, "Ed25519Verify") }
func BenchmarkXEdDSASign(b *testing.B)           { benchOperation(b, "XEdDSASign") }
func BenchmarkXEdDSAVerify(b *testing.B)         { benchOperation(b, "XEdDSAVerify") }
func BenchmarkXEdDSAVerifyPrepared(b *testing.B) { benchOperation(b, "XEdDSAVerifyPrepared") }
func BenchmarkScalarBaseMult(b *testing.B)       { benchOperation(b, "ScalarBaseMult") }
func BenchmarkScalarMult(b *testing.B)           { benchOperation(b, "ScalarMult") }
func BenchmarkDoubleBase(b *testing.B)           { benchOperation(b, "DoubleBase") }

// BenchmarkCurveInterleaved runs the tiers and the other library in turns, in
// short rounds, and reports minimum and median of each: ratios on a machine
// whose load changes.
func BenchmarkCurveInterleaved(b *testing.B) {
	b.Cleanup(func() { impl.Reset("field"); impl.Reset("curve") })
	ops := benchOps(b)
	names := make([]string, 0, len(ops))
	for name := range ops {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		op := ops[name]
		b.Run(name, func(b *testing.B) {
			times := map[string][]float64{}
			round := func(who string, f func()) {
				f()
				begin := time.Now()
				for range op.n {
					f()
				}
				times[who] = append(times[who], float64(time.Since(begin).Nanoseconds())/float64(op.n))
			}
			for b.Loop() {
				for _, tier := range append(impl.List("curve"), "") {
					if selectTier(tier) {
						round(cmp.Or(tier, "generic"), op.f)
					}
				}
				if op.peer != nil {
					round(op.lib, op.peer)
				}
			}
			for who, t := range times {
				slices.Sort(t)
				b.ReportMetric(t[0], who+"-min-ns")
				b.ReportMetric(t[len(t)/2], who+"-med-ns")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
