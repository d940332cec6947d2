//! Bytes in: decompression by content, limits on what they become, and a look at the beginning.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

const BUFFER: usize = 1 << 17;

/// What a compressed file may always become, in bytes.
const MAX_EXPANDED: u64 = 16 << 20;

/// A compressed file that becomes more than [`MAX_EXPANDED`] may become this many times its own size. Logs and workflows
/// become 5 to 20 times as large, files made to fill the memory 1,000 times.
const MAX_EXPANSION: u64 = 20;

/// Decompressed, limited input.
pub(crate) type Input<'a> = BufReader<Box<dyn Read + 'a>>;

/// Undoes gzip and bzip2, known by their first bytes. More than `limit` bytes are an error, and so are compressed bytes that
/// become far more than they are.
pub(crate) fn open<'a>(raw: impl Read + 'a, limit: u64) -> io::Result<Input<'a>> {
    let packed = Rc::new(Cell::new(0));
    let mut raw = BufReader::with_capacity(BUFFER, Counted { inner: raw, read: Rc::clone(&packed) });
    let head = filled(&mut raw)?;
    let (gzip, bzip2) = (head.starts_with(&[0x1f, 0x8b]), head.starts_with(b"BZh"));
    let packed = (gzip || bzip2).then_some(packed);
    let plain: Box<dyn Read + 'a> = if gzip {
        Box::new(flate2::bufread::MultiGzDecoder::new(raw))
    } else if bzip2 {
        Box::new(bzip2::bufread::MultiBzDecoder::new(raw))
    } else {
        Box::new(raw)
    };
    Ok(BufReader::with_capacity(BUFFER, Box::new(Limited { inner: plain, read: 0, limit, packed })))
}

/// The bytes that are already there, at least one unless the input is empty.
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

/// Counts what is read.
struct Counted<R> {
    inner: R,
    read: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        Ok(read)
    }
}

struct Limited<R> {
    inner: R,
    read: u64,
    limit: u64,
    /// The compressed bytes read so far, where the file is compressed.
    packed: Option<Rc<Cell<u64>>>,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // One byte more than is left tells a file of exactly the limit from a longer one.
        let left = (self.limit - self.read).saturating_add(1);
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.inner.read(&mut buffer[..most])? as u64;
        let too_large = |problem| Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
        if read > self.limit - self.read {
            return too_large(format!("its content is larger than the limit of {} bytes", self.limit));
        }
        self.read += read;
        let packed = self.packed.as_ref().map(|packed| packed.get());
        if packed.is_some_and(|packed| self.read > MAX_EXPANDED.max(packed.saturating_mul(MAX_EXPANSION))) {
            return too_large(format!(
                "it becomes more than {MAX_EXPANSION} times its size and more than {} MiB; decompress it first if that is \
                 meant",
                MAX_EXPANDED >> 20
            ));
        }
        Ok(read as usize)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_limit_is_exact() {
        let read = |limit| open(&b"12345"[..], limit).unwrap().read_to_end(&mut Vec::new());
        assert_eq!(read(5).unwrap(), 5);
        assert_eq!(read(4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    /// Lines of a text, of more than [`MAX_EXPANDED`] bytes in all, compressed.
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
        assert!(error.to_string().contains("decompress it first"), "{error}");
        let mut state = 1_u64;
        let log = packed(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            format!("{} {} -1 {} 4 -1 -1 4 120 -1 1 1 1 -1 -1 1 -1 -1\n", state >> 40, state >> 50, state >> 52)
        });
        assert!(read(&log).unwrap() as u64 > MAX_EXPANDED);
    }
}
