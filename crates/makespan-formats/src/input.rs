//! Opens files: detects and decompresses compressed data, limits the size, and provides the first bytes.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::marker::PhantomData;
use std::rc::Rc;

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;

/// The maximum size of a file after decompression, in bytes.
pub(crate) const MAX_BYTES: u64 = 4 << 30;

const BUFFER: usize = 1 << 17;

/// Decompressed size, in bytes, up to which every compression ratio is accepted.
const MAX_EXPANDED: u64 = 16 << 20;

/// Maximum ratio of decompressed to compressed size, for files that expand to more than [`MAX_EXPANDED`] bytes. Logs
/// and workflows expand by a factor of 5 to 20. Files that are designed to fill the memory expand by a factor of
/// 1,000.
const MAX_EXPANSION: u64 = 20;

/// Number of compressed members (concatenated gzip or bzip2 files) that any file may have, even if all members are
/// tiny. For each [`MEMBER`] decompressed bytes, a file may have one additional member. The number is limited because
/// the bzip2 decoder allocates megabytes for each member.
const FEW_MEMBERS: u64 = 1000;
const MEMBER: u64 = 16 << 10;

/// Decompressed input of limited size.
pub(crate) type Input<'a> = BufReader<Box<dyn Read + 'a>>;

/// Decompresses gzip and bzip2 input. The first bytes decide whether the input is compressed. Other input is returned
/// unchanged.
///
/// Reading fails after `limit` bytes, or if compressed input expands too much ([`MAX_EXPANDED`], [`MAX_EXPANSION`]).
pub(crate) fn open<'a>(raw: impl Read + 'a, limit: u64) -> io::Result<Input<'a>> {
    let packed = Rc::new(Cell::new(0));
    let mut raw = BufReader::with_capacity(BUFFER, CountedReader { inner: raw, read: Rc::clone(&packed) });
    let head = filled(&mut raw)?;
    let (gzip, bzip2) = (head.starts_with(&[0x1f, 0x8b]), head.starts_with(b"BZh"));
    let packed = (gzip || bzip2).then_some(packed);
    let plain: Box<dyn Read + 'a> = if gzip {
        Box::new(Members::<_, GzDecoder<_>>::new(raw))
    } else if bzip2 {
        Box::new(Members::<_, BzDecoder<_>>::new(raw))
    } else {
        Box::new(raw)
    };
    Ok(BufReader::with_capacity(BUFFER, Box::new(Limited { inner: plain, read: 0, limit, packed })))
}

/// Decoder of one compressed member. The decoder can return the input after the end of the member.
trait Decoder<R>: Read {
    fn of(raw: R) -> Self;
    fn rest(self) -> R;
}

impl<R: BufRead> Decoder<R> for GzDecoder<R> {
    fn of(raw: R) -> Self {
        Self::new(raw)
    }

    fn rest(self) -> R {
        self.into_inner()
    }
}

impl<R: BufRead> Decoder<R> for BzDecoder<R> {
    fn of(raw: R) -> Self {
        Self::new(raw)
    }

    fn rest(self) -> R {
        self.into_inner()
    }
}

/// Concatenated compressed files (members), as `cat` and parallel compressors write them.
struct Members<R, D> {
    /// Current member, or `None` after the last member.
    member: Option<D>,
    count: u64,
    read: u64,
    raw: PhantomData<R>,
}

impl<R: BufRead, D: Decoder<R>> Members<R, D> {
    fn new(raw: R) -> Self {
        Self { member: Some(D::of(raw)), count: 1, read: 0, raw: PhantomData }
    }
}

impl<R: BufRead, D: Decoder<R>> Read for Members<R, D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(buffer)?;
            self.read += read as u64;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let Some(mut raw) = self.member.take().map(D::rest) else { break };
            if at_end(&mut raw)? {
                break;
            }
            self.count += 1;
            if self.count > FEW_MEMBERS + self.read / MEMBER {
                let problem = format!(
                    "the file consists of more than {} compressed files with hardly any content; if this is intended, \
                     decompress the file first",
                    self.count - 1
                );
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
            }
            self.member = Some(D::of(raw));
        }
        Ok(0)
    }
}

