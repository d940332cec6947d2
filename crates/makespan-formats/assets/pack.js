// Reads the packed columns of a page: numbers in groups of seven bits, names with common prefixes, and base 64.

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

class Reader {
  constructor(text) {
    this.bytes = bytesOf(text);
    this.at = 0;
  }
  /** Returns the next number. Uses sums instead of shifts, because a number may have more than 32 bits. */
  next() {
    let byte = this.bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127;
    let scale = 128;
    do {
      byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    return value;
  }
  /** Returns the next number, which may be negative. */
  signed() {
    const value = this.next();
    if (value <= 0x7fffffff) return (value >>> 1) ^ -(value & 1);
    // For more than 32 bits, this is several times as fast as a remainder.
    const half = Math.floor(value / 2);
    return value === 2 * half ? half : -half - 1;
  }
}

/** Reads a column with few different values. Returns a function from rows to values. */
function distinct(column) {
  const { values, rows } = column;
  if (values.length < 2) return () => values[0];
  const reader = new Reader(rows);
  const index = new (values.length < 256 ? Uint8Array : Uint32Array)(reader.bytes.length);
  for (let row = 0; reader.at < reader.bytes.length; row++) index[row] = reader.next();
  return (row) => values[index[row]];
}

const BLOCK = 64;
/** Number of preceding names that a name may refer to. */
const BACK = 8;
const UTF8 = new TextDecoder();

/** Names that are decoded on demand. */
class Names {
  constructor(text, count) {
    this.count = count;
    this.text = text;
    this.known = null;
    this.blocks = null;
    this.block = -1;
    this.names = [];
  }
  /** Finds the positions of blocks of names, up to a given block. */
  scan(block) {
    if (!this.blocks) {
      this.reader = new Reader(this.text);
      this.text = null;
      this.blocks = new Uint32Array(Math.ceil(this.count / BLOCK) + 1);
      this.scanned = 0;
    }
    const { reader } = this;
    for (reader.at = this.blocks[this.scanned]; this.scanned < block; this.scanned++) {
      for (let i = 0; i < BLOCK; i++) {
        reader.next();
        const length = reader.next();
        reader.at += length;
      }
      this.blocks[this.scanned + 1] = reader.at;
    }
  }
  read(block) {
    this.scan(block);
    const { reader } = this;
    reader.at = this.blocks[block];
    const count = Math.min(BLOCK, this.count - block * BLOCK);
    const ends = [];
    let bytes = this.bytes ??= new Uint8Array(4096);
    let end = 0;
    for (let i = 0; i < count; i++) {
      const from = reader.next();
      const shared = Math.floor(from / BACK);
      const length = reader.next();
      if (end + shared + length > bytes.length) {
        const longer = new Uint8Array(2 * (end + shared + length));
        longer.set(bytes);
        this.bytes = bytes = longer;
      }
      const other = i - 1 - (from % BACK);
      if (shared) bytes.copyWithin(end, other > 0 ? ends[other - 1] : 0, (other > 0 ? ends[other - 1] : 0) + shared);
      bytes.set(reader.bytes.subarray(reader.at, reader.at + length), end + shared);
      reader.at += length;
      end += shared + length;
      ends.push(end);
    }
    const text = UTF8.decode(bytes.subarray(0, end));
    // If each letter is one byte, cutting one text is several times faster than decoding each name.
    const plain = text.length === end;
    return ends.map((until, i) => (plain ? text.slice(i ? ends[i - 1] : 0, until) : UTF8.decode(bytes.subarray(i ? ends[i - 1] : 0, until))));
  }
  at(index) {
    if (this.known) return this.known[index];
    const block = Math.floor(index / BLOCK);
    if (block !== this.block) {
      this.names = this.read(block);
      this.block = block;
    }
    return this.names[index % BLOCK];
  }
  /** Returns all names, and keeps them for later calls. */
  all() {
    if (!this.known) {
      const known = [];
      for (let block = 0; block < Math.ceil(this.count / BLOCK); block++) known.push(...this.read(block));
      this.known = known;
    }
    return this.known;
  }
}
