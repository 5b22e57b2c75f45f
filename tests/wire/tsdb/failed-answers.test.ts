// A response that fails after its first rows is distinguishable from a complete one, in every format and HTTP version.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import { after, before, describe, it } from 'node:test';
import { assertEmpty, SharedServer } from '../../harness/index.js';

const ROW_COUNT = 300_000;
const BATCH_ROWS = 50_000;

let server: SharedServer;
before(async () => {
  server = await SharedServer.get();
  for (let from = 0; from < ROW_COUNT; from += BATCH_ROWS) {
    const lines = Array.from({ length: BATCH_ROWS }, (_, i) => {
      const n = from + i;
      return `m,host=h${n % 50} f=${n}i,s="${n === ROW_COUNT - 1000 ? 'no number' : n}" ${1_700_000_000 + n}`;
    });
    const body = lines.join('\n');
    assertEmpty(await server.http.send('/api/v3/write_lp?db=failing&precision=second', { body }));
  }
});
after(async () => await server.close());

const joined = (value: string): string =>
  `SELECT ${value} AS v FROM m a JOIN m b ON a.time = b.time`;

async function respond(q: string, format: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${server.url}/api/v3/query_sql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ db: 'failing', q, format }),
  });
  return { status: response.status, text: await response.text() };
}

describe('an answer with a value that cannot be computed', () => {
  for (const format of ['jsonl', 'json', 'csv', 'arrow', 'parquet']) {
    it(`is no whole answer in ${format}`, async () => {
      let isCut = false;
      const failed = await respond(joined('CAST(a.s AS BIGINT)'), format).catch(
        (error: unknown) => {
          isCut = true;
          assert.match(String((error as Error).cause ?? error), /closed|terminated|reset/);
          return undefined;
        },
      );
      if (!isCut) assert.equal(failed?.status, 400);
    });
  }

  // Rows are read in time order, so that some rows have been sent before the failing row.
  const body = JSON.stringify({
    db: 'failing',
    q: 'SELECT CAST(s AS BIGINT) AS v FROM m',
    format: 'csv',
  });

  it('is no whole answer over HTTP/2', async () => {
    const session = http2.connect(server.url);
    try {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/api/v3/query_sql',
        'content-type': 'application/json',
      });
      stream.end(body);
      let status: unknown;
      stream.on('response', (headers) => {
        status = headers[':status'];
      });
      stream.on('error', () => {}); // The error code is checked below.
      stream.resume();
      await new Promise((closed) => stream.once('close', closed));
      assert.equal(status, 200);
      assert.equal(stream.rstCode, http2.constants.NGHTTP2_INTERNAL_ERROR);
    } finally {
      session.close();
    }
  });

  it('is no whole answer over HTTP/1.0, whose only end is that of the connection', async () => {
    const { port } = new URL(server.url);
    const socket = net.connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
    let error: NodeJS.ErrnoException | undefined;
    // libuv reports a reset as the end if it arrives together with data. Only then the next write fails.
    socket.on('end', () => {
      socket.write('x', (err) => {
        error ??= err ?? undefined;
        socket.destroy();
      });
    });
    socket.write(
      `POST /api/v3/query_sql HTTP/1.0\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    let text = '';
    socket.on('data', (piece) => {
      text += piece.toString('latin1', 0, text === '' ? 15 : 0);
    });
    socket.on('error', (err) => {
      error = err;
    });
    await new Promise((closed) => socket.once('close', closed));
    assert.match(text, /^HTTP\/1\.[01] 200/);
    assert.match(String(error?.code), /^(?:ECONNRESET|EPIPE)$/);
  });

  it('is whole without it', async () => {
    const { status, text } = await respond(joined('a.f'), 'jsonl');
    assert.equal(status, 200);
    assert.equal(text.split('\n').length - 1, ROW_COUNT);
  });
});

describe('an answer in InfluxQL whose statement is canceled', () => {
  const cancelAll = async (): Promise<void> => {
    const queries = `${server.url}/ops/v1/tsdb/queries`;
    const listed = (await (await fetch(`${queries}?running=true`)).json()) as {
      queries: { id: string }[];
    };
    assert.equal(listed.queries.length, 1);
    for (const { id } of listed.queries) await fetch(`${queries}/${id}`, { method: 'DELETE' });
  };

  for (const accept of ['application/csv', 'application/json']) {
    it(`is no whole answer in ${accept}`, async () => {
      const q = encodeURIComponent('SELECT f, s FROM m GROUP BY h');
      const request = http.get(`${server.url}/query?db=failing&q=${q}`, { headers: { accept } });
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      assert.equal(response.statusCode, 200);
      await cancelAll(); // The remaining response is waiting for its reader.
      await assert.rejects(response.toArray(), /aborted/);
    });
  }
});
