//! Folders held open, and files in them that are never reached through a symbolic link.

use crate::error::EvidenceError;
use crate::ids::random_hex;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// What came of putting a file where none should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// It is there now.
    Created,
    /// Something of that name was there before and is untouched.
    Exists,
}

/// A folder held open. Names given to its methods are single path parts.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    path: PathBuf,
}

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC).union(OFlags::RDONLY);
/// A FIFO in a file's place must not make the reader wait.
const PLAIN: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

impl Folder {
    /// Opens a folder by path; the path itself may hold symbolic links.
    pub fn open(path: &Path) -> Result<Self, EvidenceError> {
        let fd = rustix::fs::openat(CWD, path, FOLDER, Mode::empty()).map_err(|e| failed("open", path, e))?;
        Ok(Self { fd, path: path.to_owned() })
    }

    /// The folder's path, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a folder in this one.
    pub fn child(&self, name: &str) -> Result<Self, EvidenceError> {
        let path = self.path.join(name);
        let fd = rustix::fs::openat(&self.fd, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())
            .map_err(|e| failed("open", &path, e))?;
        Ok(Self { fd, path })
    }

    /// Opens a folder in this one if it is there.
    pub fn child_if_there(&self, name: &str) -> Result<Option<Self>, EvidenceError> {
        match self.child(name) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes a folder in this one; fails with the kind `AlreadyExists` if there is something of that name.
    pub fn create_child(&self, name: &str, mode: u32) -> Result<Self, EvidenceError> {
        rustix::fs::mkdirat(&self.fd, name, Mode::from_raw_mode(mode))
            .map_err(|e| failed("create", &self.path.join(name), e))?;
        let child = self.child(name)?;
        self.sync()?;
        Ok(child)
    }

    /// Opens a folder in this one, making it first if it is not there. Tells whether it was made.
    pub fn child_or_create(&self, name: &str, mode: u32) -> Result<(Self, bool), EvidenceError> {
        if let Some(folder) = self.child_if_there(name)? {
            return Ok((folder, false));
        }
        match self.create_child(name, mode) {
            Ok(folder) => Ok((folder, true)),
            // Another starter was faster.
            Err(EvidenceError::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
                Ok((self.child(name)?, false))
            }
            Err(error) => Err(error),
        }
    }

    /// Opens a regular file for reading; none if it is not there.
    pub fn read_handle(&self, name: &str) -> Result<Option<File>, EvidenceError> {
        self.regular(name, OFlags::RDONLY, 0)
    }

    /// Opens a regular file for reading and for appending; none if it is not there.
    pub fn append_handle(&self, name: &str) -> Result<Option<File>, EvidenceError> {
        self.regular(name, OFlags::RDWR | OFlags::APPEND, 0)
    }

    /// Like [`Folder::append_handle`], making the file if it is not there. Tells whether it was made.
    pub fn append_or_create(&self, name: &str, mode: u32) -> Result<(File, bool), EvidenceError> {
        if let Some(file) = self.append_handle(name)? {
            return Ok((file, false));
        }
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE;
        let path = self.path.join(name);
        self.regular(name, flags, mode)?
            .map(|file| (file, true))
            .ok_or_else(|| EvidenceError::io("create", &path, io::Error::from(io::ErrorKind::NotFound)))
    }

    fn regular(&self, name: &str, flags: OFlags, mode: u32) -> Result<Option<File>, EvidenceError> {
        let path = self.path.join(name);
        let fd = match rustix::fs::openat(&self.fd, name, flags | PLAIN, Mode::from_raw_mode(mode)) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(e) => return Err(failed("open", &path, e)),
        };
        let stat = rustix::fs::fstat(&fd).map_err(|e| failed("look at", &path, e))?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            Ok(Some(File::from(fd)))
        } else {
            Err(EvidenceError::io("use", &path, io::Error::other("not a regular file")))
        }
    }

    /// Reads a regular file of at most `limit` bytes; none if it is not there.
    pub fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, EvidenceError> {
        let Some(file) = self.read_handle(name)? else {
            return Ok(None);
        };
        read_bounded(file, &self.path.join(name), limit).map(Some)
    }

    /// Whether there is anything of that name, a dangling link included.
    pub fn holds(&self, name: &str) -> Result<bool, EvidenceError> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(e) => Err(failed("look at", &self.path.join(name), e)),
        }
    }

    /// Puts a whole file of mode 0600 where none of that name is: readers see all of it or nothing. With `durable` the file
    /// and its name are flushed to disk before this returns.
    pub fn put_new(&self, name: &str, bytes: &[u8], durable: bool) -> Result<Put, EvidenceError> {
        let temporary = self.temporary(name, bytes, 0o600, durable)?;
        let outcome = self.rename_new(&temporary, name);
        if !matches!(outcome, Ok(Put::Created)) {
            self.remove(&temporary);
        }
        if durable {
            self.sync()?;
        }
        outcome
    }

    /// Puts a whole file of a mode in the place of whatever has that name, flushed to disk.
    pub fn replace(&self, name: &str, bytes: &[u8], mode: u32) -> Result<(), EvidenceError> {
        let temporary = self.temporary(name, bytes, mode, true)?;
        if let Err(e) = rustix::fs::renameat(&self.fd, &temporary, &self.fd, name) {
            self.remove(&temporary);
            return Err(failed("write", &self.path.join(name), e));
        }
        self.sync()
    }

    fn temporary(&self, name: &str, bytes: &[u8], mode: u32, durable: bool) -> Result<String, EvidenceError> {
        let temporary = format!(".{name}.{}.tmp", random_hex::<8>()?);
        let path = self.path.join(&temporary);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | PLAIN;
        let fd = rustix::fs::openat(&self.fd, &temporary, flags, Mode::from_raw_mode(mode))
            .map_err(|e| failed("create", &path, e))?;
        let mut file = File::from(fd);
        let written = file.write_all(bytes).and_then(|()| if durable { file.sync_all() } else { Ok(()) });
        match written {
            Ok(()) => Ok(temporary),
            Err(error) => {
                self.remove(&temporary);
                Err(EvidenceError::io("write", &path, error))
            }
        }
    }

    fn rename_new(&self, from: &str, to: &str) -> Result<Put, EvidenceError> {
        match rustix::fs::renameat_with(&self.fd, from, &self.fd, to, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(Put::Created),
            Err(Errno::EXIST) => Ok(Put::Exists),
            // File systems without this kind of renaming: a hard link is as exclusive.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                match rustix::fs::linkat(&self.fd, from, &self.fd, to, AtFlags::empty()) {
                    Ok(()) => {
                        self.remove(from);
                        Ok(Put::Created)
                    }
                    Err(Errno::EXIST) => Ok(Put::Exists),
                    Err(e) => Err(failed("write", &self.path.join(to), e)),
                }
            }
            Err(e) => Err(failed("write", &self.path.join(to), e)),
        }
    }

    /// Removes a file that does no harm where it stays behind.
    pub fn remove(&self, name: &str) {
        // Of a temporary file the first error is the one to tell.
        let _ = rustix::fs::unlinkat(&self.fd, name, AtFlags::empty());
    }

    /// Flushes the folder's names to disk.
    pub fn sync(&self) -> Result<(), EvidenceError> {
        rustix::fs::fsync(&self.fd).map_err(|e| failed("flush", &self.path, e))
    }

    /// Flushes everything written to the file system that the folder is on.
    pub fn sync_file_system(&self) -> Result<(), EvidenceError> {
        rustix::fs::syncfs(&self.fd).map_err(|e| failed("flush", &self.path, e))
    }

    /// The names in the folder, sorted. What is not UTF-8 comes with replacement characters.
    pub fn names(&self) -> Result<Vec<String>, EvidenceError> {
        let entries = rustix::fs::Dir::read_from(&self.fd).map_err(|e| failed("list", &self.path, e))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|e| failed("list", &self.path, e))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }
}

