// Source: docs/spec/gamedata.md, section 2.10; RFC 9110, sections 8.8.2.2 and 13.1.3.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ServerProcess } from '../../harness/index.js';
import { done, NODE } from './shared-nodes.js';

const PATH = '/api/items/short-lived';

it('C18 a date alone is no match when two versions were published within one second', async () => {
  await using server = await ServerProcess.start(NODE);
  const about = async (headers: Record<string, string> = {}) => {
    const { status, headers: answered, text } = await server.http.send(PATH, { headers });
    return { status, date: String(answered['last-modified']), etag: answered['etag'], text };
  };
  const publish = async (method: string, path: string, record: object) => {
    await done(server, method, path, record);
    await done(server, 'POST', 'save');
    return await about();
  };
  let before = await publish('POST', 'items', { id: 'short-lived', name: 'One 0' });
  let now = before;
  for (let n = 1; n < 50 && (n === 1 || now.date !== before.date); n += 1) {
    before = now;
    now = await publish('PATCH', 'items/short-lived', { name: `One ${n}` });
  }
  assert.equal(now.date, before.date, 'never two within one second');
  assert.notEqual(now.text, before.text);
  assert.deepEqual(await about({ 'if-modified-since': before.date }), now);
  assert.equal((await about({ 'if-none-match': String(now.etag) })).status, 304);
  assert.equal((await about({ 'if-none-match': String(before.etag) })).status, 200);

  // The next one has a second of its own.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const later = await publish('PATCH', 'items/short-lived', { name: 'Later' });
  assert.equal((await about({ 'if-modified-since': later.date })).status, 304);
  assert.equal((await about({ 'if-modified-since': before.date })).status, 200);
  // Of a version that a node published whose clock was ahead.
  const ahead = new Date(Date.parse(later.date) + 3_600_000).toUTCString();
  assert.equal((await about({ 'if-modified-since': ahead })).status, 200);
});
