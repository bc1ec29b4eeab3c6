//go:build !purego

package curve

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// BenchmarkLaneClasses times the kernels over lanes on classes of secrets, in turns:
// scalars of few bits, of many, fixed and random ones. Valgrind does not run these
// kernels; that their times agree, beside their text, is what shows that no secret
// reaches a time. It reports the median of each class as a share of that of random
// scalars.
func BenchmarkLaneClasses(b *testing.B) {
	if !useLadder4IFMA || !useFixedBaseIFMA {
		b.Skip("needs the tier ifma")
	}
	r := rand.New(rand.NewPCG(51, 1))
	classes := []string{"random", "zeros", "ones", "fixed"}
	scalars := func(class string) (k [8][32]byte) {
		for i := range k {
			switch class {
			case "random":
				fill(r, k[i][:])
			case "ones":
				for j := range k[i] {
					k[i][j] = 0xff
				}
			case "fixed":
				for j := range k[i] {
					k[i][j] = byte(31*j + 7)
				}
			}
		}
		return k
	}
	var u, out [8][32]byte
	for i := range u {
		u[i][0] = 9
	}
	for name, f := range map[string]func(k *[8][32]byte){
		"X25519Batch of 8": func(k *[8][32]byte) { X25519Batch(out[:], k[:], u[:]) },
		"X25519Batch of 4": func(k *[8][32]byte) { X25519Batch(out[:4], k[:4], u[:4]) },
		"PublicKeys of 8":  func(k *[8][32]byte) { PublicKeys(out[:], k[:]) },
		"PublicKeys of 4":  func(k *[8][32]byte) { PublicKeys(out[:4], k[:4]) },
		"PublicKey":        func(k *[8][32]byte) { PublicKey(&out[0], &k[0]) },
	} {
		b.Run(name, func(b *testing.B) {
			var times [4][]float64
			for b.Loop() {
				for c, class := range classes {
					k := scalars(class)
					start := time.Now()
					f(&k)
					times[c] = append(times[c], float64(time.Since(start)))
				}
			}
			var median [4]float64
			for c := range times {
				slices.Sort(times[c])
				median[c] = times[c][len(times[c])/2]
			}
			for c, class := range classes[1:] {
				b.ReportMetric(median[c+1]/median[0], class+"/random")
			}
		})
	}
}
