package curve

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sigcore/sigcore/internal/random"
	"github.com/sigcore/sigcore/internal/testvec"
)

// batchSizes are the lengths of batches that tests take: all remainders of what
// kernels and inversions have in common, and a window of prekeys.
func batchSizes() []int {
	sizes := []int{0}
	for n := 1; n <= 33; n++ {
		sizes = append(sizes, n)
	}
	return append(sizes, 63, 64, 65, 812)
}

const largestBatch = 812

func TestX25519Batch(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	low := testvec.LowOrderU()
	var k, u, want [largestBatch][32]byte
	for i := range k {
		k[i], u[i] = testvec.WeirdBytes32(r), testvec.WeirdBytes32(r)
		switch r.IntN(4) {
		case 0:
			u[i] = low[r.IntN(len(low))]
		case 1:
			fill(r, u[i][:])
		}
		X25519(&want[i], &k[i], &u[i])
	}
	eachTier(t, func(t *testing.T) {
		for _, n := range batchSizes() {
			at := r.IntN(largestBatch - n + 1)
			k, u := slices.Clone(k[at:at+n]), slices.Clone(u[at:at+n])
			got := make([][32]byte, n+2)
			X25519Batch(got[1:n+1], k, u)
			if !slices.Equal(got[1:n+1], want[at:at+n]) || got[0] != [32]byte{} || got[n+1] != [32]byte{} {
				t.Fatalf("%d agreements at once are not those done singly", n)
			}
			if n > 0 && n <= 9 {
				a, b := slices.Clone(k), slices.Clone(u)
				X25519Batch(a, a, u)
				X25519Batch(b, k, b)
				if !slices.Equal(a, want[at:at+n]) || !slices.Equal(b, want[at:at+n]) {
					t.Fatalf("%d agreements in place are not those done singly", n)
				}
			}
		}
	})
}

func TestPublicKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 2))
	var k, want [largestBatch][32]byte
	for i := range k {
		k[i] = testvec.WeirdBytes32(r)
		PublicKey(&want[i], &k[i])
	}
	eachTier(t, func(t *testing.T) {
		for _, n := range batchSizes() {
			at := r.IntN(largestBatch - n + 1)
			got := make([][32]byte, n+2)
			PublicKeys(got[1:n+1], k[at:at+n])
			if !slices.Equal(got[1:n+1], want[at:at+n]) || got[0] != [32]byte{} || got[n+1] != [32]byte{} {
				t.Fatalf("%d public keys at once are not those done singly", n)
			}
			in := slices.Clone(k[at : at+n])
			if PublicKeys(in, in); !slices.Equal(in, want[at:at+n]) {
				t.Fatalf("%d public keys in place are not those done singly", n)
			}
		}
	})
}

// GenerateKeys draws as GenerateKey does, and its keys are whole.
func TestGenerateKeys(t *testing.T) {
	source := func() *rand.ChaCha8 { return rand.NewChaCha8([32]byte{1}) }
	restore := random.Install(source())
	keys, err := GenerateKeys(100)
	restore()
	if err != nil || len(keys) != 100 {
		t.Fatal(len(keys), err)
	}
	defer random.Install(source())()
	for i, k := range keys {
		one, err := GenerateKey()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one.Bytes(), k.Bytes()) || one.PublicKey() != k.PublicKey() {
			t.Fatalf("key %d is not what one draw after the other gives", i)
		}
	}
	if keys, err := GenerateKeys(0); err != nil || len(keys) != 0 {
		t.Error(keys, err)
	}
	defer random.Install(bytes.NewReader(make([]byte, 32*7)))()
	if keys, err := GenerateKeys(8); err == nil || keys != nil {
		t.Error("a draw has failed, and there are keys")
	}
}

func TestSignBatch(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 3))
	var z, want [largestBatch][64]byte
	msgs := make([][]byte, largestBatch)
	var keys [2]*PrivateKey
	for i := range keys { // of both signs
		for signs := -1; signs != i; signs = int(keys[i].signingState().public[31] >> 7) {
			var k [32]byte
			fill(r, k[:])
			keys[i], _ = NewPrivateKey(k[:])
		}
	}
	for i := range msgs {
		msgs[i] = make([]byte, r.IntN(300))
		fill(r, msgs[i])
		fill(r, z[i][:])
	}
	eachTier(t, func(t *testing.T) {
		for _, key := range keys {
			for i := range want {
				want[i] = key.SignWithRandom(&z[i], msgs[i])
			}
			for _, n := range batchSizes() {
				at := r.IntN(largestBatch - n + 1)
				got := make([][64]byte, n)
				key.SignBatchWithRandom(got, z[at:at+n], msgs[at:at+n])
				if !slices.Equal(got, want[at:at+n]) {
					t.Fatalf("%d signatures at once are not those done singly", n)
				}
			}
		}
	})
	var stream []byte
	for i := range 70 {
		stream = append(stream, z[i][:]...)
	}
	sigs := make([][64]byte, 71)
	restore := random.Install(bytes.NewReader(stream))
	err := keys[1].SignBatch(sigs[:70], msgs[:70])
	restore()
	if err != nil || !slices.Equal(sigs[:70], want[:70]) {
		t.Error("signatures with a draw each are not those done singly: ", err)
	}
	defer random.Install(bytes.NewReader(stream))()
	if err := keys[1].SignBatch(sigs, msgs[:71]); err == nil || sigs[0] != [64]byte{} {
		t.Error("a draw has failed, and there are signatures")
	}
}

