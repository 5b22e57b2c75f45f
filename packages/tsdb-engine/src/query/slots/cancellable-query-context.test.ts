import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { endOfQuery } from '@plinth/tsdb-model/query/end-of-query.js';
import { QueryDeadline } from './query-deadline.js';

const NO_LIMIT = 0;

describe('QueryDeadline', () => {
  for (const [what, end] of [
    ['cancelled', (deadline: QueryDeadline) => deadline.cancel()],
    ['left by its client', (_: QueryDeadline, client: AbortController) => client.abort()],
  ] as const) {
    it(`rejects readers before and after a query was ${what}`, () => {
      for (const isReadBefore of [true, false]) {
        const client = new AbortController();
        const deadline = new QueryDeadline(client, 'somebody', NO_LIMIT);
        const signal = isReadBefore ? deadline.signal : undefined;
        assert.notEqual(signal?.aborted, true);
        end(deadline, client);
        assert.equal(deadline.signal.aborted, true);
        assert.ok(tsdbError.is(deadline.signal.reason, 'query_cancelled'));
        assert.equal(signal ?? deadline.signal, deadline.signal, 'there is one signal');
        deadline.end();
      }
    });
  }

  it('keeps the reason of a canceled query', () => {
    for (const isReadBefore of [true, false]) {
      const deadline = new QueryDeadline(new AbortController(), 'somebody', NO_LIMIT);
      if (isReadBefore) assert.equal(deadline.signal.aborted, false);
      deadline.cancel(tsdbError('query_unauthorized'));
      assert.equal(endOfQuery(deadline.signal).kind, 'query_unauthorized');
      deadline.end();
    }
  });

  it("does not read the client's signal before its own is read", () => {
    let askedCount = 0;
    const deadline = new QueryDeadline(
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
    assert.equal(deadline.signal.aborted, false);
    assert.equal(askedCount, 1);
    deadline.end();
  });

  it('ignores the client once the query has ended', () => {
    const client = new AbortController();
    const deadline = new QueryDeadline(client, 'somebody', NO_LIMIT);
    const { signal } = deadline;
    deadline.end();
    client.abort();
    assert.equal(signal.aborted, false);
  });
});
