// Source: tsdb-http, "Transport and common behavior"; RFC 9110, 8.4 and 12.5.3.
import assert from 'node:assert/strict';
import { get } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import * as zlib from 'node:zlib';
import { rows, ServerInProcess } from '../../harness/index.js';

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start();
  const lines = Array.from({ length: 20_000 }, (_, i) => `m,host=h${i % 50} v=${i} ${i + 1}`);
  const written = await server.http.send('/write?db=c', { body: lines.join('\n') });
  assert.equal(written.status, 204, written.text);
});
after(async () => await server.close());

const SELECT = encodeURIComponent('SELECT * FROM m');
const ENDPOINTS = [
  `/query?db=c&q=${SELECT}`,
  `/query?db=c&q=${SELECT}&chunked=true&chunk_size=100`,
  ...['json', 'jsonl', 'csv', 'pretty'].flatMap((format) => [
    `/api/v3/query_sql?db=c&q=${SELECT}%20ORDER%20BY%20time&format=${format}`,
    `/api/v3/query_influxql?db=c&q=${SELECT}&format=${format}`,
  ]),
];

describe('Answers of queries', () => {
  it('come as gzip to whoever accepts it, with the same bytes in them', async () => {
    for (const path of ENDPOINTS) {
      const plain = await server.http.send(path);
      assert.equal(plain.headers['content-encoding'], undefined);
      const packed = await server.http.send(path, { headers: { 'accept-encoding': 'gzip' } });
      assert.equal(packed.status, 200);
      assert.equal(packed.headers['content-encoding'], 'gzip', path);
      assert.match(String(packed.headers['vary']), /accept-encoding/i);
      assert.equal(packed.headers['content-type'], plain.headers['content-type']);
      assert.ok(packed.bytes.length < plain.bytes.length / 2, path);
      assert.deepEqual(zlib.gunzipSync(packed.bytes), plain.bytes, path);
    }
  });

  it('come as they are when they are short, refused or wished so', async () => {
    const encodingOf = async (path: string, accepted: string): Promise<unknown> => {
      const response = await server.http.send(path, { headers: { 'accept-encoding': accepted } });
      return response.headers['content-encoding'];
    };
    const [long = ''] = ENDPOINTS;
    assert.equal(await encodingOf(`${long}%20LIMIT%201`, 'gzip'), undefined);
    assert.equal(await encodingOf(long, 'gzip;q=0'), undefined);
    assert.equal(await encodingOf(long, 'br'), undefined);
    assert.equal(await encodingOf(long, 'identity'), undefined);
    assert.equal(await encodingOf('/query?db=none&q=SELEC', 'gzip'), undefined);
    assert.equal(await encodingOf(long, 'br;q=1, gzip;q=0.5'), 'gzip');
    // A response sent uncompressed to one client may be compressed for the next.
    const plain = await server.http.send(long, { headers: { 'accept-encoding': 'br' } });
    assert.equal(plain.headers['vary'], 'Accept-Encoding');
  });

  it('come as zstd where Node has it', { skip: !('zstdDecompressSync' in zlib) }, async () => {
    const [path = ''] = ENDPOINTS;
    const plain = await server.http.send(path);
    const packed = await server.http.send(path, { headers: { 'accept-encoding': 'gzip, zstd' } });
    assert.equal(packed.headers['content-encoding'], 'zstd');
    const { zstdDecompressSync } = zlib as unknown as { zstdDecompressSync(b: Buffer): Buffer };
    assert.deepEqual(zstdDecompressSync(packed.bytes), plain.bytes);
  });

  it('end with their query when a client that has stopped reading leaves', async () => {
    const q = encodeURIComponent(
      'SELECT a.v, b.v AS w FROM m a CROSS JOIN (SELECT v FROM m LIMIT 400) b',
    );
    const url = new URL(`${server.url}/api/v3/query_sql?db=c&q=${q}&format=jsonl`);
    const left = await new Promise<void>((resolve, reject) => {
      const request = get(url, { headers: { 'accept-encoding': 'gzip' } }, (response) => {
        assert.equal(response.headers['content-encoding'], 'gzip');
        response.pause();
        // By then its buffers and the server's are full, so that the compressor waits for its reader.
        setTimeout(() => {
          response.destroy();
          resolve();
        }, 1500);
      });
      request.on('error', reject);
    });
    assert.equal(left, undefined);
    const running = async (): Promise<number> => {
      const sql =
        "SELECT count(*) AS n FROM system.queries WHERE running AND query_text LIKE '%CROSS JOIN (%' AND query_text NOT LIKE '%system.queries%'";
      const [row] = (await rows(server, 'c', sql)) as { n: number }[];
      return row?.n ?? -1;
    };
    for (let tries = 0; (await running()) > 0; tries++) {
      assert.ok(tries < 100, 'the query still runs');
      await sleep(100);
    }
  });

  it('are not compressed by a server that was told not to', async () => {
    const other = await ServerInProcess.start({
      flags: ['--without-auth', '--compress-answers', 'false'],
    });
    try {
      await other.http.send('/write?db=c', { body: `m s="${'x'.repeat(5000)}" 1` });
      const response = await other.http.send(`/query?db=c&q=${SELECT}`, {
        headers: { 'accept-encoding': 'gzip' },
      });
      assert.equal(response.headers['content-encoding'], undefined);
      assert.match(response.text, /x{5000}/);
    } finally {
      await other.close();
    }
  });
});
