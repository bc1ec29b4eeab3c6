package send

import (
	"errors"

	"github.com/sigcore/sigcore/binary"
)

// StaleUsers returns the users whose device lists are out of date, as the server
// has shown by not knowing a device: those of the devices that it named or, if
// it refused a request as a whole, of all that were not encrypted for. Ask for
// their devices anew. number, if not nil, returns the phone number of a LID:
// where it knows one the list has both. Each user is named once; without such a
// device there is none.
func (s *Stanza) StaleUsers(number func(lid binary.JID) (binary.JID, bool)) []binary.JID {
	return staleUsers(s.Failures, number)
}

// StaleUsers is StaleUsers of [Stanza], for a message that did not go out.
func (e *RecipientError) StaleUsers(number func(lid binary.JID) (binary.JID, bool)) []binary.JID {
	return staleUsers(e.Failures, number)
}

// StaleUsers is StaleUsers of [Stanza], for a message that did not go out.
func (e *DistributionError) StaleUsers(number func(lid binary.JID) (binary.JID, bool)) []binary.JID {
	return staleUsers(e.Failures, number)
}

func staleUsers(failures []Failure, number func(lid binary.JID) (binary.JID, bool)) []binary.JID {
	var named, all []binary.JID
	unregistered := false
	for _, f := range failures {
		all = append(all, f.Device.NonAD())
		if !errors.Is(f.Err, ErrUnregistered) {
			continue
		}
		unregistered = true
		if rejected := (*RejectedError)(nil); errors.As(f.Err, &rejected) {
			named = append(named, f.Device.NonAD())
		}
	}
	switch {
	case !unregistered:
		return nil
	case len(named) > 0:
		all = named
	}
	if number != nil {
		for _, u := range all {
			if pn, ok := number(u); ok && u.Server == binary.ServerLID {
				all = append(all, pn.NonAD())
			}
		}
	}
	return unique(all, func(binary.JID) bool { return true })
}
