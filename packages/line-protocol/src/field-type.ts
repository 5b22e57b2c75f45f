export type FieldType = 'float' | 'int' | 'uint' | 'string' | 'bool';

/** For people. */
export const TYPE_NAMES: Readonly<Record<FieldType, string>> = {
  float: 'float',
  int: 'integer',
  uint: 'unsigned integer',
  string: 'text',
  bool: 'boolean',
};

export const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
export const WHOLE = /^-?\d+$/;
/** Line protocol says infinity as a number that is too large. */
export const INFINITY = /^([+-]?)inf(?:inity)?$/i;
const LARGEST_SIGNED = 2n ** 63n - 1n;

export const isNumber = (text: string): boolean => NUMBER.test(text) || INFINITY.test(text);

type NumberType = 'int' | 'uint' | 'float';

/** What all values of a column have in common: whole where all of them are, so that none is rounded. */
export class NumberColumn {
  #kind: 'none' | 'whole' | 'float' | 'other' = 'none';
  #largest = 0n;

  add(text: string): void {
    const cell = text.trim();
    if (cell === '' || this.#kind === 'other') return;
    if (!WHOLE.test(cell)) {
      this.#kind = isNumber(cell) ? 'float' : 'other';
      return;
    }
    if (this.#kind === 'none') this.#kind = 'whole';
    // Shorter ones fit whatever they are.
    if (this.#kind !== 'whole' || cell.length <= 18) return;
    const value = BigInt(cell);
    if (value > this.#largest) this.#largest = value;
  }

  /** `undefined`: there is another value among them, or none at all. */
  get type(): NumberType | undefined {
    if (this.#kind === 'float') return 'float';
    if (this.#kind !== 'whole') return undefined;
    return this.#largest > LARGEST_SIGNED ? 'uint' : 'int';
  }
}
