import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import type { ColumnVector } from '@plinth/tsdb-model/columns/result.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import fc from 'fast-check';
import { SERIES_STYLE } from '../cell-text.js';
import { EncodedText, TextBytes } from '../text-bytes.js';
import { JsonCells } from './json-cells.js';

/** Encodes the values of a column as JSON and parses them, keeping numbers as text. */
function cellsOf(type: SqlType, vector: ColumnVector, rowCount: number): string[] {
  const out = new TextBytes();
  const column = {
    type,
    style: SERIES_STYLE,
    textBefore: new EncodedText(' '),
    textOfNull: new EncodedText(' NULL'),
  };
  const writers = new JsonCells([column], out).of({ columns: [vector] });
  for (let row = 0; row < rowCount; row++) for (const write of writers) write(row);
  return out.take().toString().split(' ').slice(1);
}

const signed64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.integer().map(BigInt),
  fc.constantFrom(0n, -1n, 2n ** 53n, -(2n ** 53n), 2n ** 31n, -(2n ** 31n), 9_999_999_999n),
);

describe('JSON cells as bytes', () => {
  it('have all digits of 64-bit integers', () => {
    fc.assert(
      fc.property(fc.array(signed64, { maxLength: 40 }), (values) => {
        const signed: SqlType = { kind: 'int', bits: 64, signed: true };
        const vector = { values: BigInt64Array.from(values), validity: undefined };
        assert.deepEqual(cellsOf(signed, vector, values.length), values.map(String));
        const unsigned: SqlType = { kind: 'int', bits: 64, signed: false };
        const words = BigUint64Array.from(values, (value) => BigInt.asUintN(64, value));
        assert.deepEqual(
          cellsOf(unsigned, { values: words, validity: undefined }, values.length),
          Array.from(words, String),
        );
      }),
      { numRuns: caseCount(500) },
    );
  });

  it('are integers if doubles represent integers', () => {
    fc.assert(
      fc.property(fc.array(fc.maxSafeInteger(), { maxLength: 40 }), (values) => {
        const type: SqlType = { kind: 'int', bits: 64, signed: true };
        const vector = { values: Float64Array.from(values, (v) => v + 0), validity: undefined };
        const expected = values.map((value) => String(value + 0));
        assert.deepEqual(cellsOf(type, vector, values.length), expected);
      }),
    );
  });

  it('are the shortest text of a double, and null where JSON has no form', () => {
    const doubles = fc.oneof(
      fc.double(),
      fc.maxSafeInteger().map((v) => v / 8),
      fc.integer().map((v) => v / 10_000),
      fc.tuple(fc.integer(), fc.integer({ min: 1, max: 12 })).map(([v, p]) => v / 10 ** p),
      fc.constantFrom(-0, 1e15, 1e21, -1e15, 999_999_999_999_999),
    );
    fc.assert(
      fc.property(fc.array(doubles, { maxLength: 40 }), (values) => {
        const vector = { values: Float64Array.from(values), validity: undefined };
        const expected = values.map((value) =>
          !Number.isFinite(value) ? 'null' : Object.is(value, -0) ? '-0' : String(value),
        );
        assert.deepEqual(cellsOf({ kind: 'float', bits: 64 }, vector, values.length), expected);
      }),
      { numRuns: caseCount(500) },
    );
  });

  it('reserve a bounded amount of memory, however long the first cell is', () => {
    const out = new TextBytes();
    out.text('x'.repeat(1024 * 1024));
    out.expect(1_000_000, 0);
    out.text('y'.repeat(4 * 1024 * 1024));
    const taken = out.take();
    assert.equal(taken.length, 5 * 1024 * 1024);
    assert.ok(taken.buffer.byteLength < 32 * 1024 * 1024);
  });

  it('use the NULL text of their column', () => {
    const texts = fc.array(fc.option(fc.constantFrom('a', 'b"', 'é', '\ud800')), { maxLength: 20 });
    fc.assert(
      fc.property(texts, (values) => {
        const bits = new Uint8Array((values.length + 7) >> 3);
        values.forEach((value, row) => {
          if (value !== null) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
        });
        const expected = values.map((value) => (value === null ? 'NULL' : JSON.stringify(value)));
        for (const validity of [bits, undefined])
          assert.deepEqual(
            cellsOf({ kind: 'utf8' }, { values, validity }, values.length),
            expected,
          );
      }),
    );
  });

  it('match the calendar of the runtime for times', () => {
    const type: SqlType = { kind: 'timestamp', unit: 'ns', zone: undefined };
    const units = fc.constantFrom(1n, 1000n, 1_000_000n, 1_000_000_000n);
    fc.assert(
      fc.property(fc.array(fc.tuple(signed64, units), { maxLength: 20 }), (pairs) => {
        const times = pairs.map(([time, unit]) => BigInt.asIntN(64, time - (time % unit)));
        const vector = { values: BigInt64Array.from(times), validity: undefined };
        const expected = times.map((time) => {
          const fraction = ((time % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
          // The earliest 64-bit time has no preceding full second in 64 bits.
          const second = new Date(Number((time - fraction) / 1_000_000n)).toISOString();
          const digits = String(fraction)
            .padStart(9, '0')
            .replace(/(?:000){1,3}$/, '');
          return `"${second.slice(0, 19)}${digits === '' ? '' : `.${digits}`}Z"`;
        });
        assert.deepEqual(cellsOf(type, vector, times.length), expected);
      }),
    );
  });
});
