package record

import (
	"errors"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/kdf"
	"go.mau.fi/libsignal/keys/chain"
	"go.mau.fi/libsignal/keys/message"
	"go.mau.fi/libsignal/util/bytehelper"
)

// maxMessageKeys is how many keys of skipped messages a chain keeps.
const maxMessageKeys = 2000

// A Chain is a ratchet key with its chain key and the keys of skipped messages.
type Chain struct {
	senderRatchetKeyPair *ecc.ECKeyPair
	chainKey             *chain.Key
	messageKeys          []*message.Keys
}

// NewChain returns the chain of these parts.
func NewChain(senderRatchetKeyPair *ecc.ECKeyPair, chainKey *chain.Key, messageKeys []*message.Keys) *Chain {
	return &Chain{senderRatchetKeyPair, chainKey, messageKeys}
}

// NewChainFromStructure returns the chain of its stored form.
func NewChainFromStructure(structure *ChainStructure) (*Chain, error) {
	if structure == nil || structure.ChainKey == nil {
		return nil, errors.New("chain without a chain key")
	}
	pair, err := keyPair(structure.SenderRatchetKeyPublic, structure.SenderRatchetKeyPrivate)
	if err != nil {
		return nil, err
	}
	c := NewChain(pair, chain.NewKeyFromStruct(structure.ChainKey, kdf.DeriveSecrets), nil)
	for _, k := range structure.MessageKeys {
		if k == nil {
			return nil, errors.New("chain with a null for message keys")
		}
		c.messageKeys = append(c.messageKeys, message.NewKeysFromStruct(k))
	}
	return c, nil
}

// keyPair returns a pair of stored keys, of which the private one may be missing.
func keyPair(public, private []byte) (*ecc.ECKeyPair, error) {
	p, err := ecc.DecodePoint(public, 0)
	if err != nil {
		return nil, err
	}
	var key ecc.ECPrivateKeyable
	if len(private) > 0 {
		key = ecc.NewDjbECPrivateKey(bytehelper.SliceToArray(private))
	}
	return ecc.NewECKeyPair(p, key), nil
}

// SenderRatchetKey returns the ratchet key.
func (c *Chain) SenderRatchetKey() *ecc.ECKeyPair { return c.senderRatchetKeyPair }

// SetSenderRatchetKey sets the ratchet key.
func (c *Chain) SetSenderRatchetKey(key *ecc.ECKeyPair) { c.senderRatchetKeyPair = key }

// ChainKey returns the chain key.
func (c *Chain) ChainKey() *chain.Key { return c.chainKey }

// SetChainKey sets the chain key.
func (c *Chain) SetChainKey(key *chain.Key) { c.chainKey = key }

// MessageKeys returns the keys of skipped messages, the oldest first.
func (c *Chain) MessageKeys() []*message.Keys { return c.messageKeys }

// SetMessageKeys sets the keys of skipped messages.
func (c *Chain) SetMessageKeys(keys []*message.Keys) { c.messageKeys = keys }

// AddMessageKeys appends keys of a skipped message.
func (c *Chain) AddMessageKeys(keys *message.Keys) { c.messageKeys = append(c.messageKeys, keys) }

// PopFirstMessageKeys removes and returns the oldest keys, nil if there are none.
func (c *Chain) PopFirstMessageKeys() *message.Keys {
	if len(c.messageKeys) == 0 {
		return nil
	}
	first := c.messageKeys[0]
	c.messageKeys = c.messageKeys[1:]
	return first
}

// A ReceiverChainPair is a receiver chain with its position.
type ReceiverChainPair struct {
	ReceiverChain *Chain
	Index         int
}

// NewReceiverChainPair returns the pair of the two.
func NewReceiverChainPair(receiverChain *Chain, index int) *ReceiverChainPair {
	return &ReceiverChainPair{receiverChain, index}
}
