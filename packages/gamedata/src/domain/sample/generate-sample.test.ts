import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
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
import { writeSample } from './write-sample.js';

const wordLists = await readWordLists();

function makeSet(seed: number): DataSet {
  const rows = new Map<Kind, Row[]>(KINDS.map((kind) => [kind, []]));
  for (const { kind, record } of generateSample({ seed, scale: 1, wordLists })) {
    rows.get(kind)?.push(makeRow(kind, record, 0));
  }
  const groups = Object.fromEntries(KINDS.map((kind) => [kind, groupRows(rows.get(kind) ?? [])]));
  return DataSet.empty({ languages: SAMPLE_LANGUAGES }).with(groups);
}

it('generates valid worlds from a hundred seeds', async () => {
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

// Source: gamedata, section 7.1.
it('has no name of the real game', () => {
  const normal = (text: string) =>
    text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/g, ' ').trim();
  const own = new Set<string>();
  for (const { kind, record } of generateSample({ seed: 1, scale: 1, wordLists })) {
    for (const name of ['name', 'shortName', 'fullName', 'title', 'caliber']) {
      const text: unknown = Reflect.get(record, name);
      if (typeof text === 'string') own.add(normal(text));
    }
    const whole = normal(JSON.stringify(record));
    for (const word of UNMISTAKABLE) assert.ok(!whole.includes(word), `${kind} names ${word}`);
  }
  for (const name of [...UNMISTAKABLE, ...COMMON_NAMES]) assert.ok(!own.has(name), name);
  assert.ok(own.size > 700);
});

/** Names of the real game that are unlikely to be invented by chance. */
const UNMISTAKABLE = `
  tarkov, battlestate, prapor, jaeger, reshala, killa, tagilla, shturman, glukhar, sanitar,
  zryachiy, kaban, salewa, ledx, kalashnikov, makarov, norvinsk, terragroup, caliber545x39,
  caliber762x39, caliber556x45
`
  .trim()
  .split(/,\s+/);
/** Common words that are also names in the real game. */
const COMMON_NAMES = `
  therapist, fence, skier, peacekeeper, mechanic, ragman, lightkeeper, ref, factory,
  customs, woods, shoreline, interchange, reserve, lighthouse, ground zero, the lab,
  streets, nutrition unit, bitcoin farm, scav case, booze generator, intelligence center,
  air filtering unit, gp coin, physical bitcoin, roubles, graphics card, debut, shortage,
  delivery from the past
`
  .trim()
  .split(/,\s+/);

/** SHA-256 by seed. A change of the generator changes every data set generated before. */
const GOLDEN = [
  [1, '58a35d1fec03df7602b912a96ce8a567a3d7255bde27082a41167d13ff4d9d9f'],
  [2, '78ef6ee80bcc5bdbfa5b3e1047e1108eb69732fd2f530327f026255e0415b2b5'],
] as const;

it('generates the same data for the same seed, and larger sets with the same first records', async () => {
  const written = async (seed: number, scale: number) => {
    let text = '';
    for await (const piece of writeSample({ seed, scale })) text += piece;
    return text;
  };
  for (const [seed, sha256] of GOLDEN) {
    const text = await written(seed, 1);
    assert.equal(createHash('sha256').update(text).digest('hex'), sha256, `seed ${seed}`);
  }
  const kindsOf = (text: string) => JSON.parse(text).kinds as Record<string, object[]>;
  const [small, large] = [kindsOf(await written(1, 1)), kindsOf(await written(1, 3))];
  for (const kind of ['items', 'ammunition', 'quests', 'itemPresets']) {
    const own = small[kind] ?? [];
    assert.equal(large[kind]?.length, own.length * 3);
    assert.deepEqual(large[kind]?.slice(0, own.length), own, kind);
  }
  const keys = ['ammunition', 'hideout', 'itemPresets', 'items', 'levels', 'maps', 'quests'];
  assert.deepEqual(Object.keys(small).sort(), [...keys, 'storyline', 'traders']);
  assert.equal(Object.values(small).flat().length, 784);
});
