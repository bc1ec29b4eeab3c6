package wanode

import (
	"testing"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"github.com/sigcore/sigcore/send"
)

// TestMessages: whatsmeow's message types are taken as they are, and the numbers
// of their fields are those that decide.
func TestMessages(t *testing.T) {
	text := &waE2E.Message{Conversation: proto.String("x")}
	for name, c := range map[string]struct {
		message          *waE2E.Message
		typ, media, edit string
		hide             bool
	}{
		"text":           {text, "text", "", "", false},
		"link":           {&waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{MatchedText: proto.String("https://x.example")}}, "media", "url", "", false},
		"gif":            {&waE2E.Message{VideoMessage: &waE2E.VideoMessage{GifPlayback: proto.Bool(true)}}, "media", "gif", "", false},
		"voice":          {&waE2E.Message{AudioMessage: &waE2E.AudioMessage{PTT: proto.Bool(true)}}, "media", "ptt", "", false},
		"live":           {&waE2E.Message{LocationMessage: &waE2E.LocationMessage{IsLive: proto.Bool(true)}}, "media", "livelocation", "", false},
		"reaction":       {&waE2E.Message{ReactionMessage: &waE2E.ReactionMessage{Text: proto.String("x")}}, "reaction", "", "", true},
		"vote":           {&waE2E.Message{PollUpdateMessage: &waE2E.PollUpdateMessage{Vote: &waE2E.PollEncValue{}}}, "poll", "", "", true},
		"pin":            {&waE2E.Message{PinInChatMessage: &waE2E.PinInChatMessage{}}, "text", "", send.EditPin, true},
		"view once":      {&waE2E.Message{ViewOnceMessage: &waE2E.FutureProofMessage{Message: &waE2E.Message{ImageMessage: &waE2E.ImageMessage{}}}}, "media", "image", "", false},
		"to own devices": {&waE2E.Message{DeviceSentMessage: &waE2E.DeviceSentMessage{Message: text}}, "text", "", "", false},
		"edit of an event": {&waE2E.Message{SecretEncryptedMessage: &waE2E.SecretEncryptedMessage{
			SecretEncType: waE2E.SecretEncryptedMessage_EVENT_EDIT.Enum(),
		}}, "event", "", "", true},
		"revoke": {&waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
			Type: waE2E.ProtocolMessage_REVOKE.Enum(), Key: &waCommon.MessageKey{FromMe: proto.Bool(true)},
		}}, "text", "", send.EditSenderRevoke, false},
		"label": {&waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
			Type: waE2E.ProtocolMessage_GROUP_MEMBER_LABEL_CHANGE.Enum(),
		}}, "text", "", "", true},
	} {
		b, err := send.Encode(c.message)
		if err != nil {
			t.Fatal(err)
		}
		got, err := send.Classify(b, "")
		want := send.Class{Type: c.typ, Edit: c.edit, Enc: send.Enc{MediaType: c.media, HideDecryptFail: c.hide}}
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
	}
	request := &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		PeerDataOperationRequestMessage: &waE2E.PeerDataOperationRequestMessage{
			PeerDataOperationRequestType: waE2E.PeerDataOperationRequestType_HISTORY_SYNC_ON_DEMAND.Enum(),
		},
	}}
	b, err := send.Encode(request)
	if err != nil {
		t.Fatal(err)
	}
	if force, private, err := send.ClassifyPeer(b); !force || !private || err != nil {
		t.Errorf("a request for history: %v, %v, %v", force, private, err)
	}
}
