package signal

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sigcore/sigcore/signal/store"
)

// WhatsApp names a user by a phone number and by a LID, a number that hides it.
// The devices are the same, the addresses are not: "15550000001:5@c.us" is
// "100000000000001:5@lid". Devices of hosted accounts are on servers of their own.

const (
	pnServer        = "c.us"
	lidServer       = "lid"
	hostedServer    = "hosted"
	hostedLIDServer = "hosted.lid"
)

// LIDMapping says that a phone number and a LID are one user. Both are names of
// users as addresses have them, without a device: "15550000001@c.us" and
// "100000000000001@lid".
type LIDMapping struct {
	PN  string
	LID string
}

// A userName is the name of an address in its parts.
type userName struct {
	user, device, server string // device is empty for the first one
}

// splitName takes the name of an address apart.
func splitName(name string) (n userName, ok bool) {
	at := strings.LastIndexByte(name, '@')
	if at <= 0 || at == len(name)-1 {
		return n, false
	}
	n.user, n.server = name[:at], name[at+1:]
	if i := strings.LastIndexByte(n.user, ':'); i >= 0 {
		if n.user, n.device = n.user[:i], n.user[i+1:]; n.user == "" || n.device == "" {
			return n, false
		}
	}
	return n, true
}

func (n userName) String() string {
	if n.device == "" {
		return n.user + "@" + n.server
	}
	return n.user + ":" + n.device + "@" + n.server
}

// counterparts pairs the servers of phone numbers with those of LIDs.
var counterparts = [][2]string{{pnServer, lidServer}, {hostedServer, hostedLIDServer}}

// lidServerOf returns the server on which the LID of a phone number on server is.
func lidServerOf(server string) (string, bool) {
	for _, c := range counterparts {
		if c[0] == server {
			return c[1], true
		}
	}
	return "", false
}

// split takes a mapping apart. The error wraps ErrMalformed.
func (m LIDMapping) split() (pn, lid userName, err error) {
	pn, okPN := splitName(m.PN)
	lid, okLID := splitName(m.LID)
	if !okPN || !okLID || pn.device != "" || lid.device != "" || pn.server != pnServer || lid.server != lidServer {
		return pn, lid, fmt.Errorf("signal: mapping of a phone number to a LID: %w", ErrMalformed)
	}
	return pn, lid, nil
}

// lidLock is the lock of the whole map: a mapping changes rows that only the map
// can name.
var lidLock = store.Key{Table: store.LIDs}

// SetLIDs stores mappings, in one write. A number or LID that was mapped to
// another one is mapped anew: a user keeps one of each. Sessions stay where they
// are, MigrateToLID moves them. changed is how many mappings were not known. The
// error wraps ErrMalformed if one is not of the two servers, and then none is
// stored.
func (a *Account) SetLIDs(ctx context.Context, mappings []LIDMapping) (changed int, err error) {
	rows := make([]store.Key, 0, 2*len(mappings))
	for _, m := range mappings {
		if _, _, err := m.split(); err != nil {
			return 0, err
		}
		rows = append(rows, store.LID(m.PN), store.LID(m.LID))
	}
	err = a.update(ctx, "LIDs", rows, []store.Key{lidLock}, func(recs []store.Record, b *store.Batch) error {
		changed = putMappings(mappings, recs, b)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return changed, nil
}

// putMappings adds to a batch what makes mappings hold, whose rows are recs, two
// for each. It returns how many do not hold yet.
func putMappings(mappings []LIDMapping, recs []store.Record, b *store.Batch) (changed int) {
	now := make(map[string]string, 2*len(mappings))
	for i, m := range mappings {
		for j, name := range []string{m.PN, m.LID} {
			if _, ok := now[name]; !ok && recs[2*i+j].Found {
				now[name] = string(recs[2*i+j].Value)
			}
		}
		if now[m.PN] == m.LID && now[m.LID] == m.PN {
			continue
		}
		changed++
		for _, name := range []string{m.PN, m.LID} {
			if old := now[name]; old != "" && old != m.PN && old != m.LID {
				now[old] = ""
				b.Delete(store.LID(old))
			}
		}
		now[m.PN], now[m.LID] = m.LID, m.PN
		b.Put(store.LID(m.PN), []byte(m.LID))
		b.Put(store.LID(m.LID), []byte(m.PN))
	}
	return changed
}

// Counterparts returns for each name of a user, in order, the name under which it
// is mapped: the LID of a phone number, the phone number of a LID, or "" if that
// is not known.
func (a *Account) Counterparts(ctx context.Context, names []string) ([]string, error) {
	rows := make([]store.Key, 0, len(names))
	for _, name := range names {
		if name == "" {
			name = "@" // which is mapped to nothing
		}
		rows = append(rows, store.LID(name))
	}
	recs, err := a.load(ctx, "LIDs", rows...)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(names))
	for i, r := range recs {
		out[i] = string(r.Value)
	}
	return out, nil
}

// ResolveLIDs returns for each address, in order, the one under which the device
// has its session: that of the LID if the address is of a phone number whose LID
// is known, with the same device, else the address itself. It costs one read.
func (a *Account) ResolveLIDs(ctx context.Context, addrs []Address) ([]Address, error) {
	names := make([]string, len(addrs))
	devices := make([]userName, len(addrs))
	for i, addr := range addrs {
		n, ok := splitName(addr.Name)
		if !ok {
			continue
		}
		if n.server, ok = lidServerOf(n.server); ok {
			names[i], devices[i] = n.user+"@"+pnServer, n
		}
	}
	lids, err := a.Counterparts(ctx, names)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(addrs)
	for i, name := range lids {
		lid, ok := splitName(name)
		if !ok {
			continue
		}
		devices[i].user = lid.user
		out[i].Name = devices[i].String()
	}
	return out, nil
}
