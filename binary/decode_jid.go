package binary

import "unsafe"

// maxJIDNesting is how many JIDs may be around a JID.
const maxJIDNesting = 1

func isJIDTag(tag byte) bool {
	return tag == tagJIDPair || tag >= tagInteropJID && tag <= tagADJID
}

// jidRef is a JID as it was found.
type jidRef struct {
	user, server       textRef
	device, integrator uint16
}

// display returns the display form. It allocates: JIDs seldom stand where only
// a text can.
func (j *jidRef) display() textRef {
	s := JID{User: j.user.view(), Server: j.server.view(), Device: j.device, Integrator: j.integrator}.String()
	return textRef{n: len(s), static: s, isJID: true}
}

// view returns the text for a short look at it.
func (t textRef) view() string {
	switch {
	case t.data == nil:
		return t.static
	case t.chars == "":
		return unsafe.String(unsafe.SliceData(t.data), len(t.data))
	}
	return string(appendUnpacked(make([]byte, 0, t.n), t.data, t.n, t.chars))
}

// jid reads a JID that starts with tag and stands in that many others.
func (d *decoder) jid(tag byte, nesting int) (j jidRef, err error) {
	start := d.off - 1
	if nesting > maxJIDNesting {
		return j, d.fail(start, ErrDepth)
	}
	if nesting > 0 && d.strict {
		return j, d.fail(start, ErrStrict)
	}
	switch tag {
	case tagJIDPair:
		if j.user, err = d.part(true, nesting); err != nil {
			return j, err
		}
		if j.server, err = d.part(false, nesting); err != nil {
			return j, err
		}
		known := d.normalise(&j.server)
		if d.strict && !known {
			return j, d.fail(start, ErrStrict)
		}
		return j, nil
	case tagADJID:
		b, err := d.bytes(2)
		if err != nil {
			return j, err
		}
		server, known := domainServer(b[0])
		if server == "" || d.strict && !known {
			reason := ErrInvalidJID
			if server != "" {
				reason = ErrStrict
			}
			return j, d.fail(start+1, reason)
		}
		j.device = uint16(b[1])
		j.server = textRef{n: len(server), static: server}
		j.user, err = d.part(false, nesting)
		return j, err
	}
	want := ServerMessenger
	if j.user, err = d.part(false, nesting); err != nil {
		return j, err
	}
	if j.device, err = d.uint16(); err != nil {
		return j, err
	}
	if tag == tagInteropJID {
		want = ServerInterop
		if j.integrator, err = d.uint16(); err != nil {
			return j, err
		}
	}
	if j.server, err = d.part(false, nesting); err != nil {
		return j, err
	}
	if d.normalise(&j.server); j.server.static != want {
		return j, d.fail(start, ErrInvalidJID)
	}
	return j, nil
}

// domainServer returns the server that a domain byte stands for, "" if none,
// and whether correct encoders write that byte.
func domainServer(domain byte) (server string, known bool) {
	switch domain {
	case 0:
		return ServerUser, true
	case 1:
		return ServerLID, true
	case 128:
		return ServerHosted, true
	case 129:
		return ServerHostedLID, true
	}
	if domain&0x81 == 0x80 {
		return ServerHosted, false
	}
	return "", false
}

// part reads the user or the server of a JID.
func (d *decoder) part(optional bool, nesting int) (textRef, error) {
	tag, err := d.byte()
	if err != nil {
		return textRef{}, err
	}
	switch {
	case tag == tagListEmpty && optional:
		return textRef{}, nil
	case tag == tagListEmpty:
		return textRef{}, d.fail(d.off-1, ErrInvalidJID)
	case isJIDTag(tag):
		j, err := d.jid(tag, nesting+1)
		if err != nil {
			return textRef{}, err
		}
		return j.display(), nil
	}
	return d.text(tag)
}

// normalise makes a known server static and reports whether it is known.
func (d *decoder) normalise(server *textRef) bool {
	known := knownServer(server.view())
	if known != "" {
		*server = textRef{n: len(known), static: known}
	}
	return known != ""
}
