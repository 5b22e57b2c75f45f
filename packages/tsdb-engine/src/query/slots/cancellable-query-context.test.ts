import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { endOfQuery } from '@plinth/tsdb-model/query/end-of-query.js';
import { CancellableQueryContext } from './cancellable-query-context.js';

const NO_LIMIT = 0;

describe('CancellableQueryContext', () => {
  for (const [what, end] of [
    ['cancelled', (queryContext: CancellableQueryContext) => queryContext.cancel()],
    ['left by its client', (_: CancellableQueryContext, client: AbortController) => client.abort()],
  ] as const) {
    it(`rejects readers before and after a query was ${what}`, () => {
      for (const isReadBefore of [true, false]) {
        const client = new AbortController();
        const queryContext = new CancellableQueryContext(client, 'somebody', NO_LIMIT);
        const signal = isReadBefore ? queryContext.signal : undefined;
        assert.notEqual(signal?.aborted, true);
        end(queryContext, client);
        assert.equal(queryContext.signal.aborted, true);
        assert.ok(tsdbError.is(queryContext.signal.reason, 'query_cancelled'));
        assert.equal(signal ?? queryContext.signal, queryContext.signal, 'there is one signal');
        queryContext.end();
      }
    });
  }

  it('keeps the reason of a canceled query', () => {
    for (const isReadBefore of [true, false]) {
      const queryContext = new CancellableQueryContext(new AbortController(), 'somebody', NO_LIMIT);
      if (isReadBefore) assert.equal(queryContext.signal.aborted, false);
      queryContext.cancel(tsdbError('query_unauthorized'));
      assert.equal(endOfQuery(queryContext.signal).kind, 'query_unauthorized');
      queryContext.end();
    }
  });

  it("does not read the client's signal before its own is read", () => {
    let askedCount = 0;
    const queryContext = new CancellableQueryContext(
      {
        get signal() {
          askedCount += 1;
          return new AbortController().signal;
        },
      },
      'somebody',
      NO_LIMIT,
    );
    assert.equal(askedCount, 0);
    assert.equal(queryContext.signal.aborted, false);
    assert.equal(askedCount, 1);
    queryContext.end();
  });

  it('ignores the client once the query has ended', () => {
    const client = new AbortController();
    const queryContext = new CancellableQueryContext(client, 'somebody', NO_LIMIT);
    const { signal } = queryContext;
    queryContext.end();
    client.abort();
    assert.equal(signal.aborted, false);
  });
});
