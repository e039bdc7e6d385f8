//go:build unix && !aix && !solaris

package output

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// lock marks a file as being written. The system takes the mark away when the process ends, however it does.
func lock(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) // some file systems have no locks
}

// abandoned reports whether nobody writes a temporary file any more. A file that was just made may not be locked yet.
func abandoned(path string, info fs.FileInfo, now time.Time) bool {
	if now.Sub(info.ModTime()) < time.Minute {
		return false
	}
	f, err := system.open(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// keepOwner gives a file the owner and the group of the one that it replaces, where that is allowed.
func keepOwner(f *os.File, old fs.FileInfo) {
	if s, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(s.Uid), int(s.Gid))
	}
}

// syncFolder writes the names of a folder to the disk. The file is there in any case.
func syncFolder(path string) {
	if d, err := system.open(path, os.O_RDONLY, 0); err == nil {
		_ = system.sync(d)
		d.Close()
	}
}
