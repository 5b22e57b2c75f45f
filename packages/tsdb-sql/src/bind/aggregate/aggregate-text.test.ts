// Source: docs/adr/0155. DuckDB does not release the memory of sorting aggregates that fail for
// lack of memory.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { OrderItem } from '../../functions/function-definition.js';
import { aggregateText } from './aggregate-text.js';

const key = (text: string): OrderItem => ({
  expr: { text } as OrderItem['expr'],
  descending: true,
  nullsFirst: false,
});

for (const [name, args] of [
  ['list', ['x']],
  ['string_agg', ['x', "','"]],
  ['corr', ['x', 'z']],
] as const)
  for (const orderBy of [[key('y')], [key('y'), key('z')]])
    it(`uses no sorting aggregate for ${name} with ${orderBy.length} keys`, () => {
      const pieces = { distinct: false, ignoreNulls: false, filter: 'f', window: undefined };
      const text = aggregateText(name, args, { ...pieces, orderBy }, {});
      assert.doesNotMatch(text, /ORDER BY/);
    });

for (const name of ['list', 'string_agg'])
  it(`rejects ORDER BY within ${name} over a window`, () => {
    const window = { text: '(PARTITION BY h)', rowByRow: '(PARTITION BY h)' };
    const pieces = { distinct: false, ignoreNulls: false, filter: undefined, window };
    const ask = (orderBy: readonly OrderItem[]) =>
      aggregateText(name, ['x', "','"], { ...pieces, orderBy } as never, {});
    assert.throws(() => ask([key('y')]), /not implemented: ORDER BY within the arguments/);
    assert.match(ask([]), /OVER/);
  });
