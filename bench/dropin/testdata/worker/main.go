// Command worker runs operations of one of the two implementations. It reads
// lines with an operation and a count, runs it that often, and answers with the
// nanoseconds, allocations and bytes of all. What an operation needs is made
// before the clock starts.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"time"

	"dropin.test/party"
	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/kdf"
)

func main() {
	runtime.LockOSThread()
	in := bufio.NewScanner(os.Stdin)
	subjects := map[string]subject{}
	for in.Scan() {
		var op string
		var n int
		if _, err := fmt.Sscan(in.Text(), &op, &n); err != nil {
			panic(err)
		}
		s, ok := subjects[op]
		if !ok {
			s = operations[op]()
			subjects[op] = s
		}
		if s.prepare != nil {
			s.prepare(n)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		s.run(n)
		d := time.Since(start)
		runtime.ReadMemStats(&after)
		fmt.Println(d.Nanoseconds(), after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc)
	}
}

type subject struct {
	prepare func(n int)
	run     func(n int)
}

var plaintext = bytes.Repeat([]byte("0123456789abcdef"), 8)

const (
	alice   = "15550000001"
	bob     = "15550000002"
	groupID = "15550000001-1500000000@g.us"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func pair() (a, b *party.Party) {
	ka, err := party.GenerateKeys(1001)
	check(err)
	kb, err := party.GenerateKeys(1002)
	check(err)
	return party.New(ka), party.New(kb)
}

// deliver sends one message and has it read.
func deliver(from, to *party.Party, fromName, toName string) {
	kind, m, err := from.Encrypt(toName, plaintext)
	check(err)
	p, err := to.Decrypt(fromName, kind, m)
	check(err)
	if !bytes.Equal(p, plaintext) {
		panic("another plaintext")
	}
}

// acquainted returns two with a session that is answered.
func acquainted() (a, b *party.Party) {
	a, b = pair()
	check(a.ProcessBundle(bob, b.Publish(1)))
	deliver(a, b, alice, bob)
	deliver(b, a, bob, alice)
	deliver(a, b, alice, bob)
	return a, b
}

// decryptions prepares messages from a to b, and reads them.
func decryptions(a, b *party.Party) subject {
	type message struct {
		kind uint32
		body []byte
	}
	var messages []message
	return subject{
		prepare: func(n int) {
			messages = messages[:0]
			for range n {
				kind, m, err := a.Encrypt(bob, plaintext)
				check(err)
				messages = append(messages, message{kind, m})
			}
		},
		run: func(int) {
			for _, m := range messages {
				p, err := b.Decrypt(alice, m.kind, m.body)
				check(err)
				if len(p) != len(plaintext) {
					panic("another plaintext")
				}
			}
		},
	}
}

var operations = map[string]func() subject{
	"keygen": func() subject {
		return subject{run: func(n int) {
			for range n {
				_, err := ecc.GenerateKeyPair()
				check(err)
			}
		}}
	},
	"agreement": func() subject {
		x, err := ecc.GenerateKeyPair()
		check(err)
		y, err := ecc.GenerateKeyPair()
		check(err)
		return subject{run: func(n int) {
			for range n {
				kdf.CalculateSharedSecret(x.PublicKey().PublicKey(), y.PrivateKey().Serialize())
			}
		}}
	},
	"sign": func() subject {
		x, err := ecc.GenerateKeyPair()
		check(err)
		return subject{run: func(n int) {
			for range n {
				ecc.CalculateSignature(x.PrivateKey(), plaintext)
			}
		}}
	},
	"verify": func() subject {
		// A key that was not seen before, as that of a bundle.
		type signed struct {
			key ecc.ECPublicKeyable
			sig [64]byte
		}
		var all []signed
		return subject{
			prepare: func(n int) {
				all = all[:0]
				for range n {
					x, err := ecc.GenerateKeyPair()
					check(err)
					all = append(all, signed{x.PublicKey(), ecc.CalculateSignature(x.PrivateKey(), plaintext)})
				}
			},
			run: func(int) {
				for _, s := range all {
					if !ecc.VerifySignature(s.key, plaintext, s.sig) {
						panic("refused")
					}
				}
			},
		}
	},
	"session_initiate_encrypt": func() subject {
		a, b := pair()
		var bundles []party.Bundle
		return subject{
			prepare: func(n int) {
				bundles = bundles[:0]
				for i := range n {
					bundles = append(bundles, b.Publish(uint32(1+i)))
				}
			},
			run: func(int) {
				for _, bundle := range bundles {
					delete(a.Sessions, bob+":1")
					check(a.ProcessBundle(bob, bundle))
					_, _, err := a.Encrypt(bob, plaintext)
					check(err)
				}
			},
		}
	},
	"dm_encrypt_json": func() subject {
		a, _ := acquainted()
		return subject{run: func(n int) {
			for range n {
				_, _, err := a.Encrypt(bob, plaintext)
				check(err)
			}
		}}
	},
	"dm_decrypt_json": func() subject { return decryptions(acquainted()) },
	"dm_decrypt_json_40archived": func() subject {
		a, b := acquainted()
		for i := range 40 {
			delete(a.Sessions, bob+":1")
			check(a.ProcessBundle(bob, b.Publish(uint32(2+i))))
			deliver(a, b, alice, bob)
		}
		deliver(b, a, bob, alice)
		deliver(a, b, alice, bob)
		if n := bytes.Count(b.Sessions[alice+":1"], []byte("SenderBaseKey")); n != 41 {
			panic(fmt.Sprint(n, " states"))
		}
		return decryptions(a, b)
	},
	"dm_decrypt_json_2000skipped": func() subject {
		a, b := acquainted()
		for range 2000 {
			_, _, err := a.Encrypt(bob, plaintext)
			check(err)
		}
		deliver(a, b, alice, bob)
		if n := bytes.Count(b.Sessions[alice+":1"], []byte("CipherKey")); n != 2000 {
			panic(fmt.Sprint(n, " keys"))
		}
		return decryptions(a, b)
	},
	"group_encrypt_json": func() subject {
		a, _ := pair()
		_, err := a.CreateSenderKey(groupID, alice)
		check(err)
		return subject{run: func(n int) {
			for range n {
				_, err := a.EncryptGroup(groupID, alice, plaintext)
				check(err)
			}
		}}
	},
	"group_decrypt_json": func() subject {
		a, b := pair()
		d, err := a.CreateSenderKey(groupID, alice)
		check(err)
		check(b.ProcessSenderKey(groupID, alice, d))
		var messages [][]byte
		return subject{
			prepare: func(n int) {
				messages = messages[:0]
				for range n {
					m, err := a.EncryptGroup(groupID, alice, plaintext)
					check(err)
					messages = append(messages, m)
				}
			},
			run: func(int) {
				for _, m := range messages {
					_, err := b.DecryptGroup(groupID, alice, m)
					check(err)
				}
			},
		}
	},
}
