package signal

import (
	"fmt"
	"io"
)

// redacted is what every value that holds a secret prints as. Their methods
// have value receivers, so that a copy prints no more than a pointer.
const redacted = "[redacted]"

func redact(f fmt.State) { _, _ = io.WriteString(f, redacted) }
