// Own process: apache-arrow loads tslib, which defines globals.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import { DictionaryVector } from '@plinth/tsdb-model/columns/dictionary-vector.js';
import { InlinedTexts } from '@plinth/tsdb-model/columns/inlined-texts.js';
import type { ColumnVector, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import { TextSpans } from '@plinth/tsdb-model/columns/text-spans.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { tableFromIPC } from 'apache-arrow';
import fc from 'fast-check';
import { type ArrowType, plainField } from './arrow-field.js';
import { type ArrowMessage, BatchEncoder } from './batch-encoder.js';
import { encapsulated, schemaMessage } from './schema-message.js';

/**
 * A type, how its values are generated and put into chunks, and how the Arrow library reads them.
 */
interface Sample {
  readonly type: SqlType;
  readonly value: fc.Arbitrary<unknown>;
  toVector(cells: readonly unknown[], validity: Uint8Array | undefined): ColumnVector;
  read?(value: unknown): unknown;
}

const validityOf = (cells: readonly unknown[]): Uint8Array | undefined => {
  if (!cells.includes(null)) return undefined;
  const bits = new Uint8Array((cells.length + 7) >> 3);
  cells.forEach((cell, i) => {
    if (cell !== null) bits[i >> 3] = (bits[i >> 3] ?? 0) | (1 << (i & 7));
  });
  return bits;
};

const plain = (cells: readonly unknown[], validity: Uint8Array | undefined): ColumnVector => ({
  values: cells,
  validity,
});
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('a', 'host_1', 'ü'),
);

/** Encodes short strings in DuckDB's layout. */
function inlinedTexts(texts: readonly unknown[], validity: Uint8Array | undefined): ColumnVector {
  const strings = Buffer.alloc(texts.length * 16, 0xee);
  texts.forEach((each, row) => {
    if (each === null) return;
    strings.writeInt32LE(strings.write(String(each), row * 16 + 4, 12, 'utf8'), row * 16);
  });
  return new InlinedTexts({ strings, validity, decode: () => texts.map(String) });
}

/**
 * Encodes long strings as copied from DuckDB: with occasional gaps, and some at other locations.
 */
function spansOf(texts: readonly unknown[], validity: Uint8Array | undefined): ColumnVector {
  const starts = new Uint32Array(texts.length);
  const sizes = new Uint32Array(texts.length);
  const pieces: Buffer[] = [];
  let end = 0;
  const isFar = (row: number): boolean => row % 5 === 3;
  for (const far of [false, true]) {
    texts.forEach((each, row) => {
      if (each === null || isFar(row) !== far) return;
      const piece = Buffer.from(String(each));
      const gap = Buffer.alloc(row % 3 === 0 ? 2 : 0, 0xee);
      pieces.push(gap, piece);
      starts[row] = end + gap.length;
      sizes[row] = piece.length;
      end += gap.length + piece.length;
    });
  }
  const bytes = Buffer.allocUnsafeSlow(end);
  Buffer.concat(pieces).copy(bytes);
  return new TextSpans({ bytes, starts, sizes, validity });
}