fn at_end(raw: &mut impl BufRead) -> io::Result<bool> {
    loop {
        match raw.fill_buf() {
            Ok(left) => return Ok(left.is_empty()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the next bytes without consuming them. The bytes fill the whole buffer, unless the input ends earlier.
pub(crate) fn filled<R: Read>(input: &mut BufReader<R>) -> io::Result<&[u8]> {
    loop {
        match input.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(input.buffer())
}

/// Reader that counts the bytes read.
struct CountedReader<R> {
    inner: R,
    read: Rc<Cell<u64>>,
}

impl<R: Read> Read for CountedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        Ok(read)
    }
}

/// Reads until the buffer is full or the input ends. A decoder may return only a few bytes for each call, but more
/// bytes are needed to recognise formats.
fn filling(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

struct Limited<R> {
    inner: R,
    read: u64,
    limit: u64,
    /// Number of compressed bytes read so far, or `None` if the file is not compressed.
    packed: Option<Rc<Cell<u64>>>,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // One extra byte distinguishes a file of exactly `limit` bytes from a longer file.
        let left = (self.limit - self.read).saturating_add(1);
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let read = filling(&mut self.inner, &mut buffer[..most])? as u64;
        let too_large = |problem| Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
        if read > self.limit - self.read {
            return too_large(format!("the content of the file is larger than the limit of {} bytes", self.limit));
        }
        self.read += read;
        let packed = self.packed.as_ref().map(|packed| packed.get());
        if packed.is_some_and(|packed| self.read > MAX_EXPANDED.max(packed.saturating_mul(MAX_EXPANSION))) {
            return too_large(format!(
                "the decompressed file has more than {MAX_EXPANSION} times the size of the compressed file, and more \
                 than {} MiB; if this is intended, decompress the file first",
                MAX_EXPANDED >> 20
            ));
        }
        Ok(read as usize)
    }
}

/// UTF-8 byte order mark, which some editors write.
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns the bytes without the byte order mark at their beginning, if there is one.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::packing::{bzip2, gzip};

    #[test]
    fn the_limit_is_exact() {
        let read = |limit| open(&b"12345"[..], limit).unwrap().read_to_end(&mut Vec::new());
        assert_eq!(read(5).unwrap(), 5);
        assert_eq!(read(4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    /// Returns gzip-compressed lines with more than [`MAX_EXPANDED`] bytes in all.
    fn packed(mut line: impl FnMut() -> String) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let mut written = 0;
        while written <= MAX_EXPANDED {
            let text = line();
            written += text.len() as u64;
            encoder.write_all(text.as_bytes()).unwrap();
        }
        encoder.finish().unwrap()
    }

    #[test]
    fn what_expands_as_texts_do_is_read_and_what_expands_without_end_is_not() {
        let read = |bytes: &[u8]| open(bytes, u64::MAX).unwrap().read_to_end(&mut Vec::new());
        let bomb = packed(|| "0".repeat(4096));
        let error = read(&bomb).unwrap_err();
        assert!(error.to_string().contains("decompress the file first"), "{error}");
        let mut state = 1_u64;
        let log = packed(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            format!("{} {} -1 {} 4 -1 -1 4 120 -1 1 1 1 -1 -1 1 -1 -1\n", state >> 40, state >> 50, state >> 52)
        });
        assert!(read(&log).unwrap() as u64 > MAX_EXPANDED);
    }

    /// Checks that concatenated compressed files are read as one file. Some members are empty, and the number of
    /// members is the maximum.
    #[test]
    fn compressed_files_one_behind_the_other_are_one() {
        let read = |bytes: &[u8]| {
            let mut text = String::new();
            open(bytes, u64::MAX).unwrap().read_to_string(&mut text).map(|_| text)
        };
        for pack in [gzip, bzip2] {
            let parts = ["", "a\n", "", "", "b", "\n"].map(|part| pack(part.as_bytes()));
            assert_eq!(read(&parts.concat()).unwrap(), "a\nb\n");
            let mut torn = parts.concat();
            torn.pop();
            assert!(read(&torn).is_err());
            assert!(read(&[parts.concat(), b"behind".to_vec()].concat()).is_err());
            let few = FEW_MEMBERS as usize;
            assert_eq!(read(&pack(b"x").repeat(few)).unwrap().len(), few);
            let error = read(&pack(b"").repeat(few + 1)).unwrap_err().to_string();
            assert!(
                error.contains("more than 1000 compressed files") && error.contains("decompress the file first"),
                "{error}"
            );
            // The number of members with content is not limited.
            let block = pack(&vec![b'x'; MEMBER as usize]);
            assert_eq!(read(&block.repeat(few + 20)).unwrap().len(), (few + 20) * MEMBER as usize);
        }
    }

    /// Checks that the first bytes of the content are found if the first members are almost empty.
    #[test]
    fn the_beginning_is_seen_through_small_parts() {
        let parts = [&b"\n"[..], b"", b" ", b"{\"a\": 1}"].map(gzip).concat();
        let mut input = open(&parts[..], u64::MAX).unwrap();
        assert_eq!(filled(&mut input).unwrap(), b"\n {\"a\": 1}");
    }
}
