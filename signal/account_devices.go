package signal

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sigcore/sigcore/signal/store"
)

// SenderKeyDevices says which devices hold a sender key of ours. It is about one
// key: after a rotation nobody holds the fresh one.
type SenderKeyDevices struct {
	// KeyID is the current sender key. Exists is false if there is none; then
	// there are no devices.
	KeyID  uint32
	Exists bool

	// NeedsRotation is set if the key has reached RotationThreshold.
	NeedsRotation bool

	// Devices hold it, in ascending order.
	Devices []Address

	// Sent are the devices that were sent the key and are not known to hold it,
	// in ascending order: they have asked for it again, or nobody knows yet
	// whether it arrived. They may read with it all the same, which is why the
	// key has to be replaced when one of them leaves.
	Sent []Address
}

// Has reports whether a device holds the key.
func (d *SenderKeyDevices) Has(addr Address) bool { return hasAddress(d.Devices, addr) }

func hasAddress(sorted []Address, addr Address) bool {
	_, ok := slices.BinarySearchFunc(sorted, addr, Address.compare)
	return ok
}

// mark makes devices hold the key, and unmark makes holders such that were sent
// it. send adds devices that are sent it.
func (d *SenderKeyDevices) mark(devices []Address) {
	d.Devices, d.Sent = union(d.Devices, devices), less(d.Sent, devices)
}

func (d *SenderKeyDevices) unmark(devices []Address) {
	held := slices.DeleteFunc(slices.Clone(devices), func(a Address) bool { return !d.Has(a) })
	d.Devices, d.Sent = less(d.Devices, held), union(d.Sent, held)
}

func (d *SenderKeyDevices) send(devices []Address) {
	d.Sent = union(d.Sent, less(devices, d.Devices))
}

// Missing returns those of addrs that do not hold the key, in their order.
func (d *SenderKeyDevices) Missing(addrs []Address) []Address {
	var out []Address
	for _, addr := range addrs {
		if !d.Has(addr) {
			out = append(out, addr)
		}
	}
	return out
}

// compare orders addresses by name, then by device.
func (a Address) compare(b Address) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Device, b.Device))
}

func (n SenderKeyName) devicesKey() store.Key { return store.SenderKeyDevice(n.String()) }

// SenderKeyDevices returns which devices hold our current sender key of that
// name, in one read.
func (a *Account) SenderKeyDevices(ctx context.Context, name SenderKeyName) (SenderKeyDevices, error) {
	recs, err := a.load(ctx, "sender-key devices", name.key(), name.devicesKey())
	if err != nil {
		return SenderKeyDevices{}, err
	}
	d, _, err := parseHolders(recs)
	return d, err
}

// parseHolders reads a sender-key row and its device row. Marks of another key
// than the current one are not marks; stale reports that there are some.
func parseHolders(recs []store.Record) (d SenderKeyDevices, stale bool, err error) {
	k, err := parseSenderKeyRow(recs[0])
	if err != nil {
		return d, false, err
	}
	d.KeyID, d.Exists = k.KeyID()
	d.NeedsRotation = k.NeedsRotation()
	if !recs[1].Found {
		return d, false, nil
	}
	marks, err := parseDeviceRow(recs[1].Value)
	if err != nil {
		return d, false, err
	}
	if !d.Exists || marks.KeyID != d.KeyID {
		return d, true, nil
	}
	d.Devices, d.Sent = marks.Devices, marks.Sent
	return d, false, nil
}

// MarkSenderKeyDevices says that devices were given the sender key with that id,
// which the server has accepted. If the key is no longer the current one the
// marks are void, and nothing is written; nor is anything if all were known.
func (a *Account) MarkSenderKeyDevices(ctx context.Context, name SenderKeyName, keyID uint32, devices []Address) error {
	return a.changeDevices(ctx, name, func(d *SenderKeyDevices) {
		if d.Exists && d.KeyID == keyID {
			d.mark(devices)
		}
	})
}

// ForgetSenderKeyDevices says that devices are not known any more to hold the
// sender key, because they have asked for it. They stay among those that were
// sent it.
func (a *Account) ForgetSenderKeyDevices(ctx context.Context, name SenderKeyName, devices []Address) error {
	return a.changeDevices(ctx, name, func(d *SenderKeyDevices) { d.unmark(devices) })
}

// ClearSenderKeyDevices says that no device was sent the sender key. It also mends
// a row that cannot be read.
func (a *Account) ClearSenderKeyDevices(ctx context.Context, name SenderKeyName) error {
	row := name.devicesKey()
	return a.update(ctx, "sender-key devices", nil, []store.Key{name.key(), row}, func(_ []store.Record, b *store.Batch) error {
		b.Delete(row)
		return nil
	})
}

