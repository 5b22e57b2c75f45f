import { isoOf } from '@plinth/tsdb-model/time/calendar.js';
import { decodeTables } from './write-record.js';

const MAX_TABLE_COUNT = 10;

/**
 * Describes the rows of a record whose payload may be corrupt: tables, row counts and time ranges, as far as they can be
 * read. The description names the record as the source, because a corrupt value can change the range.
 * @param nameOf returns the name of a table with its database.
 */
export function describeLostRows(
  payload: Uint8Array,
  nameOf: (tableId: number) => string | undefined,
): string | undefined {
  const parts: string[] = [];
  let tableCount = 0;
  for (const { tableId, rowCount, times } of decodeTables(payload)) {
    if (rowCount === 0) continue;
    tableCount += 1;
    if (tableCount > MAX_TABLE_COUNT) continue;
    const name = nameOf(tableId) ?? `number ${tableId}`;
    parts.push(`${rowCount} rows of table ${name} ${rangeOf(times)}`);
  }
  const moreCount = tableCount - parts.length;
  if (moreCount > 0) parts.push(`rows of ${moreCount} more tables`);
  return parts.length === 0 ? undefined : `${parts.join(', ')}, according to the corrupt record`;
}

function rangeOf(times: BigInt64Array): string {
  const sorted = times.slice().sort();
  const [first = 0n, last = 0n] = [sorted[0], sorted.at(-1)];
  return `from ${isoOf(first)} to ${isoOf(last)}`;
}
