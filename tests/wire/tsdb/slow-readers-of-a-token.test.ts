// Source: docs/TOKENS.md, "Permissions": a reader cannot block other readers; query-languages, "Guards" and
// "InfluxQL: semantics" (order of rows).
// Own process: its memory is measured.
import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServerInProcess, ServerProcess, tokensThatRead } from '../../harness/index.js';
import { askSlowly, MemoryPeak, residentMb, SlowReader } from '../../harness/slow-readers.js';

const ROW_COUNT = 240_000;
const BODY_ROWS = 20_000;
const SERIES_COUNT = 400;
const GROUP_COUNT = 4;
const LIMIT = 200_000;
const GROUP_LIMIT = 45_000;
const QUERY_MEMORY_BYTES = 256 * 1024 * 1024;
/** Memory for a third of the sorted results. */
const SORT_MEMORY_BYTES = 512 * 1024 * 1024;
const READERS_EACH = 3;
const SORTED_READERS_EACH = 5;
/** More than a connection buffers of a response. */
const SOME_BYTES = 200_000;
/** More than the first slices. */
const MANY_BYTES = 4_000_000;
const MAX_GROWTH_MB = 700;

interface Row {
  readonly i: number;
  readonly host: string;
  readonly dc: string;
  readonly time: number;
}

/** Integers identify the row; a string keeps the table out of the columns in memory. */
const ROWS: readonly Row[] = Array.from({ length: ROW_COUNT }, (_, i) => ({
  i,
  host: `host_${i % SERIES_COUNT}`,
  dc: `dc${i % GROUP_COUNT}`,
  time: Math.floor(i / SERIES_COUNT) + 1,
}));
const textOf = (i: number): string => `row ${i} with a text of more than twelve bytes`;
const lineOf = ({ i, host, dc, time }: Row): string =>
  `big,host=${host},dc=${dc} n=${i}i,f=${i / 8},g=${(i * 37) % 1009},t="${textOf(i)}" ${time * 1_000_000}`;

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
/** Rows with the same timestamp are sorted by their tags, `dc` before `host`. */
const inTime = (a: Row, b: Row): number =>
  a.time - b.time || byText(a.dc, b.dc) || byText(a.host, b.host);
const ASCENDING = ROWS.toSorted(inTime);
const firstsOf = (rows: readonly Row[], count: number): readonly Row[] => {
  const counts = new Map<string, number>();
  return rows.filter(({ dc }) => {
    counts.set(dc, (counts.get(dc) ?? 0) + 1);
    return (counts.get(dc) ?? 0) <= count;
  });
};

const BY_HOST = ROWS.toSorted((a, b) => byText(a.host, b.host) || inTime(a, b));

/** Statements with their expected rows, in order. */
const STATEMENTS: readonly (readonly [statement: string, rows: readonly Row[]])[] = [
  ['SELECT * FROM big', ASCENDING],
  ['SELECT * FROM big ORDER BY time DESC', ASCENDING.toReversed()],
  [`SELECT * FROM big LIMIT ${LIMIT}`, ASCENDING.slice(0, LIMIT)],
  ['SELECT n, t FROM big GROUP BY host', BY_HOST],
  // One row for each group and bucket.
  ['SELECT sum(n) AS n, last(t) AS t FROM big GROUP BY time(1ms), host FILL(none)', BY_HOST],
  ['SELECT last(n) AS n, t FROM big GROUP BY time(1ms), host FILL(none)', BY_HOST],
  // Groups larger than a slice.
  [
    `SELECT n, f + g AS s, t FROM big GROUP BY dc LIMIT ${GROUP_LIMIT}`,
    firstsOf(ASCENDING, GROUP_LIMIT).toSorted((a, b) => byText(a.dc, b.dc) || inTime(a, b)),
  ],
];

/** Returns the row numbers after checking each row's timestamp and string. */
function numbersOf(text: string): number[] {
  return text
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const [result] = JSON.parse(line).results;
      assert.equal(result.error, undefined);
      return (result.series ?? []).flatMap((series: { columns: string[]; values: unknown[][] }) => {
        const [n, t] = ['n', 't'].map((name) => series.columns.indexOf(name)) as [number, number];
        return series.values.map((row) => {
          const i = row[n] as number;
          assert.deepEqual([row[0], row[t]], [ROWS[i]?.time, textOf(i)]);
          return i;
        });
      });
    });
}

const skip = process.platform === 'linux' ? false : 'memory is read from /proc';

