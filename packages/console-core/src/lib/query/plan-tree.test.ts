import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parsePlan, stepsOf } from './plan-tree.js';

// A plan as DuckDB draws it. It contains a join of a third scan with a union of two scans, a join
// above it, and the total time.
const PLAN = `
┌────────────────────────────────────────────────┐
│┌──────────────────────────────────────────────┐│
││              Total Time: 0.187s              ││
│└──────────────────────────────────────────────┘│
└────────────────────────────────────────────────┘
┌───────────────────────────┐
│           QUERY           │
└─────────────┬─────────────┘
┌─────────────┴─────────────┐
│      EXPLAIN_ANALYZE      │
│    ────────────────────   │
│           0 rows          │
│           0.00s           │
└─────────────┬─────────────┘
┌─────────────┴─────────────┐
│         HASH_JOIN         │
│    ────────────────────   │
│      Join Type: INNER     │
│                           │
│        Conditions:        ├───────────────────────────────────────────┐
│        time = time        │                                           │
│        80,000 rows        │                                           │
│           0.08s           │                                           │
└─────────────┬─────────────┘                                           │
┌─────────────┴─────────────┐                             ┌─────────────┴─────────────┐
│           UNION           │                             │           UNION           │
│    ────────────────────   ├──────────────┐              │    ────────────────────   ├──────────────┐
│          (0.02s)          │              │              │           1 row           │              │
└─────────────┬─────────────┘              │              └─────────────┬─────────────┘              │
┌─────────────┴─────────────┐┌─────────────┴─────────────┐┌─────────────┴─────────────┐┌─────────────┴─────────────┐
│         TABLE_SCAN        ││         TABLE_SCAN        ││         TABLE_SCAN        ││          FILTER           │
│    ────────────────────   ││    ────────────────────   ││    ────────────────────   ││    ────────────────────   │
│           Table:          ││           Table:          ││           Table:          ││           v > 1           │
│             a             ││             b             ││             c             ││                           │
└───────────────────────────┘└───────────────────────────┘└───────────────────────────┘└─────────────┬─────────────┘
                                                                                       ┌─────────────┴─────────────┐
                                                                                       │         TABLE_SCAN        │
                                                                                       │    ────────────────────   │
                                                                                       │             d             │
                                                                                       └───────────────────────────┘
`;

describe('the tree of a plan', () => {
  it('puts each step below the one that reads from it', () => {
    const plan = parsePlan(PLAN);
    assert.ok(plan);
    const shape = (step: typeof plan): unknown => [step.name, ...step.inputs.map(shape)];
    assert.deepEqual(shape(plan), [
      'HASH_JOIN',
      ['UNION', ['TABLE_SCAN'], ['TABLE_SCAN']],
      ['UNION', ['TABLE_SCAN'], ['FILTER', ['TABLE_SCAN']]],
    ]);
    const [join, left, a] = stepsOf(plan);
    assert.deepEqual([join?.rowCount, join?.seconds], [80_000, 0.08]);
    assert.deepEqual(join?.details, ['Join Type: INNER', 'Conditions:', 'time = time']);
    assert.deepEqual([left?.rowCount, left?.seconds], [undefined, 0.02]);
    assert.deepEqual(a?.details, ['Table:', 'a']);
    assert.equal(plan.inputs[1]?.rowCount, 1);
  });

  it('is undefined for other text', () => {
    assert.equal(parsePlan('scan m columns=[host, v]'), undefined);
    assert.equal(parsePlan(''), undefined);
  });
});
