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

it('keeps digits and escapes of the payload, without the white space', () => {
  const body = `{"event":"digits","action":"a",
    "payload": { "big" : 12345678901234567890, "f": 1.0, "e":1e2, "u":"\\u00e9 \\"q\\" é", "l":[ 1 , {} ] } }`;
  const { payload } = readEventBody(Buffer.from(body));
  assert.ok(typeof payload === 'object');
  assert.equal(
    Buffer.from(payload.bytes).toString(),
    '{"big":12345678901234567890,"f":1.0,"e":1e2,"u":"\\u00e9 \\"q\\" é","l":[1,{}]}',
  );
});

it('rejects what is not a JSON object in UTF-8', () => {
  // Other bytes would be delivered in a changed form.
  const latin = Buffer.from('{"event":"x","payload":{"name":"caf\xe9"}}', 'latin1');
  for (const body of [latin, Buffer.from('{'), Buffer.from('[]'), Buffer.from('"x"')]) {
    assert.throws(() => readEventBody(body), { kind: 'json_unreadable' });
  }
  assert.throws(() => readEventBatch(latin, 10), { kind: 'json_unreadable' });
  assert.throws(() => readEventBatch(Buffer.from('[1,'), 10), { kind: 'json_unreadable' });
});

it('reads each line of a batch separately, unfinished and deep ones, too', () => {
  const unfinished = Array.from({ length: 130 }, () => '{"event":"own","payload":{');
  // Brackets and strings left open in one line do not affect the next.
  for (const wrong of [unfinished, [']'.repeat(300)], ['"'], [nested(200)], ['{}', '1']]) {
    const items = readEventBatch(Buffer.from([...wrong, '', text].join('\n')), 131);
    assert.ok(items !== 'many');
    assert.equal(items.length, wrong.length + 1);
    assert.ok(!('failed' in (items.at(-1) ?? {})));
    for (const item of items.slice(0, -1))
      assert.ok('failed' in item || item.payload === 'missing');
  }
  assert.equal(readEventBatch(Buffer.from(`${text}\n${text}`), 1), 'many');
});
