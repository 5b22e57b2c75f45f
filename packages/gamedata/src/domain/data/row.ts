import { invariant } from '@plinth/kernel';
import type { TextPiece, TextStore } from '../../storage/text-store.js';

/** Number of rows from which one shared piece uses less memory than separate strings. */
const MIN_PACKED_COUNT = 16;

/**
 * One record in memory: its stored text, and the members that filters, sorting and relations need
 * as columns.
 * Rows are immutable and shared between data sets.
 */
export class Row {
  readonly id: string;
  readonly slug: string;
  /** Number of the change that created it. */
  readonly rev: number;
  /** Columns defined by the spec of its kind. */
  readonly columns: Columns;
  /**
   * The text, or a piece that contains it with others: UTF-8 outside the garbage-collected heap.
   */
  #content: string | TextPiece;
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
    this.#content = from.text;
  }

  /** Stored record as JSON. */
  get text(): string {
    const content = this.#content;
    return typeof content === 'string' ? content : content.view(this.#start, this.#end).toString();
  }

  /** Size of the text in bytes, encoded as UTF-8. */
  get sizeBytes(): number {
    const content = this.#content;
    return typeof content === 'string' ? Buffer.byteLength(content) : this.#end - this.#start;
  }

  /** Writes the text in UTF-8 to `target`, starting at `at`. */
  copyTo(target: Buffer, at: number): void {
    const content = this.#content;
    if (typeof content === 'string') target.write(content, at);
    else content.view(this.#start, this.#end).copy(target, at);
  }

  /** A copy of the text in UTF-8. */
  get bytes(): Buffer {
    const content = this.#content;
    return Buffer.from(
      typeof content === 'string' ? content : content.view(this.#start, this.#end),
    );
  }

  /** Whether the text contains `part`. */
  mentions(part: string): boolean {
    const content = this.#content;
    if (typeof content === 'string') return content.includes(part);
    return content.view(this.#start, this.#end).includes(part);
  }

  /** Moves the text of rows that still have their own string into one piece. */
  static async pack(rows: readonly Row[], store: TextStore): Promise<void> {
    const loose = rows.filter((row) => typeof row.#content === 'string');
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
    invariant(end === size, 'the packed text does not have the computed size');
    const piece = await store.put(bytes);
    for (const [index, row] of loose.entries()) {
      // Another set may have packed this row during the `await`.
      if (typeof row.#content !== 'string') continue;
      row.#start = ends[index - 1] ?? 0;
      row.#end = ends[index] ?? 0;
      row.#content = piece;
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

/** Reads a column declared as a list. */
export function listColumn<T = string>(row: Row, name: string): readonly T[] {
  const value = row.columns[name];
  return Array.isArray(value) ? value : [];
}
