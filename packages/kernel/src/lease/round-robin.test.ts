import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RoundRobin } from './round-robin.js';

describe('RoundRobin', () => {
  const filled = (...things: readonly string[]): RoundRobin<string, string> => {
    const rotation = new RoundRobin<string, string>();
    for (const thing of things) rotation.add(thing.charAt(0), thing);
    return rotation;
  };
  const rest = (rotation: RoundRobin<string, string>): string[] => {
    const all: string[] = [];
    for (let next = rotation.next(); next !== undefined; next = rotation.next()) all.push(next);
    return all;
  };

  it('returns items of alternating keys, in order for each key', () => {
    const rotation = filled('a1', 'a2', 'a3', 'b1', 'c1', 'b2');
    assert.deepEqual([rotation.count, rotation.countOf('a'), rotation.countOf('d')], [6, 3, 0]);
    assert.deepEqual(rest(rotation), ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    assert.deepEqual([rotation.count, rotation.next()], [0, undefined]);
  });

  it('returns items out of turn, and forgets removed items', () => {
    const rotation = filled('a1', 'a2', 'b1', 'c1');
    assert.deepEqual(
      [...rotation.firsts()],
      [
        ['a', 'a1'],
        ['b', 'b1'],
        ['c', 'c1'],
      ],
    );
    assert.equal(rotation.nextOf('b'), 'b1');
    assert.equal(rotation.nextOf('b'), undefined);
    rotation.add('b', 'b2');
    rotation.remove('a', 'a1');
    rotation.remove('c', 'c1');
    rotation.remove('c', 'c1');
    rotation.remove('b', 'b9');
    assert.deepEqual([rotation.count, rest(rotation)], [2, ['a2', 'b2']]);
  });

  it('takes the last item of the largest key, but never of small keys', () => {
    const rotation = filled('a1', 'b1', 'b2', 'b3', 'c1');
    assert.equal(rotation.takeLastOfMost(3), undefined);
    assert.equal(rotation.takeLastOfMost(2), 'b3');
    assert.equal(rotation.takeLastOfMost(0), 'b2');
    assert.equal(rotation.takeLastOfMost(0), undefined);
    assert.deepEqual(rest(rotation), ['a1', 'b1', 'c1']);
  });
});
