import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Memo } from './memo.js';

describe('A memo', () => {
  const filled = (count: number, maxCount: number): Memo<number, string> => {
    const memo = new Memo<number, string>({ maxCount });
    for (let key = 0; key < count; key++) memo.set(key, `${key}`);
    return memo;
  };
  const left = (memo: Memo<number, string>, count: number): number[] =>
    Array.from({ length: count }, (_, key) => key).filter((key) => memo.get(key) !== undefined);

  it('creates each value once', () => {
    const asked: string[] = [];
    const memo = new Memo<string, number | null>({ maxCount: 10 });
    const lengthOf = (text: string): number | null => {
      asked.push(text);
      return text === '' ? null : text.length;
    };
    const responses = ['a', '', 'a', ''].map((text) => memo.of(text, lengthOf));
    assert.deepEqual(responses, [1, null, 1, null]);
    assert.deepEqual(asked, ['a', '']);
  });

  it('keeps at least half of its bound and at most the bound', () => {
    for (const count of [10, 11, 95, 100, 1000]) {
      const memo = filled(count, 10);
      const kept = Array.from({ length: 5 }, (_, back) => count - 1 - back);
      const known = kept.map((key) => memo.get(key));
      assert.deepEqual(known, kept.map(String), `${count}`);
      assert.ok(left(filled(count, 10), count).length <= 10, `${count}`);
    }
  });

  it('keeps values that are used repeatedly', () => {
    const memo = new Memo<number, string>({ maxCount: 4 });
    memo.set(-1, 'kept');
    for (let key = 0; key < 100; key++) {
      memo.set(key, `${key}`);
      assert.equal(memo.get(-1), 'kept');
    }
  });

  it('replaces the value of a key, and clears all values', () => {
    const memo = filled(2, 2);
    memo.set(1, 'new');
    assert.equal(memo.get(1), 'new');
    memo.clear();
    assert.deepEqual(left(memo, 2), []);
  });
});
