// Source: docs/adr/0090-one-request-pipeline.md: the fast reader sends exactly the bytes that Node's HTTP server would have sent.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  Http2Client,
  RawConnection,
  rows,
  ServerInProcess,
  WITH_SAMPLE_DATA,
} from '../../harness/index.js';

/** A header that makes the fast reader leave the request to Node's HTTP server. */
const NOT_FAST = 'TE: trailers';
const ADMIN_TOKEN = '/api/v3/configure/token/admin';

/** A write without a body, or with one in the same piece as its head. */
const WHOLE_RESPONSE =
  /^HTTP\/1\.1 (200 [\s\S]*\r\n\r\n[\s\S]+|204 [\s\S]*\r\n\r\n|[345]\d\d [\s\S]*\r\n\r\n[\s\S]+)$/;

interface WriteText {
  readonly target: string;
  readonly body: string;
  readonly headers?: readonly string[];
}

const requestText = ({ target, body, headers = [] }: WriteText): string =>
  `${[`POST ${target} HTTP/1.1`, 'Host: localhost', ...headers, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`;

/** The only response on a connection, without its date. */
async function responseTo(server: ServerInProcess, write: WriteText): Promise<string> {
  using connection = await RawConnection.open(server.url);
  connection.send(requestText(write));
  return (await connection.until(WHOLE_RESPONSE)).replace(/^date: .*\r\n/im, '');
}

