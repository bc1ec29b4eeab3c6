package field

import (
	"slices"
	"testing"
	"time"

	peer "filippo.io/edwards25519/field"
)

// sink keeps results alive.
var sink Element

func benchElements() (x, y *Element) {
	x, _ = new(Element).SetBytes([]byte("a field element of 32 bytes: one"))
	y, _ = new(Element).SetBytes([]byte("a field element of 32 bytes: two"))
	return x, y
}

func BenchmarkElement(b *testing.B) {
	x, y := benchElements()
	var buf [32]byte
	batch := make([]Element, 256)
	out := make([]Element, 256)
	for i := range batch {
		batch[i].Multiply(x, y)
	}
	for _, tc := range []struct {
		name string
		f    func()
	}{
		{"Add", func() { x.Add(x, y) }},
		{"Subtract", func() { x.Subtract(x, y) }},
		{"Multiply", func() { x.Multiply(x, y) }},
		{"Square", func() { x.Square(x) }},
		{"SquareN/n=100", func() { x.SquareN(x, 100) }},
		{"Mult32", func() { x.Mult32(x, 121666) }},
		{"Invert", func() { x.Invert(x) }},
		{"InvertBatch/n=256", func() { InvertBatch(out, batch) }},
		{"SqrtRatio", func() { x.SqrtRatio(x, y) }},
		{"Select", func() { x.Select(x, y, 1) }},
		{"Equal", func() { x.Equal(y) }},
		{"SetBytes", func() { x.SetBytes(buf[:]) }},
		{"BytesInto", func() { x.BytesInto(&buf) }},
	} {
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tc.f()
			}
		})
	}
	sink = *x
}

// A variant is one way to compute the same.
type variant struct {
	name string
	f    func(n int) // n times
}

// interleave runs the variants in turn, in many short rounds, and reports the
// minimum and the median of each in nanoseconds an operation. Ratios of one
// call are comparable where single benchmarks are not.
func interleave(b *testing.B, batch int, variants []variant) {
	const rounds = 201
	times := make([][]float64, len(variants))
	for b.Loop() {
		for range rounds {
			for i, v := range variants {
				start := time.Now()
				v.f(batch)
				times[i] = append(times[i], float64(time.Since(start).Nanoseconds())/float64(batch))
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

// BenchmarkInterleaved compares the kernels that may run here with their twins
// and with filippo.io/edwards25519/field. Chains of dependent operations, but
// for those named independent.
func BenchmarkInterleaved(b *testing.B) {
	x, y := benchElements()
	px, _ := new(peer.Element).SetBytes(x.Bytes())
	py, _ := new(peer.Element).SetBytes(y.Bytes())
	var out [4]Element
	var pout [4]peer.Element
	k := kernels()

	b.Run("Multiply", func(b *testing.B) {
		v := []variant{{"peer", func(n int) {
			for range n {
				px.Multiply(px, py)
			}
		}}}
		for _, k := range k {
			v = append(v, variant{k.name, func(n int) { k.mulChain(&x.l, &y.l, n) }})
		}
		interleave(b, 500, v)
	})
	b.Run("Multiply/independent", func(b *testing.B) {
		v := []variant{{"peer", func(n int) {
			for i := range n {
				pout[i&3].Multiply(px, py)
			}
		}}}
		for _, k := range k {
			v = append(v, variant{k.name, func(n int) { k.mulFree(&out, &x.l, &y.l, n) }})
		}
		interleave(b, 500, v)
	})
	b.Run("Square", func(b *testing.B) {
		v := []variant{{"peer", func(n int) {
			for range n {
				px.Square(px)
			}
		}}}
		for _, k := range k {
			v = append(v, variant{k.name, func(n int) { k.squareChain(&x.l, n) }})
		}
		interleave(b, 500, v)
	})
	b.Run("Square/independent", func(b *testing.B) {
		v := []variant{{"peer", func(n int) {
			for i := range n {
				pout[i&3].Square(px)
			}
		}}}
		for _, k := range k {
			v = append(v, variant{k.name, func(n int) { k.squareFree(&out, &x.l, n) }})
		}
		interleave(b, 500, v)
	})
	b.Run("SquareN", func(b *testing.B) {
		v := []variant{{"peer", func(n int) {
			for range n {
				px.Square(px)
			}
		}}}
		for _, k := range k {
			v = append(v, variant{k.name, func(n int) { k.squareN(&x.l, &x.l, n) }})
		}
		interleave(b, 500, v)
	})
	b.Run("Invert", func(b *testing.B) {
		interleave(b, 5, []variant{
			{"peer", func(n int) {
				for range n {
					px.Invert(px)
				}
			}},
			{"dispatched", func(n int) {
				for range n {
					x.Invert(x)
				}
			}},
		})
	})
	sink.Add(x, &out[3])
}
