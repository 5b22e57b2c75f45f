import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeLostRows } from './lost-rows.js';

// Source: docs/formats/write-record.md.
const RECORD_HEAD = 16;
const TABLE_HEAD = 16;

/** A record without fields; each table has one row for each time. */
function record(tables: readonly { readonly id: number; readonly times: readonly bigint[] }[]) {
  const parts = [Buffer.alloc(RECORD_HEAD)];
  parts[0]?.set([1, 1, tables.length]);
  for (const { id, times } of tables) {
    const head = Buffer.alloc(TABLE_HEAD);
    head.writeUInt32LE(id, 0);
    head.writeUInt32LE(times.length, 4);
    const numbers = Buffer.alloc(times.length * 12);
    times.forEach((time, row) => {
      numbers.writeBigInt64LE(time, times.length * 4 + row * 8);
    });
    parts.push(head, numbers);
  }
  return Buffer.concat(parts);
}

const SEC = 1_000_000_000n;
const nameOf = (id: number) => (id === 7 ? 'home.cpu' : undefined);

describe('describeLostRows', () => {
  it('returns table, row count and time range', () => {
    const payload = record([
      { id: 7, times: [20n * SEC, 10n * SEC, 30n * SEC] },
      { id: 8, times: [0n] },
    ]);
    assert.equal(
      describeLostRows(payload, nameOf),
      '3 rows of table home.cpu from 1970-01-01T00:00:10.000Z to 1970-01-01T00:00:30.000Z, ' +
        '1 rows of table number 8 from 1970-01-01T00:00:00.000Z to 1970-01-01T00:00:00.000Z, according to the corrupt record',
    );
  });

  it('returns what comes before a corrupt size', () => {
    const payload = record([
      { id: 7, times: [0n] },
      { id: 8, times: [0n] },
    ]);
    payload.writeUInt32LE(0xff_ff_ff_ff, RECORD_HEAD + TABLE_HEAD + 12 + 4);
    assert.match(
      String(describeLostRows(payload, nameOf)),
      /^1 rows of table home\.cpu [^,]*, according to the corrupt record$/,
    );
    payload.writeUInt32LE(0xff_ff_ff_ff, RECORD_HEAD + 8);
    assert.equal(describeLostRows(payload, nameOf), undefined);
  });

  it('describes no other bytes, and at most ten tables', () => {
    assert.equal(describeLostRows(Buffer.alloc(5), nameOf), undefined);
    assert.equal(describeLostRows(Buffer.alloc(64), nameOf), undefined);
    const many = record(Array.from({ length: 12 }, (_, id) => ({ id, times: [0n] })));
    assert.match(
      String(describeLostRows(many, nameOf)),
      /, rows of 2 more tables, according to the corrupt record$/,
    );
  });
});