/** Starts a server with the rows and two tokens that may read them; `ask` uses the second one. */
async function startWithRows(queryMemoryBytes: number): Promise<{
  readonly server: ServerProcess;
  readonly greedy: { readonly authorization: string };
  readonly ask: (path: string, fields: Readonly<Record<string, string>>) => Promise<string>;
}> {
  const server = await ServerProcess.start({
    flags: ['--tsdb-query-memory-bytes', String(queryMemoryBytes), '--shutdown-timeout', '1s'],
  });
  const { admin, greedy, modest } = await tokensThatRead(server, 'd', ['greedy', 'modest']);
  for (let from = 0; from < ROW_COUNT; from += BODY_ROWS) {
    const body = ROWS.slice(from, from + BODY_ROWS)
      .map(lineOf)
      .join('\n');
    const path = '/api/v3/write_lp?db=d&precision=ns';
    const written = await server.http.send(path, { headers: admin, body });
    assert.equal(written.status, 204, written.text);
  }
  const ask = async (path: string, fields: Readonly<Record<string, string>>): Promise<string> => {
    const query = new URLSearchParams({ db: 'd', ...fields });
    const response = await server.http.send(`${path}?${query}`, { headers: modest });
    assert.equal(response.status, 200, response.text);
    return response.text;
  };
  return { server, greedy, ask };
}

it('many slow readers of InfluxQL with one token hold a bounded memory and keep no other token waiting', {
  skip,
  timeout: 600_000, // formats and reads millions of rows
}, async (context) => {
  const { server: started, greedy, ask } = await startWithRows(QUERY_MEMORY_BYTES);
  await using server = started;
  const beforeMb = residentMb(server.pid);
  using peak = new MemoryPeak(server.pid);
  const readers = STATEMENTS.flatMap(([q, rows]) =>
    Array.from({ length: READERS_EACH }, () => {
      const session = connect(server.url);
      context.after(() => session.destroy());
      const query = new URLSearchParams({ db: 'd', q, epoch: 'ms', chunked: 'true' });
      const stream = askSlowly(session, `/query?${query}`, greedy);
      const pieces: Buffer[] = [];
      return {
        q,
        rows,
        session,
        pieces,
        slow: new SlowReader(stream, (piece) => pieces.push(piece)),
      };
    }),
  );
  for (const enoughBytes of [SOME_BYTES, MANY_BYTES]) {
    for (const { slow } of readers) slow.readTo(enoughBytes);
    const isDone = () => readers.every(({ slow }) => slow.isThere);
    for (let count = 0; count < 2400 && !isDone(); count++) {
      if (count % 20 === 0) {
        const sorted = 'SELECT n, host FROM big ORDER BY g DESC, n LIMIT 1';
        const response = await ask('/api/v3/query_sql', { q: sorted, format: 'json_rows' });
        assert.deepEqual(JSON.parse(response), [{ n: 709, host: 'host_309' }]);
        const means = await ask('/query', {
          q: 'SELECT mean(n) FROM big GROUP BY dc',
          epoch: 'ms',
        });
        // Each group contains numbers at equal distances.
        assert.deepEqual(
          JSON.parse(means).results[0].series.map(
            ({ values }: { values: number[][] }) => values[0]?.[1],
          ),
          Array.from({ length: GROUP_COUNT }, (_, k) => k + (ROW_COUNT - GROUP_COUNT) / 2),
        );
      }
      await sleep(50);
    }
    assert.ok(isDone(), 'a reader starves');
    const growthMb = peak.end() - beforeMb;
    context.diagnostic(`grew by ${Math.round(growthMb)} MB`);
    assert.ok(growthMb < MAX_GROWTH_MB, `grew by ${Math.round(growthMb)} MB`);
  }
  // Some readers disconnect; one of each group receives every row.
  const staying = readers.filter((_, index) => index % READERS_EACH === 0);
  for (const reader of readers) if (!staying.includes(reader)) reader.session.destroy();
  for (const { q, rows, pieces, slow, session } of staying) {
    const whole = Buffer.concat([...pieces, await slow.rest()]).toString();
    assert.deepEqual(
      numbersOf(whole),
      rows.map(({ i }) => i),
      q,
    );
    session.destroy();
  }
});

