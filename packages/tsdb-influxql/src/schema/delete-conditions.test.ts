import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Filter } from '../plan/condition/filter.js';
import { compileRegex, loadRegexes } from '../plan/condition/regex.js';
import { alternatives } from './delete-conditions.js';

it('matches the values of a tag in steps, because a pattern may be slow', async () => {
  await loadRegexes('/');
  const values = Array.from({ length: 1000 }, (_, i) => `u${i}`);
  const u = {
    kind: 'column',
    ref: { name: 'u', type: 'string', isTag: true },
    type: 'string',
  } as const;
  const filter: Filter = {
    kind: 'match',
    operand: u,
    matcher: compileRegex('9$'),
    isNegated: false,
  };
  const steps = alternatives(filter, () => values);
  let stepCount = 1;
  let step = steps.next();
  for (; !step.done; step = steps.next()) stepCount++;
  const expected = values.filter((value) => value.endsWith('9'));
  assert.deepEqual(step.value, [[{ tag: 'u', op: 'in', values: expected }]]);
  assert.ok(stepCount > 100, String(stepCount));
});
