// Source: docs/spec/gamedata.md, section 3; the schemas of docs/api/gamedata.json.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  fieldLabel,
  parseRecord,
  pointerOf,
  readText,
  recordFields,
  SCHEMA_NAMES,
  textOf,
  valueAt,
  withValue,
} from './record-fields.js';

const { components } = JSON.parse(
  readFileSync(new URL('../../../../../docs/api/gamedata.json', import.meta.url), 'utf8'),
);
const fields = (type: string) => recordFields(components.schemas[SCHEMA_NAMES[type] ?? '']);
const told = (type: string): readonly string[] =>
  fields(type).map(
    ({ path, kind, isNullable }) => `${path.join('.')} ${kind}${isNullable ? '?' : ''}`,
  );

describe('The form of a record', () => {
  it('has an input for each member of the schema', () => {
    assert.deepEqual(told('items'), [
      'slug text',
      'name text',
      'shortName text?',
      'description long text?',
      'rarity choice?',
      'handbook.parent text?',
      'handbook.price integer?',
      'category choice',
      'tags list',
      'weight number?',
      'width integer?',
      'height integer?',
      'stackSize integer?',
      'image text?',
      'wiki text?',
      'properties json',
      'extra json',
      'locales json',
    ]);
    for (const type of Object.keys(SCHEMA_NAMES)) assert.ok(told(type).length > 5, type);
    const rarity = fields('items').find(({ path }) => path[0] === 'rarity');
    assert.deepEqual(rarity?.choices, ['common', 'uncommon', 'rare', 'very rare', 'legendary']);
  });

  it('reads what it shows', () => {
    const field = (kind: string, isNullable = false) =>
      ({ path: ['x'], kind, isNullable, choices: [] }) as never;
    for (const [kind, value] of [
      ['text', 'a'],
      ['integer', 7],
      ['number', 0.5],
      ['flag', true],
      ['list', ['a', 'b']],
      ['json', { a: [1] }],
    ] as const) {
      assert.deepEqual(readText(field(kind), textOf(field(kind), value)), { value }, kind);
    }
    assert.deepEqual(readText(field('text', true), ''), { value: null });
    for (const [kind, text] of [
      ['integer', '1.5'],
      ['integer', ''],
      ['number', 'x'],
      ['json', '{'],
    ] as const) {
      assert.equal(readText(field(kind), text), undefined, `${kind} ${text}`);
    }
  });

  it('changes one value and keeps the others', () => {
    const record = { id: 'a', handbook: { parent: 'p', price: 1 } };
    const changed = withValue(record, ['handbook', 'price'], 2);
    assert.deepEqual(changed, { id: 'a', handbook: { parent: 'p', price: 2 } });
    assert.equal(valueAt(changed, ['handbook', 'price']), 2);
    assert.equal(valueAt({}, ['handbook', 'price']), undefined);
    assert.deepEqual(withValue({}, ['a', 'b'], 1), { a: { b: 1 } });
    assert.equal(pointerOf(['a', 'b/c~']), '/a/b~1c~0');
    assert.equal(
      fieldLabel({ path: ['handbook', 'stackMaxSize'] } as never),
      'Handbook: stack max size',
    );
    assert.equal(parseRecord('[]'), undefined);
    assert.deepEqual(parseRecord('{"a":1}'), { a: 1 });
  });
});
