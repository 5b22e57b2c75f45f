import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import type { FieldType } from '@plinth/tsdb-model/columns/column.js';
import type { FieldValues } from '@plinth/tsdb-model/parsed-body.js';
import fc from 'fast-check';
import {
  decodeWriteRecord,
  encodeWriteRecord,
  type PackedDefinitions,
  type RecordTable,
  type SeriesDefinition,
} from './write-record.js';

interface Definitions {
  readonly seriesDefinitions: readonly SeriesDefinition[];
}

interface Record {
  readonly seq: bigint;
  readonly tables: readonly (Omit<RecordTable, 'seriesDefinitions'> & Definitions)[];
}

/** // Implements docs/formats/write-record.md literally. */
function packed({ seriesDefinitions }: Definitions): PackedDefinitions {
  const text = (value: string): Buffer => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(Buffer.byteLength(value));
    return Buffer.concat([size, Buffer.from(value)]);
  };
  const definitions = seriesDefinitions.map(({ ordinal, tagKeys, tagValues }) => {
    const head = Buffer.alloc(6);
    head.writeUInt32LE(ordinal);
    head.writeUInt16LE(tagKeys.length, 4);
    const tags = tagKeys.flatMap((key, i) => [text(key), text(tagValues[i] ?? '')]);
    return Buffer.concat([head, ...tags]);
  });
  return { count: seriesDefinitions.length, bytes: Buffer.concat(definitions) };
}

const encoded = ({ seq, tables }: Record): Buffer =>
  Buffer.concat(
    encodeWriteRecord({
      seq,
      tables: tables.map((table) => ({ ...table, seriesDefinitions: packed(table) })),
    }),
  );

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

function valuesArb(type: FieldType, rows: number): fc.Arbitrary<FieldValues> {
  const size = { minLength: rows, maxLength: rows };
  switch (type) {
    case 'float64':
      return fc.array(fc.double(), size).map((v) => ({ type, values: Float64Array.from(v) }));
    case 'int64':
      return fc
        .array(fc.bigInt(MIN, MAX), size)
        .map((v) => ({ type, values: BigInt64Array.from(v) }));
    case 'uint64':
      return fc
        .array(fc.bigInt(0n, 2n ** 64n - 1n), size)
        .map((v) => ({ type, values: BigUint64Array.from(v) }));
    case 'bool':
      return fc.array(fc.nat(1), size).map((v) => ({ type, values: Uint8Array.from(v) }));
    case 'utf8':
      return fc.array(fc.string({ unit: 'grapheme' }), size).map((texts) => {
        const offsets = new Uint32Array(rows + 1);
        const parts = texts.map((text) => Buffer.from(text));
        parts.forEach((part, i) => {
          offsets[i + 1] = (offsets[i] ?? 0) + part.length;
        });
        return { type, offsets, bytes: new Uint8Array(Buffer.concat(parts)) };
      });
  }
}

const TYPES: readonly FieldType[] = ['float64', 'int64', 'uint64', 'bool', 'utf8'];

const recordArb: fc.Arbitrary<Record> = fc.integer({ min: 1, max: 40 }).chain((rows) =>
  fc.record({
    seq: fc.bigInt(0n, MAX),
    tables: fc.array(
      fc.record({
        tableId: fc.nat(1e6),
        seriesDefinitions: fc.array(
          fc
            .record({
              ordinal: fc.nat(1e9),
              tags: fc.array(fc.tuple(fc.string(), fc.string()), { maxLength: 4 }),
            })
            .map(({ ordinal, tags }) => ({
              ordinal: ordinal,
              tagKeys: tags.map(([k]) => k),
              tagValues: tags.map(([, v]) => v),
            })),
          { maxLength: 4 },
        ),
        batch: fc.record({
          rowCount: fc.constant(rows),
          seriesOrdinals: fc
            .array(fc.nat(), { minLength: rows, maxLength: rows })
            .map((v) => Uint32Array.from(v)),
          times: fc
            .array(fc.bigInt(MIN, MAX), { minLength: rows, maxLength: rows })
            .map((v) => BigInt64Array.from(v)),
          fields: fc.array(
            fc.constantFrom(...TYPES).chain((type) =>
              fc.record({
                column: fc
                  .nat(1e6)
                  .map((id) => ({ id, name: `f${id}`, kind: type, physicalName: `f${id}` })),
                data: valuesArb(type, rows),
                validity: fc.option(
                  fc.uint8Array({ minLength: (rows + 7) >> 3, maxLength: (rows + 7) >> 3 }),
                  {
                    nil: undefined,
                  },
                ),
              }),
            ),
            { maxLength: 4 },
          ),
        }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  }),
);

describe('a write record', () => {
  it('is decoded exactly as it was encoded', () => {
    fc.assert(
      fc.property(recordArb, (record) => {
        const decoded = decodeWriteRecord(encoded(record));
        assert.equal(decoded.seq, record.seq);
        assert.deepEqual(
          decoded.tables,
          record.tables.map(({ tableId, seriesDefinitions, batch }) => ({
            tableId,
            seriesDefinitions,
            rowCount: batch.rowCount,
            seriesOrdinals: batch.seriesOrdinals,
            times: batch.times,
            fields: batch.fields.map(({ column, data, validity }) => ({
              columnId: column.id,
              validity,
              data,
            })),
          })),
        );
      }),
      { numRuns: caseCount(200) },
    );
  });
});
