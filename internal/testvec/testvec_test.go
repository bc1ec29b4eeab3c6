package testvec

import (
	"bufio"
	"bytes"
	"crypto/ecdh"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestRecordingsAreWhatWasRecorded(t *testing.T) {
	sums, err := packed.ReadFile("testdata/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[string]string)
	for s := bufio.NewScanner(bytes.NewReader(sums)); s.Scan(); {
		sum, file, _ := strings.Cut(s.Text(), "  ")
		want[strings.TrimSuffix(file, ".json")] = sum
	}
	names := Names()
	if len(names) != len(want) || len(names) < 27 {
		t.Fatalf("%d recordings, %d checksums", len(names), len(want))
	}
	for _, name := range names {
		text, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want[name] {
			t.Errorf("%s: checksum differs", name)
		}
		if !json.Valid(text) {
			t.Errorf("%s: not JSON", name)
		}
	}
	if _, err := Open("no_such_recording"); err == nil {
		t.Error("opened a recording that does not exist")
	}
}

func TestPackingIsDeterministic(t *testing.T) {
	for _, name := range Names() {
		data, err := packed.ReadFile("testdata/" + name + ".json.gz")
		if err != nil {
			t.Fatal(err)
		}
		// RFC 1952, Section 2.3: no flags (so no file name), modification time 0.
		if !bytes.HasPrefix(data, []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0}) {
			t.Errorf("%s: packed with a name or a time", name)
		}
	}
}

// Every transcript replays through the recorded peers' own bytes: what each
// side sends is what the other side reads, and the accepted count is fixed.
func TestActs(t *testing.T) {
	counts := map[Verdict]int{}
	encrypts, skipped := 0, 0
	for _, name := range Names() {
		if !strings.HasPrefix(name, "session_") || name == "session_records" {
			continue
		}
		for _, tr := range Sessions(t, name) {
			for _, who := range []string{"alice", "bob"} {
				if n := len(tr.Party(who).IdentityPriv); n != 32 {
					t.Fatalf("%s %v: identity of %d bytes", name, &tr, n)
				}
				for _, a := range tr.Acts(t, who) {
					if a.Who != who {
						t.Fatalf("%s %v step %d belongs to %s", name, &tr, a.Index, a.Who)
					}
					switch a.Op {
					case "encrypt":
						encrypts++
						skipped += a.Skipped
						if err := SameMessage(a.Type, a.Body, a.Body, a.OPKID); err != nil {
							t.Errorf("%s %v step %d: %v", name, &tr, a.Index, err)
						}
					case "decrypt":
						counts[a.Want]++
						if len(a.Body) == 0 {
							t.Errorf("%s %v step %d: no body", name, &tr, a.Index)
						}
					}
				}
			}
		}
	}
	if counts[Accept] < 600 || counts[Refuse] < 90 || encrypts < 600 || skipped == 0 {
		t.Errorf("%d accepted, %d refused, %d encrypted, %d skipped", counts[Accept], counts[Refuse], encrypts, skipped)
	}
	t.Logf("%d accepted, %d refused, %d encrypted, %d skipped", counts[Accept], counts[Refuse], encrypts, skipped)
}

func TestSameMessageSeesEveryChange(t *testing.T) {
	tr := Sessions(t, "session_basic")[0]
	seen := map[string]bool{}
	for _, a := range tr.Acts(t, "alice") {
		if a.Op != "encrypt" || seen[a.Type] {
			continue
		}
		seen[a.Type] = true
		for i := range a.Body {
			b := bytes.Clone(a.Body)
			b[i] ^= 1
			if SameMessage(a.Type, a.Body, b, a.OPKID) == nil {
				t.Errorf("%s: byte %d of %d altered, not seen", a.Type, i, len(b))
			}
		}
		bad, err := Tampered(a.Type, a.Body)
		if err != nil || len(bad) != 2 || bytes.Equal(bad[0], bad[1]) {
			t.Errorf("%s: tampered copies: %v", a.Type, err)
		}
	}
	if !seen["pkmsg"] || !seen["msg"] {
		t.Errorf("types seen: %v", seen)
	}
}

func TestHex(t *testing.T) {
	var v struct{ A, B, C Hex }
	if err := json.Unmarshal([]byte(`{"A":"00ff","B":null,"C":""}`), &v); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(v.A, []byte{0, 0xff}) || v.B != nil || v.C == nil || len(v.C) != 0 {
		t.Errorf("got %v", v)
	}
	for _, bad := range []string{`{"A":"0"}`, `{"A":"zz"}`, `{"A":5}`} {
		if json.Unmarshal([]byte(bad), &v) == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

func bigOf(b [32]byte) *big.Int {
	for i := range 16 {
		b[i], b[31-i] = b[31-i], b[i]
	}
	return new(big.Int).SetBytes(b[:])
}

func TestEdgesCoverTheModulus(t *testing.T) {
	p := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	l, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	have := map[string]bool{}
	for _, b := range EdgeBytes32() {
		have[bigOf(b).String()] = true
	}
	for _, n := range []*big.Int{new(big.Int), p, l, new(big.Int).Lsh(p, 1), new(big.Int).Lsh(big.NewInt(1), 255)} {
		for d := int64(-1); d <= 1; d++ {
			if v := new(big.Int).Add(n, big.NewInt(d)); v.Sign() >= 0 && !have[v.String()] {
				t.Errorf("no edge %x", v)
			}
		}
	}
}

// crypto/ecdh refuses exactly the all-zero results.
func TestLowOrderU(t *testing.T) {
	k, err := ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{0x48}, 32))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[32]byte]bool{}
	for _, u := range LowOrderU() {
		pub, err := ecdh.X25519().NewPublicKey(u[:])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.ECDH(pub); err == nil {
			t.Errorf("%x is not of low order", u)
		}
		seen[u] = true
	}
	if len(seen) != 14 {
		t.Errorf("%d encodings, want 14", len(seen))
	}
}

func TestWeirdValuesReachTheEdges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	zero, ones, limb := 0, 0, 0
	for range 10000 {
		switch WeirdUint64(r) {
		case 0:
			zero++
		case 1<<64 - 1:
			ones++
		}
		if v := WeirdLimb(r, 52); v == 1<<52-1 {
			limb++
		} else if v>>52 != 0 {
			t.Fatalf("limb of more than 52 bits: %#x", v)
		}
	}
	if zero == 0 || ones == 0 || limb == 0 {
		t.Errorf("0 %d times, 2^64-1 %d times, 2^52-1 %d times", zero, ones, limb)
	}
	values := map[[32]byte]bool{}
	for range 1000 {
		values[WeirdBytes32(r)] = true
	}
	if len(values) < 500 {
		t.Errorf("%d different values of 1000", len(values))
	}
}
