import type { DuckDBValue, DuckDBVector } from '@duckdb/node-api';
import type { ColumnVector } from '../../model/result.js';
import { CELL_BYTES, MAX_CELL_TEXT_BYTES, TextCells } from '../../model/text-cells.js';

/** Texts remembered within one chunk; a power of two. */
const SLOT_COUNT = 512;

/** The engine's string cell: length, then the text itself up to 12 bytes, else 4 bytes of it and its address. */
const CELL_WORDS = CELL_BYTES / 4;

/** What the binding's text vector keeps behind its types. */
interface TextVector {
  readonly dataView: DataView;
  getItem(index: number): string | null;
}

const slotWords = new Int32Array(SLOT_COUNT * CELL_WORDS);
const slotTexts: (string | undefined)[] = new Array(SLOT_COUNT);

/** A column of texts: as cells where each has its whole text, else decoded while the chunk lives that the others point into. */
export function decodeTextColumn(
  vector: DuckDBVector<DuckDBValue>,
  rowCount: number,
  validity: Uint8Array | undefined,
): ColumnVector {
  const { buffer, byteOffset } = (vector as unknown as TextVector).dataView;
  const cells = new Uint8Array(buffer, byteOffset, rowCount * CELL_BYTES);
  const decode = (): readonly string[] => decodeTexts(vector, rowCount, validity);
  if (byteOffset % 4 !== 0 || hasLongText(buffer, byteOffset, rowCount, validity)) {
    return { values: decode(), validity };
  }
  return new TextCells({ cells, validity, decode });
}

function hasLongText(
  buffer: ArrayBufferLike,
  byteOffset: number,
  rowCount: number,
  validity: Uint8Array | undefined,
): boolean {
  const words = new Uint32Array(buffer, byteOffset, rowCount * CELL_WORDS);
  for (let row = 0; row < rowCount; row++) {
    const isLong = (words[row * CELL_WORDS] as number) > MAX_CELL_TEXT_BYTES;
    // The cell of a NULL holds anything.
    if (isLong && (validity === undefined || isSet(validity, row))) return true;
  }
  return false;
}

const isSet = (validity: Uint8Array, row: number): boolean =>
  ((validity[row >> 3] as number) & (1 << (row & 7))) !== 0;

/**
 * The texts of a vector. Most text columns are tags, which repeat: a cell's 16 bytes tell its text as long as the chunk
 * lives, so that each distinct one is decoded once a chunk.
 */
function decodeTexts(
  vector: DuckDBVector<DuckDBValue>,
  rowCount: number,
  validity: Uint8Array | undefined,
): readonly string[] {
  // The class behind a VARCHAR column; its data are 16 bytes a row, copied by the binding into memory of their own.
  const texts = vector as unknown as TextVector;
  const { dataView } = texts;
  const bytes = Buffer.from(dataView.buffer, dataView.byteOffset, dataView.byteLength);
  const words =
    dataView.byteOffset % 4 === 0
      ? new Int32Array(dataView.buffer, dataView.byteOffset, rowCount * CELL_WORDS)
      : new Int32Array(dataView.buffer.slice(dataView.byteOffset), 0, rowCount * CELL_WORDS);
  slotTexts.fill(undefined);
  const decoded = new Array<string>(rowCount);
  for (let row = 0; row < rowCount; row++) {
    if (validity !== undefined && !isSet(validity, row)) {
      decoded[row] = '';
      continue;
    }
    const at = row * CELL_WORDS;
    const a = words[at] as number;
    const b = words[at + 1] as number;
    const c = words[at + 2] as number;
    const d = words[at + 3] as number;
    const mixed = Math.imul(a ^ Math.imul(b, 31) ^ Math.imul(c, 0x9e3779b1) ^ d, 0x85ebca6b);
    const slot = (mixed ^ (mixed >>> 15)) & (SLOT_COUNT - 1);
    const slotAt = slot * CELL_WORDS;
    const known = slotTexts[slot];
    if (
      known !== undefined &&
      slotWords[slotAt] === a &&
      slotWords[slotAt + 1] === b &&
      slotWords[slotAt + 2] === c &&
      slotWords[slotAt + 3] === d
    ) {
      decoded[row] = known;
      continue;
    }
    const text =
      a <= MAX_CELL_TEXT_BYTES && a >= 0
        ? bytes.toString('utf8', row * 16 + 4, row * 16 + 4 + a)
        : longText(texts, row, b);
    slotWords[slotAt] = a;
    slotWords[slotAt + 1] = b;
    slotWords[slotAt + 2] = c;
    slotWords[slotAt + 3] = d;
    slotTexts[slot] = text;
    decoded[row] = text;
  }
  return decoded;
}

/** The binding takes U+FEFF at the beginning of a text for a mark and drops it; `head` are the first four bytes of the text. */
function longText(texts: TextVector, row: number, head: number): string {
  const text = texts.getItem(row) ?? '';
  return (head & 0xff_ff_ff) === 0xbf_bb_ef ? `\ufeff${text}` : text;
}
