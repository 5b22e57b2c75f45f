// Source: docs/LIVE-QUERIES.md. Own process: one is killed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLI } from '../../harness/cli.js';
import { freePort } from '../../harness/free-ports.js';
import {
  assertEmpty,
  assertError,
  LiveStream,
  type RunningServer,
  ServerInProcess,
  ServerProcess,
} from '../../harness/index.js';

type Row = Readonly<Record<string, unknown>>;
type Headers = Readonly<Record<string, string>>;

const pathOf = (db: string, q: string, more: Readonly<Record<string, string>> = {}): string =>
  `/api/v3/subscribe?${new URLSearchParams({ db, q, ...more })}`;
const rowsOf = (stream: LiveStream, event = ''): readonly Row[] =>
  stream.events.filter((each) => each.event === event).flatMap(({ data }) => data as Row[]);
const lastIdOf = (stream: LiveStream): string => stream.events.at(-1)?.id ?? '';

async function follow(
  server: RunningServer,
  path: string,
  headers: Headers = {},
  isRead = true,
): Promise<LiveStream> {
  let stream = await LiveStream.openPath(server.url, path, headers, isRead);
  // The server may not have noticed yet that streams of other tests were closed.
  for (let tries = 0; stream.status === 503 && tries < 100; tries++) {
    await sleep(20);
    stream = await LiveStream.openPath(server.url, path, headers, isRead);
  }
  if (isRead) assert.equal(stream.status, 200, stream.text);
  return stream;
}

async function write(server: RunningServer, db: string, lines: string): Promise<void> {
  const path = `/api/v3/write_lp?db=${db}&precision=nanosecond`;
  assertEmpty(await server.http.send(path, { body: lines }));
}

const untilCount = (stream: LiveStream, count: number, event = '') =>
  stream.until(() => rowsOf(stream, event).length >= count);

