// Source: webhooks, section 8.1.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readEventBatch, readEventBody } from './event-body.js';

const known = { event: 'issues', action: null, app_ids: [1], id: 'a' };
const more = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`m${index}`, index]));
const text = JSON.stringify({ ...more, ...known, payload: { n: 1 } });

it('returns the known members of an event and no others', () => {
  const { fields, payload } = readEventBody(Buffer.from(text));
  assert.deepEqual(fields, known);
  assert.ok(typeof payload === 'object');
  assert.equal(Buffer.from(payload.bytes).toString(), '{"n":1}');
});

it('returns the known members of each event in a batch', () => {
  const items = readEventBatch(Buffer.from(`[${text},${text}]`), 10);
  assert.ok(items !== 'many');
  for (const item of items) assert.deepEqual('fields' in item && item.fields, known);
});

const nested = (levels: number): string =>
  `{"event":"e","payload":{"a":${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}}}`;
const TOO_DEEP = { excess: 'nested deeper than 127 levels' };

it('accepts 127 levels, and reports the limit for a body and for each event of a batch', () => {
  assert.ok(typeof readEventBody(Buffer.from(nested(127))).payload === 'object');
  assert.throws(() => readEventBody(Buffer.from(nested(128))), { details: TOO_DEEP });
  const items = readEventBatch(Buffer.from(`${nested(128)}\n${nested(127)}`), 10);
  assert.ok(items !== 'many');
  assert.deepEqual(
    items.map((item) => 'failed' in item && item.failed),
    [TOO_DEEP, false],
  );
  assert.throws(() => readEventBatch(Buffer.from(`[${nested(127)}]`), 10), { details: TOO_DEEP });
});
