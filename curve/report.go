package curve

import "github.com/sigcore/sigcore/internal/impl"

// Report says which implementation serves each operation of sigcore in this
// process, one line an operation, and below it why each faster one does not. The
// first lines name entries of SIGCORE_CPU that mean nothing, if there are any.
// Operations are those of every package that the program has linked. One that has
// no kernel of its own is called generic, and still runs on those of package field.
func Report() string { return impl.String() }