// TestVerifyBatch mixes valid signatures with all that can be wrong, and prepared
// keys of every state with plain ones.
func TestVerifyBatch(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 4))
	items := make([]SignedMessage, largestBatch)
	want := make([]bool, largestBatch)
	low := testvec.LowOrderU()
	var keys [12]*PrivateKey
	var prepared [12]*VerificationKey
	for i := range keys {
		var k [32]byte
		fill(r, k[:])
		keys[i], _ = NewPrivateKey(k[:])
		u := keys[i].PublicKey()
		if prepared[i] = NewVerificationKey(&u); i%2 == 0 {
			prepared[i].Precompute()
		}
	}
	valid := 0
	for i := range items {
		n := r.IntN(len(keys))
		msg := make([]byte, r.IntN(250))
		fill(r, msg)
		var z [64]byte
		fill(r, z[:])
		sig := keys[n].SignWithRandom(&z, msg)
		u := keys[n].PublicKey()
		it := SignedMessage{Key: &u, Message: msg, Signature: sig[:]}
		if r.IntN(3) == 0 {
			it.Key, it.Prepared = nil, prepared[n]
		}
		switch r.IntN(16) {
		case 0:
			sig[r.IntN(64)] ^= 1 << r.IntN(8)
		case 1:
			it.Message = append(bytes.Clone(msg), 0)
		case 2:
			it.Signature = sig[:r.IntN(64)]
		case 3:
			it.Signature = append(sig[:], 0)
		case 4: // of no point, or of small order
			fill(r, u[:])
			if r.IntN(2) == 0 {
				u = low[r.IntN(len(low))]
			}
		case 5:
			if b, ok := addS(sig[:], 1); ok {
				it.Signature = b
			}
		case 6: // R is the identity, s is zero: valid for points of small order
			sig = [64]byte{1}
			u = low[r.IntN(len(low))]
		case 7:
			it.Signature = nil
		}
		items[i] = it
		if it.Prepared != nil {
			u = it.Prepared.u
			want[i] = Verify(&u, it.Message, it.Signature)
		} else {
			want[i] = Verify(it.Key, it.Message, it.Signature)
		}
		if want[i] {
			valid++
		}
	}
	if valid < largestBatch/3 || valid > largestBatch*9/10 {
		t.Fatalf("%d of %d are valid", valid, largestBatch)
	}
	eachTier(t, func(t *testing.T) {
		for _, n := range batchSizes() {
			at := r.IntN(largestBatch - n + 1)
			got := make([]bool, n)
			for i := range got {
				got[i] = r.IntN(2) == 0
			}
			VerifyBatch(got, items[at:at+n])
			if !slices.Equal(got, want[at:at+n]) {
				t.Fatalf("%d verdicts at once are not those of single verification", n)
			}
		}
	})
}

func TestBatchLengths(t *testing.T) {
	one, two := make([][32]byte, 1), make([][32]byte, 2)
	key, _ := NewPrivateKey(make([]byte, 32))
	for name, f := range map[string]func(){
		"X25519Batch scalars": func() { X25519Batch(two, one, two) },
		"X25519Batch points":  func() { X25519Batch(two, two, one) },
		"PublicKeys":          func() { PublicKeys(one, two) },
		"VerifyBatch":         func() { VerifyBatch(nil, make([]SignedMessage, 1)) },
		"SignBatch":           func() { _ = key.SignBatch(make([][64]byte, 1), nil) },
		"SignBatchWithRandom": func() { key.SignBatchWithRandom(make([][64]byte, 1), nil, make([][]byte, 1)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s takes slices of different lengths", name)
				}
			}()
			f()
		}()
	}
}

func TestBatchAllocations(t *testing.T) {
	if testvec.Race || testing.CoverMode() != "" {
		t.Skip("instrumentation changes what escapes")
	}
	var k, u, out [70][32]byte
	var z, sigs [70][64]byte
	msgs := make([][]byte, 70)
	items := make([]SignedMessage, 70)
	valid := make([]bool, 70)
	key, _ := NewPrivateKey(make([]byte, 32))
	pub := key.PublicKey()
	for i := range msgs {
		k[i][3], u[i][0] = byte(i), 9
		msgs[i] = k[i][:]
		sigs[i] = key.SignWithRandom(&z[i], msgs[i])
		items[i] = SignedMessage{Key: &pub, Message: msgs[i], Signature: bytes.Clone(sigs[i][:])}
	}
	eachTier(t, func(t *testing.T) {
		for name, f := range map[string]func(){
			"X25519Batch":         func() { X25519Batch(out[:], k[:], u[:]) },
			"PublicKeys":          func() { PublicKeys(out[:], k[:]) },
			"SignBatchWithRandom": func() { key.SignBatchWithRandom(sigs[:], z[:], msgs) },
			"VerifyBatch":         func() { VerifyBatch(valid, items) },
		} {
			if n := testing.AllocsPerRun(3, f); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
		if slices.Contains(valid, false) {
			t.Error("a signature is not valid")
		}
	})
}
