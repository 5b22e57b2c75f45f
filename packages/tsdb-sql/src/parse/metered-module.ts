/** Section IDs of a module. Source: WebAssembly core specification, "Modules". */
const GLOBALS = 6;
const EXPORTS = 7;
const CODE = 10;
/** Debug names and similar sections, which are removed. */
const CUSTOM = 0;
const HEADER_SIZE_BYTES = 8;

/** Export name of the fuel counter. */
export const FUEL = 'plinth_fuel';

/**
 * Returns the module with a meter: each function call decrements a counter, and the call that makes
 * it 0 traps. A counter that starts at 0 or below never traps; instances start at 0. Loops without
 * calls are not counted; the longest in the parser is the longest run of white space.
 */
export function withFuel(module: Uint8Array): Uint8Array {
  const sections = sectionsOf(module);
  const globals = sections.find(({ id }) => id === GLOBALS);
  if (globals === undefined || !sections.some(({ id }) => id === EXPORTS)) {
    throw new Error('the WebAssembly module has no global section or no export section');
  }
  const fuelIndex = new Reader(module, globals.start).size();
  const out = new Writer(module.length + 8 * countFunctions(module, sections) * 3 + 1024);
  out.put(module.subarray(0, HEADER_SIZE_BYTES));
  for (const section of sections) {
    const { id, start, end } = section;
    if (id === CUSTOM) continue;
    const body = new Reader(module, start);
    out.put([id]);
    if (id === GLOBALS) {
      // Appends a global: mutable, i32, `i32.const 0`.
      appendTo(body, end, [0x7f, 1, 0x41, 0, 0x0b], out);
    } else if (id === EXPORTS) {
      const name = new TextEncoder().encode(FUEL);
      appendTo(body, end, [name.length, ...name, 3, ...leb(fuelIndex)], out);
    } else if (id === CODE) {
      const at = out.reserveSize();
      putMetered(body, module, meterText(fuelIndex), out);
      out.fillSize(at);
    } else {
      out.put(leb(end - start));
      out.put(module.subarray(start, end));
    }
  }
  return out.written;
}

interface Section {
  readonly id: number;
  readonly start: number;
  readonly end: number;
}

function sectionsOf(module: Uint8Array): readonly Section[] {
  const sections: Section[] = [];
  const reader = new Reader(module, HEADER_SIZE_BYTES);
  while (reader.at < module.length) {
    const id = reader.byte();
    const sizeBytes = reader.size();
    sections.push({ id, start: reader.at, end: reader.at + sizeBytes });
    reader.at += sizeBytes;
  }
  return sections;
}

function countFunctions(module: Uint8Array, sections: readonly Section[]): number {
  const code = sections.find(({ id }) => id === CODE);
  return code === undefined ? 0 : new Reader(module, code.start).size();
}

/** Appends an item to the list of a section. */
function appendTo(body: Reader, end: number, item: readonly number[], out: Writer): void {
  const count = leb(body.size() + 1);
  const items = body.bytes.subarray(body.at, end);
  out.put(leb(count.length + items.length + item.length));
  out.put(count);
  out.put(items);
  out.put(item);
}

/** Returns the code for `fuel = fuel - 1; if (fuel == 0) unreachable`. */
function meterText(fuelIndex: number): Uint8Array {
  const index = leb(fuelIndex);
  return Uint8Array.of(
    ...[0x23, ...index, 0x41, 1, 0x6b, 0x24, ...index], // global.get, i32.const 1, i32.sub, global.set
    ...[0x23, ...index, 0x45, 0x04, 0x40, 0x00, 0x0b], // global.get, i32.eqz, if, unreachable, end
  );
}

/** Inserts the meter into each function, after its local declarations. */
function putMetered(body: Reader, module: Uint8Array, meter: Uint8Array, out: Writer): void {
  const count = body.size();
  out.put(leb(count));
  for (let i = 0; i < count; i++) {
    const sizeBytes = body.size();
    const start = body.at;
    for (let left = body.size(); left > 0; left--) {
      body.size();
      body.byte();
    }
    out.put(leb(sizeBytes + meter.length));
    out.put(module.subarray(start, body.at));
    out.put(meter);
    out.put(module.subarray(body.at, start + sizeBytes));
    body.at = start + sizeBytes;
  }
}

class Reader {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  byte(): number {
    return this.bytes[this.at++] ?? 0;
  }

  /** Reads an unsigned LEB128 number of at most 32 bits. */
  size(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }
}

/** Bytes reserved for a size that is not known yet: the maximum that LEB128 needs for 32 bits. */
const RESERVED_SIZE_BYTES = 5;

class Writer {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
  }

  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  put(bytes: ArrayLike<number>): void {
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  reserveSize(): number {
    const at = this.#at;
    this.#at += RESERVED_SIZE_BYTES;
    return at;
  }

  fillSize(at: number): void {
    let left = this.#at - at - RESERVED_SIZE_BYTES;
    for (let i = 0; i < RESERVED_SIZE_BYTES; i++) {
      this.#bytes[at + i] = (left & 0x7f) | (i < RESERVED_SIZE_BYTES - 1 ? 0x80 : 0);
      left >>>= 7;
    }
  }
}

function leb(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value; ; left >>>= 7) {
    if (left < 0x80) return [...bytes, left];
    bytes.push((left & 0x7f) | 0x80);
  }
}
