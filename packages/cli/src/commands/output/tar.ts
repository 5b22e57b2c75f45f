/** A small regular file of an archive. */
export interface TarEntry {
  /** ASCII, at most 100 characters. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

const BLOCK_SIZE = 512;

/** Creates an archive in the `ustar` format. Source: POSIX.1-2017, `pax`, "ustar Interchange Format". */
export function tarOf(entries: readonly TarEntry[], modifiedMs: number): Buffer {
  const blocks = entries.flatMap(({ name, bytes }) => [
    headOf(name, bytes.byteLength, modifiedMs),
    bytes,
    Buffer.alloc((BLOCK_SIZE - (bytes.byteLength % BLOCK_SIZE)) % BLOCK_SIZE),
  ]);
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_SIZE)]);
}

function headOf(name: string, sizeBytes: number, modifiedMs: number): Buffer {
  const head = Buffer.alloc(BLOCK_SIZE);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
  head.write(name, 0, 100, 'latin1');
  head.write(octal(0o600, 7), 100);
  head.write(octal(0, 7), 108); // user
  head.write(octal(0, 7), 116); // group
  head.write(octal(sizeBytes, 11), 124);
  head.write(octal(Math.floor(modifiedMs / 1000), 11), 136);
  head.write(' '.repeat(8), 148);
  head.write('0', 156);
  head.write('ustar\0', 257, 'latin1');
  head.write('00', 263);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${octal(sum, 6)}\0 `, 148, 'latin1');
  return head;
}
