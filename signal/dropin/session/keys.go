package session

import (
	"context"

	"go.mau.fi/libsignal/cipher"
	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/internal/live"
	"go.mau.fi/libsignal/keys/chain"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/keys/message"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/ratchet"
	"go.mau.fi/libsignal/signalerror"
	"go.mau.fi/libsignal/state/record"
)

// Variants of decryption that also give the keys of the message, or take them.
// They derive the keys a second time, step by step.

// maxSkip is how many keys of a chain a message may skip.
const maxSkip = 2000

// DecryptAndGetKey is Decrypt that also returns the keys of the message.
func (d *Cipher) DecryptAndGetKey(ctx context.Context, ciphertextMessage *protocol.SignalMessage) ([]byte, *message.Keys, error) {
	there, err := d.sessionStore.ContainsSession(ctx, d.remoteAddress)
	if err != nil {
		return nil, nil, err
	}
	if !there {
		return nil, nil, signalerror.ErrNoSessionForUser
	}
	rec, err := d.sessionStore.LoadSession(ctx, d.remoteAddress)
	if err != nil {
		return nil, nil, err
	}
	plaintext, keys, err := d.DecryptWithRecord(ctx, rec, ciphertextMessage)
	if err != nil {
		return nil, nil, err
	}
	l, err := liveOf(rec)
	if err != nil {
		return nil, nil, err
	}
	remote, _ := l.RemoteIdentity()
	key := identity.NewKey(ecc.NewDjbECPublicKey(remote))
	if err := d.trusted(ctx, key); err != nil {
		return nil, nil, err
	}
	if err := d.identityKeyStore.SaveIdentity(ctx, d.remoteAddress, key); err != nil {
		return nil, nil, err
	}
	if err := d.sessionStore.StoreSession(ctx, d.remoteAddress, rec); err != nil {
		return nil, nil, err
	}
	return plaintext, keys, nil
}

// DecryptMessageReturnKey is DecryptMessage that also returns the keys of the
// message.
func (d *Cipher) DecryptMessageReturnKey(ctx context.Context, ciphertextMessage *protocol.PreKeySignalMessage) ([]byte, *message.Keys, error) {
	rec, err := d.sessionStore.LoadSession(ctx, d.remoteAddress)
	if err != nil {
		return nil, nil, err
	}
	var keys *message.Keys
	if rec != nil {
		keys = keysOf(rec.Structure(), ciphertextMessage.WhisperMessage())
	}
	if keys == nil {
		keys = d.firstKeys(ctx, ciphertextMessage)
	}
	plaintext, err := d.DecryptMessage(ctx, ciphertextMessage)
	if err != nil {
		return nil, nil, err
	}
	return plaintext, keys, nil
}

// DecryptWithKey returns the plaintext of a message of which the keys are known.
// It changes and stores nothing.
func (d *Cipher) DecryptWithKey(ctx context.Context, ciphertextMessage *protocol.SignalMessage, key *message.Keys) ([]byte, error) {
	rec, err := d.sessionStore.LoadSession(ctx, d.remoteAddress)
	if err != nil {
		return nil, err
	}
	if rec == nil || key == nil {
		return nil, signalerror.ErrNoSessionForUser
	}
	structure := rec.Structure()
	for _, st := range append([]*record.StateStructure{structure.SessionState}, structure.PreviousStates...) {
		state, err := record.NewStateFromStructure(st, nil)
		if err == nil && verified(state, ciphertextMessage, key) {
			return cipher.Decrypt(key.Iv(), key.CipherKey(), ciphertextMessage.Body())
		}
	}
	return nil, signalerror.ErrBadMAC
}

// DecryptWithRecord is Decrypt on a record, which is not stored.
func (d *Cipher) DecryptWithRecord(_ context.Context, sessionRecord *record.Session, ciphertext *protocol.SignalMessage) ([]byte, *message.Keys, error) {
	l, err := liveOf(sessionRecord)
	if err != nil {
		return nil, nil, err
	}
	wire, err := wireSignal(ciphertext)
	if err != nil {
		return nil, nil, err
	}
	before := sessionRecord.Structure()
	plaintext, err := l.Decrypt(wire, nil)
	if err != nil {
		return nil, nil, failure(err)
	}
	live.SessionChanged(sessionRecord)
	return plaintext, keysOf(before, ciphertext), nil
}

// DecryptWithState is Decrypt on one state.
func (d *Cipher) DecryptWithState(ctx context.Context, sessionState *record.State, ciphertextMessage *protocol.SignalMessage) ([]byte, *message.Keys, error) {
	return d.DecryptWithRecord(ctx, record.NewSessionFromState(sessionState, nil), ciphertextMessage)
}

// keysOf returns the keys of a message that a record reads, nil if it does not.
func keysOf(structure *record.SessionStructure, m *protocol.SignalMessage) *message.Keys {
	if structure == nil {
		return nil
	}
	for _, st := range append([]*record.StateStructure{structure.SessionState}, structure.PreviousStates...) {
		state, err := record.NewStateFromStructure(st, nil)
		if err != nil {
			continue
		}
		if keys := keysIn(state, m); keys != nil && verified(state, m, keys) {
			return keys
		}
	}
	return nil
}

func keysIn(st *record.State, m *protocol.SignalMessage) *message.Keys {
	theirs := m.SenderRatchetKey()
	if st.HasMessageKeys(theirs, m.Counter()) {
		return st.RemoveMessageKeys(theirs, m.Counter())
	}
	key := st.ReceiverChainKey(theirs)
	if key == nil {
		ours := st.SenderRatchetKeyPair()
		if ours == nil || ours.PrivateKey() == nil {
			return nil
		}
		step, err := st.RootKey().CreateChain(theirs, ours)
		if err != nil {
			return nil
		}
		key = step.ChainKey.Current()
	}
	return advance(key, m.Counter())
}

func advance(key *chain.Key, counter uint32) *message.Keys {
	if counter < key.Index() || counter-key.Index() > maxSkip || len(key.Key()) == 0 {
		return nil
	}
	for key.Index() < counter {
		key = key.NextKey()
	}
	return key.MessageKeys()
}

func verified(st *record.State, m *protocol.SignalMessage, keys *message.Keys) bool {
	remote, local := st.RemoteIdentityKey(), st.LocalIdentityKey()
	return remote != nil && local != nil && m.VerifyMac(m.MessageVersion(), remote, local, keys.MacKey()) == nil
}

// firstKeys returns the keys of a message that starts a session, nil if its
// prekeys are not there.
func (d *Cipher) firstKeys(ctx context.Context, p *protocol.PreKeySignalMessage) *message.Keys {
	signed, err := d.builder.signedPreKey(ctx, p)
	if err != nil {
		return nil
	}
	var oneTime *ecc.ECKeyPair
	if id := p.PreKeyID(); id != nil && !id.IsEmpty {
		key, err := d.preKeyStore.LoadPreKey(ctx, id.Value)
		if err != nil || key == nil {
			return nil
		}
		oneTime = key.KeyPair()
	}
	first, err := ratchet.CalculateReceiverSession(ratchet.NewReceiverParameters(
		d.identityKeyStore.GetIdentityKeyPair(), signed.KeyPair(), oneTime, signed.KeyPair(), p.BaseKey(), p.IdentityKey()))
	if err != nil {
		return nil
	}
	inner := p.WhisperMessage()
	step, err := first.RootKey.CreateChain(inner.SenderRatchetKey(), signed.KeyPair())
	if err != nil {
		return nil
	}
	return advance(step.ChainKey.Current(), inner.Counter())
}
