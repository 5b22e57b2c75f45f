import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import { explainedRows } from './explained-rows.js';

async function explained(rows: Readonly<Record<string, string>>): Promise<(readonly string[])[]> {
  async function* chunks(): AsyncGenerator<ResultChunk, void, undefined> {
    yield {
      rowCount: Object.keys(rows).length,
      columns: [Object.keys(rows), Object.values(rows)].map((values) => ({
        values,
        validity: undefined,
      })),
    };
  }
  const result: (readonly string[])[] = [];
  for await (const { rowCount, columns } of explainedRows(chunks())) {
    for (let row = 0; row < rowCount; row++) {
      result.push(columns.map(({ values }) => String(values[row])));
    }
  }
  return result;
}

it('names the rows of EXPLAIN as specified', async () => {
  assert.deepEqual(await explained({ logical_plan: 'a', logical_opt: 'b', physical_plan: 'c' }), [
    ['logical_plan', 'b'],
    ['physical_plan', 'c'],
  ]);
  assert.deepEqual(await explained({ analyzed_plan: 'a' }), [['Plan with Metrics', 'a']]);
});

it('hides generated SQL and file names in a plan', async () => {
  const box = (text: string) => `│${text.padEnd(27)}│`;
  const plan = (name: string, file: string) =>
    [`${box(name)}${box('a')}`, `${box(file)}${box('b')}`, `${box(file)}${box('')}`, box('')].join(
      '\n',
    );
  const header = '┌──┐\n└──┘\nEXPLAIN ANALYZE SELECT\n"c0"\n┌───┐\n';
  assert.deepEqual(
    await explained({
      physical_plan: plan('       Filename(s):', '   /data/x.parquet'),
      analyzed_plan: `${header}${box('TABLE_SCAN')}`,
    }),
    [
      ['physical_plan', plan('', '')],
      ['Plan with Metrics', `┌───┐\n${box('TABLE_SCAN')}`],
    ],
  );
});
