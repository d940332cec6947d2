//! The simulated disk.

use std::io;
use std::path::Path;

use super::{Effect, World};
use crate::storage::{Handle, Storage};

/// The content of a file: the content that programs read, and the content that is synced to disk.
#[derive(Clone, Debug, Default)]
pub(super) struct Inode {
    pub content: Vec<u8>,
    pub on_disk: Vec<u8>,
}

struct Open {
    world: World,
    inode: usize,
}

impl std::fmt::Debug for Open {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "file {}", self.inode)
    }
}

fn is_whole(effect: Effect) -> bool {
    matches!(effect, Effect::Whole | Effect::WholeThen(_))
}

impl Storage for World {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let effect = self.step(false)?;
        let inner = self.0.borrow();
        let content = inner.names.get(path).map(|&inode| inner.inodes[inode].content.clone());
        drop(inner);
        self.done(effect).map(|()| content)
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        let effect = self.step(false)?;
        let inner = self.0.borrow();
        let inside = inner.names.keys().filter(|path| path.parent() == Some(folder));
        let names = inside.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect();
        drop(inner);
        self.done(effect).map(|()| names)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        let effect = self.step(true)?;
        if is_whole(effect) {
            self.0.borrow_mut().folders.insert(path.to_owned());
        }
        self.done(effect)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Handle>> {
        let effect = self.step(true)?;
        let mut inner = self.0.borrow_mut();
        let parent = path.parent().unwrap_or(path).to_owned();
        let is_there = parent == Path::new("/run") || inner.folders.contains(&parent);
        if !is_there {
            return Err(io::ErrorKind::NotFound.into());
        }
        let inode = match inner.names.get(path) {
            Some(&inode) => inode,
            None => {
                inner.inodes.push(Inode::default());
                let inode = inner.inodes.len() - 1;
                if is_whole(effect) {
                    inner.names.insert(path.to_owned(), inode);
                }
                inode
            }
        };
        drop(inner);
        self.done(effect).map(|()| Box::new(Open { world: self.clone(), inode }) as Box<dyn Handle>)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let effect = self.step(true)?;
        if is_whole(effect) {
            let mut inner = self.0.borrow_mut();
            let inode = inner.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
            inner.names.insert(to.to_owned(), inode);
        }
        self.done(effect)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let effect = self.step(true)?;
        let mut inner = self.0.borrow_mut();
        let inode = *inner.names.get(from).ok_or(io::ErrorKind::NotFound)?;
        inner.names.insert(to.to_owned(), inode);
        drop(inner);
        self.done(effect)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let effect = self.step(false)?;
        self.0.borrow_mut().names.remove(path).ok_or(io::ErrorKind::NotFound)?;
        self.done(effect)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let effect = self.step(true)?;
        if is_whole(effect) {
            let inner = &mut *self.0.borrow_mut();
            let inside = |path: &Path| path.parent() == Some(folder);
            inner.names_on_disk.retain(|path, _| !inside(path));
            let names = inner.names.iter().filter(|(path, _)| inside(path)).map(|(path, &inode)| (path.clone(), inode));
            inner.names_on_disk.extend(names);
            inner.folders_on_disk.extend(inner.folders.iter().filter(|path| inside(path)).cloned());
        }
        self.done(effect)
    }
}

impl Handle for Open {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let effect = self.world.step(true)?;
        let bytes = if is_whole(effect) { bytes } else { &bytes[..bytes.len() / 2] };
        let mut inner = self.world.0.borrow_mut();
        let content = &mut inner.inodes[self.inode].content;
        let end = offset as usize + bytes.len();
        content.resize(content.len().max(end), 0);
        content[offset as usize..end].copy_from_slice(bytes);
        drop(inner);
        self.world.done(effect)
    }

    fn set_len(&mut self, length: u64) -> io::Result<()> {
        let effect = self.world.step(false)?;
        if is_whole(effect) {
            self.world.0.borrow_mut().inodes[self.inode].content.resize(length as usize, 0);
        }
        self.world.done(effect)
    }

    fn sync(&mut self) -> io::Result<()> {
        let effect = self.world.step(true)?;
        let mut inner = self.world.0.borrow_mut();
        inner.syncs += 1;
        let inode = &mut inner.inodes[self.inode];
        // Bytes that were synced earlier remain on disk.
        let (old, all) = (inode.on_disk.len().min(inode.content.len()), inode.content.len());
        let length = if is_whole(effect) { all } else { old + (all - old) / 2 };
        inode.on_disk = inode.content[..length].to_vec();
        drop(inner);
        self.world.done(effect)
    }
}
