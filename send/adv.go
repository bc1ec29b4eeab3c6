package send

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sigcore/sigcore/signal"
)

// ErrDeviceIdentity is the identity of a companion device whose signatures do
// not hold, or that cannot be read.
var ErrDeviceIdentity = errors.New("send: bad device identity")

// A DeviceIdentity is an ADVSignedDeviceIdentity: what says that a companion
// device belongs to an account.
type DeviceIdentity struct {
	Details []byte

	// AccountKey is the identity of the account's primary device, nil if the form
	// that was read has none: then it is that which is known of the device.
	AccountKey *signal.PublicKey

	// AccountSignature is by the account, DeviceSignature by the device; nil if
	// there is none.
	AccountSignature, DeviceSignature []byte
}

// ParseDeviceIdentity reads an encoded ADVSignedDeviceIdentity. The error wraps
// [ErrDeviceIdentity].
func ParseDeviceIdentity(b []byte) (*DeviceIdentity, error) {
	d := new(DeviceIdentity)
	for at := 0; at < len(b); {
		num, typ, n := protowire.ConsumeTag(b[at:])
		if n < 0 {
			return nil, fmt.Errorf("%w: not a protobuf at offset %d", ErrDeviceIdentity, at)
		}
		l := protowire.ConsumeFieldValue(num, typ, b[at+n:])
		if l < 0 {
			return nil, fmt.Errorf("%w: not a protobuf at offset %d", ErrDeviceIdentity, at)
		}
		if typ == protowire.BytesType && num >= 1 && num <= 4 {
			v, _ := protowire.ConsumeBytes(b[at+n:])
			if err := d.set(num, v); err != nil {
				return nil, err
			}
		}
		at += n + l
	}
	return d, nil
}

func (d *DeviceIdentity) set(num protowire.Number, v []byte) error {
	switch num {
	case 1:
		d.Details = v
	case 2:
		if len(v) == 0 {
			d.AccountKey = nil // proto3 peers write what is absent
			return nil
		}
		if len(v) != 32 {
			return fmt.Errorf("%w: account key of %d bytes", ErrDeviceIdentity, len(v))
		}
		k := signal.PublicKey(v)
		d.AccountKey = &k
	case 3:
		d.AccountSignature = v
	case 4:
		d.DeviceSignature = v
	}
	return nil
}

// What the signatures begin with, by whom they are and whether the account is
// hosted.
var (
	advAccount       = [2]byte{6, 0}
	advDevice        = [2]byte{6, 1}
	advHostedAccount = [2]byte{6, 5}
	advHostedDevice  = [2]byte{6, 6}
)

// Verify checks that the account and the device, which has that identity, have
// signed for each other. account is the identity of the primary device if it is
// known otherwise; it counts where d has no key. Variable time: all of it is
// public.
//
// known is false if there is no key to check with: then nothing was checked. The
// error is [ErrDeviceIdentity]; a signature that is absent does not hold.
func (d *DeviceIdentity) Verify(identity signal.PublicKey, account *signal.PublicKey) (known bool, err error) {
	key := d.AccountKey
	if key == nil {
		key = account
	}
	if key == nil {
		return false, nil
	}
	message := make([]byte, 0, 2+len(d.Details)+2*len(identity))
	by := func(prefix [2]byte, k *signal.PublicKey) []byte {
		message = append(append(append(message[:0], prefix[:]...), d.Details...), identity[:]...)
		if k != nil {
			message = append(message, k[:]...)
		}
		return message
	}
	hosted := false
	if !key.VarTimeVerify(by(advAccount, nil), d.AccountSignature) {
		hosted = key.VarTimeVerify(by(advHostedAccount, nil), d.AccountSignature)
		if !hosted {
			return true, fmt.Errorf("%w: signature of the account", ErrDeviceIdentity)
		}
	}
	// Some devices of hosted accounts sign as others do.
	if hosted && identity.VarTimeVerify(by(advHostedDevice, key), d.DeviceSignature) ||
		identity.VarTimeVerify(by(advDevice, key), d.DeviceSignature) {
		return true, nil
	}
	return true, fmt.Errorf("%w: signature of the device", ErrDeviceIdentity)
}
