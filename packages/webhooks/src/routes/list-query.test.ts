// Source: webhooks, section 5.3.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ValidationFailed } from '@plinth/kernel';
import { linkHeaders } from './link-header.js';
import { readListQuery } from './list-query.js';

const read = (query: string, isStrict = false) =>
  readListQuery(new URLSearchParams(query), isStrict);

function refuse(query: string, isStrict = false): void {
  const [field = '', value] = query.split('=').map(decodeURIComponent);
  assert.throws(
    () => read(query, isStrict),
    (error) => {
      assert.ok(error instanceof ValidationFailed);
      const expected = [{ resource: 'HookDelivery', field, code: 'invalid', value }];
      assert.deepEqual(error.errors, expected);
      return true;
    },
  );
}

it('reads filters', () => {
  const texts = { event: 'a', action: 'b', guid: 'c' };
  assert.deepEqual(read(`${new URLSearchParams(texts)}`).filter, texts);
  const ids = { installation_id: 7, repository_id: 8 };
  assert.deepEqual(read('installation_id=7&repository_id=8').filter, ids);
  for (const status of ['success', 'failure']) {
    assert.deepEqual(read(`status=${status}`).filter, { status });
  }
  for (const [text, redelivery] of [
    ['true', true],
    ['1', true],
    ['false', false],
    ['0', false],
  ] as const) {
    assert.deepEqual(read(`redelivery=${text}`).filter, { redelivery });
  }
  const sinceMs = Date.UTC(2026, 0, 1);
  const times = 'since=2026-01-01T00:00:00Z&until=2026-01-02';
  assert.deepEqual(read(times).filter, { sinceMs, untilMs: sinceMs + 86_400_000 });
  assert.deepEqual(read('other=1').filter, {});
});

it('rejects invalid filters', () => {
  for (const query of [
    ...['redelivery=yes', 'redelivery=', 'status=odd', 'since=x', 'since=5', 'until=2026-13-01'],
    ...['event=a%00', 'action=%00', 'guid=%00', 'installation_id=0', 'repository_id=x'],
  ]) {
    refuse(query);
  }
});

it('clamps the page size, or rejects it if strict', () => {
  for (const [text, limit] of [
    ['100', 100],
    ['10000000000', 100],
    ['0', 30],
    ['1.5', 30],
  ] as const) {
    assert.equal(read(`per_page=${text}`).limit, limit);
  }
  for (const text of ['0', '101', '-1', 'ten', '1.5']) refuse(`per_page=${text}`, true);
  for (const text of ['1', '100']) assert.equal(read(`per_page=${text}`, true).limit, Number(text));
  assert.equal(read('', true).limit, 30);
});

it('accepts only its own cursors', () => {
  assert.equal(read('cursor=v1_42').fromId, 42);
  assert.equal(read('').fromId, undefined);
  for (const cursor of ['', 'x', 'v1_', 'v1_0', 'v2_5', 'v1_-1', 'v1_9007199254740993']) {
    assert.throws(() => read(`cursor=${cursor}`), { message: 'Invalid cursor' }, cursor);
  }
});

it('links to the neighboring pages with the other parameters in their order', () => {
  const check = (query: string, nextId?: number, previousId?: number) =>
    linkHeaders(`http://a/d${query}`, { nextId, previousId });
  assert.deepEqual(check(''), []);
  assert.deepEqual(check('', 5), [['link', '<http://a/d?cursor=v1_5>; rel="next"']]);
  assert.deepEqual(check('?cursor=v1_9&event=a%20b&per_page=2', 5, 12), [
    [
      'link',
      '<http://a/d?cursor=v1_5&event=a%20b&per_page=2>; rel="next", <http://a/d?cursor=v1_12&event=a%20b&per_page=2>; rel="prev"',
    ],
  ]);
});
