import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { complete } from './completions.js';
import { pages } from './pager.js';
import { StatementReader } from './statement-reader.js';

describe('StatementReader', () => {
  it('reads statements up to a semicolon, over several lines', () => {
    const reader = new StatementReader();
    assert.deepEqual(reader.add('SELECT 1; SELECT'), ['SELECT 1']);
    assert.ok(reader.isOpen);
    assert.deepEqual(reader.add('2;;'), ['SELECT\n2']);
    assert.ok(!reader.isOpen);
  });

  it('ignores semicolons in quotes', () => {
    const reader = new StatementReader();
    assert.deepEqual(reader.add(`SELECT 'a;b', "c;d" FROM e;`), [`SELECT 'a;b', "c;d" FROM e`]);
    assert.deepEqual(reader.add("SELECT 'open;"), []);
    assert.equal(reader.rest(), "SELECT 'open;");
  });
});

describe('complete', () => {
  it('completes the last word with tables, columns and keywords', () => {
    assert.deepEqual(complete('select us', ['usage', 'cpu', 'usage_idle']), [
      ['usage', 'usage_idle'],
      'us',
    ]);
    assert.deepEqual(complete('sel', []), [['SELECT'], 'sel']);
    assert.deepEqual(complete('select ', ['cpu']), [[], '']);
  });
});

describe('pages', () => {
  it('reserves a line for the prompt', () => {
    assert.deepEqual(pages('a\nb\nc', 3), ['a\nb', 'c']);
    assert.deepEqual(pages('a', 1), ['a']);
  });
});
