//! Adds a number and a checksum to lines, and checks them.

/// The text before the checksum at the end of a line.
const CHECK: &str = ",\"check\":\"";
const NUMBER: &str = ",\"number\":";

/// Formats a JSON object as a line with its number and a checksum (CRC-32) over everything before the checksum.
pub(crate) fn seal(body: &str, number: u64) -> String {
    debug_assert!(body.starts_with('{') && body.ends_with('}'), "an object that is not empty");
    let open = format!("{}{NUMBER}{number}", &body[..body.len() - 1]);
    let check = crc32fast::hash(open.as_bytes());
    format!("{open}{CHECK}{check:08x}\"}}\n")
}

/// Returns the object and the number of a sealed line.
///
/// # Errors
/// A description of the damage.
pub(crate) fn unseal(line: &[u8]) -> Result<(u64, String), &'static str> {
    const DAMAGED: &str = "the checksum does not match the line";
    let text = std::str::from_utf8(line).map_err(|_| DAMAGED)?;
    let text = text.strip_suffix('\n').ok_or("the line has no end")?;
    let (open, check) = text.rsplit_once(CHECK).ok_or("the line has no checksum")?;
    if check.len() != 10 || check != format!("{:08x}\"}}", crc32fast::hash(open.as_bytes())) {
        return Err(DAMAGED);
    }
    let (body, number) = open.rsplit_once(NUMBER).ok_or("the line has no number")?;
    Ok((number.parse().map_err(|_| DAMAGED)?, format!("{body}}}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_is_read_and_no_flipped_bit_passes() {
        let line = seal("{\"a\":1}", 17);
        assert_eq!(
            line,
            format!("{{\"a\":1,\"number\":17,\"check\":\"{:08x}\"}}\n", crc32fast::hash(b"{\"a\":1,\"number\":17"))
        );
        assert_eq!(unseal(line.as_bytes()), Ok((17, "{\"a\":1}".to_owned())));
        for bit in 0..line.len() * 8 {
            let mut bytes = line.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(unseal(&bytes).is_err(), "bit {bit}: {}", String::from_utf8_lossy(&bytes));
        }
        for length in 0..line.len() {
            assert!(unseal(&line.as_bytes()[..length]).is_err());
        }
    }
}
