package main

import (
	"fmt"

	"github.com/sigcore/sigcore/signal"
)

// address is one device in JSON.
type address struct {
	Name   *string
	Device *uint32
}

func (a *address) signal() (signal.Address, error) {
	if a == nil || a.Name == nil || a.Device == nil {
		return signal.Address{}, missing("addr with name and device")
	}
	return signal.Address{Name: *a.Name, Device: *a.Device}, nil
}

// talk is the part of a request that names a party and a device.
type talk struct {
	member
	Addr *address
}

func (t *talk) of(p *peer) (*party, signal.Address, error) {
	a, err := t.member.of(p)
	if err != nil {
		return nil, signal.Address{}, err
	}
	addr, err := t.Addr.signal()
	return a, addr, err
}

type bundleJSON struct {
	RegID    uint32   `json:"reg_id"`
	Identity hexBytes `json:"identity"`
	SPKID    uint32   `json:"spk_id"`
	SPK      hexBytes `json:"spk"`
	SPKSig   hexBytes `json:"spk_sig"`
	OPKID    *uint32  `json:"opk_id"`
	OPK      hexBytes `json:"opk"`
}

func (b *bundleJSON) signal() (*signal.Bundle, error) {
	if b == nil {
		return nil, missing("bundle")
	}
	if len(b.SPKSig) != signal.SignatureSize {
		return nil, fmt.Errorf("%w: signature of %d bytes", signal.ErrBadSignature, len(b.SPKSig))
	}
	out := &signal.Bundle{RegistrationID: b.RegID, SignedPreKeyID: b.SPKID, Signature: [signal.SignatureSize]byte(b.SPKSig)}
	var err error
	if out.Identity, err = signal.ParsePublicKey(b.Identity); err != nil {
		return nil, err
	}
	if out.SignedPreKey, err = signal.ParsePublicKey(b.SPK); err != nil {
		return nil, err
	}
	if (b.OPKID == nil) != (b.OPK == nil) {
		return nil, fmt.Errorf("%w: opk_id and opk belong together", errBadRequest)
	}
	if b.OPKID != nil {
		out.HasPreKey, out.PreKeyID = true, *b.OPKID
		out.PreKey, err = signal.ParsePublicKey(b.OPK)
	}
	return out, err
}

// messageType is a type as stanzas name it.
var messageTypes = map[signal.MessageType]string{signal.TypeSignal: "msg", signal.TypePreKey: "pkmsg"}

func parseMessageType(s string) (signal.MessageType, error) {
	for t, name := range messageTypes {
		if name == s {
			return t, nil
		}
	}
	return 0, fmt.Errorf("%w: message type %q", errBadRequest, s)
}

func ciphertext(c signal.Ciphertext) answer {
	return answer{"type": messageTypes[c.Type], "body": hexBytes(c.Body)}
}

func init() {
	register("process_bundle", func(p *peer, r *struct {
		talk
		Bundle *bundleJSON
	},
	) (answer, error) {
		a, addr, err := r.of(p)
		if err != nil {
			return nil, err
		}
		b, err := r.Bundle.signal()
		if err != nil {
			return nil, err
		}
		changed, err := a.ProcessBundle(ctx, addr, b)
		return answer{"identity_changed": changed}, err
	})
	register("process_bundles", func(p *peer, r *struct {
		member
		Items []struct {
			Addr   *address
			Bundle *bundleJSON
		}
	},
	) (answer, error) {
		a, err := r.of(p)
		if err != nil {
			return nil, err
		}
		results := make([]answer, len(r.Items))
		var items []signal.AddressedBundle
		var at []int // where the result of an item belongs
		for i, it := range r.Items {
			addr, err := it.Addr.signal()
			if err != nil {
				return nil, err
			}
			b, err := it.Bundle.signal()
			if err != nil {
				results[i] = outcome(nil, err)
				continue
			}
			items, at = append(items, signal.AddressedBundle{Addr: addr, Bundle: b}), append(at, i)
		}
		out, err := a.ProcessBundles(ctx, items)
		if err != nil {
			return nil, err
		}
		for i, o := range out {
			results[at[i]] = outcome(answer{"identity_changed": o.IdentityChanged}, o.Err)
		}
		return answer{"results": results}, nil
	})
	register("encrypt", func(p *peer, r *struct {
		talk
		Plaintext *hexBytes
	},
	) (answer, error) {
		a, addr, err := r.of(p)
		if err != nil {
			return nil, err
		}
		if r.Plaintext == nil {
			return nil, missing("plaintext")
		}
		c, err := a.Encrypt(ctx, addr, *r.Plaintext)
		return ciphertext(c), err
	})
	register("encrypt_many", func(p *peer, r *struct {
		member
		Addrs     []*address
		Plaintext *hexBytes
	},
	) (answer, error) {
		a, err := r.of(p)
		if err != nil {
			return nil, err
		}
		if r.Plaintext == nil {
			return nil, missing("plaintext")
		}
		items := make([]signal.Outgoing, len(r.Addrs))
		for i, addr := range r.Addrs {
			if items[i].To, err = addr.signal(); err != nil {
				return nil, err
			}
			items[i].Plaintext = *r.Plaintext
		}
		out, err := a.EncryptMany(ctx, items)
		if err != nil {
			return nil, err
		}
		results := make([]answer, len(out))
		for i, o := range out {
			results[i] = outcome(ciphertext(o.Ciphertext), o.Err)
		}
		return answer{"results": results}, nil
	})
	register("decrypt", func(p *peer, r *struct {
		talk
		Type string
		Body *hexBytes
	},
	) (answer, error) {
		a, addr, err := r.of(p)
		if err != nil {
			return nil, err
		}
		t, err := parseMessageType(r.Type)
		if err != nil {
			return nil, err
		}
		if r.Body == nil {
			return nil, missing("body")
		}
		d, err := a.Decrypt(ctx, addr, t, *r.Body)
		if err != nil {
			return nil, err
		}
		return answer{"plaintext": hexBytes(d.Plaintext), "identity_changed": d.IdentityChanged}, nil
	})
	register("session_info", func(p *peer, r *talk) (answer, error) {
		a, addr, err := r.of(p)
		if err != nil {
			return nil, err
		}
		i, err := a.SessionInfo(ctx, addr)
		return answer{
			"exists": i.Exists, "archived": i.Archived, "pending": i.Pending, "skipped": i.Skipped,
			"sender_counter": i.SenderCounter, "record_bytes": i.RecordBytes,
		}, err
	})
}

// outcome is the answer for one item of a list.
func outcome(a answer, err error) answer {
	if err != nil {
		return answer{"ok": false, "error": err.Error(), "class": class(err)}
	}
	if a == nil {
		a = answer{}
	}
	a["ok"] = true
	return a
}