describe('a live query', () => {
  let server: ServerInProcess;
  before(async () => {
    server = await ServerInProcess.start({
      flags: ['--without-auth', '--tsdb-max-live-queries=20'],
    });
    await write(server, 'd', 'm,h=a,r=x v=1,n=1i,s="t",b=true 1\nother v=1 1');
  });
  after(() => server.close());

  it('sends the matching rows of later writes, with their values as a query returns them', async () => {
    const q = "SELECT time, h, v, n, s, b FROM m WHERE h = 'a' AND v > 1";
    const stream = await follow(server, pathOf('d', q));
    assert.equal(stream.headers['content-type'], 'text/event-stream');
    await write(
      server,
      'd',
      'm,h=a v=1 2\nm,h=a,r=x v=2.5,n=9007199254740993i,s="a\\"\nü",b=f 1000000003\nm,h=b v=3 4\nm,h=a n=1i 5\nm,h=a v=4 6',
    );
    await untilCount(stream, 2);
    const response = await server.http.send(
      `/api/v3/query_sql?${new URLSearchParams({ db: 'd', q, format: 'json_rows' })}`,
    );
    // The query returns the rows in the order of their times.
    const byTime = (a: Row, b: Row) => String(a['time']).localeCompare(String(b['time']));
    assert.deepEqual([...rowsOf(stream)].sort(byTime), JSON.parse(response.text));
    stream.close();
  });

  it('sends rows within 250 ms', async () => {
    const stream = await follow(server, pathOf('d', "SELECT * FROM m WHERE h = 'fast'"));
    const delays: number[] = [];
    for (let count = 1; count <= 5; count++) {
      await write(server, 'd', `m,h=fast v=1 ${count}`);
      const writtenMs = performance.now();
      await untilCount(stream, count);
      delays.push(performance.now() - writtenMs);
    }
    // Other work of a busy machine may delay some of them.
    assert.ok(Math.min(...delays) < 250, String(delays));
    stream.close();
  });

  it('evaluates any condition and expression', async () => {
    const q =
      "SELECT upper(h) AS name, v * 2 AS twice FROM m WHERE h LIKE 'expr%' AND (v > 10 OR s ~ '^yes')";
    const stream = await follow(server, pathOf('d', q));
    await write(server, 'd', 'm,h=expr1 v=11 1\nm,h=expr2 v=1,s="yes!" 2\nm,h=expr3 v=2,s="no" 3');
    // The rows of one event are in the order of their times.
    await untilCount(stream, 2);
    await write(server, 'd', 'm,h=expr4 v=12 1');
    await untilCount(stream, 3);
    assert.deepEqual(rowsOf(stream), [
      { name: 'EXPR1', twice: 22 },
      { name: 'EXPR2', twice: 2 },
      { name: 'EXPR4', twice: 24 },
    ]);
    stream.close();
  });

  it('sends the changed buckets of an aggregate', async () => {
    await write(
      server,
      'd',
      'b,h=x v=1 60000000000\nb,h=x v=3 61000000000\nb,h=x v=9 120000000000',
    );
    const q =
      "SELECT date_bin(INTERVAL '1 minute', time) AS t, h, avg(v) AS a, median(v) AS m FROM b GROUP BY 1, 2";
    const stream = await follow(server, pathOf('d', q));
    await write(server, 'd', 'b,h=x v=8 62000000000');
    await untilCount(stream, 1, 'bucket');
    assert.deepEqual(rowsOf(stream, 'bucket'), [{ t: '1970-01-01T00:01:00', h: 'x', a: 4, m: 3 }]);
    stream.close();
    const again = await follow(server, pathOf('d', q, { since: stream.events[0]?.id ?? '' }));
    await untilCount(again, 1, 'bucket');
    assert.deepEqual(rowsOf(again, 'bucket'), rowsOf(stream, 'bucket'));
    again.close();
  });

  it('includes a new column from its first row on', async () => {
    await write(server, 'd', 'wide v=1 1');
    const stream = await follow(server, pathOf('d', 'SELECT * FROM wide'));
    await write(server, 'd', 'wide v=2 2');
    await write(server, 'd', 'wide v=3,w=4 3');
    await write(server, 'd', 'wide,g=a v=5 4');
    await untilCount(stream, 3);
    assert.deepEqual(
      rowsOf(stream).map(({ time: _time, ...row }) => row),
      [{ v: 2 }, { v: 3, w: 4 }, { v: 5, g: 'a' }],
    );
    stream.close();
  });

  it('continues after a position without gap or duplicate', async () => {
    const q = "SELECT v FROM m WHERE h = 'again'";
    const stream = await follow(server, pathOf('d', q));
    await write(server, 'd', 'm,h=again v=1 1\nm,h=again v=2 2');
    await untilCount(stream, 2);
    stream.close();
    await write(server, 'd', 'm,h=again v=3 3');
    for (const [headers, more] of [
      [{ 'last-event-id': lastIdOf(stream) }, {}],
      [{}, { since: lastIdOf(stream) }],
    ] as const) {
      const again = await follow(server, pathOf('d', q, more), headers);
      await untilCount(again, 1);
      assert.deepEqual(rowsOf(again), [{ v: 3 }]);
      again.close();
    }
    const all = await follow(server, pathOf('d', q, { since: '0' }));
    await write(server, 'd', 'm,h=again v=4 4');
    await untilCount(all, 4);
    assert.deepEqual(rowsOf(all), [{ v: 1 }, { v: 2 }, { v: 3 }, { v: 4 }]);
    all.close();
  });

  it('reports rows that a slow client misses', async () => {
    await write(server, 'd', 'slow s="" 1');
    const slow = await follow(server, pathOf('d', 'SELECT time, s FROM slow'), {}, false);
    const text = 'x'.repeat(50_000);
    const writes = 20;
    for (let i = 0; i < writes; i++) {
      const lines = Array.from({ length: 20 }, (_, k) => `slow s="${text}" ${2 + i * 20 + k}`);
      await write(server, 'd', lines.join('\n'));
    }
    slow.read();
    const { data } = await slow.until(({ event }) => event === 'dropped');
    await write(server, 'd', 'slow s="last" 1');
    await slow.until(() => rowsOf(slow).some(({ s }) => s === 'last'));
    const dropped = slow.events
      .filter(({ event }) => event === 'dropped')
      .reduce((sum, each) => sum + Number(each.data.rows), 0);
    assert.equal(rowsOf(slow).length + dropped, writes * 20 + 1);
    const seqOf = (position: string) => BigInt(position.split('.')[0] ?? '');
    assert.ok(seqOf(data.from) < seqOf(data.to));
    assert.match(data.from_time, /^20\d\d-.*Z$/);
    slow.close();
  });

  it('reports a gap where rows were deleted', async () => {
    await write(server, 'd', 'gone,h=a v=1 1');
    const stream = await follow(server, pathOf('d', 'SELECT * FROM gone'));
    const { id } = await stream.until(({ event }) => event === 'start');
    stream.close();
    await write(server, 'd', 'gone,h=a v=2 2\ngone,h=b v=3 2');
    const deleted = await server.http.send('/api/v2/delete?bucket=d', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        start: '1970-01-01T00:00:00Z',
        stop: '1970-01-02T00:00:00Z',
        predicate: '_measurement="gone" AND h="a"',
      }),
    });
    assertEmpty(deleted);
    const again = await follow(server, pathOf('d', 'SELECT * FROM gone', { since: id }));
    const gap = await again.until(({ event }) => event === 'gap');
    assert.equal(gap.data.from, id);
    await write(server, 'd', 'gone,h=a v=4 3');
    await untilCount(again, 1);
    assert.deepEqual(
      rowsOf(again).map(({ v }) => v),
      [4],
    );
    again.close();
    const foreign = { since: '9223372036854775807' };
    const restored = await follow(server, pathOf('d', 'SELECT * FROM gone', foreign));
    const unknown = await restored.until(({ event }) => event === 'gap');
    assert.equal(unknown.data.from, '0');
    await write(server, 'd', 'gone,h=a v=5 4');
    await untilCount(restored, 1);
    restored.close();
  });

  it('refuses what cannot be a live query', async () => {
    const supported =
      'a live query reads one table, as SELECT … FROM table [WHERE …], or as an aggregate with date_bin(INTERVAL …, time) in GROUP BY; ' +
      'joins, subqueries, DISTINCT, LIMIT, window functions, gap filling, and ORDER BY without GROUP BY are not supported';
    for (const q of [
      'SELECT * FROM m JOIN other ON m.v = other.v',
      'SELECT * FROM m WHERE v IN (SELECT v FROM other)',
      'SELECT * FROM m LIMIT 1',
      'SELECT * FROM m ORDER BY time',
      'SELECT DISTINCT h FROM m',
      'SELECT count(*) FROM m',
      'SELECT h, count(*) FROM m GROUP BY h',
      'SELECT row_number() OVER (ORDER BY time) FROM m',
      "SELECT date_bin_gapfill(INTERVAL '1 minute', time), avg(v) FROM m WHERE time > '1970-01-01' AND time < '1970-01-02' GROUP BY 1",
      'SELECT * FROM m UNION ALL SELECT * FROM m',
      'SELECT 1',
      'SELECT * FROM system.queries',
      'SHOW TABLES',
      'EXPLAIN SELECT * FROM m',
    ])
      assertError(await server.http.send(pathOf('d', q)), 400, supported);
    assertError(
      await server.http.send(pathOf('d', 'SELECT * FROM m', { since: 'x' })),
      400,
      'invalid position "x"; use an event id from a live query',
    );
    assertError(
      await server.http.send(pathOf('d', 'SELECT * FROM m', { format: 'parquet' })),
      400,
      'unsupported format "parquet"; use json, json_rows, jsonl, csv, pretty',
    );
    assert.equal((await server.http.send(pathOf('none', 'SELECT * FROM m'))).status, 404);
    assert.equal((await server.http.send(pathOf('d', 'SELECT * FROM none'))).status, 400);
  });

  it('is limited in number', async () => {
    const path = pathOf('d', 'SELECT * FROM m');
    const streams: LiveStream[] = [];
    // The server may not have noticed yet that streams of other tests were closed.
    while (streams.at(-1)?.status !== 503) {
      streams.push(await LiveStream.openPath(server.url, path));
      assert.ok(streams.length <= 21);
    }
    assertError(
      await server.http.send(path),
      503,
      'the server runs 20 live queries, which is the limit; close unused streams or raise tsdb.max_live_queries',
    );
    for (const stream of streams) stream.close();
    for (let status = 503; status === 503; ) {
      const stream = await LiveStream.openPath(server.url, path);
      status = stream.status;
      stream.close();
    }
  });

  it('ends with its table or database', async () => {
    await write(server, 'e', 'm v=1 1\nkept v=1 1');
    const ofTable = await follow(server, pathOf('e', 'SELECT * FROM m'));
    const ofDatabase = await follow(server, pathOf('e', 'SELECT * FROM kept'));
    const remove = (path: string) => server.http.send(path, { method: 'DELETE' });
    assert.equal((await remove('/api/v3/configure/table?db=e&table=m')).status, 200);
    const { data } = await ofTable.until(({ event }) => event === 'end');
    assert.deepEqual(data, { reason: 'the table was deleted' });
    assert.equal((await remove('/api/v3/configure/database?db=e')).status, 200);
    const end = await ofDatabase.until(({ event }) => event === 'end');
    assert.deepEqual(end.data, { reason: 'the database was deleted' });
    await ofDatabase.untilOver();
  });
});

