import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DataSet } from './data-set.js';
import { groupRows } from './kind-table.js';
import { Row } from './row.js';
import { diffSets } from './set-changes.js';

const setOf = (texts: readonly string[]): DataSet =>
  DataSet.empty().with({
    maps: groupRows(
      texts.map((text, n) => new Row({ id: `m${n}`, slug: `s${n}`, rev: 1, text, columns: {} })),
    ),
  });

it('compares sets in which every record changed without blocking the event loop', async () => {
  const long = 'y'.repeat(500);
  const texts = (end: string): string[] => Array.from({ length: 40_000 }, () => long + end);
  const [from, to] = [setOf(texts('a')), setOf(texts('b'))];
  let turnCount = 0;
  const ticker = setInterval(() => {
    turnCount += 1;
  }, 1);
  const changes = await diffSets(from, to);
  clearInterval(ticker);
  assert.equal(changes.length, 40_000);
  assert.deepEqual(changes[1], { kind: 'maps', id: 'm1', op: 'updated' });
  assert.ok(turnCount > 0, 'nobody else had a turn');
});
