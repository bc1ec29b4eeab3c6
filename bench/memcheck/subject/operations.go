//go:build valgrind && linux && amd64

package main

import (
	"bytes"
	"crypto/sha512"

	"github.com/sigcore/sigcore/curve"
	"github.com/sigcore/sigcore/field"
	"github.com/sigcore/sigcore/internal/aescbc"
	"github.com/sigcore/sigcore/internal/kdf"
	"github.com/sigcore/sigcore/internal/random"
)

// An operation computes with secrets and returns results, each of which depends
// on them.
type operation struct {
	name string
	run  func() [][]byte
}

// secret returns n bytes that are marked as undefined; the name chooses them.
func secret(name string, n int) []byte {
	b := public(name, n)
	hide(b)
	return b
}

// public returns n bytes; the name chooses them.
func public(name string, n int) []byte {
	b := make([]byte, 0, n)
	for i := byte(0); len(b) < n; i++ {
		h := sha512.Sum512(append([]byte(name), i))
		b = append(b, h[:min(len(h), n-len(b))]...)
	}
	return b
}

// array returns b as an array on the heap, with its marks.
func array(b []byte) *[32]byte { return (*[32]byte)(b) }

func element(name string) *field.Element {
	return must(new(field.Element).SetBytes(secret(name, 32)))
}

func scalar(name string) *curve.Scalar {
	return must(new(curve.Scalar).SetUniformBytes(secret(name, 64)))
}

func point(name string) *curve.Point { return curve.NewIdentityPoint().ScalarBaseMult(scalar(name)) }

func choice(name string) int { return int(secret(name, 1)[0] & 1) }

// number returns a result that is a number of one bit.
func number(n int) []byte { return []byte{byte(n)} }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var message = public("message", 100)

