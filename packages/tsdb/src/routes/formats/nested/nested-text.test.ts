import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { createTextFormats, type TextFormats } from '../index.js';
import { TextBytes } from '../text-bytes.js';

const COUNT = 20_000;
/** Far more than a step may take. */
const MAX_STEP_VALUES = 4096;

const INT: SqlType = { kind: 'int', bits: 64, signed: true };
const UTF8: SqlType = { kind: 'utf8' };
const MAP: SqlType = { kind: 'map', key: UTF8, value: { kind: 'list', element: INT } };
const STRUCT: SqlType = {
  kind: 'struct',
  fields: [
    { name: 'a', type: INT },
    { name: 'b', type: { kind: 'list', element: UTF8 } },
  ],
};

/** A cell and its text in JSON and in the other formats. */
interface Case {
  readonly type: SqlType;
  readonly cell: unknown;
  readonly json: unknown;
  readonly plain: string;
}

const indices = Array.from({ length: COUNT }, (_, i) => i);
const cases: Readonly<Record<string, Case>> = {
  'a list of texts': {
    type: { kind: 'list', element: UTF8 },
    cell: indices.map((i) => (i % 3 === 0 ? null : `"${i}`)),
    json: indices.map((i) => (i % 3 === 0 ? null : `"${i}`)),
    plain: `[${indices.map((i) => (i % 3 === 0 ? '' : `"${i}`)).join(', ')}]`,
  },
  'structs with lists in a list': {
    type: { kind: 'list', element: STRUCT },
    cell: indices.map((i) =>
      i % 5 === 0 ? null : { a: BigInt(i), b: i % 2 ? null : ['x', null] },
    ),
    json: indices.map((i) => (i % 5 === 0 ? null : { a: i, b: i % 2 ? null : ['x', null] })),
    plain: `[${indices
      .map((i) => (i % 5 === 0 ? '' : `{a: ${i}, b: ${i % 2 ? '' : '[x, ]'}}`))
      .join(', ')}]`,
  },
  'lists in a map': {
    type: MAP,
    cell: indices.map((i) => [`k${i}`, i % 2 ? null : [1n, 2n]]),
    json: Object.fromEntries(indices.map((i) => [`k${i}`, i % 2 ? null : [1, 2]])),
    plain: `{${indices.map((i) => `k${i}: ${i % 2 ? '' : '[1, 2]'}`).join(', ')}}`,
  },
};

/** Writes NULL, the cell, and the cell again. The bytes are taken after each step. */
function write(format: keyof TextFormats, { type, cell }: Case) {
  const out = new TextBytes();
  const columns = [
    { name: 'n', type, tableColumnKind: undefined },
    { name: 'i', type: INT, tableColumnKind: undefined },
  ];
  const encoder = createTextFormats()[format].open({ columns, tableName: undefined }, out);
  const pieces: Buffer[] = [];
  encoder.begin();
  const steps = encoder.chunk({
    rowCount: 3,
    columns: [
      { values: [null, cell, cell], validity: Uint8Array.of(0b110) },
      { values: BigInt64Array.of(1n, 2n, 3n), validity: undefined },
    ],
  });
  let stepCount = 0;
  for (const _step of steps ?? []) {
    stepCount++;
    pieces.push(out.take());
  }
  for (const _step of encoder.deferredRows?.() ?? []) pieces.push(out.take());
  encoder.end();
  pieces.push(out.take());
  return { text: Buffer.concat(pieces).toString(), stepCount };
}

it('a table with a very wide cell is written in short parts, without splitting a character', () => {
  const wide = `x${'😀'.repeat(20_000)}\nsecond line`;
  const out = new TextBytes();
  const columns = [
    { name: 'n', type: UTF8, tableColumnKind: undefined },
    { name: 'i', type: INT, tableColumnKind: undefined },
  ];
  const encoder = createTextFormats().pretty.open({ columns, tableName: undefined }, out);
  encoder.begin();
  const values = BigInt64Array.of(7n);
  for (const _step of encoder.chunk({
    rowCount: 1,
    columns: [
      { values: [wide], validity: undefined },
      { values, validity: undefined },
    ],
  }) ?? []);
  const pieces: Buffer[] = [];
  for (const _step of encoder.deferredRows?.() ?? []) pieces.push(out.take());
  encoder.end();
  pieces.push(out.take());
  assert.ok(Math.max(...pieces.map(({ length }) => length)) < 100_000);
  const rule = `+${'-'.repeat(20_003)}+---+`;
  assert.deepEqual(Buffer.concat(pieces).toString().split('\n'), [
    rule,
    `| n${' '.repeat(20_000)} | i |`,
    rule,
    `| x${'😀'.repeat(20_000)} | 7 |`,
    `| second line${' '.repeat(20_001 - 11)} |   |`,
    rule,
    '',
  ]);
});

describe('nested values as large as a table', () => {
  for (const [name, example] of Object.entries(cases)) {
    const { json, plain } = example;
    const quoted = `"${plain.replaceAll('"', '""')}"`;
    const rows = [{ i: 1 }, { n: json, i: 2 }, { n: json, i: 3 }];
    const isInSteps = (stepCount: number): void =>
      assert.ok(stepCount >= (2 * COUNT) / MAX_STEP_VALUES, `${stepCount} steps`);

    it(`${name}: are written in steps as JSON rows`, () => {
      const { text, stepCount } = write('json_rows', example);
      assert.deepEqual(JSON.parse(text), rows);
      isInSteps(stepCount);
    });

    it(`${name}: are written in steps as JSON lines`, () => {
      const { text, stepCount } = write('jsonl', example);
      const lines = text.trimEnd().split('\n');
      assert.deepEqual(
        lines.map((line) => JSON.parse(line)),
        rows,
      );
      isInSteps(stepCount);
    });

    it(`${name}: are written in steps as JSON lists`, () => {
      const { text, stepCount } = write('json_series', example);
      const { results } = JSON.parse(text) as { results: [{ series: [{ values: unknown }] }] };
      assert.deepEqual(results[0].series[0].values, [
        [null, 1],
        [json, 2],
        [json, 3],
      ]);
      isInSteps(stepCount);
    });

    it(`${name}: are written in steps as CSV`, () => {
      const { text, stepCount } = write('csv', example);
      assert.equal(text, `n,i\n,1\n${quoted},2\n${quoted},3\n`);
      isInSteps(stepCount);
    });

    it(`${name}: are written in steps as a table`, () => {
      const { text, stepCount } = write('pretty', example);
      const lines = text.split('\n');
      assert.equal(lines[3], `| ${' '.repeat(plain.length)} | 1 |`);
      assert.equal(lines[4], `| ${plain} | 2 |`);
      isInSteps(stepCount);
    });
  }
});
