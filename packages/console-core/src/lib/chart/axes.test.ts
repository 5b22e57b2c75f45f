// Source: the console's specification, "Explore": two axes by unit.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Unit } from '../units.js';
import { axesOf, sideOf, stacked } from './axes.js';

const of = (...units: Unit[]) => units.map((unit) => ({ unit }));

it('gives each of two units its own axis, and more units one axis without a unit', () => {
  const one = { right: undefined, leftUnitCount: 1 };
  assert.deepEqual(axesOf([]), { left: 'none', ...one });
  assert.deepEqual(axesOf(of('bytes', 'bytes')), { left: 'bytes', ...one });
  const two = axesOf(of('percent', 'bytes', 'percent'));
  assert.deepEqual(two, { left: 'percent', right: 'bytes', leftUnitCount: 1 });
  assert.deepEqual(
    of('percent', 'bytes').map((each) => sideOf(each, two)),
    ['y', 'right'],
  );
  assert.deepEqual(axesOf(of('none', 'ms')), { left: 'none', right: 'ms', leftUnitCount: 1 });
  const three = axesOf(of('bytes', 'ms', 'percent'));
  assert.deepEqual(three, { left: 'none', right: undefined, leftUnitCount: 3 });
  assert.deepEqual(
    of('bytes', 'ms', 'percent').map((each) => sideOf(each, three)),
    ['y', 'y', 'y'],
  );
});

it('uses one axis for a chart that adds up the points of all series', () => {
  const axes = { left: 'none', right: undefined, leftUnitCount: 2 };
  assert.deepEqual(axesOf(of('bytes', 'percent'), true), axes);
  assert.equal(axesOf(of('bytes', 'bytes'), true).left, 'bytes');
});

it('stacks only values of the same unit', () => {
  const lists = [
    [1, 2, null],
    [10, undefined, 30],
    [100, 200, 300],
  ];
  assert.deepEqual(stacked(lists, of('percent', 'bytes', 'percent')), [
    [1, 2, null],
    [10, null, 30],
    [101, 202, 300],
  ]);
});
