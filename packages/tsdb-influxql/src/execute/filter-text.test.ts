import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Filter, Operand } from '../plan/condition/filter.js';
import { filterText } from './filter-text.js';

const host: Operand = {
  kind: 'column',
  ref: { name: 'host', type: 'tag', isTag: true },
  type: 'tag',
};
const v: Operand = {
  kind: 'column',
  ref: { name: 'v', type: 'float', isTag: false },
  type: 'float',
};
const equal = (left: Operand, value: string | number): Filter => ({
  kind: 'compare',
  op: '=',
  left,
  right: { kind: 'constant', value, type: typeof value === 'string' ? 'string' : 'float' },
});

it('converts a long OR chain of equality tests to a list', () => {
  const parts = Array.from({ length: 20_000 }, (_, i) => equal(host, `${i}`));
  const chain = [...parts, equal(v, 1)].reduce((left, right) => ({ kind: 'or', left, right }));
  const text = filterText(chain, (ref) => ref.name);
  assert.ok(text.startsWith("((coalesce(host, '') IN ('0', '1', '2',"), text.slice(0, 60));
  assert.ok(text.endsWith("'19999')) OR (v IN ((1)::DOUBLE)))"), text.slice(-60));
});
