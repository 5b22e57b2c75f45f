import assert from 'node:assert/strict';
import { it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import { KINDS, type Kind } from '../../model/kinds.js';
import { DataSet } from '../data/data-set.js';
import { groupRows } from '../data/kind-table.js';
import { makeRow } from '../data/record-rows.js';
import { listColumn, type Row } from '../data/row.js';
import { validateSet } from '../data/validation.js';
import { generateSample, SAMPLE_LANGUAGES } from './generate-sample.js';
import { readWordLists } from './words.js';

const words = await readWordLists();

function makeSet(seed: number): DataSet {
  const rows = new Map<Kind, Row[]>(KINDS.map((kind) => [kind, []]));
  for (const { kind, record } of generateSample({ seed, scale: 1, words })) {
    rows.get(kind)?.push(makeRow(kind, record, 0));
  }
  const groups = Object.fromEntries(KINDS.map((kind) => [kind, groupRows(rows.get(kind) ?? [])]));
  return DataSet.empty({ languages: SAMPLE_LANGUAGES }).with(groups);
}

it('makes worlds without a fault from a hundred seeds', async () => {
  for (let seed = 0; seed < caseCount(100); seed++) {
    assert.deepEqual(await validateSet(makeSet(seed)), [], `seed ${seed}`);
  }
});

// Source: gamedata, section 7.4.
it('gives every trader ten quests, every map eight, and uses every type of objective', () => {
  const set = makeSet(1);
  for (const { id } of set.tables.traders.rows) {
    assert.ok(set.relations.questsOfTrader.of(id).length >= 10);
  }
  for (const { id } of set.tables.maps.rows) {
    assert.ok(set.relations.questsOfMap.of(id).length >= 8);
  }
  const types = new Set(set.tables.quests.rows.flatMap((row) => listColumn(row, 'objective')));
  assert.equal(types.size, 15);
  const quests = set.tables.quests.rows.map((row) => JSON.parse(row.text));
  const groups = quests.flatMap(({ conditions }) => conditions.quests as string[][]);
  assert.ok(groups.filter((group) => group.length > 1).length >= 5);
  assert.ok(quests.filter(({ alternatives }) => alternatives.length > 0).length >= 3);
  for (const row of set.tables.traders.rows) {
    const offers = listColumn<{ level: number }>(row, 'inventory');
    assert.ok(offers.length >= 40 && offers.length <= 70);
    assert.ok(offers.filter(({ level }) => level === 1).length >= 10);
  }
});
