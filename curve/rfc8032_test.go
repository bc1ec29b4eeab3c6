package curve

import (
	"bytes"
	"crypto/sha512"
	_ "embed"
	"encoding/hex"
	"strings"
	"testing"
)

// The message of TEST 1024, of 1,023 bytes.
//
//go:embed testdata/rfc8032_test1024.hex
var test1024 string

// RFC 8032, Section 7.1.
func TestRFC8032Vectors(t *testing.T) {
	unhex := func(s string) []byte {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	abc := sha512.Sum512([]byte("abc"))
	vectors := []struct {
		name, seed, public string
		msg                []byte
		sig                string
	}{
		{
			"TEST 1",
			"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
			"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", nil,
			"e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
		},
		{
			"TEST 2",
			"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
			"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", unhex("72"),
			"92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
		},
		{
			"TEST 3",
			"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
			"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", unhex("af82"),
			"6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
		},
		{
			"TEST 1024",
			"f5e5767cf153319517630f226876b86c8160cc583bc013744c6bf255f5cc0ee5",
			"278117fc144c72340f67d0f2316e8386ceffbf2b2428c9c51fef7c597f1d426e",
			unhex(strings.ReplaceAll(test1024, "\n", "")),
			"0aab4c900501b3e24d7cdf4663326a3a87df5e4843b2cbdb67cbf6e460fec350aa5371b1508f9f4528ecea23c436d94b5e8fcd4f681e30a6ac00a9704a188a03",
		},
		{
			"TEST SHA(abc)",
			"833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
			"ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf", abc[:],
			"dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
		},
	}
	eachTier(t, func(t *testing.T) {
		for _, v := range vectors {
			key, err := NewEd25519PrivateKey(unhex(v.seed))
			if err != nil {
				t.Fatal(err)
			}
			public, want := key.PublicKey(), unhex(v.sig)
			if public != *hex32(t, v.public) {
				t.Errorf("%s: public key %x", v.name, public)
			}
			if !bytes.Equal(key.Seed(), unhex(v.seed)) {
				t.Errorf("%s: seed %x", v.name, key.Seed())
			}
			if sig := key.Sign(v.msg); !bytes.Equal(sig[:], want) {
				t.Errorf("%s: signature %x", v.name, sig)
			}
			half := len(v.msg) / 2
			if sig := key.Sign(v.msg[:half], nil, v.msg[half:]); !bytes.Equal(sig[:], want) {
				t.Errorf("%s: signature of the parts %x", v.name, sig)
			}
			if !VerifyEd25519(&public, v.msg, want) {
				t.Errorf("%s: refused", v.name)
			}
			for i := range 8 * len(want) {
				bad := bytes.Clone(want)
				bad[i/8] ^= 1 << (i % 8)
				if VerifyEd25519(&public, v.msg, bad) {
					t.Errorf("%s: accepted with bit %d changed", v.name, i)
				}
			}
			if VerifyEd25519(&public, append([]byte{0}, v.msg...), want) {
				t.Errorf("%s: accepted for another message", v.name)
			}
			for _, n := range []int{0, 63, 65} {
				if VerifyEd25519(&public, v.msg, append(want, 0)[:n]) {
					t.Errorf("%s: accepted %d bytes", v.name, n)
				}
			}
		}
	})
}
