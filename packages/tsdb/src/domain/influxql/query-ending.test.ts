import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tsdbError } from '../../errors.js';
import { QueryEnding } from './query-ending.js';

describe('QueryEnding', () => {
  for (const [what, end] of [
    ['killed', (ending: QueryEnding) => ending.kill()],
    ['left by its client', (_: QueryEnding, client: AbortController) => client.abort()],
  ] as const) {
    it(`tells who asks before and after that a query was ${what}`, () => {
      for (const isAskedBefore of [true, false]) {
        const client = new AbortController();
        const ending = new QueryEnding(client);
        const asked = isAskedBefore ? ending.signal : undefined;
        assert.notEqual(asked?.aborted, true);
        end(ending, client);
        assert.equal(ending.signal.aborted, true);
        assert.ok(tsdbError.is(ending.signal.reason, 'query_cancelled'));
        assert.equal(asked ?? ending.signal, ending.signal, 'there is one signal');
      }
    });
  }

  it('asks its client for no signal before somebody looks', () => {
    let askedCount = 0;
    const ending = new QueryEnding({
      get signal() {
        askedCount += 1;
        return new AbortController().signal;
      },
    });
    ending.forget();
    assert.equal(askedCount, 0);
    assert.equal(ending.signal.aborted, false);
    assert.equal(askedCount, 1);
  });

  it('does not look after its client once the query has ended', () => {
    const client = new AbortController();
    const ending = new QueryEnding(client);
    const { signal } = ending;
    ending.forget();
    client.abort();
    assert.equal(signal.aborted, false);
  });
});
