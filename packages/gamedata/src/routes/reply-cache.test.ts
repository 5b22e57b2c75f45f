import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { etagOf, type Reply, ReplyCache } from './reply-cache.js';

/** Long and varied enough for different compression levels to differ. */
const BODY = Buffer.from(
  JSON.stringify(
    Array.from({ length: 2000 }, (_, n) => ({ id: n, name: `Name ${(n * n) % 977}` })),
  ),
);

const replyOf = (body: Buffer): Reply => ({
  body,
  bodySize: body.length,
  etag: etagOf(body),
  headers: [],
  lastModifiedMs: 0,
  coded: {},
});

describe('ReplyCache', () => {
  for (const coding of ['gzip', 'br'] as const) {
    it(`gives the same bytes for one tag, also while ${coding} is made in advance`, async () => {
      const cache = new ReplyCache(100_000_000);
      const reply = replyOf(BODY);
      cache.put('/list', '/list', reply);
      const made = await Promise.all([
        cache.code(reply, coding, true),
        cache.code(reply, coding),
        cache.code(reply, coding),
      ]);
      made.push(await cache.code(reply, coding));
      const [first] = made;
      assert.ok(first !== undefined && first.bytes.length < BODY.length);
      for (const other of made) assert.ok(other.bytes.equals(first.bytes));
    });
  }
});
