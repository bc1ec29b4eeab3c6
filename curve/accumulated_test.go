package curve

import (
	"crypto/sha3"
	"encoding/hex"
	"io"
	"testing"
)

// TestAccumulated hashes the results of every operation on a stream of inputs.
// The constants are those of the implementation whose results the other tests
// compare with independent ones; they pin a great number of cases at once.
func TestAccumulated(t *testing.T) {
	want := []struct {
		n   int
		sum string
	}{
		{100, "39d2b8cb39cee9fc160164876b6ac7f6e7cc2ffbafcd52aa37496c80ad84eadd"},
		{1000, "dbe72997c5c32a7b2fd224aa3ef75b7764fe66302ddf2c8ebf71cf5b8c733f8d"},
		{10000, "37ebe0c0c8ceef47fb4fe3f6d7e028166736f3fdb72f71e60b6006dc9a4657d0"},
		{100000, "3fe27f0ebcf4c24bacb3db86f26d4fb44972d8fff86fb1aff369e54a0b9c4d94"}, // with SIGCORE_TEST_LONG=1, as the line above
	}
	eachTier(t, func(t *testing.T) {
		in, out := sha3.NewSHAKE128(), sha3.NewSHAKE128()
		io.WriteString(in, "sigcore curve accumulated test")
		done := 0
		for _, w := range want {
			if w.n > 100 && testing.Short() || w.n > 1000 && !longTests() {
				return
			}
			for ; done < w.n; done++ {
				accumulate(t, in, out)
			}
			var sum [32]byte
			o := *out
			o.Read(sum[:])
			if got := hex.EncodeToString(sum[:]); got != w.sum {
				t.Errorf("after %d cases: %s", w.n, got)
			}
		}
	})
}

// accumulate runs one case.
func accumulate(t *testing.T, in, out *sha3.SHAKE) {
	var k, u, b [32]byte
	var z [64]byte
	in.Read(k[:])
	in.Read(u[:])
	in.Read(z[:])
	msg := z[:z[0]%64]

	X25519(&b, &k, &u)
	out.Write(b[:])
	p, err := NewPrivateKey(k[:])
	if err != nil {
		t.Fatal(err)
	}
	b = p.PublicKey()
	out.Write(b[:])
	sig := p.SignWithRandom(&z, msg)
	out.Write(sig[:])
	if !Verify(&b, msg, sig[:]) {
		t.Fatalf("key %x: signature %x refused", k, sig)
	}
	e, err := NewEd25519PrivateKey(u[:])
	if err != nil {
		t.Fatal(err)
	}
	ePub := e.PublicKey()
	out.Write(ePub[:])
	sig = e.Sign(msg)
	out.Write(sig[:])
	if !VerifyEd25519(&ePub, msg, sig[:]) {
		t.Fatalf("seed %x: signature %x refused", u, sig)
	}
	// Half of the random encodings are points.
	var q Point
	if _, err := q.SetBytes(k[:]); err == nil {
		var s Scalar
		s.setUniform(&z)
		out.Write(q.ScalarMult(&s, &q).Bytes())
	} else {
		out.Write([]byte{0})
	}
}