const SAMPLES: readonly Sample[] = [
  {
    type: { kind: 'int', bits: 64, signed: true },
    value: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    toVector: (cells, validity) => ({
      values: BigInt64Array.from(cells, (cell) => (cell as bigint | null) ?? 7n),
      validity,
    }),
  },
  {
    // Integers in the representation of rows in memory.
    type: { kind: 'int', bits: 64, signed: true },
    value: fc.maxSafeInteger(),
    toVector: (cells, validity) => ({
      values: Float64Array.from(cells, (cell) => Number(cell ?? 3)),
      validity,
    }),
    read: Number,
  },
  {
    type: { kind: 'int', bits: 64, signed: false },
    value: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    toVector: plain,
  },
  {
    type: { kind: 'int', bits: 16, signed: true },
    value: fc.integer({ min: -32768, max: 32767 }),
    toVector: plain,
  },
  {
    type: { kind: 'float', bits: 64 },
    value: fc.double(),
    toVector: (cells, validity) => ({
      values: Float64Array.from(cells, (cell) => Number(cell ?? 1)),
      validity,
    }),
  },
  {
    type: { kind: 'boolean' },
    value: fc.boolean(),
    toVector: (cells, validity) => ({
      values: Uint8Array.from(cells, (cell) => (cell === true ? 1 : 0)),
      validity,
    }),
  },
  { type: { kind: 'utf8' }, value: text, toVector: plain },
  { type: { kind: 'utf8' }, value: fc.string({ maxLength: 12 }), toVector: inlinedTexts },
  { type: { kind: 'utf8' }, value: text, toVector: spansOf },
  {
    type: { kind: 'tag' },
    value: text,
    toVector: (cells) => {
      const texts = [...new Set(cells)].map((cell) => (cell === null ? undefined : String(cell)));
      return new DictionaryVector(
        Int32Array.from(cells, (cell) => texts.indexOf((cell as string | null) ?? undefined)),
        texts,
      );
    },
  },
  {
    type: { kind: 'list', element: { kind: 'utf8' } },
    value: fc.array(fc.option(text), { maxLength: 4 }),
    toVector: plain,
    read: (value) => [...(value as Iterable<unknown>)],
  },
  {
    type: {
      kind: 'struct',
      fields: [
        { name: 'a', type: { kind: 'float', bits: 64 } },
        { name: 'b', type: { kind: 'utf8' } },
      ],
    },
    value: fc.record({ a: fc.option(fc.double()), b: fc.option(text) }, { noNullPrototype: true }),
    toVector: plain,
    read: (value) => (value as { toJSON(): object }).toJSON(),
  },
  { type: { kind: 'binary' }, value: fc.uint8Array({ maxLength: 9 }), toVector: plain },
  { type: { kind: 'null' }, value: fc.constant(null), toVector: plain },
];

/** Decodes the stream as an Arrow file with the official library. */
const decode = (types: readonly SqlType[], messages: readonly ArrowMessage[]) => {
  const schema = schemaMessage(types.map((type, index) => plainField(`c${index}`, type)));
  const parts = messages.flatMap(({ header, body }) => [encapsulated(header), body]);
  return tableFromIPC(Buffer.concat([encapsulated(schema), ...parts]));
};

function encodeAll(types: readonly SqlType[], chunks: readonly ResultChunk[]): ArrowMessage[] {
  const encoder = new BatchEncoder(types);
  const added = chunks.flatMap((chunk) => [...encoder.add(chunk)]);
  return [...added.filter((message) => message !== undefined), encoder.take()];
}

