import assert from 'node:assert/strict';
import { it } from 'node:test';
import { growTable, newTable } from './grow-table.js';
import type { NewColumn } from './table-draft.js';

const EMPTY = newTable({
  id: 7,
  uuid: 'uuid',
  databaseId: 1,
  name: 'cpu',
  seriesSeed: 1n,
});

const field = (name: string): NewColumn => ({ name, kind: 'float64' });
const tag = (name: string): NewColumn => ({ name, kind: 'tag' });
const physicalNames = (...names: string[]) => {
  const { columns } = growTable(EMPTY, names.map(field)).schema;
  return names.map((name) => columns.get(name)?.physicalName);
};

it('starts a table with only the time column', () => {
  assert.deepEqual(
    [...EMPTY.schema.columns.values()],
    [{ id: 1, name: 'time', kind: 'time', physicalName: 'time' }],
  );
});

it('appends new tags to the series key and sorts columns by the bytes of their names', () => {
  const first = growTable(EMPTY, [tag('host'), field('z'), tag('az')]);
  const second = growTable(first, [field('B'), tag('a')]);
  assert.deepEqual(second.schema.seriesKey, ['host', 'az', 'a']);
  assert.deepEqual([...second.schema.columns.keys()], ['B', 'a', 'az', 'host', 'time', 'z']);
  assert.equal(second.schema.version, first.schema.version + 1);
});

it('sorts by UTF-8, not by UTF-16', () => {
  const names = ['\u{1F34C}', '\u{FFFD}', '\u{D7FF}', 'z', '\u{E000}', '\u{10FFFF}', 'zz', ''];
  const sorted = [...growTable(EMPTY, names.map(field)).schema.columns.keys()];
  const byBytes = [...names, 'time'].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  assert.deepEqual(sorted, byBytes);
});

it('never assigns a column id twice', () => {
  const grown = growTable(growTable(EMPTY, [tag('a'), field('b')]), [field('c')]);
  const ids = [...grown.schema.columns.values()].map((column) => column.id);
  assert.deepEqual(ids.toSorted(), [1, 2, 3, 4]);
  assert.equal(grown.nextColumnId, 5);
});

it('keeps the name of a column in DuckDB if possible', () => {
  assert.deepEqual(physicalNames('usage user', 'größe', '温度', '_s'), [
    'usage user',
    'größe',
    '温度',
    '_s',
  ]);
});

it('distinguishes names in DuckDB that differ only by case', () => {
  assert.deepEqual(physicalNames('host', 'Host', 'HOST', 'Time'), [
    'host',
    '3~Host',
    '4~HOST',
    '5~Time',
  ]);
  assert.deepEqual(physicalNames('größe', 'GRÖSSE', 'ΟΔΟΣ', 'οδος', 'οδοσ'), [
    'größe',
    '3~GRÖSSE',
    'ΟΔΟΣ',
    '5~οδος',
    '6~οδοσ',
  ]);
});

it("reserves DuckDB's own names", () => {
  assert.deepEqual(physicalNames('_series', '_SEQ', '_sequence', 'RowId', 'a\0b'), [
    '2~_series',
    '3~_SEQ',
    '4~_sequence',
    '5~RowId',
    'a\u{fffd}b',
  ]);
});

it('chooses another name if a user column has the first choice', () => {
  assert.deepEqual(physicalNames('4~host', 'host', 'HOST'), ['4~host', 'host', '~4~HOST']);
});
