package curve

import (
	"slices"
	"testing"
	"time"

	peer "filippo.io/edwards25519"
)

// BenchmarkScalarInterleaved compares the scalar arithmetic of every tier that
// may run here with filippo.io/edwards25519, in turns of short rounds: minimum
// and median of each, in nanoseconds an operation.
func BenchmarkScalarInterleaved(b *testing.B) {
	type variant struct {
		name string
		f    func(n int)
	}
	interleave := func(b *testing.B, variants []variant) {
		const rounds, batch = 101, 200
		times := make([][]float64, len(variants))
		for b.Loop() {
			for range rounds {
				for i, v := range variants {
					start := time.Now()
					v.f(batch)
					times[i] = append(times[i], float64(time.Since(start).Nanoseconds())/batch)
				}
			}
		}
		b.ReportMetric(0, "ns/op")
		for i, v := range variants {
			slices.Sort(times[i])
			b.ReportMetric(times[i][0], v.name+"-min-ns")
			b.ReportMetric(times[i][len(times[i])/2], v.name+"-med-ns")
		}
	}
	wide := []byte("an integer of 64 bytes, which is as much as SHA-512 gives it: ok")
	x, _ := new(Scalar).SetUniformBytes(wide)
	px, _ := peer.NewScalar().SetUniformBytes(wide)
	py, _ := peer.NewScalar().SetUniformBytes(wide)
	var out [4]uint64
	words := [8]uint64{1, 2, 3, 4, 5, 6, 7, ^uint64(8)}

	b.Run("MultiplyAdd", func(b *testing.B) {
		v := []variant{{"peer", func(n int) {
			for range n {
				py.MultiplyAdd(px, px, px)
			}
		}}}
		for _, k := range scalarTiers() {
			v = append(v, variant{k.name, func(n int) { k.mulAddN(&out, &x.s, &x.s, &x.s, n) }})
		}
		interleave(b, v)
	})
	b.Run("ReduceWide", func(b *testing.B) {
		v := []variant{{"peer", func(n int) {
			for range n {
				py.SetUniformBytes(wide)
			}
		}}}
		for _, k := range scalarTiers() {
			v = append(v, variant{k.name, func(n int) { k.reduceWideN(&out, &words, n) }})
		}
		interleave(b, v)
	})
	b.Run("Steps", func(b *testing.B) {
		var s steps
		for b.Loop() {
			s.set(doubleBaseShape, x, x)
		}
	})
}