describe('a live query with a token', () => {
  let server: ServerInProcess;
  let admin: Headers;
  before(async () => {
    server = await ServerInProcess.start({ flags: [] });
    const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    admin = { authorization: `Bearer ${JSON.parse(made.text).token}` };
    for (const db of ['d', 'secret'])
      assertEmpty(await server.http.send(`/write?db=${db}`, { headers: admin, body: 'm v=1 1' }));
  });
  after(() => server.close());

  it('needs the permission to read the database, and ends when the token is revoked', async () => {
    const made = await server.http.send('/api/v3/enterprise/configure/token', {
      headers: { ...admin, 'content-type': 'application/json' },
      body: JSON.stringify({
        token_name: 'reader',
        permissions: [{ resource_type: 'db', resource_identifier: ['d'], actions: ['read'] }],
      }),
    });
    const reader = { authorization: `Bearer ${JSON.parse(made.text).token}` };
    const q = 'SELECT * FROM m';
    const stream = await follow(server, pathOf('d', q), reader);
    assert.equal((await server.http.send(pathOf('secret', q), { headers: reader })).status, 403);
    assert.equal((await server.http.send(pathOf('d', q))).status, 401);
    const revoked = await server.http.send('/api/v3/configure/token?token_name=reader', {
      ...{ method: 'DELETE', headers: admin },
    });
    assert.equal(revoked.status, 200);
    const { data } = await stream.until(({ event }) => event === 'end');
    assert.deepEqual(data, { reason: 'the token expired or was revoked' });
    await stream.untilOver();
  });
});

