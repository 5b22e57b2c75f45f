import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ColumnGuess } from '@plinth/line-protocol';
import {
  type Choices,
  choose,
  chooseColumns,
  commandOf,
  mappingOf,
  tableNameOf,
} from './csv-columns.js';

const column = (name: string, role: ColumnGuess['role'], type: ColumnGuess['type']) =>
  ({ name, role, type, examples: [] }) satisfies ColumnGuess;
const GUESSES = [
  column('at', 'time', 'int'),
  column('host', 'tag', 'string'),
  column('usage', 'field', 'int'),
  column('nothing', 'out', 'string'),
];
const rolesOf = (
  known: Parameters<typeof chooseColumns>[1],
  chosen: Choices = new Map(),
  guesses = GUESSES,
) =>
  chooseColumns(guesses, known, chosen).map(({ name, role, type }) =>
    role === 'field' ? `${name} ${type}` : `${name} ${role}`,
  );

describe('Columns of a CSV file', () => {
  it('are guessed from their values', () => {
    assert.deepEqual(rolesOf(undefined), ['at time', 'host tag', 'usage int', 'nothing out']);
  });

  it('take the role and type of existing columns', () => {
    const known = [
      { name: 'usage', kind: 'float64' },
      { name: 'host', kind: 'utf8' },
      { name: 'nothing', kind: 'tag' },
      { name: 'at', kind: 'int64' },
    ];
    assert.deepEqual(rolesOf(known), ['at int', 'host string', 'usage float', 'nothing out']);
  });

  it('follow the choices, with only one time column', () => {
    const first = choose(new Map(), 'usage', { role: 'time', type: 'int' });
    assert.deepEqual(rolesOf(undefined, first), [
      'at int',
      'host tag',
      'usage time',
      'nothing out',
    ]);
    const second = choose(first, 'at', { role: 'time', type: 'int' });
    assert.deepEqual(rolesOf(undefined, second), [
      'at time',
      'host tag',
      'usage int',
      'nothing out',
    ]);
    const none = choose(second, 'at', { role: 'out', type: 'int' });
    assert.deepEqual(rolesOf(undefined, none), ['at out', 'host tag', 'usage int', 'nothing out']);
  });

  it('produce the mapping and the equivalent command', () => {
    const columns = chooseColumns(GUESSES, undefined, new Map());
    const mapping = mappingOf(columns, { table: 'my cpu', timeFormat: 'ms' });
    assert.deepEqual(mapping, {
      table: 'my cpu',
      timeFormat: 'ms',
      tags: ['host'],
      fields: new Map([['usage', 'int']]),
      time: 'at',
    });
    assert.ok(mapping);
    assert.equal(
      commandOf(mapping, { db: 'home', file: "it's.csv" }),
      "plinth write -d home --csv --table 'my cpu' --tag host --field usage:int --time at --time-format ms 'it'\\''s.csv'",
    );
    assert.equal(
      commandOf(
        { ...mapping, tags: ['a,b', 'c\\d', 'e f'], fields: new Map([["it's,1:2", 'int']]) },
        { db: 'home', file: 'a.csv' },
      ),
      "plinth write -d home --csv --table 'my cpu' --tag 'a\\,b,c\\\\d,e f' --field 'it'\\''s\\,1:2:int' --time at --time-format ms a.csv",
    );
    assert.equal(mappingOf(columns, { table: '', timeFormat: 'ms' }), undefined);
    assert.equal(mappingOf(columns.slice(0, 2), { table: 'm', timeFormat: 'ms' }), undefined);
  });
});

it('names the table after the file', () => {
  assert.equal(tableNameOf('cpu.csv'), 'cpu');
  assert.equal(tableNameOf('Room temperature (2024).CSV'), 'Room_temperature_2024');
  assert.equal(tableNameOf('größe.csv'), 'größe');
  assert.equal(tableNameOf('.csv'), '');
});
