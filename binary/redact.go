package binary

import (
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"
)

// redactSeed keys the hashes that stand for users. It is new in each process.
var redactSeed = maphash.MakeSeed()

// Redacted returns the display form for logs. A user that is or may be a phone
// number is replaced by "pn#" and 16 hex digits, the same for the same user
// throughout the process. Shown are the users of lid, hosted.lid, broadcast,
// newsletter, bot and g.us, but for the creator of an old group.
func (j JID) Redacted() string {
	if knownServer(j.Server) == "" && j.Server != "" {
		j.Server = hidden(j.Server)
	}
	if j.User == "" {
		return j.Server
	}
	switch plain := alphabets(j.User) != 0; j.Server {
	case ServerGroup:
		creator, rest, old := strings.Cut(j.User, "-")
		switch {
		case !plain:
			j.User = hashed(j.User)
		case old:
			j.User = hashed(creator) + "-" + rest
		}
	case ServerBroadcast, ServerNewsletter:
		if !plain && j.User != "status" {
			j.User = hashed(j.User)
		}
	case ServerLID, ServerHostedLID, ServerBot:
		if !plain {
			j.User = hashed(j.User)
		}
	default:
		j.User = hashed(j.User)
	}
	return j.String()
}

func hashed(user string) string { return fmt.Sprintf("pn#%016x", maphash.String(redactSeed, user)) }

func hidden(s string) string { return "[" + strconv.Itoa(len(s)) + " bytes]" }

// String returns n as indented XML for people who debug. It tells nothing that
// is private or secret: JIDs come redacted, bytes only with their length, and
// texts only if they are tokens, small numbers, identifiers of stanzas or times.
func (n *Node) String() string {
	var b strings.Builder
	n.print(&b, 0)
	return b.String()
}

func (n *Node) print(b *strings.Builder, depth int) {
	if depth >= MaxDepth {
		b.WriteString("<!-- deeper -->")
		return
	}
	tag := printableName(n.Tag)
	b.WriteString("<" + tag)
	for i := range n.Attrs {
		a := &n.Attrs[i]
		value := ""
		if j, ok := a.Value.JID(); ok {
			value = j.Redacted()
		} else {
			value = printable(a.Key, a.Value.text)
		}
		b.WriteString(" " + printableName(a.Key) + `="` + value + `"`)
	}
	switch c := n.Content; c.kind {
	case None:
		b.WriteString("/>")
		return
	case BytesKind:
		b.WriteString("><!-- " + strconv.Itoa(c.n) + " bytes -->")
	case TextKind:
		b.WriteString(">" + printable("", c.Text()))
	case NodesKind:
		b.WriteString(">")
		indent := "\n" + strings.Repeat("  ", depth)
		nodes := c.Nodes()
		for i := range nodes {
			b.WriteString(indent + "  ")
			nodes[i].print(b, depth+1)
		}
		b.WriteString(indent)
	}
	b.WriteString("</" + tag + ">")
}

// printableName returns a tag or a key if it is a token or made of letters.
func printableName(s string) string {
	if len(s) <= maxTokenLen && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_:") == "" {
		return s
	}
	return printable("", s)
}

// printable returns s, which is the value of key or stands elsewhere, if it can
// be shown, else only its length, or the redacted form of the JID that it is.
func printable(key, s string) string {
	const small = 6
	switch {
	case lookupToken(s) != 0 && !strings.ContainsAny(s, `<>&"`), s == "":
		return s
	case len(s) <= small && alphabets(s)&alphabetNibble != 0:
		return s
	case key == "t" && len(s) == 10 && alphabets(s)&alphabetNibble != 0:
		return s
	case key == "id" && alphabets(s) == alphabetHex && len(s) <= maxJIDText:
		return s // of a message; an all-numeric one may be a phone number
	}
	if strings.IndexByte(s, '@') > 0 {
		if j, err := ParseJID(s); err == nil {
			return j.Redacted()
		}
	}
	return hidden(s)
}
