import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MacroWeights } from './macro-weights.js';

describe('nested macro calls', () => {
  const weights = new MacroWeights([
    'CREATE OR REPLACE MACRO plinth_twice(x, y) AS x + x + y',
    'CREATE OR REPLACE MACRO plinth_four(x) AS\n plinth_twice(plinth_twice(x, 1), 2)',
    'CREATE OR REPLACE MACRO plinth_list(x) AS list_transform(x, lambda i: i)',
  ]);
  const count = (text: string) => weights.countIn(text, 1000);

  it('count once per expansion', () => {
    assert.equal(count('abs(1)'), 0);
    assert.equal(count('plinth_twice(a, b)'), 1);
    assert.equal(count('plinth_twice(plinth_twice(a, b), plinth_twice(c, d))'), 1 + 2 + 1);
    assert.equal(count('plinth_four(plinth_twice(a, b)), plinth_twice(a, b)'), 1 + 4 + 1);
    assert.equal(count('plinth_list(plinth_list(a))'), 1 + 2);
  });

  it('are ignored in strings and quoted names', () => {
    assert.equal(count(`'plinth_twice(' || "plinth_four(" || plinth_twice('it''s)', 1)`), 1);
  });

  it('are not counted beyond the given number', () => {
    const text = 'plinth_four('.repeat(40) + ')'.repeat(40);
    assert.ok(weights.countIn(text, 1000) < 10_000);
  });
});
