import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { JsonExcessive, refuseExcessiveJson } from './json-bounds.js';

const isRefused = (text: string, bounds: Parameters<typeof refuseExcessiveJson>[1]): boolean => {
  try {
    refuseExcessiveJson(Buffer.from(text), bounds);
    return false;
  } catch (error) {
    assert.ok(error instanceof JsonExcessive);
    return true;
  }
};

/** The nesting depth of a parsed text. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** The number of lists and objects, and of their items beyond the first. */
function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  const commas = Math.max(0, inner.length - 1);
  return 1 + commas + inner.map(countOf).reduce((sum, count) => sum + count, 0);
}

describe('bounds of JSON text', () => {
  it('are reported like parser errors', () => {
    const refuse = (text: string) => () =>
      refuseExcessiveJson(Buffer.from(text), { maxDepth: 2, maxValueCount: 3 });
    assert.throws(refuse('[[[]]]'), { message: 'nested deeper than 2 levels', reason: 'too_deep' });
    const many = { message: 'more than 3 members and items', reason: 'too_many_values' };
    assert.throws(refuse('[1,2,3,4]'), many);
    assert.throws(refuse('[[],[],[]]'), many);
  });

  it('match the depth and count that parsing finds', () => {
    const text = fc.string({ unit: fc.constantFrom('"', '\\', '[', '{', ',', '}', ']', 'a', 'ß') });
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6 },
        text,
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(text, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const json = JSON.stringify(value);
        const [depth, count] = [depthOf(value), countOf(value)];
        assert.ok(!isRefused(json, { maxDepth: depth, maxValueCount: count }), json);
        if (depth > 0) assert.ok(isRefused(json, { maxDepth: depth - 1 }), json);
        if (count > 0) assert.ok(isRefused(json, { maxValueCount: count - 1 }), json);
      }),
    );
  });

  it('leave invalid JSON to the parser', () => {
    for (const text of ['', '"', '"\\', '"[a\\"', ']]]]', '"{', '\\"[']) {
      assert.ok(!isRefused(text, { maxDepth: 0 }), text);
    }
  });

  it('reject a megabyte of brackets immediately', () => {
    assert.throws(() => refuseExcessiveJson(Buffer.alloc(1_000_000, '[')), /deeper than 127/);
  });
});
