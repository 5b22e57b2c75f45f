/** BLAKE3 with 32 bytes of output; the runtime's cryptography has it not. Source: the BLAKE3 paper, section 2. */

const IV = Uint32Array.of(
  0x6a09e667,
  0xbb67ae85,
  0x3c6ef372,
  0xa54ff53a,
  0x510e527f,
  0x9b05688c,
  0x1f83d9ab,
  0x5be0cd19,
);
const PERMUTATION = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
/** Words of the state that each of the eight quarter rounds mixes: columns, then diagonals. */
const QUARTERS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;

const CHUNK_SIZE = 1024;
const BLOCK_SIZE = 64;
const CHUNK_START = 1;
const CHUNK_END = 2;
const PARENT = 4;
const ROOT = 8;

interface Block {
  readonly chaining: Uint32Array;
  readonly words: Uint32Array;
  readonly counter: number;
  readonly size: number;
  readonly flags: number;
}

export function blake3(input: Uint8Array): Uint8Array {
  const last = lastBlock(input, 0);
  const words = compress({ ...last, flags: last.flags | ROOT });
  const output = new Uint8Array(32);
  const view = new DataView(output.buffer);
  for (const [index, word] of words.entries()) view.setUint32(index * 4, word, true);
  return output;
}

/** The block whose compression is the chaining value of the tree over `input`; its first chunk is `chunkIndex`. */
function lastBlock(input: Uint8Array, chunkIndex: number): Block {
  if (input.length <= CHUNK_SIZE) return lastBlockOfChunk(input, chunkIndex);
  // The left side takes the greatest power of two of chunks that leaves something for the right.
  const leftChunks = 2 ** Math.floor(Math.log2(Math.ceil(input.length / CHUNK_SIZE) - 1));
  const border = leftChunks * CHUNK_SIZE;
  const words = new Uint32Array(16);
  words.set(compress(lastBlock(input.subarray(0, border), chunkIndex)));
  words.set(compress(lastBlock(input.subarray(border), chunkIndex + leftChunks)), 8);
  return { chaining: IV, words, counter: 0, size: BLOCK_SIZE, flags: PARENT };
}

function lastBlockOfChunk(chunk: Uint8Array, counter: number): Block {
  let chaining: Uint32Array = IV;
  for (let at = 0; ; at += BLOCK_SIZE) {
    const bytes = chunk.subarray(at, at + BLOCK_SIZE);
    const isLast = at + BLOCK_SIZE >= chunk.length;
    const flags = (at === 0 ? CHUNK_START : 0) | (isLast ? CHUNK_END : 0);
    const block = { chaining, words: wordsOf(bytes), counter, size: bytes.length, flags };
    if (isLast) return block;
    chaining = compress(block);
  }
}

function wordsOf(bytes: Uint8Array): Uint32Array {
  const block = new Uint8Array(BLOCK_SIZE);
  block.set(bytes);
  const view = new DataView(block.buffer);
  return Uint32Array.from({ length: 16 }, (_, index) => view.getUint32(index * 4, true));
}

function compress({ chaining, words, counter, size, flags }: Block): Uint32Array {
  const state = new Uint32Array(16);
  state.set(chaining);
  state.set(IV.subarray(0, 4), 8);
  state[12] = counter >>> 0;
  state[13] = Math.floor(counter / 2 ** 32);
  state[14] = size;
  state[15] = flags;
  let message = words;
  for (let round = 0; round < 7; round++) {
    for (const [index, quarter] of QUARTERS.entries()) {
      mix(state, quarter, message[index * 2] ?? 0, message[index * 2 + 1] ?? 0);
    }
    const before = message;
    message = Uint32Array.from(PERMUTATION, (index) => before[index] ?? 0);
  }
  return Uint32Array.from(
    { length: 8 },
    (_, index) => (state[index] ?? 0) ^ (state[index + 8] ?? 0),
  );
}

function mix(
  state: Uint32Array,
  [a, b, c, d]: readonly [number, number, number, number],
  x: number,
  y: number,
): void {
  const at = (index: number) => state[index] ?? 0;
  state[a] = at(a) + at(b) + x;
  state[d] = rotate(at(d) ^ at(a), 16);
  state[c] = at(c) + at(d);
  state[b] = rotate(at(b) ^ at(c), 12);
  state[a] = at(a) + at(b) + y;
  state[d] = rotate(at(d) ^ at(a), 8);
  state[c] = at(c) + at(d);
  state[b] = rotate(at(b) ^ at(c), 7);
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
