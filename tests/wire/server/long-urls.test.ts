// Source: tsdb-http, "v1 query endpoint": statements of up to 1 MB in the URL, as InfluxDB 1.x and 2.x accept.
// Own process: its memory is measured.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import {
  assertEmpty,
  RawConnection,
  ServerInProcess,
  ServerProcess,
  testCertificate,
  tlsFlags,
} from '../../harness/index.js';
import { residentMb } from '../../harness/slow-readers.js';

const SQL = '/api/v3/query_sql?db=urls&format=json&q=SELECT%201%20AS%20xxx%20--';
const V1 = "/query?db=urls&q=SELECT%20v%20FROM%20m%20WHERE%20t%20!=%20'";
const INFLUXQL = `/api/v3/query_influxql?db=urls&format=json&q=${V1.split('&q=')[1]}`;
const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);

function headOf(path: string, size: number, ...headers: readonly string[]): string {
  const target = `${path}${'x'.repeat(size - path.length - 1)}'`;
  return ['GET ' + target + ' HTTP/1.1', 'Host: localhost', ...headers, '', ''].join('\r\n');
}

describe('queries in the URL', () => {
  let server: ServerProcess;
  before(async () => {
    server = await ServerProcess.start({ flags: ['--without-auth'] });
    assertEmpty(await server.http.send('/api/v3/write_lp?db=urls', { body: 'm v=1 1' }));
  });
  after(async () => await server.close());

  const ask = async (head: string): Promise<string> => {
    using connection = await RawConnection.open(server.url);
    connection.send(head);
    return await connection.until(/\r\n\r\n.*[\]}]/s);
  };

  it('work up to a megabyte, and are refused with a clear message beyond', async () => {
    for (const header of ['Accept: */*', 'X-Panel: 1']) {
      for (const path of [SQL, V1, INFLUXQL]) {
        // A SQL statement has at most a million characters, also with POST.
        const longest = path === SQL ? 1_000_000 : 1_048_000;
        for (const size of [1000, 9000, 17_000, 33_000, 65_000, 66_000, 200_000, longest]) {
          const text = await ask(headOf(path, size, header));
          assert.deepEqual(statusesOf(text), ['200'], `${path} ${size} ${header}`);
        }
        for (const size of [1_053_000, 4_000_000]) {
          const text = await ask(headOf(path, size, header));
          assert.deepEqual(statusesOf(text), ['431'], `${path} ${size} ${header}`);
        }
      }
    }
  });

  it('may be long only at query paths', async () => {
    for (const path of ["/api/items?q='", "/health?q='", "/api/v3/configure/database?q='"]) {
      assert.deepEqual(statusesOf(await ask(headOf(path, 66_000))), ['431'], path);
    }
    const post = headOf(V1, 66_000).replace('GET', 'POST');
    assert.deepEqual(statusesOf(await ask(post)), ['431'], 'a POST has a body');
  });

  it('work byte by byte, after short ones, and in one piece', async () => {
    using connection = await RawConnection.open(server.url);
    const short = headOf(SQL, 200);
    connection.send(short);
    await connection.until(/xxx.*[\]}]/s);
    const long = headOf(SQL, 300_000);
    // The end of the head in one-byte pieces.
    for (const piece of [long.slice(0, 700), long.slice(700, -4)]) {
      connection.send(piece);
      await sleep(50);
    }
    for (const byte of long.slice(-4)) {
      connection.send(byte);
      await sleep(10);
    }
    const text = await connection.untilEnd();
    assert.deepEqual(statusesOf(text), ['200', '200']);
    assert.match(text, /connection: close/i, 'the connection of a long one ends');
    using kept = await RawConnection.open(server.url);
    const usual = headOf(SQL, 40_000);
    kept.send(usual.slice(0, 10_000));
    await sleep(50);
    kept.send(usual.slice(10_000));
    await kept.until(/x.*[\]}]/s);
    kept.send(short.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    assert.deepEqual(statusesOf(await kept.untilEnd()), ['200', '200'], 'others stay');
  });

  it('share 64 MiB while incomplete, are refused beyond, and are released', async () => {
    const before = residentMb(server.pid);
    const open: RawConnection[] = [];
    const part = headOf(SQL, 1_000_000).slice(0, 900_000);
    for (let index = 0; index < 120; index++) {
      const connection = await RawConnection.open(server.url);
      open.push(connection);
      connection.send(part);
    }
    await sleep(1000);
    const text = await ask(headOf(SQL, 900_000));
    assert.deepEqual(statusesOf(text), ['503']);
    assert.match(text, /retry-after: 1/i);
    assert.match(text, /too many long URLs at the same time; use POST, or retry later/);
    assert.deepEqual(statusesOf(await ask(headOf(SQL, 2000))), ['200'], 'shorter ones go on');
    assert.ok(residentMb(server.pid) - before < 300, 'bounded');
    for (const connection of open) connection.close();
    await sleep(300);
    assert.deepEqual(statusesOf(await ask(headOf(SQL, 900_000))), ['200']);
  });

  it('return 408 after fifteen seconds if incomplete', async () => {
    const speed = 10;
    await using fast = await ServerInProcess.start({ speed });
    using connection = await RawConnection.open(fast.url);
    const beginMs = Date.now();
    connection.send(headOf(SQL, 900_000).slice(0, 800_000));
    const text = await connection.until(/\r\n\r\n.*[\]}]/s);
    assert.deepEqual(statusesOf(text), ['408']);
    const tookMs = (Date.now() - beginMs) * speed;
    assert.ok(tookMs > 14_000, String(tookMs));
  });

  it('take no more time in a thousand small pieces than in one', async () => {
    const head = headOf(SQL, 1_000_000);
    using connection = await RawConnection.open(server.url);
    const pieceLength = 500;
    for (let at = 0; at < head.length; at += pieceLength) {
      connection.send(head.slice(at, at + pieceLength));
      if (at % 5000 === 0) await sleep(1);
    }
    assert.deepEqual(statusesOf(await connection.until(/\r\n\r\n.*[\]}]/s)), ['200']);
  });
});

it('queries of a megabyte in the URL also work over TLS', async () => {
  await using server = await ServerInProcess.start({
    flags: ['--without-auth', ...tlsFlags(testCertificate('first'))],
  });
  const response = await fetchOver(
    server.url,
    headOf(SQL.replace('db=urls', 'db=_internal'), 800_000),
  );
  assert.deepEqual(statusesOf(response), ['200']);
});

async function fetchOver(url: string, head: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
  socket.write(head);
  let text = '';
  for await (const piece of socket) text += piece;
  return text;
}
