/**
 * Compares two strings in the order of their UTF-8 bytes. JavaScript compares UTF-16 units, which
 * puts U+10000 and above (surrogates, D800-DFFF) before U+E000-U+FFFF. Ranking surrogates above all
 * other units corrects that.
 */
export function compareByteOrder(a: string, b: string): number {
  const sharedLength = Math.min(a.length, b.length);
  for (let i = 0; i < sharedLength; i++) {
    const unitA = a.charCodeAt(i);
    const unitB = b.charCodeAt(i);
    if (unitA !== unitB) return orderOf(unitA) - orderOf(unitB);
  }
  return a.length - b.length;
}

const SURROGATES_START = 0xd800;
const SURROGATES_END = 0xe000;
const ABOVE_EVERY_UNIT = 0x10000;

function orderOf(unit: number): number {
  return unit >= SURROGATES_START && unit < SURROGATES_END ? unit + ABOVE_EVERY_UNIT : unit;
}
