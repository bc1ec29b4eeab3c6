package live

import (
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/convert"
)

// A SenderKey is the record of one sender in one group. The zero value is an
// empty one. It is not safe for concurrent use.
type SenderKey struct {
	value *signal.SenderKey // nil if there is none
	raw   []byte            // the record as it was read, while nothing has changed
}

// Hooks of package groups/state/record, as those of sessions.
var (
	OfSenderKey      func(rec any) (*SenderKey, error)
	SenderKeyChanged func(rec any)
)

const emptySenderKey = `{"SenderKeyStates":[]}`

// ParseSenderKey reads JSON, and keeps it. The error wraps
// signal.ErrCorruptRecord.
func ParseSenderKey(record []byte) (*SenderKey, error) {
	record = append([]byte(nil), record...)
	k := &SenderKey{raw: record}
	if string(record) == emptySenderKey || string(record) == `{"SenderKeyStates":null}` {
		return k, nil
	}
	value, err := convert.ParseGoSenderKey(record)
	if err != nil {
		return nil, err
	}
	k.value = value
	return k, nil
}

// JSON returns the record: what was read, byte for byte, if nothing has changed.
func (k *SenderKey) JSON() ([]byte, error) {
	switch {
	case k.raw != nil:
		return append([]byte(nil), k.raw...), nil
	case k.value == nil:
		return []byte(emptySenderKey), nil
	}
	return convert.AppendGoSenderKey(nil, k.value)
}

// Empty reports whether there is no sender key.
func (k *SenderKey) Empty() bool { return k.value == nil || k.value.Empty() }

// Create makes a sender key if there is none, and returns the message that hands
// out the current one.
func (k *SenderKey) Create() ([]byte, error) {
	next := k.value
	if k.Empty() {
		next = new(signal.SenderKey)
		if err := next.Create(); err != nil {
			return nil, err
		}
	}
	message, err := next.AppendDistribution(nil)
	if err != nil {
		return nil, err
	}
	if next != k.value {
		k.value, k.raw = next, nil
	}
	return message, nil
}

// Process is that of signal.SenderKey.
func (k *SenderKey) Process(message []byte) error {
	next := k.value
	if next == nil {
		next = new(signal.SenderKey)
	}
	if _, err := next.Process(message); err != nil {
		return err
	}
	k.value, k.raw = next, nil
	return nil
}

// Encrypt is that of signal.SenderKey.
func (k *SenderKey) Encrypt(plaintext []byte) ([]byte, error) {
	if k.value == nil {
		return nil, signal.ErrNoSenderKey
	}
	message, err := k.value.Encrypt(nil, plaintext)
	if err == nil {
		k.raw = nil
	}
	return message, err
}

// Decrypt is that of signal.SenderKey.
func (k *SenderKey) Decrypt(message []byte) ([]byte, error) {
	if k.value == nil {
		return nil, signal.ErrNoSenderKey
	}
	plaintext, err := k.value.Decrypt(nil, message)
	if err == nil {
		k.raw = nil
	}
	return plaintext, err
}