/// Reads an open file to its end, at most `limit` bytes.
pub fn read_bounded(file: File, path: &Path, limit: u64) -> Result<Vec<u8>, EvidenceError> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| EvidenceError::io("read", path, error))?;
    if bytes.len() as u64 > limit {
        return Err(EvidenceError::TooLarge { path: path.to_owned(), limit });
    }
    Ok(bytes)
}

/// Whether the error says that a file or folder is not there.
pub fn is_missing(error: &EvidenceError) -> bool {
    matches!(error, EvidenceError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
}

fn failed(doing: &'static str, path: &Path, errno: Errno) -> EvidenceError {
    EvidenceError::io(doing, path, errno.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_file_that_is_there_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        assert_eq!(folder.put_new("a", b"one", false).unwrap(), Put::Created);
        assert_eq!(folder.put_new("a", b"two", true).unwrap(), Put::Exists);
        assert_eq!(std::fs::read(dir.path().join("a")).unwrap(), b"one");
        assert_eq!(std::fs::metadata(dir.path().join("a")).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(folder.names().unwrap(), ["a"]);
        folder.replace("a", b"three", 0o600).unwrap();
        assert_eq!(folder.read("a", 10).unwrap().unwrap(), b"three");
    }

    #[test]
    fn links_fifos_and_large_files_are_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        std::fs::write(dir.path().join("real"), b"0123456789").unwrap();
        symlink(dir.path().join("real"), dir.path().join("link")).unwrap();
        rustix::fs::mknodat(CWD, dir.path().join("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        assert!(folder.read("link", 100).is_err());
        assert!(folder.read("fifo", 100).is_err());
        assert!(matches!(folder.read("real", 9), Err(EvidenceError::TooLarge { limit: 9, .. })));
        assert_eq!(folder.read("real", 10).unwrap().unwrap().len(), 10);
        assert!(folder.read("none", 10).unwrap().is_none());
        std::fs::create_dir(dir.path().join("there")).unwrap();
        symlink(dir.path().join("there"), dir.path().join("elsewhere")).unwrap();
        assert!(folder.child("there").is_ok());
        assert!(folder.child("elsewhere").is_err());
    }
}
