// Source: docs/SECURITY-NETWORK.md, "Requests": bodies that do not end, and all of them together.
// Own process: the memory of its bodies is limited.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OwnServer, ServerInProcess, ServerProcess } from '../../harness/index.js';

/** A slow body times out after 20 seconds of the server's clock. */
const SPEED = 10;
const MEMORY_BYTES = 4 * 1_048_576;
const KEY = 'sk_test_endless00000000000000000001';
const EDITOR = 'editor-token-for-tests';
const JSON_TYPE = { 'content-type': 'application/json' };
const OF_PLATFORM = { ...JSON_TYPE, authorization: `Bearer ${KEY}` };
const OF_EDITOR = { ...JSON_TYPE, authorization: `Bearer ${EDITOR}` };

const SLOW = 'the request body was sent too slowly';
const FULL = 'the memory limit for request bodies has been reached; try again';

/** One route per error format, with the member that contains the message. */
const ROUTES = [
  ['/api/v3/write_lp?db=d', {}, 'error', SLOW, FULL],
  ['/api/v2/write?bucket=d', {}, 'code', 'request timeout', 'unavailable'],
  ['/api/v3/configure/database', JSON_TYPE, 'error', SLOW, FULL],
  ['/ops/v1/events', JSON_TYPE, 'message', SLOW, FULL],
  ['/v2/core/accounts', OF_PLATFORM, 'error.code', 'request_timeout', 'service_overloaded'],
  ['/api/editor/items', OF_EDITOR, 'code', 'timeout', 'unavailable'],
] as const;

const OPTIONS = {
  flags: ['--without-auth', '--server-max-body-memory-bytes', String(MEMORY_BYTES)],
  env: {
    PLINTH_GAMEDATA_ADMIN_TOKEN: EDITOR,
    PLINTH_ACCOUNTS_BOOTSTRAP_KEYS: `plat_a:${KEY}`,
  },
};
let server: ServerInProcess;
/** For slow bodies. */
let fast: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start(OPTIONS);
  fast = await ServerInProcess.start({ ...OPTIONS, speed: SPEED });
});
after(async () => {
  await server.close();
  await fast.close();
});

function post(
  path: string,
  headers: Readonly<Record<string, string>>,
  length: number,
  to: OwnServer = server,
) {
  const url = `${to.url}${path}`;
  const framed = { ...headers, 'content-length': String(length) };
  const sent = request(url, { method: 'POST', headers: framed });
  sent.on('error', () => undefined);
  return sent;
}

/** Chunks of one byte, without a last chunk. */
function crumbs(method: string, path: string, headers: Readonly<Record<string, string>>) {
  const framed = { ...headers, 'transfer-encoding': 'chunked' };
  const sent = request(`${server.url}${path}`, { method, headers: framed });
  sent.on('error', () => undefined);
  for (let i = 0; i < 10_000; i++) sent.write(' ');
  return sent;
}

async function responseOf(sent: ClientRequest) {
  const [incoming] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const piece of incoming) text += piece;
  return { status: incoming.statusCode, headers: incoming.headers, text };
}

const member = (text: string, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, name) => Reflect.get(Object(value), name), JSON.parse(text));

describe('endless bodies', { concurrency: true, timeout: 120_000 }, () => {
  for (const [path, headers, name, slow] of ROUTES) {
    it(`a body without its last byte times out: ${path}`, async () => {
      const sent = post(path, headers, 50_000, fast);
      sent.write(Buffer.alloc(49_999, ' '));
      const { status, headers: answered, text } = await responseOf(sent);
      assert.equal(status, 408, text);
      assert.equal(answered.connection, 'close');
      assert.equal(member(text, name), slow, text);
    });
  }

  for (const [path, headers] of ROUTES) {
    it(`a body in one-byte chunks is refused: ${path}`, async () => {
      const { status, headers: answered, text } = await responseOf(crumbs('POST', path, headers));
      assert.equal(status, 400, text);
      assert.equal(answered.connection, 'close');
      assert.match(text, /chunks of the request body are too small/);
    });
  }

  it('an unexpected endless chunked body closes the connection', async () => {
    const sent = crumbs('GET', '/health', {});
    const { status, headers } = await responseOf(sent);
    assert.deepEqual([status, headers.connection], [200, 'close']);
    await new Promise((resolve) => void (sent.destroyed ? resolve(0) : sent.on('close', resolve)));
  });

  it('an HTTP/2 body without its last byte times out', async () => {
    const session: ClientHttp2Session = connect(fast.url);
    const open = (path: string, more = {}) =>
      session.request({ ':method': 'POST', ':path': path, ...more });
    const stream = open('/api/v3/write_lp?db=d', { 'content-length': '1000' });
    stream.write(Buffer.alloc(999, ' '));
    const [head] = await once(stream, 'response');
    assert.equal(head[':status'], 408);
    stream.resume();
    await once(stream, 'close');
    const other = open('/api/v3/write_lp?db=d');
    other.end('cpu v=1 1\n');
    assert.equal((await once(other, 'response'))[0][':status'], 204);
    session.destroy();
  });

  it('a slow body with pauses is accepted', async () => {
    const lines = Array.from({ length: 6000 }, (_, n) => `slow v=${n} ${n + 1}\n`).join('');
    const sent = post('/api/v3/write_lp?db=d', {}, lines.length, fast);
    const answering = responseOf(sent);
    const third = Math.ceil(lines.length / 3);
    for (let at = 0; at < lines.length; at += third) {
      sent.write(lines.slice(at, at + third));
      await sleep(15_000 / SPEED);
    }
    sent.end();
    assert.equal((await answering).status, 204);
  });
});

describe('bodies of many requests together', () => {
  it('have a common memory bound', async () => {
    // Another server, because bodies of other tests may still be in memory.
    await using own = await ServerProcess.start(OPTIONS);
    let isRefused = false;
    const hold = (): ClientRequest => {
      isRefused = false;
      const sent = post('/api/v3/write_lp?db=d', {}, 2 * MEMORY_BYTES, own);
      sent.once('response', () => {
        isRefused = true;
        sent.destroy();
      });
      sent.write(Buffer.alloc(MEMORY_BYTES - 10_000, ' '));
      return sent;
    };
    let held = hold();
    const ask = async (index: number) => {
      const [path, headers] = ROUTES[index] ?? assert.fail();
      const sent = post(path, headers, 20_000, own);
      sent.end(Buffer.alloc(20_000, ' '));
      return await responseOf(sent);
    };
    // Until the body is complete.
    for (let left = 500; (await ask(0)).status !== 503; left -= 1) {
      assert.ok(left > 0, 'there is room for more than the bound');
      // The other request can take the room for the last bytes.
      if (isRefused) held = hold();
      await sleep(50);
    }
    for (const [index, [path, , name, , full]] of ROUTES.entries()) {
      const { status, headers, text } = await ask(index);
      assert.equal(status, 503, `${path}: ${text}`);
      assert.equal(headers['retry-after'], '1', path);
      assert.equal(member(text, name), full, text);
    }
    assert.ok(!isRefused);
    const ended = new Promise((resolve) => held.once('close', resolve));
    held.destroy();
    await ended;
    let status: number | undefined = 503;
    for (let left = 200; left > 0 && status === 503; left -= 1) ({ status } = await ask(0));
    assert.notEqual(status, 503, 'its room is free again');
  });
});