describe('A short write', () => {
  let server: ServerInProcess;
  before(async () => {
    server = await ServerInProcess.start();
  });
  after(async () => await server.close());

  it('is stored and counted once', async () => {
    const counted = async (): Promise<number> => {
      const { text } = await server.http.send('/metrics');
      const line = /^http_requests_total\{method="POST",path="\/write",status="ok"\} (\d+)$/m;
      return Number(line.exec(text)?.[1] ?? 0);
    };
    const before = await counted();
    const write = { target: '/write?db=once', body: 'm v=1 1' };
    assert.match(await responseTo(server, write), /^HTTP\/1\.1 204 No Content\r\n/);
    assert.equal(await counted(), before + 1);
    assert.deepEqual(await rows(server, 'once', 'SELECT count(*) AS n FROM m'), [{ n: 1 }]);
  });

  it('keeps the connection for requests of every kind, in order', async () => {
    using connection = await RawConnection.open(server.url);
    const write = (n: number): string =>
      requestText({ target: '/write?db=mixed', body: `m v=${n} ${n}` });
    for (const n of [1, 2, 3]) {
      connection.send(write(n));
      await connection.until(new RegExp(`(HTTP/1\\.1 204[\\s\\S]*?\\r\\n\\r\\n){${n}}$`));
    }
    const fourth = write(4);
    connection.send(fourth.slice(0, -3));
    connection.send(
      `${fourth.slice(-3)}${write(5)}GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    );
    await connection.until(/(HTTP\/1\.1 204[\s\S]*?\r\n\r\n){5}HTTP\/1\.1 200 [\s\S]*\r\n\r\nOK$/);
    connection.send(write(6));
    await connection.until(/OKHTTP\/1\.1 204[\s\S]*\r\n\r\n$/);
    const sum = await rows(server, 'mixed', 'SELECT sum(v) AS s, count(*) AS n FROM m');
    assert.deepEqual(sum, [{ s: 21, n: 6 }]);
  });

  it('continues after a request that the fast reader does not accept', async () => {
    using connection = await RawConnection.open(server.url);
    const text = requestText({ target: '/write?db=two', body: 'm v=1 1' });
    connection.send(
      text + text.replace('Host: localhost', `Host: localhost\r\n${NOT_FAST}`) + text,
    );
    await connection.until(/^(HTTP\/1\.1 204[\s\S]*?\r\n\r\n){3}$/);
  });
});

interface QueryText {
  readonly method?: string;
  readonly target: string;
  readonly body?: string;
  readonly headers?: readonly string[];
}

const queryText = ({ method = 'GET', target, body, headers = [] }: QueryText): string => {
  const length = body === undefined ? [] : [`Content-Length: ${body.length}`];
  const head = [`${method} ${target} HTTP/1.1`, 'Host: localhost', ...headers, ...length];
  return `${head.join('\r\n')}\r\n\r\n${body ?? ''}`;
};

const CHECK = '/ops/v1/rate-limits/check';

describe('A request', () => {
  let server: ServerInProcess;
  const ROW_COUNT = 6000;
  before(async () => {
    server = await ServerInProcess.start({ env: WITH_SAMPLE_DATA });
    const lines = Array.from(
      { length: ROW_COUNT },
      (_, i) => `m,h=h${i % 7} v=${i},t="text ${i}" ${1_700_000_000 + i}`,
    );
    const target = '/api/v3/write_lp?db=short&precision=second';
    const { status } = await server.http.send(target, { body: lines.join('\n') });
    assert.equal(status, 204);
  });
  after(async () => await server.close());

  /** The complete response, also chunked, without parts that differ between requests. */
  const wholeResponse = async (query: QueryText): Promise<string> => {
    using connection = await RawConnection.open(server.url);
    connection.send(queryText(query));
    // The start of the next response marks the end of this one.
    await connection.until(/\r\n\r\n/);
    connection.send('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const text = await connection.until(
      /HTTP\/1\.1 200 OK\r\n(?:(?!HTTP\/1\.1)[\s\S])*\r\n\r\nOK$/,
    );
    const end = text.lastIndexOf('HTTP/1.1 200 OK');
    return text
      .slice(0, end)
      .replace(/^(date|request-id|x-request-id|x-\w+-request-id): .*\r\n/gim, '')
      .replace(/(x-ratelimit-(?:used|remaining|reset)"?: ?"?)\d+/g, '$1')
      .replace(/process_id":"[^"]*/, '');
  };

  const E = encodeURIComponent;
  const sql = (text: string, more = ''): string => `/api/v3/query_sql?db=short${more}&q=${E(text)}`;
  const v1 = (text: string, more = ''): string => `/query?db=short${more}&q=${E(text)}`;
  const FEW = 'SELECT * FROM m WHERE v < 3 ORDER BY time';
  const ALL = 'SELECT * FROM m ORDER BY time';
  const FORM = 'Content-Type: application/x-www-form-urlencoded';
  const JSON_BODY = 'Content-Type: application/json';
  const packed = (text: string): string => gzipSync(text).toString('latin1');
  const CASES: readonly (readonly [string, QueryText])[] = [
    ['sql', { target: sql(FEW) }],
    ...['json', 'jsonl', 'csv', 'pretty', 'parquet', 'other'].flatMap(
      (format): [string, QueryText][] => [
        [`sql as ${format}`, { target: sql(FEW, `&format=${format}`) }],
        [`all rows in sql as ${format}`, { target: sql(ALL, `&format=${format}`) }],
        [
          `influxql as ${format}`,
          { target: `/api/v3/query_influxql?db=short&format=${format}&q=${E('SELECT v FROM m')}` },
        ],
      ],
    ),
    ['sql that is wrong', { target: sql('SELEC 1') }],
    ['sql over nothing', { target: sql('SELECT * FROM nothing') }],
    ['sql of another database', { target: '/api/v3/query_sql?db=none&q=SELECT%201' }],
    ['sql without a database', { target: '/api/v3/query_sql?q=SELECT%201' }],
    ['sql without parameters', { target: '/api/v3/query_sql' }],
    ['a type', { target: sql(FEW), headers: ['Accept: text/csv', 'User-Agent: a/1'] }],
    ['an unknown type', { target: sql(FEW), headers: ['Accept: image/png'] }],
    [
      'sql as JSON',
      {
        method: 'POST',
        target: '/api/v3/query_sql',
        body: JSON.stringify({ db: 'plain', q: 'SELECT $v AS v', params: { v: 1 } }),
        headers: [JSON_BODY],
      },
    ],
    [
      'packed sql',
      {
        method: 'POST',
        target: '/api/v3/query_sql',
        body: packed(JSON.stringify({ db: 'plain', q: FEW })),
        headers: ['Content-Encoding: gzip'],
      },
    ],
    [
      'sql that is not packed',
      { method: 'POST', target: '/query', body: 'q=a', headers: ['Content-Encoding: gzip'] },
    ],
    [
      'another encoding',
      { method: 'POST', target: '/query', body: 'q=a', headers: ['Content-Encoding: br'] },
    ],
    ['v1', { target: v1('SELECT v FROM m WHERE v < 3') }],
    ['v1 in two statements', { target: v1('SHOW DATABASES; SELECT x FROM nothing') }],
    ['v1, all rows', { target: v1('SELECT * FROM m', '&epoch=ms') }],
    ['v1, all series', { target: v1('SELECT * FROM m GROUP BY h', '&pretty=true') }],
    ['v1 in chunks', { target: v1('SELECT * FROM m', '&chunked=true&chunk_size=500') }],
    ['v1 as CSV', { target: v1('SELECT * FROM m'), headers: ['Accept: application/csv'] }],
    [
      'v1 as MessagePack',
      { target: v1('SELECT v FROM m'), headers: ['Accept: application/x-msgpack'] },
    ],
    ['v1 of a wrong type', { target: v1('SELECT v FROM m'), headers: ['Accept: image/png'] }],
    ['v1 that is wrong', { target: v1('SELEC') }],
    ['v1 without parameters', { target: '/query' }],
    ['v1 with a wrong epoch', { target: v1('SHOW DATABASES', '&epoch=x') }],
    [
      'v1 as a form',
      { method: 'POST', target: '/query', body: 'db=short&q=SHOW+TAG+KEYS', headers: [FORM] },
    ],
    ['v1 as text', { method: 'POST', target: '/query?db=short', body: 'SHOW FIELD KEYS' }],
    ['v1 in the URL of a POST', { method: 'POST', target: v1('SHOW SERIES'), body: ' ' }],
    ['v1 at the other path', { target: `/query/?db=short&q=${E('SHOW MEASUREMENTS')}` }],
    ['a body of a GET', { target: v1('SHOW DATABASES'), body: 'x' }],
    ...['m,h=a v=1 1', 'm v=1 1\nm v=1x 2\nm v=2 3', 'wrong', 'm v="\xff" 1'].flatMap(
      (body): [string, QueryText][] =>
        ['/api/v3/write_lp?db=both', '/write?db=both', '/api/v2/write?org=o', '/write'].map(
          (target) => [`a write of ${body}`, { method: 'POST', target, body }],
        ),
    ),
    ['an account', { method: 'POST', target: '/v2/core/accounts', body: '{}' }],
    ['a question to the limiter', { method: 'POST', target: CHECK, body: '{"ip":"192.0.2.7"}' }],
    ['a question that is none', { method: 'POST', target: CHECK, body: '{"identity":' }],
    ['a list of items', { target: '/api/items?limit=3', headers: ['Accept-Encoding: br'] }],
    ['a level', { target: '/api/levels/1' }],
    ['a level that is not there', { target: '/api/levels/999' }],
    ['a type that is not spoken', { target: '/api/items', headers: ['Accept: image/png'] }],
    ['an app without a token', { target: '/app' }],
    ['a list of an operator', { target: '/ops/v1/apps' }],
    ['a change of an operator', { method: 'PATCH', target: '/ops/v1/apps/1', body: '{}' }],
    ['a deletion', { method: 'DELETE', target: '/ops/v1/apps/1' }],
    ['another method', { method: 'PUT', target: '/api/items', body: '{}' }],
    ['nothing that is there', { target: '/nowhere' }],
    ['a page', { target: '/docs' }],
    ['a ping', { target: '/ping' }],
    ['a ping of a client for Go', { target: '/ping', headers: ['User-Agent: InfluxDBClient'] }],
    ['a ping by HEAD', { method: 'HEAD', target: '/ping' }],
  ];

  it('gets the same bytes from both transports', {
    timeout: 120_000,
  }, async () => {
    for (const [what, query] of CASES) {
      const response = await wholeResponse(query);
      const headers = [...(query.headers ?? []), NOT_FAST];
      assert.equal(response, await wholeResponse({ ...query, headers }), what);
      assert.match(response, /^HTTP\/1\.1 \d{3} /, what);
    }
  });

  it('is counted once', async () => {
    const counted = async (): Promise<number> => {
      const { text } = await server.http.send('/metrics');
      const line = /^http_requests_total\{method="GET",path="\/query",status="ok"\} (\d+)$/m;
      return Number(line.exec(text)?.[1] ?? 0);
    };
    const before = await counted();
    for (const text of ['SHOW DATABASES', 'SELECT * FROM m'])
      await wholeResponse({ target: v1(text) });
    assert.equal(await counted(), before + 2);
  });

  it('is canceled when its client disconnects', { timeout: 60_000 }, async () => {
    const slow = 'SELECT count(*) AS n FROM m a, m b, m c, m d WHERE a.v + b.v + c.v + d.v < 0';
    const cancelled = async (): Promise<number> => {
      const { text } = await server.http.send('/metrics');
      return Number(/^query_log_phase_entered_total\{phase="cancel"\} (\d+)$/m.exec(text)?.[1]);
    };
    for (const leave of ['close', 'finish'] as const) {
      const before = await cancelled();
      using connection = await RawConnection.open(server.url);
      connection.send(queryText({ target: sql(slow) }));
      // The query would take minutes; the exact time of cancellation does not matter.
      await new Promise((resolve) => setTimeout(resolve, 200));
      connection[leave]();
      while ((await cancelled()) === before)
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

  it('has a body of the allowed size', async () => {
    const flags = ['--without-auth', '--max-http-request-size', '1024'];
    await using small = await ServerInProcess.start({ flags });
    for (const [size, status] of [
      [1024, 400],
      [1025, 413],
    ] as const) {
      const body = 'x'.repeat(size);
      for (const headers of [[], [NOT_FAST]]) {
        using connection = await RawConnection.open(small.url);
        connection.send(queryText({ method: 'POST', target: '/api/v3/query_sql', body, headers }));
        const response = await connection.until(/\r\n\r\n[\s\S]+\}$/);
        assert.equal(response.split(' ', 2)[1], String(status), response);
      }
    }
  });

  it('streams as the client reads, and ends when it disconnects', async () => {
    const wide = 'SELECT a.t AS x, b.t AS y FROM m a, m b WHERE a.v < 200';
    {
      using connection = await RawConnection.open(server.url);
      connection.send(queryText({ target: sql(wide, '&format=jsonl') }));
      await connection.until(
        /^HTTP\/1\.1 200 OK\r\n[\s\S]*Transfer-Encoding: chunked\r\n\r\n[0-9a-f]+\r\n\{/,
      );
    }
    assert.match(await wholeResponse({ target: v1('SHOW DATABASES') }), /^HTTP\/1\.1 200 /);
  });
});

describe('A half-closed client', () => {
  it('gets the response to its request', async () => {
    const server = await ServerInProcess.start();
    try {
      using connection = await RawConnection.open(server.url);
      connection.send(requestText({ target: '/write?db=d', body: 'm v=1 1' }));
      connection.finish();
      assert.match(await connection.untilEnd(), /^HTTP\/1\.1 204 /);
    } finally {
      await server.close();
    }
  });
});

describe('A short write that needs a token', () => {
  it('is refused like any other, also after the token was revoked', async () => {
    const server = await ServerInProcess.start({ flags: [] });
    try {
      const created = await server.http.send(ADMIN_TOKEN, { method: 'POST' });
      const { token } = JSON.parse(created.text);
      const target = '/api/v3/write_lp?db=secret';
      const bearer = (text: string) => ({
        ...{ target, body: 'm v=1 1', headers: [`Authorization: Bearer ${text}`] },
      });
      assert.match(await responseTo(server, bearer(token)), /^HTTP\/1\.1 204 /);
      assert.match(await responseTo(server, bearer('wrong')), /^HTTP\/1\.1 401 /);
      assert.match(await responseTo(server, { target, body: 'm v=1 1' }), /^HTTP\/1\.1 401 /);
      using connection = await RawConnection.open(server.url);
      connection.send(requestText(bearer(token)));
      await connection.until(/^HTTP\/1\.1 204 [\s\S]*\r\n\r\n$/);
      const regenerated = await server.http.send(`${ADMIN_TOKEN}/regenerate`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
      });
      assert.ok(regenerated.status < 300, regenerated.text);
      connection.send(requestText(bearer(token)));
      await connection.until(/HTTP\/1\.1 401 /);
    } finally {
      await server.close();
    }
  });
});

describe('A stopping server', () => {
  it('closes idle connections that only wrote', async () => {
    const server = await ServerInProcess.start();
    const connection = await RawConnection.open(server.url);
    connection.send(requestText({ target: '/write?db=last', body: 'm v=1 1' }));
    await connection.until(/^HTTP\/1\.1 204 [\s\S]*\r\n\r\n$/);
    await server.close();
    assert.equal((await connection.untilEnd()).match(/HTTP\/1\.1/g)?.length, 1);
  });
});

it('a response lists everything it varies on, on both transports', async () => {
  const page = 'https://grafana.example';
  await using server = await ServerInProcess.start({
    flags: ['--without-auth', '--server-cors-origins', page],
  });
  const path = `/api/v3/query_sql?db=_internal&q=${encodeURIComponent("SELECT repeat('x', 3000)")}`;
  const namesIn = (values: readonly string[]) =>
    values.flatMap((value) => value.toLowerCase().split(/\s*,\s*/)).sort();
  const expected = ['accept-encoding', 'origin'];
  for (const more of ['Accept: */*', NOT_FAST]) {
    using connection = await RawConnection.open(server.url);
    const head = [`GET ${path} HTTP/1.1`, 'Host: localhost', `Origin: ${page}`];
    const lines = [...head, 'Accept-Encoding: identity', more];
    connection.send(`${lines.join('\r\n')}\r\n\r\n`);
    const response = await connection.until(/^HTTP\/1\.1 200 [\s\S]*x{3000}/);
    const said = [...response.matchAll(/^vary: (.*?)\r$/gim)].map(([, value = '']) => value);
    assert.deepEqual(namesIn(said), expected, more);
  }
  await using client = new Http2Client(server.url);
  const { headers } = await client.send(path, {
    headers: { origin: page, 'accept-encoding': 'identity' },
  });
  assert.deepEqual(namesIn([String(headers['vary'])]), expected);
});
