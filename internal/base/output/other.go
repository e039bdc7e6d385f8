//go:build !unix || aix || solaris

package output

import (
	"io/fs"
	"os"
	"time"
)

func lock(*os.File) {}

// abandoned reports whether a temporary file is too old to be written still. Windows does not remove a file that is.
func abandoned(_ string, info fs.FileInfo, now time.Time) bool {
	return now.Sub(info.ModTime()) > 24*time.Hour
}

func keepOwner(*os.File, fs.FileInfo) {}

func syncFolder(string) {}
