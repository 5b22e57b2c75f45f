import { invariant } from '@plinth/kernel';
import type { TextPiece, TextStore } from '../../storage/text-store.js';

/** From so many rows on, a piece of their own is less than what their texts take one by one. */
const MIN_PACKED_COUNT = 16;

/**
 * One record in memory: its text as stored, and of its members only what filters, sorting and relations ask for. A row
 * never changes; data sets share the rows that they have in common.
 */
export class Row {
  readonly id: string;
  readonly slug: string;
  /** Number of the change that made it. */
  readonly rev: number;
  /** Columns of its kind. */
  readonly columns: Columns;
  /** The text, or a piece that holds it among others: UTF-8 outside of the heap, which is looked through for garbage. */
  #held: string | TextPiece;
  #start = 0;
  #end = 0;

  constructor(from: {
    readonly id: string;
    readonly slug: string;
    readonly rev: number;
    readonly text: string;
    readonly columns: Columns;
  }) {
    this.id = from.id;
    this.slug = from.slug;
    this.rev = from.rev;
    this.columns = from.columns;
    this.#held = from.text;
  }

  /** Stored record as JSON. */
  get text(): string {
    const held = this.#held;
    return typeof held === 'string' ? held : held.view(this.#start, this.#end).toString();
  }

  /** Of the text in UTF-8. */
  get sizeBytes(): number {
    const held = this.#held;
    return typeof held === 'string' ? Buffer.byteLength(held) : this.#end - this.#start;
  }

  /** Writes the text in UTF-8 to `target` from `at` on. */
  copyTo(target: Buffer, at: number): void {
    const held = this.#held;
    if (typeof held === 'string') target.write(held, at);
    else held.view(this.#start, this.#end).copy(target, at);
  }

  /** A copy of the text in UTF-8. */
  get bytes(): Buffer {
    const held = this.#held;
    return Buffer.from(typeof held === 'string' ? held : held.view(this.#start, this.#end));
  }

  /** Whether the text has `part` in it. */
  mentions(part: string): boolean {
    const held = this.#held;
    if (typeof held === 'string') return held.includes(part);
    return held.view(this.#start, this.#end).includes(part);
  }

  /** Puts the texts of rows that lie alone into one piece. */
  static async pack(rows: readonly Row[], store: TextStore): Promise<void> {
    const loose = rows.filter((row) => typeof row.#held === 'string');
    if (loose.length < MIN_PACKED_COUNT) return;
    let size = 0;
    for (const { text } of loose) size += Buffer.byteLength(text);
    const bytes = Buffer.allocUnsafeSlow(size);
    const ends = new Uint32Array(loose.length);
    let end = 0;
    for (const [index, { text }] of loose.entries()) {
      end += bytes.write(text, end);
      ends[index] = end;
    }
    invariant(end === size, 'texts fill the room that was measured for them');
    const piece = await store.put(bytes);
    for (const [index, row] of loose.entries()) {
      // Another set may have packed it meanwhile.
      if (typeof row.#held !== 'string') continue;
      row.#start = ends[index - 1] ?? 0;
      row.#end = ends[index] ?? 0;
      row.#held = piece;
    }
  }
}

export type Columns = Readonly<Record<string, unknown>>;

export function textColumn(row: Row, name: string): string | null {
  const value = row.columns[name];
  return typeof value === 'string' ? value : null;
}

export function numberColumn(row: Row, name: string): number | null {
  const value = row.columns[name];
  return typeof value === 'number' ? value : null;
}

/** A column that its kind declares as a list. */
export function listColumn<T = string>(row: Row, name: string): readonly T[] {
  const value = row.columns[name];
  return Array.isArray(value) ? value : [];
}
