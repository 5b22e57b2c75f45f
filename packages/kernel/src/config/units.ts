import { machineMemoryBytes } from '../fs/machine-memory.js';

const MS_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 604_800_000],
]);

/** Sizes are powers of 1024 in both forms: `10mb` is documented as 10,485,760 bytes. */
const BYTES_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ['b', 1],
  ['kb', 1024],
  ['kib', 1024],
  ['mb', 1024 ** 2],
  ['mib', 1024 ** 2],
  ['gb', 1024 ** 3],
  ['gib', 1024 ** 3],
]);

const PART = /(\d+(?:\.\d+)?)\s*([a-z]+)/g;
const QUANTITY = /^(?:\d+(?:\.\d+)?\s*[a-z]+\s*)+$/;

/** Returns the number of milliseconds in `500ms`, `1s`, `1h30m` or `72h`; `undefined` for an invalid duration. */
export function parseDurationMs(text: string): number | undefined {
  return parseQuantity(text.trim(), MS_PER_UNIT);
}

/**
 * Returns the number of bytes in `10mb`, `1 GiB`, `512b`, or `20%` of the machine's memory; `undefined`
 * for an invalid size.
 */
export function parseSizeBytes(text: string): number | undefined {
  const [, percent] = /^(\d{1,2}(?:\.\d+)?|100)\s*%$/.exec(text.trim()) ?? [];
  if (percent !== undefined) return Math.floor((machineMemoryBytes() * Number(percent)) / 100);
  return parseQuantity(text.trim().toLowerCase(), BYTES_PER_UNIT);
}

function parseQuantity(text: string, units: ReadonlyMap<string, number>): number | undefined {
  if (!QUANTITY.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART)) {
    const factor = units.get(unit ?? '');
    if (factor === undefined) return undefined;
    total += Number(amount) * factor;
  }
  return Number.isSafeInteger(total) ? total : undefined;
}