// operations leaves out what is variable time by its name or documentation:
// VarTime…, verification, and decoding that can fail.
var operations = []operation{
	{"field: Multiply, Square, SquareN", func() [][]byte {
		a, b := element("a"), element("b")
		return [][]byte{
			new(field.Element).Multiply(a, b).Bytes(),
			new(field.Element).Square(a).Bytes(),
			new(field.Element).SquareN(a, 5).Bytes(),
		}
	}},
	{"field: Add, Subtract, Negate, Absolute, Mult32", func() [][]byte {
		a, b := element("a"), element("b")
		return [][]byte{
			new(field.Element).Add(a, b).Bytes(),
			new(field.Element).Subtract(a, b).Bytes(),
			new(field.Element).Negate(a).Bytes(),
			new(field.Element).Absolute(a).Bytes(),
			new(field.Element).Mult32(a, 121666).Bytes(),
		}
	}},
	{"field: Invert, InvertBatch, Pow22523, SqrtRatio", func() [][]byte {
		a, b := element("a"), element("b")
		batch := make([]field.Element, 3)
		field.InvertBatch(batch, []field.Element{*a, *b, *a})
		root, square := new(field.Element).SqrtRatio(a, b)
		return [][]byte{
			new(field.Element).Invert(a).Bytes(),
			batch[0].Bytes(), batch[1].Bytes(), batch[2].Bytes(),
			new(field.Element).Pow22523(a).Bytes(),
			root.Bytes(), number(square),
		}
	}},
	{"field: Select, Swap, Equal, IsNegative, SetWideBytes, SetWords", func() [][]byte {
		a, b := element("a"), element("b")
		chosen := new(field.Element).Select(a, b, choice("select"))
		a.Swap(b, choice("swap"))
		words := b.Words()
		return [][]byte{
			chosen.Bytes(), a.Bytes(), b.Bytes(), number(a.Equal(b)), number(a.IsNegative()),
			must(new(field.Element).SetWideBytes(secret("wide", 64))).Bytes(),
			new(field.Element).SetWords(&words).Bytes(),
		}
	}},

	{"curve: Scalar", func() [][]byte {
		a, b, c := scalar("a"), scalar("b"), scalar("c")
		return [][]byte{
			new(curve.Scalar).Add(a, b).Bytes(),
			new(curve.Scalar).Subtract(a, b).Bytes(),
			new(curve.Scalar).Negate(a).Bytes(),
			new(curve.Scalar).Multiply(a, b).Bytes(),
			new(curve.Scalar).MultiplyAdd(a, b, c).Bytes(),
			must(new(curve.Scalar).SetBytesWithClamping(secret("clamped", 32))).Bytes(),
			number(a.Equal(b)),
		}
	}},
	{"curve: Point", func() [][]byte {
		p, q := point("p"), point("q")
		return [][]byte{
			curve.NewIdentityPoint().Add(p, q).Bytes(),
			curve.NewIdentityPoint().Subtract(p, q).Bytes(),
			curve.NewIdentityPoint().Double(p).Bytes(),
			curve.NewIdentityPoint().Negate(p).Bytes(),
			curve.NewIdentityPoint().MultByCofactor(p).Bytes(),
			p.BytesMontgomery(), number(p.Equal(q)),
		}
	}},
	{"curve: ScalarBaseMult", func() [][]byte { return [][]byte{point("p").Bytes()} }},
	{"curve: ScalarMult", func() [][]byte {
		known := curve.NewGeneratorPoint()
		known.Double(known)
		return [][]byte{
			curve.NewIdentityPoint().ScalarMult(scalar("a"), known).Bytes(),
			curve.NewIdentityPoint().ScalarMult(scalar("a"), point("p")).Bytes(),
		}
	}},

	{"curve: X25519", func() [][]byte {
		known, unknown := make([]byte, 32), make([]byte, 32)
		curve.X25519(array(known), array(secret("private key", 32)), array(public("peer", 32)))
		// An ephemeral key of the peer can be one that was decrypted.
		curve.X25519(array(unknown), array(secret("private key", 32)), array(secret("peer", 32)))
		return [][]byte{known, unknown}
	}},
	{"curve: PublicKey", func() [][]byte {
		out := make([]byte, 32)
		curve.PublicKey(array(out), array(secret("private key", 32)))
		return [][]byte{out}
	}},
	{"curve: PrivateKey", func() [][]byte {
		k := must(curve.NewPrivateKey(secret("private key", 32)))
		u, shared := k.PublicKey(), make([]byte, 32)
		k.Agree(array(shared), array(public("peer", 32)))
		return [][]byte{bytes.Clone(u[:]), shared, k.Bytes()}
	}},
	{"curve: PrivateKey.Sign, first and second signature", func() [][]byte {
		defer random.Install(source{})()
		k := must(curve.NewPrivateKey(secret("private key", 32)))
		first, second := must(k.Sign(message)), must(k.Sign(message[:10], message[10:]))
		return [][]byte{bytes.Clone(first[:]), bytes.Clone(second[:])}
	}},
	{"curve: GenerateKey", func() [][]byte {
		defer random.Install(source{})()
		u := must(curve.GenerateKey()).PublicKey()
		return [][]byte{bytes.Clone(u[:])}
	}},
	{"curve: Ed25519PrivateKey", func() [][]byte {
		k := must(curve.NewEd25519PrivateKey(secret("seed", 32)))
		public, sig := k.PublicKey(), k.Sign(message)
		return [][]byte{k.Seed(), bytes.Clone(public[:]), bytes.Clone(sig[:])}
	}},

	{"kdf: HMAC, ChainStep, HKDF, Label", func() [][]byte {
		mac, seed, next := make([]byte, 32), make([]byte, 32), make([]byte, 32)
		kdf.HMAC(array(mac), array(secret("key", 32)), message)
		kdf.ChainStep(array(seed), array(next), array(secret("chain key", 32)))
		keys, long := make([]byte, 80), make([]byte, 64)
		kdf.HKDF(keys, secret("seed", 32), nil, []byte("keys"))
		kdf.HKDF(long, secret("shared", 128), secret("root", 32), message)
		label, short, wide := kdf.NewLabel("keys"), make([]byte, 64), make([]byte, 96)
		label.SeedKeys64((*[64]byte)(short), array(secret("seed", 32)))
		label.SeedKeys96((*[96]byte)(wide), array(secret("seed", 32)))
		return [][]byte{mac, seed, next, keys, long, short, wide}
	}},
	{"aescbc: Encrypt, EncryptPair, Decrypt", func() [][]byte {
		iv := func() *[16]byte { return (*[16]byte)(secret("iv", 16)) }
		one, b0, b1 := secret("plaintext", 48), secret("plaintext", 64), secret("plaintext", 32)
		aescbc.Encrypt(one, array(secret("key", 32)), iv())
		aescbc.EncryptPair(b0, b1, array(secret("key", 32)), array(secret("other key", 32)), iv(), iv())
		short, long := make([]byte, 48), make([]byte, 160)
		aescbc.Decrypt(short, public("ciphertext", 48), array(secret("key", 32)), iv())
		aescbc.Decrypt(long, public("ciphertext", 160), array(secret("key", 32)), iv())
		return [][]byte{one, b0, b1, short, long}
	}},
	{"kdf: HMACPair, Label of two", func() [][]byte {
		macs, short, wide := [2][]byte{}, [2][]byte{}, [2][]byte{}
		for i := range 2 {
			macs[i], short[i], wide[i] = make([]byte, 32), make([]byte, 64), make([]byte, 96)
		}
		kdf.HMACPair(array(macs[0]), array(macs[1]), array(secret("key", 32)), array(secret("key", 32)), [][]byte{message}, [][]byte{message, message})
		label := kdf.NewLabel("keys")
		label.SeedKeys64Pair((*[64]byte)(short[0]), (*[64]byte)(short[1]), array(secret("seed", 32)), array(secret("seed", 32)))
		label.SeedKeys96Pair((*[96]byte)(wide[0]), (*[96]byte)(wide[1]), array(secret("seed", 32)), array(secret("seed", 32)))
		return [][]byte{macs[0], macs[1], short[0], short[1], wide[0], wide[1]}
	}},
}

// source is randomness that is secret.
type source struct{}

func (source) Read(b []byte) (int, error) {
	copy(b, secret("random", len(b)))
	return len(b), nil
}
