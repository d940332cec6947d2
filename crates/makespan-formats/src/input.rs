//! Bytes in: decompression by content, a limit on what they become, and a look at the beginning.

use std::io::{self, BufRead, BufReader, Read};

const BUFFER: usize = 1 << 17;

/// Decompressed, limited input.
pub(crate) type Input<'a> = BufReader<Box<dyn Read + 'a>>;

/// Undoes gzip and bzip2, known by their first bytes; more than `limit` decompressed bytes are an error.
pub(crate) fn open<'a>(raw: impl Read + 'a, limit: u64) -> io::Result<Input<'a>> {
    let mut raw = BufReader::with_capacity(BUFFER, raw);
    let head = filled(&mut raw)?;
    let (gzip, bzip2) = (head.starts_with(&[0x1f, 0x8b]), head.starts_with(b"BZh"));
    let plain: Box<dyn Read + 'a> = if gzip {
        Box::new(flate2::bufread::MultiGzDecoder::new(raw))
    } else if bzip2 {
        Box::new(bzip2::bufread::MultiBzDecoder::new(raw))
    } else {
        Box::new(raw)
    };
    Ok(BufReader::with_capacity(BUFFER, Box::new(Limited { inner: plain, left: limit, limit })))
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

struct Limited<R> {
    inner: R,
    left: u64,
    limit: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // One byte more than is left tells a file of exactly the limit from a longer one.
        let most = usize::try_from(self.left.saturating_add(1)).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.inner.read(&mut buffer[..most])? as u64;
        if read > self.left {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("its content is larger than the limit of {} bytes", self.limit),
            ));
        }
        self.left -= read;
        Ok(read as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_exact() {
        let read = |limit| open(&b"12345"[..], limit).unwrap().read_to_end(&mut Vec::new());
        assert_eq!(read(5).unwrap(), 5);
        assert_eq!(read(4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
