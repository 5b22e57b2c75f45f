import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { MemoryBudget, type Release } from './memory-budget.js';

const MEBIBYTE = 2 ** 20;
const queryContext = { signal: new AbortController().signal };

describe('MemoryBudget', () => {
  it('starts sorts in arrival order as memory permits, counting a huge one as a quarter', async () => {
    const budget = new MemoryBudget(512 * MEBIBYTE);
    const begun: string[] = [];
    const givenBy = new Map<string, Release>();
    const begin = async (name: string, mebibytes: number): Promise<void> => {
      givenBy.set(name, await budget.reserveForSort(mebibytes * MEBIBYTE, queryContext));
      begun.push(name);
    };
    void begin('huge', 5000);
    void begin('a', 64);
    void begin('b', 64);
    void begin('c', 50);
    void begin('late', 30);
    void begin('later', 14);
    await begin('tiny', 1);
    await setImmediate();
    const tiny = begun.splice(begun.indexOf('tiny'), 1);
    assert.deepEqual([...begun, ...tiny], ['huge', 'a', 'b', 'c', 'tiny']);
    givenBy.get('c')?.();
    // A second release has no effect.
    givenBy.get('c')?.();
    await setImmediate();
    assert.deepEqual(begun, ['huge', 'a', 'b', 'c', 'late', 'later']);
    void begin('last', 40);
    await setImmediate();
    assert.equal(begun.length, 6);
    givenBy.get('huge')?.();
    await setImmediate();
    assert.equal(begun.at(-1), 'last');
  });

  it('admits later sorts when a waiting one is aborted', async () => {
    const budget = new MemoryBudget(512 * MEBIBYTE);
    for (let i = 0; i < 3; i++) await budget.reserveForSort(64 * MEBIBYTE, queryContext);
    await budget.reserveForSort(14 * MEBIBYTE, queryContext);
    const leaving = new AbortController();
    const left = assert.rejects(budget.reserveForSort(60 * MEBIBYTE, leaving), {
      kind: 'query_cancelled',
    });
    const next = budget.reserveForSort(50 * MEBIBYTE, queryContext);
    leaving.abort();
    await left;
    await next;
    await assert.rejects(budget.reserveForSort(50 * MEBIBYTE, leaving), {
      kind: 'query_cancelled',
    });
  });

  it('reports reservations to the query', async () => {
    const budget = new MemoryBudget(512 * MEBIBYTE);
    let sizeBytes = 0;
    const counting = { ...queryContext, reserved: (by: number) => (sizeBytes += by) };
    const given = [
      await budget.reserveForSort(10 * MEBIBYTE, counting),
      await budget.reserveInDuckDb(20 * MEBIBYTE, counting),
      budget.reserveForResult(3 * MEBIBYTE, counting),
    ];
    assert.equal(sizeBytes, 33 * MEBIBYTE);
    for (const give of [...given, ...given]) give?.();
    assert.equal(sizeBytes, 0);
  });

  it('copies results out of DuckDB while one fits completely', () => {
    const budget = new MemoryBudget(512 * MEBIBYTE);
    assert.equal(budget.reserveForResult(17 * MEBIBYTE), undefined);
    const taken = Array.from({ length: 32 }, () => budget.reserveForResult(16 * MEBIBYTE));
    assert.ok(taken.every((each) => each !== undefined));
    assert.equal(budget.reserveForResult(1), undefined);
    taken[0]?.();
    assert.ok(budget.reserveForResult(16 * MEBIBYTE));
  });

  it('leaves half of the memory in DuckDB to other owners, and admits more when an owner releases', async () => {
    const budget = new MemoryBudget(512 * MEBIBYTE); // 384 may stay, 48 per result
    const greedy = { ...queryContext, owner: 'greedy' };
    const reservations: Release[] = [];
    for (let i = 0; i < 4; i++)
      reservations.push(await budget.reserveInDuckDb(5000 * MEBIBYTE, greedy));
    let isFifthIn = false;
    void budget.reserveInDuckDb(5000 * MEBIBYTE, greedy).then(() => {
      isFifthIn = true;
    });
    await budget.reserveInDuckDb(5000 * MEBIBYTE, { ...queryContext, owner: 'modest' });
    await setImmediate();
    assert.equal(isFifthIn, false);
    reservations[0]?.();
    await setImmediate();
    assert.equal(isFifthIn, true);
  });
});
