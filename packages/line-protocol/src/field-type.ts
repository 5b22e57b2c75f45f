export type FieldType = 'float' | 'int' | 'uint' | 'string' | 'bool';

/** Type names shown to users. */
export const TYPE_NAMES: Readonly<Record<FieldType, string>> = {
  float: 'float',
  int: 'integer',
  uint: 'unsigned integer',
  string: 'text',
  bool: 'boolean',
};

export const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
export const WHOLE = /^-?\d+$/;
/** Line protocol expresses infinity as a number too large for a double. */
export const INFINITY = /^([+-]?)inf(?:inity)?$/i;
const LARGEST_SIGNED = 2n ** 63n - 1n;

export const isNumber = (text: string): boolean => NUMBER.test(text) || INFINITY.test(text);

type NumberType = 'int' | 'uint' | 'float';

/**
 * Finds the narrowest number type for all values of a column. A column of integers stays an integer
 * column, so no value is rounded.
 */
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
    // Integers of up to 18 digits always fit into 64 bits.
    if (this.#kind !== 'whole' || cell.length <= 18) return;
    const value = BigInt(cell);
    if (value > this.#largest) this.#largest = value;
  }

  /** `undefined` if the column is empty or has a value that is not a number. */
  get type(): NumberType | undefined {
    if (this.#kind === 'float') return 'float';
    if (this.#kind !== 'whole') return undefined;
    return this.#largest > LARGEST_SIGNED ? 'uint' : 'int';
  }
}