describe('a position after a restart', () => {
  for (const [how, isKilled] of [
    ['stopped', false],
    ['killed', true],
  ] as const)
    it(`continues a stream of a server that was ${how}`, async () => {
      const q = "SELECT v FROM m WHERE h = 'a'";
      const flags = ['--without-auth', '--tsdb-buffer-flush-age-ms', '200'];
      const first = await (isKilled ? ServerProcess : ServerInProcess).start({ flags });
      const { dataDir } = first;
      await write(first, 'd', 'm,h=a v=0 1');
      const stream = await follow(first, pathOf('d', q));
      await write(first, 'd', 'm,h=a v=1 2\nm,h=b v=1 2');
      await untilCount(stream, 1);
      stream.close();
      for (let v = 2; v <= 50; v++) await write(first, 'd', `m,h=a v=${v} ${v + 1}`);
      if (isKilled) await first.kill();
      else await first.stop();
      const second = await ServerInProcess.start({ flags, dataDir });
      try {
        const again = await follow(second, pathOf('d', q), { 'last-event-id': lastIdOf(stream) });
        await write(second, 'd', 'm,h=a v=51 52');
        await untilCount(again, 50);
        assert.deepEqual(
          rowsOf(again).map(({ v }) => v),
          Array.from({ length: 50 }, (_, i) => i + 2),
        );
        again.close();
      } finally {
        await second.close();
        await first.close();
      }
    });
});

it('plinth watch continues after a stop of the server', async () => {
  const flags = ['--without-auth', `--http-bind=127.0.0.1:${await freePort()}`];
  let server = await ServerInProcess.start({ flags });
  const { dataDir, url } = server;
  await write(server, 'd', 'm v=0 1');
  const args = ['watch', '--host', url, '-d', 'd', '--format', 'csv', '--show-positions'];
  const watch = spawn(process.execPath, [CLI, ...args, 'SELECT v FROM m'], { stdio: 'pipe' });
  const exited = once(watch, 'exit');
  let [out, notes] = ['', ''];
  watch.stdout.on('data', (data) => (out += data));
  watch.stderr.on('data', (data) => (notes += data));
  const untilText = async (isThere: () => boolean): Promise<void> => {
    for (let tries = 0; !isThere(); tries++) {
      assert.ok(tries < 500 && watch.exitCode === null, `${out}\n${notes}`);
      await sleep(20);
    }
  };
  try {
    // A row that is written before the stream starts is not printed.
    for (let v = 1; !out.includes('\n'); v++) {
      await write(server, 'd', `m v=${v} ${v + 1}`);
      await sleep(150);
    }
    await server.stop();
    await untilText(() => notes.includes('shutting down; reconnecting'));
    server = await ServerInProcess.start({ flags, dataDir });
    await write(server, 'd', 'm v=1000 2000');
    await untilText(() => out.includes('1000'));
  } finally {
    watch.kill();
    await exited;
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
});
