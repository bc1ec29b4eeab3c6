package curve

import (
	"io"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The kernels give what they give undisturbed while stacks are small and grow
// wherever a kernel is called, while the collector runs without pause and
// preempts, and while profiling signals arrive. Run with -race too.
func TestUnderStress(t *testing.T) {
	var k, u [32]byte
	for i := range k {
		k[i], u[i] = byte(3*i+1), byte(7*i+2)
	}
	p, err := NewPrivateKey(k[:])
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEd25519PrivateKey(k[:])
	if err != nil {
		t.Fatal(err)
	}
	var z [64]byte
	var shared, scaled [32]byte
	msg := []byte("under stress")
	public, ePublic := p.PublicKey(), e.PublicKey()
	sig, eSig := p.SignWithRandom(&z, msg), e.Sign(msg)
	X25519(&shared, &k, &u)
	s, err := new(Scalar).SetUniformBytes(eSig[:])
	if err != nil {
		t.Fatal(err)
	}
	new(Point).ScalarMult(s, NewGeneratorPoint()).BytesInto(&scaled)
	v := NewVerificationKey(&public)
	v.Precompute()
	operations := []func() bool{
		func() bool { var b [32]byte; X25519(&b, &k, &u); return b == shared },
		func() bool { var b [32]byte; PublicKey(&b, &k); return b == public },
		func() bool { return p.SignWithRandom(&z, msg) == sig },
		func() bool { return e.Sign(msg) == eSig },
		func() bool { return Verify(&public, msg, sig[:]) && !Verify(&public, msg[1:], sig[:]) },
		func() bool { return v.Verify(msg, sig[:]) },
		func() bool { return VerifyEd25519(&ePublic, msg, eSig[:]) },
		func() bool { var b [32]byte; new(Point).ScalarBaseMult(s).BytesInto(&b); return b == scaled },
	}

	duration := 400 * time.Millisecond
	switch {
	case longTests():
		duration = 20 * time.Second
	case testing.Short():
		duration = 50 * time.Millisecond
	}
	// It fails if the tests are being profiled, which is as good.
	if pprof.StartCPUProfile(io.Discard) == nil {
		defer pprof.StopCPUProfile()
	}
	eachTier(t, func(t *testing.T) {
		var stop atomic.Bool
		var collector sync.WaitGroup
		collector.Go(func() {
			for !stop.Load() {
				runtime.GC()
			}
		})
		rounds := 0
		for begin := time.Now(); time.Since(begin) < duration || rounds < 2; rounds++ {
			// A new goroutine begins with a small stack; the depth moves the place
			// where it ends through the frames of the kernels.
			var workers sync.WaitGroup
			for depth := range 4 {
				workers.Go(func() {
					for i, f := range operations {
						if !below(4*(rounds%16)+depth, f) {
							t.Errorf("operation %d, %d frames deep, gives another result", i, 4*(rounds%16)+depth)
						}
					}
				})
			}
			workers.Wait()
		}
		stop.Store(true)
		collector.Wait()
	})
}

// below calls f that many frames further down.
//
//go:noinline
func below(frames int, f func() bool) bool {
	var room [96]byte
	room[frames%len(room)] = 1
	if frames == 0 {
		return f()
	}
	return below(frames-1, f) && room[frames%len(room)] == 1
}