// changeDevices loads the marks of a name, has f change them and writes them. An
// empty list has no row.
func (a *Account) changeDevices(ctx context.Context, name SenderKeyName, f func(*SenderKeyDevices)) error {
	row := name.devicesKey()
	return a.update(ctx, "sender-key devices", []store.Key{name.key(), row}, nil, func(recs []store.Record, b *store.Batch) error {
		d, stale, err := parseHolders(recs)
		if err != nil {
			return err
		}
		before, sent := len(d.Devices), len(d.Sent)
		f(&d)
		switch {
		case !stale && len(d.Devices) == before && len(d.Sent) == sent:
		case len(d.Devices) == 0 && len(d.Sent) == 0:
			b.Delete(row)
		default:
			b.Put(row, d.append(nil))
		}
		return nil
	})
}

// ForgetDevices says that devices are not known any more to hold any of our sender
// keys: they have registered again, or were removed. They stay among those that
// were sent them. It reads the device rows of all groups and
// writes those that change, each in its own transaction; called again after a
// failure it does the rest. It returns the number of groups that changed.
func (a *Account) ForgetDevices(ctx context.Context, devices []Address) (groups int, err error) {
	err = a.eachKey(ctx, store.SenderKeyDevices, func(row store.Key) error {
		wrote := false
		err := a.update(ctx, "sender-key devices", []store.Key{row}, []store.Key{store.SenderKey(row.Name)}, func(recs []store.Record, b *store.Batch) error {
			wrote = false
			if !recs[0].Found {
				return nil
			}
			d, err := parseDeviceRow(recs[0].Value)
			if err != nil {
				return err
			}
			before := len(d.Devices)
			if d.unmark(devices); len(d.Devices) == before {
				return nil
			}
			wrote = true
			b.Put(row, d.append(nil))
			return nil
		})
		if err == nil && wrote {
			groups++
		}
		return err
	})
	return groups, err
}

// ClearAllSenderKeyDevices says that no device holds any of our sender keys. It
// deletes the device rows of all groups, in transactions of a few hundred.
func (a *Account) ClearAllSenderKeyDevices(ctx context.Context) error {
	return a.eachPage(ctx, store.SenderKeyDevices, "", func(keys []store.Key) error {
		return a.update(ctx, "sender-key devices", nil, keys, func(_ []store.Record, b *store.Batch) error {
			for _, k := range keys {
				b.Delete(k)
			}
			return nil
		})
	})
}

// union returns the sorted union of have, which is sorted, and more.
func union(have, more []Address) []Address {
	out := slices.Concat(have, more)
	slices.SortFunc(out, Address.compare)
	return slices.Compact(out)
}

// less returns have, which is sorted, without what is in drop.
func less(have, drop []Address) []Address {
	drop = slices.SortedFunc(slices.Values(drop), Address.compare)
	return slices.DeleteFunc(slices.Clone(have), func(a Address) bool {
		_, ok := slices.BinarySearchFunc(drop, a, Address.compare)
		return ok
	})
}

// append appends the form of a device row: the id of the sender key, then for
// each device twice its number, and one more if it holds the key, the length of
// its name and the name; all numbers as varints.
func (d *SenderKeyDevices) append(dst []byte) []byte {
	n := 5
	for _, list := range [2][]Address{d.Devices, d.Sent} {
		for _, a := range list {
			n += len(a.Name) + 4
		}
	}
	dst = slices.Grow(dst, n)
	dst = binary.AppendUvarint(dst, uint64(d.KeyID))
	for held, list := range [2][]Address{d.Sent, d.Devices} {
		for _, a := range list {
			dst = binary.AppendUvarint(dst, uint64(a.Device)<<1|uint64(held))
			dst = binary.AppendUvarint(dst, uint64(len(a.Name)))
			dst = append(dst, a.Name...)
		}
	}
	return dst
}

// parseDeviceRow reads what append wrote. The error wraps ErrCorruptRecord.
func parseDeviceRow(rec []byte) (d SenderKeyDevices, err error) {
	names := string(rec) // one allocation for all names
	b := rec
	number := func(limit uint64) (v uint64, ok bool) {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > limit {
			return 0, false
		}
		b = b[n:]
		return v, true
	}
	id, ok := number(1<<32 - 1)
	d.KeyID, d.Exists = uint32(id), true
	for ok && len(b) > 0 {
		var device, n uint64
		if device, ok = number(1<<33 - 1); !ok {
			break
		}
		if n, ok = number(uint64(len(b))); !ok || n > uint64(len(b)) {
			ok = false
			break
		}
		at := len(rec) - len(b)
		a := Address{Name: names[at : at+int(n)], Device: uint32(device >> 1)}
		list := &d.Sent
		if device&1 != 0 {
			list = &d.Devices
		}
		if k := len(*list); k > 0 && (*list)[k-1].compare(a) >= 0 {
			ok = false
			break
		}
		*list = append(*list, a)
		b = b[n:]
	}
	if !ok {
		return SenderKeyDevices{}, fmt.Errorf("signal: sender-key devices of %d bytes: %w", len(rec), ErrCorruptRecord)
	}
	return d, nil
}