describe('BatchEncoder', () => {
  it('encodes values of every type that the Arrow library decodes to the same values', () => {
    const columns = fc.subarray([...SAMPLES.keys()], { minLength: 1 });
    const samplesAt = (places: readonly number[]) =>
      places.map((place) => SAMPLES[place] as Sample);
    const data = columns.chain((places) =>
      fc.record({
        places: fc.constant(places),
        chunks: fc.array(
          fc.array(fc.tuple(...samplesAt(places).map(({ value }) => fc.option(value))), {
            maxLength: 40,
          }),
          { maxLength: 5 },
        ),
      }),
    );
    fc.assert(
      fc.property(data, ({ places, chunks }) => {
        const samples = samplesAt(places);
        const types = samples.map(({ type }) => type);
        const encoded = encodeAll(
          types,
          chunks.map((rows) => ({
            rowCount: rows.length,
            columns: samples.map((sample, index) => {
              const cells = rows.map((row) => row[index]);
              return sample.toVector(cells, validityOf(cells));
            }),
          })),
        );
        const table = decode(types, encoded);
        const rows = chunks.flat();
        assert.equal(table.numRows, rows.length);
        samples.forEach(({ read }, index) => {
          const column = table.getChildAt(index);
          rows.forEach((row, at) => {
            const value: unknown = column?.get(at);
            assert.deepEqual(
              value === null || read === undefined ? value : read(value),
              row[index],
            );
          });
        });
      }),
      { numRuns: caseCount(300) },
    );
  });

  it('keeps every message far below the limit of clients, regardless of row length', () => {
    const types: SqlType[] = [{ kind: 'utf8' }, { kind: 'float', bits: 64 }];
    const rowCount = 4096;
    const values = Array.from({ length: rowCount }, (_, row) => 'x'.repeat(row % 3000));
    const numbers = Float64Array.from({ length: rowCount }, (_, row) => row);
    const chunk = {
      rowCount,
      columns: [
        { values, validity: undefined },
        { values: numbers, validity: undefined },
      ],
    };
    const messages = encodeAll(types, [chunk, chunk]);
    assert.ok(messages.every(({ body }) => body.length < 1_048_576));
    const table = decode(types, messages);
    assert.equal(table.numRows, 2 * rowCount);
    assert.equal(table.getChildAt(0)?.get(rowCount + 2999), 'x'.repeat(2999));
    assert.equal(table.getChildAt(1)?.get(rowCount + 2999), 2999);
  });

  it('puts a value larger than a batch into its own batch', () => {
    const long = 'ü'.repeat(600_000);
    const values = ['a', long, 'b', long];
    const [type] = [{ kind: 'utf8' } as const];
    const messages = encodeAll(
      [type],
      [{ rowCount: 4, columns: [{ values, validity: undefined }] }],
    );
    assert.ok(messages.length > 2);
    assert.deepEqual([...(decode([type], messages).getChildAt(0) ?? [])], values);
  });

  it('encodes a list as large as a table in steps, also within structs and other lists', () => {
    const struct = {
      kind: 'struct',
      fields: [{ name: 'l', type: { kind: 'list', element: { kind: 'utf8' } } }],
    } as const;
    const texts = Array.from({ length: 50_000 }, (_, i) => (i % 3 === 0 ? null : `text ${i}`));
    const nested = texts.map((text, i) => (i % 5 === 0 ? null : { l: [text, 'x'] }));
    const types: SqlType[] = [
      { kind: 'list', element: { kind: 'utf8' } },
      { kind: 'list', element: struct },
    ];
    const columns = [texts, nested].map((cell) => ({ values: [null, cell], validity: undefined }));
    const encoder = new BatchEncoder(types);
    const added = [...encoder.add({ rowCount: 2, columns })];
    const messages = added.filter((message) => message !== undefined);
    const table = decode(types, [...messages, encoder.take()]);
    const cellsOf = (column: number): unknown[] =>
      JSON.parse(JSON.stringify(table.getChildAt(column)?.toArray()));
    assert.deepEqual(cellsOf(0), [null, texts]);
    assert.deepEqual(cellsOf(1), [null, nested]);
    // Each item is counted, then appended.
    const stepCount = added.length - messages.length;
    assert.ok(stepCount >= (2 * 2 * 50_000) / 4096, `${stepCount} steps`);
  });

  it('creates a batch without rows as a keep-alive', () => {
    const type: SqlType = { kind: 'utf8' };
    const encoder = new BatchEncoder([type]);
    const table = decode([type], [encoder.take(), encoder.take()]);
    assert.equal(table.numRows, 0);
    assert.equal(encoder.pendingRowCount, 0);
  });
});

/**
 * Source: Arrow columnar format, "Security Considerations": NULL slots must not expose unrelated
 * memory.
 */
it('zeroes NULL slots', () => {
  const rowCount = 100;
  const isPresent = (row: number): boolean => row % 3 === 1 || (row >= 16 && row < 24);
  const rows = Array.from({ length: rowCount }, (_, row) => (isPresent(row) ? 1 : null));
  const validity = validityOf(rows);
  const columns: readonly (readonly [ArrowType, ArrayLike<unknown>])[] = [
    [{ kind: 'float', bits: 64 }, new Float64Array(rowCount).fill(7.5)],
    [{ kind: 'int', bits: 64, signed: true }, new BigInt64Array(rowCount).fill(-1n)],
    [{ kind: 'boolean' }, new Uint8Array(rowCount).fill(1)],
  ];
  const encoder = new BatchEncoder(columns.map(([type]) => type));
  const vectors = columns.map(([, values]): ColumnVector => ({ values, validity }));
  // The second chunk starts within a byte of the bitmaps.
  for (let chunk = 0; chunk < 2; chunk++) {
    for (const _ of encoder.add({ rowCount, columns: vectors })) assert.fail('it is small');
  }
  const { body } = encoder.take();
  const bitsIn = (from: number, size: number): number =>
    [...body.subarray(from, from + size)].reduce(
      (sum, byte) => sum + byte.toString(2).replaceAll('0', '').length,
      0,
    );
  const presentCount = 2 * rows.filter((row) => row !== null).length;
  // Each column's 200 values follow a 32-byte bitmap. 7.5 is 0x401e000000000000.
  const [floats, ints, bools] = [32, 32 + 1600 + 32, 32 + 1600 + 32 + 1600 + 32];
  assert.equal(bitsIn(floats, 1600), 5 * presentCount);
  assert.equal(bitsIn(ints, 1600), 64 * presentCount);
  assert.equal(bitsIn(bools, 32), presentCount);
});
