package curve

import (
	"encoding/hex"
	"os"
	"testing"
)

// hex32 returns the 32 bytes of hexadecimal text.
func hex32(t testing.TB, s string) *[32]byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != 32 {
		t.Fatalf("%q is not the text of 32 bytes", s)
	}
	return (*[32]byte)(b)
}

func longTests() bool { return os.Getenv("SIGCORE_TEST_LONG") == "1" }

// RFC 7748, Section 5.2.
func TestRFC7748Vectors(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for _, v := range [][3]string{
			{
				"a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
				"e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
				"c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
			},
			{
				"4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
				"e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
				"95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
			},
		} {
			var got [32]byte
			X25519(&got, hex32(t, v[0]), hex32(t, v[1]))
			if got != *hex32(t, v[2]) {
				t.Errorf("X25519(%s, %s) = %x", v[0], v[1], got)
			}
		}
	})
}

// RFC 7748, Section 5.2, the second kind of test.
func TestRFC7748Iterated(t *testing.T) {
	counts := []struct {
		n    int
		want string
	}{
		{1, "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"},
		{1000, "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"},
		{1000000, "7c3911e0ab2586fd864497297e575e6f3bc601c0883c30df5f4dd2d24f665424"},
	}
	eachTier(t, func(t *testing.T) {
		k := [32]byte{9}
		u, i := k, 0
		for _, c := range counts {
			if c.n > 1000 && !longTests() {
				t.Log("1,000,000 iterations run with SIGCORE_TEST_LONG=1")
				return
			}
			for ; i < c.n; i++ {
				var out [32]byte
				X25519(&out, &k, &u)
				u, k = k, out
			}
			if k != *hex32(t, c.want) {
				t.Errorf("after %d iterations: %x", c.n, k)
			}
		}
	})
}

// RFC 7748, Section 6.1.
func TestRFC7748Agreement(t *testing.T) {
	a := hex32(t, "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
	b := hex32(t, "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
	aPub := hex32(t, "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
	bPub := hex32(t, "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
	want := hex32(t, "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
	eachTier(t, func(t *testing.T) {
		var got [32]byte
		if PublicKey(&got, a); got != *aPub {
			t.Errorf("Alice's public key %x", got)
		}
		if PublicKey(&got, b); got != *bPub {
			t.Errorf("Bob's public key %x", got)
		}
		if X25519(&got, a, bPub); got != *want {
			t.Errorf("Alice's secret %x", got)
		}
		if X25519(&got, b, aPub); got != *want {
			t.Errorf("Bob's secret %x", got)
		}
		if X25519(&got, a, &[32]byte{9}); got != *aPub {
			t.Errorf("agreement with the base point %x", got)
		}
	})
}
