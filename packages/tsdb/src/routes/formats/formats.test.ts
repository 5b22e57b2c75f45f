import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DictionaryVector } from '@plinth/tsdb-model/columns/dictionary-vector.js';
import type { ColumnVector, OutputColumn, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import type { TextFormat } from './encoder.js';
import { createTextFormats, type TextFormats } from './index.js';
import { TextBytes } from './text-bytes.js';

const FORMATS = createTextFormats();

type Cells = readonly [name: string, type: SqlType, values: ArrayLike<unknown>, nulls?: number[]];

function encode(name: keyof TextFormats, ...cells: readonly Cells[]): string {
  const format: TextFormat = FORMATS[name];
  const columns = cells.map(([name, type]) => ({ name, type, tableColumnKind: undefined }));
  const rowCount = cells[0]?.[2].length ?? 0;
  const vectors = cells.map(([, , values, nulls]) => toVector(values, nulls));
  return encodeChunks(format, columns, [{ rowCount, columns: vectors }]);
}

function encodeChunks(
  format: TextFormat,
  columns: readonly OutputColumn[],
  chunks: readonly ResultChunk[],
): string {
  const out = new TextBytes();
  const encoder = format.open({ columns, tableName: undefined }, out);
  encoder.begin();
  for (const chunk of chunks) for (const _step of encoder.chunk(chunk) ?? []);
  for (const _written of encoder.deferredRows?.() ?? []);
  encoder.end();
  return out.take().toString();
}

function toVector(values: ArrayLike<unknown>, nulls: number[] = []): ColumnVector {
  const validity = new Uint8Array((values.length + 7) >> 3).fill(255);
  for (const row of nulls) validity[row >> 3] = (validity[row >> 3] ?? 0) & ~(1 << (row & 7));
  return { values, validity: nulls.length > 0 ? validity : undefined };
}

const FLOAT: SqlType = { kind: 'float', bits: 64 };
const UTF8: SqlType = { kind: 'utf8' };
const TIME: SqlType = { kind: 'timestamp', unit: 'ns', zone: undefined };
const series = (columns: string, values: string) =>
  `{"results":[{"series":[{"name":"result","columns":${columns},"values":${values}}]}]}`;

describe('floats', () => {
  const values = Float64Array.of(100, 0.1, 1e21, -0, 5e-324, Number.NaN, -Infinity);

  it('have no fraction in series if they are whole, and one elsewhere', () => {
    const rows = '[[100],[0.1],[1e+21],[-0],[5e-324],[null],[null]]';
    assert.equal(encode('json_series', ['f', FLOAT, values]), series('["f"]', rows));
    assert.equal(
      encode('csv', ['f', FLOAT, values]),
      'f\n100.0\n0.1\n1e21\n-0.0\n5e-324\nNaN\n-inf\n',
    );
  });

  it('of 32 bits have only the digits that 32 bits need', () => {
    const cells: Cells = [
      'f',
      { kind: 'float', bits: 32 },
      Float32Array.of(0.1, 16_777_216, 3.4e38),
    ];
    assert.equal(encode('json_rows', cells), '[{"f":0.1},{"f":16777216.0},{"f":3.4e38}]');
  });
});

describe('text', () => {
  const awkward = ['a"b\\', '\u0000\n\t', '\ud800', 'é😀'];

  it('is escaped as JSON, lone surrogates included', () => {
    const text = encode('json_series', ['s', UTF8, awkward]);
    assert.ok(text.includes('["\\ud800"]'));
    const parsed = JSON.parse(text) as { results: { series: { values: unknown[] }[] }[] };
    assert.deepEqual(
      parsed.results[0]?.series[0]?.values,
      awkward.map((s) => [s]),
    );
  });

  it('is quoted in csv only when it must be', () => {
    assert.equal(
      encode('csv', ['a,b', UTF8, ['plain', 'x,y', 'q"q', 'l\nm', ' s ', '']]),
      '"a,b"\nplain\n"x,y"\n"q""q"\n"l\nm"\n s \n\n',
    );
  });
});

describe('NULL', () => {
  const cells: Cells[] = [
    ['a', UTF8, ['x', ''], [1]],
    ['t', TIME, BigInt64Array.of(0n, 0n), [0]],
  ];

  it('is null in series, absent in rows, and empty in csv and pretty', () => {
    assert.equal(
      encode('json_series', ...cells),
      series('["a","t"]', '[["x",null],[null,"1970-01-01T00:00:00Z"]]'),
    );
    assert.equal(encode('json_rows', ...cells), '[{"a":"x"},{"t":"1970-01-01T00:00:00"}]');
    assert.equal(encode('jsonl', ...cells), '{"a":"x"}\n{"t":"1970-01-01T00:00:00"}\n');
    assert.equal(encode('csv', ...cells), 'a,t\nx,\n,1970-01-01T00:00:00\n');
    assert.equal(
      encode('pretty', ...cells),
      [
        '+---+---------------------+',
        '| a | t                   |',
        '+---+---------------------+',
        '| x |                     |',
        '|   | 1970-01-01T00:00:00 |',
        '+---+---------------------+',
        '',
      ].join('\n'),
    );
  });
});

describe('nested values', () => {
  const selector: SqlType = {
    kind: 'struct',
    fields: [
      { name: 'value', type: FLOAT },
      { name: 'time', type: TIME },
    ],
  };
  // Source: query-languages, "Selectors".
  it('format a selector as an object in JSON and in braces in tables', () => {
    const cells: Cells = ['s', selector, [{ value: 65, time: 100n }]];
    const json = '[{"s":{"value":65.0,"time":"1970-01-01T00:00:00.000000100"}}]';
    assert.equal(encode('json_rows', cells), json);
    const row = '| {value: 65.0, time: 1970-01-01T00:00:00.000000100} |';
    assert.equal(encode('pretty', cells).split('\n')[3], row);
  });

  it('format lists, dates and bytes', () => {
    const list: SqlType = { kind: 'list', element: UTF8 };
    assert.equal(
      encode(
        'json_rows',
        ['l', list, [['a', null]]],
        ['d', { kind: 'date' }, Int32Array.of(-1)],
        ['b', { kind: 'binary' }, [Uint8Array.of(0, 255)]],
      ),
      '[{"l":["a",null],"d":"1969-12-31","b":"00ff"}]',
    );
  });
});

describe('a result without rows', () => {
  it('is valid in each format', () => {
    const cells: Cells = ['a', UTF8, []];
    assert.equal(encode('json_series', cells), series('["a"]', '[]'));
    assert.equal(encode('json_rows', cells), '[]');
    assert.equal(encode('jsonl', cells), '');
    assert.equal(encode('csv', cells), 'a\n');
    assert.equal(encode('pretty', cells), '++\n++\n');
  });
});

describe('columns from memory', () => {
  const format = (name: keyof TextFormats, chunks: readonly ResultChunk[]): string => {
    const types: readonly [string, SqlType][] = [
      ['host', UTF8],
      ['region', UTF8],
      ['n', { kind: 'int', bits: 64, signed: true }],
      ['zone', UTF8],
    ];
    const columns = types.map(([column, type]) => ({
      name: column,
      type,
      tableColumnKind: undefined,
    }));
    return encodeChunks(FORMATS[name], columns, chunks);
  };

  it('have the same text as plain ones in every format, including absent tags, in all chunks', () => {
    const hosts: (string | undefined)[] = ['a"b', undefined, 'é'];
    const regions: (string | undefined)[] = [undefined, undefined, 'eu'];
    const chunkOf = (codes: Int32Array, others: Int32Array, numbers: number[]): ResultChunk => ({
      rowCount: codes.length,
      columns: [
        new DictionaryVector(codes, hosts),
        new DictionaryVector(codes, regions),
        { values: Float64Array.from(numbers), validity: Uint8Array.of(0b101) },
        new DictionaryVector(others, hosts),
      ],
    });
    const asPlain = ({ rowCount, columns }: ResultChunk): ResultChunk => ({
      rowCount,
      columns: columns.map(({ values, validity }, i) => ({
        values:
          i === 2
            ? BigInt64Array.from(Array.from(values, (value) => BigInt(value as number)))
            : values,
        validity,
      })),
    });
    const chunks = [
      chunkOf(Int32Array.of(0, 1, 0), Int32Array.of(2, 1, 0), [1, 0, -3]),
      chunkOf(Int32Array.of(2, 0, 1), Int32Array.of(0, 0, 0), [4, 0, 6]),
    ];
    for (const name of Object.keys(FORMATS) as (keyof typeof FORMATS)[])
      assert.equal(format(name, chunks), format(name, chunks.map(asPlain)), name);
    assert.ok(format('json_rows', chunks).startsWith('[{"host":"a\\"b","n":1,"zone":"é"},{},'));
  });
});