it('many slow readers of what SQL sorts keep no other token waiting, and all get their rows when they read', {
  skip,
  timeout: 600_000, // formats and reads millions of rows
}, async (context) => {
  const { server: started, greedy, ask } = await startWithRows(SORT_MEMORY_BYTES);
  await using server = started;
  const statements = [
    'SELECT * FROM big ORDER BY g, n',
    'SELECT time, host, max(n) AS n, max(t) AS t FROM big GROUP BY time, host ORDER BY max(g), host',
    `SELECT * FROM big ORDER BY t DESC LIMIT ${LIMIT}`,
  ];
  const readers = statements.flatMap((q) =>
    Array.from({ length: SORTED_READERS_EACH }, () => {
      const session = connect(server.url);
      context.after(() => session.destroy());
      const query = new URLSearchParams({ db: 'd', q, format: 'jsonl' });
      const slow = new SlowReader(askSlowly(session, `/api/v3/query_sql?${query}`, greedy));
      return { q, session, slow };
    }),
  );
  for (const { slow } of readers) slow.readTo(SOME_BYTES);
  const hasBegun = ({ slow }: { readonly slow: SlowReader }): boolean => slow.isThere;
  for (let count = 0; count < 20; count++) {
    const q = 'SELECT n, host FROM big ORDER BY g DESC, n LIMIT 1';
    const response = await ask('/api/v3/query_sql', { q, format: 'json_rows' });
    assert.deepEqual(JSON.parse(response), [{ n: 709, host: 'host_309' }]);
    // As large as the results of the other readers.
    const all = 'SELECT n FROM big ORDER BY g, n, t';
    if (count % 10 === 5) await ask('/api/v3/query_sql', { q: all, format: 'csv' });
    await sleep(100);
  }
  assert.ok(readers.some(hasBegun));
  // Each reader that finishes frees memory for the next.
  const left = new Set(readers);
  const endMs = Date.now() + 200_000;
  while (left.size > 0) {
    const reader = [...left].find(hasBegun);
    if (reader === undefined) {
      assert.ok(Date.now() < endMs, `${left.size} readers starve`);
      await sleep(50);
      continue;
    }
    left.delete(reader);
    const text = (await reader.slow.rest()).toString();
    assert.doesNotMatch(text.slice(-500), /error/, reader.q);
    reader.session.destroy();
  }
});

it('large answers with GROUP BY have each group once, whole and in order, whatever its tags are', async () => {
  await using server = await ServerInProcess.start();
  const values = ['', "it's", 'a b', 'B', 'é', '\u{1f600}', 'z"', 'zz', "'; --"];
  const pairs = values.flatMap((a) => values.map((b) => [a, b] as const));
  const escaped = (value: string): string => value.replace(/[ ,=]/g, '\\$&');
  const tagsOf = ([a, b]: readonly [string, string]): string =>
    `${a === '' ? '' : `,a=${escaped(a)}`}${b === '' ? '' : `,b=${escaped(b)}`}`;
  const perSeries = 300;
  const lines = pairs.flatMap((pair, p) =>
    // One series has most of the rows.
    Array.from({ length: p === 40 ? 40_000 : perSeries }, (_, k) => {
      return `m${tagsOf(pair)} n=${p * 100_000 + k}i,t="text number ${k} of pair ${p}" ${k + 1}`;
    }),
  );
  for (let from = 0; from < lines.length; from += BODY_ROWS) {
    const body = lines.slice(from, from + BODY_ROWS).join('\n');
    const written = await server.http.send('/api/v3/write_lp?db=d&precision=ns', { body });
    assert.equal(written.status, 204, written.text);
  }
  // Points that are written twice count as one point.
  const again = pairs.map((pair, p) => `m${tagsOf(pair)} n=${p * 100_000 + 2}i ${3}`).join('\n');
  await server.http.send('/api/v3/write_lp?db=d&precision=ns', { body: again });
  const inBytes = (x: string, y: string): number => Buffer.compare(Buffer.from(x), Buffer.from(y));
  const expected = pairs
    .map((pair, p) => ({ pair, p, count: p === 40 ? 40_000 : perSeries }))
    .sort((x, y) => inBytes(x.pair[0], y.pair[0]) || inBytes(x.pair[1], y.pair[1]));
  for (const isDescending of [false, true]) {
    const q = `SELECT n, t FROM m GROUP BY a, b, c${isDescending ? ' ORDER BY time DESC' : ''}`;
    const query = new URLSearchParams({ db: 'd', q, epoch: 'ns', chunked: 'true' });
    const response = await server.http.send(`/query?${query}`);
    const found = new Map<string, number[]>();
    for (const line of response.text.trimEnd().split('\n')) {
      for (const { tags, values: rows } of JSON.parse(line).results[0].series) {
        const key = JSON.stringify([tags.a, tags.b]);
        const numbers = found.get(key) ?? [];
        found.set(key, numbers);
        for (const [, n, t] of rows) {
          assert.equal(t, `text number ${n % 100_000} of pair ${Math.floor(n / 100_000)}`);
          numbers.push(n);
        }
      }
    }
    assert.deepEqual(
      [...found.keys()],
      expected.map(({ pair }) => JSON.stringify(pair)),
    );
    for (const { pair, p, count } of expected) {
      const numbers = Array.from({ length: count }, (_, k) => p * 100_000 + k);
      if (isDescending) numbers.reverse();
      assert.deepEqual(found.get(JSON.stringify(pair)), numbers);
    }
  }
});
