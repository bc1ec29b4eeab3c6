package binary

import (
	"fmt"
	"strconv"
	"strings"
)

// The servers that this package knows.
const (
	ServerUser       = "s.whatsapp.net"
	ServerLID        = "lid"
	ServerGroup      = "g.us"
	ServerBroadcast  = "broadcast"
	ServerNewsletter = "newsletter"
	ServerHosted     = "hosted"
	ServerHostedLID  = "hosted.lid"
	ServerMessenger  = "msgr"
	ServerInterop    = "interop"
	ServerBot        = "bot"
	ServerLegacy     = "c.us"
	ServerCall       = "call"
)

// JID is an address. Server is one of the constants or, in what arrived from a
// newer peer, any other text.
type JID struct {
	User, Server       string
	Agent              uint8
	Device, Integrator uint16
}

// knownServer returns the constant equal to s, or "".
func knownServer(s string) string {
	switch s {
	case ServerUser:
		return ServerUser
	case ServerLID:
		return ServerLID
	case ServerGroup:
		return ServerGroup
	case ServerBroadcast:
		return ServerBroadcast
	case ServerNewsletter:
		return ServerNewsletter
	case ServerHosted:
		return ServerHosted
	case ServerHostedLID:
		return ServerHostedLID
	case ServerMessenger:
		return ServerMessenger
	case ServerInterop:
		return ServerInterop
	case ServerBot:
		return ServerBot
	case ServerLegacy:
		return ServerLegacy
	case ServerCall:
		return ServerCall
	}
	return ""
}

// adDomain returns the domain byte of the servers whose users have devices
// that are addressed in the AD form.
func adDomain(server string) (domain byte, ok bool) {
	switch server {
	case ServerUser:
		return 0, true
	case ServerLID:
		return 1, true
	case ServerHosted:
		return 128, true
	case ServerHostedLID:
		return 129, true
	}
	return 0, false
}

// KnownServer reports whether the server of j is one of the constants.
func (j JID) KnownServer() bool { return knownServer(j.Server) != "" }

// IsHosted reports whether j is a device hosted by Meta.
func (j JID) IsHosted() bool {
	return j.Device == 99 || j.Server == ServerHosted || j.Server == ServerHostedLID
}

// NonAD returns j without agent and device.
func (j JID) NonAD() JID {
	j.Agent, j.Device = 0, 0
	return j
}

// Key returns j without the agent where the server does not show it. Two JIDs
// are the same device if their keys are equal; Key is meant as a map key.
func (j JID) Key() JID {
	if _, ad := adDomain(j.Server); ad {
		j.Agent = 0
	}
	return j
}

// maxJIDExtra is how much longer in bytes than user and server the display form
// can be: ".255", ":65535" and "@".
const maxJIDExtra = 11

// String returns the display form: user[.agent][:device]@server, or only the
// server without a user. The agent is not shown on servers with AD devices,
// the integrator nowhere.
func (j JID) String() string {
	var few [64]byte // on the stack: what is longer costs another allocation
	return string(j.AppendText(few[:0]))
}

// AppendText appends the display form to dst.
func (j JID) AppendText(dst []byte) []byte {
	if j.User == "" {
		return append(dst, j.Server...)
	}
	dst = j.appendUser(dst)
	dst = append(dst, '@')
	return append(dst, j.Server...)
}

// appendUser appends what the display form has in front of the '@'.
func (j JID) appendUser(dst []byte) []byte {
	dst = append(dst, j.User...)
	if _, ad := adDomain(j.Server); j.Agent > 0 && !ad {
		dst = append(dst, '.')
		dst = strconv.AppendUint(dst, uint64(j.Agent), 10)
	}
	if j.Device > 0 {
		dst = append(dst, ':')
		dst = strconv.AppendUint(dst, uint64(j.Device), 10)
	}
	return dst
}

// AppendPhash appends the form that the participant hash is made of:
// user.0:device@server, the agent always 0 and the device always there; only
// the server without a user. It does not parse back to the same JID.
func (j JID) AppendPhash(dst []byte) []byte {
	if j.User == "" {
		return append(dst, j.Server...)
	}
	dst = append(dst, j.User...)
	dst = append(dst, ".0:"...)
	dst = strconv.AppendUint(dst, uint64(j.Device), 10)
	dst = append(dst, '@')
	return append(dst, j.Server...)
}

// ParseJID reads the display form and its legacy variants. The server must be
// known. A server alone, with or without '@', is a JID without user.
//
// After the last ':' stands the device (one that is no number below 65536
// reads as 0). On s.whatsapp.net a trailing ".n" is the device if there is no
// colon; on lid dots belong to the user; elsewhere a trailing ".n" up to 255
// is the agent.
func ParseJID(s string) (JID, error) {
	user, rest, found := strings.Cut(s, "@")
	if !found {
		user, rest = "", s
	}
	server := knownServer(rest)
	if server == "" {
		return JID{}, fmt.Errorf("binary: server of a JID of %d bytes is unknown: %w", len(s), ErrInvalidJID)
	}
	j := JID{User: user, Server: server}
	colon := strings.LastIndexByte(user, ':')
	if colon >= 0 {
		d, ok := parseUint(user[colon+1:], 1<<16-1)
		if ok {
			j.Device = uint16(d)
		}
		j.User = user[:colon]
	}
	if server == ServerLID {
		return j, nil
	}
	dot := strings.LastIndexByte(j.User, '.')
	if dot < 0 {
		return j, nil
	}
	if server == ServerUser {
		if d, ok := parseUint(j.User[dot+1:], 1<<16-1); ok && colon < 0 {
			j.User, j.Device = j.User[:dot], uint16(d)
		}
	} else if a, ok := parseUint(j.User[dot+1:], 1<<8-1); ok {
		j.User, j.Agent = j.User[:dot], uint8(a)
	}
	return j, nil
}

// parseUint reads a decimal number up to limit. Like the reference, and unlike
// strconv, it takes one leading '+'.
func parseUint(s string, limit uint) (n uint, ok bool) {
	s = strings.TrimPrefix(s, "+")
	if s == "" {
		return 0, false
	}
	for i := range len(s) {
		c := uint(s[i]) - '0'
		if c > 9 {
			return 0, false
		}
		if n = n*10 + c; n > limit {
			return 0, false
		}
	}
	return n, true
}
