// Source: docs/CONSOLE-INTERNALS.md, "API for the console"; docs/adr/0148.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HttpResponse, ServerInProcess } from '../../harness/index.js';

// biome-ignore lint/suspicious/noExplicitAny: many tests read members of response bodies.
type Json = any;

const PATH = '/ops/v1/tsdb/storage';
const DAY_NS = 86_400_000_000_000n;
const START_NS = 18_262n * DAY_NS; // 2020-01-01

let server: ServerInProcess;
let admin = '';
before(async () => {
  // By default a single row is flushed only after a long time.
  server = await ServerInProcess.start({ flags: ['--services', 'tsdb'] });
  const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  admin = JSON.parse(made.text).token;
});
after(() => server.close());

const send = (path: string, options: { method?: string; body?: string; token?: string } = {}) => {
  const { token = admin, body, method } = options;
  return server.http.send(path, {
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && path.startsWith(PATH) && { 'content-type': 'application/json' }),
    },
    ...(method !== undefined && { method }),
    ...(body !== undefined && { body }),
  });
};
const write = async (db: string, line: string): Promise<void> => {
  const { status, text } = await send(`/api/v3/write_lp?db=${db}`, { body: line });
  assert.equal(status, 204, text);
};
const get = async (query = ''): Promise<Json> => {
  const { status, text } = await send(`${PATH}${query}`);
  assert.equal(status, 200, text);
  return JSON.parse(text);
};
const post = (what: string, body?: object): Promise<HttpResponse> =>
  send(`${PATH}/${what}`, {
    method: 'POST',
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const until = async (isSo: (state: Json) => boolean, query = ''): Promise<Json> => {
  for (let tries = 0; tries < 600; tries++) {
    const state = await get(query);
    if (isSo(state)) return state;
    await sleep(50);
  }
  assert.fail(`it never is: ${JSON.stringify(await get(query))}`);
};
const isIdle = ({ compaction }: Json): boolean =>
  compaction.running === null && compaction.waiting.length === 0;
/** The server may continue to write its own metrics into memory. */
const flush = async (): Promise<Json> => {
  const before = await get();
  const { status, text } = await post('flush');
  assert.equal(status, 202, text);
  return await until(
    ({ flush: { running, last } }) =>
      running === null && last !== null && last.ended_at !== before.flush.last?.ended_at,
  );
};
const rowsOf = async (db: string, q: string): Promise<Json> => {
  const search = new URLSearchParams({ db, q, format: 'json_rows' });
  return JSON.parse((await send(`/api/v3/query_sql?${search}`)).text);
};

describe('the storage of the time-series service', () => {
  it('is rows in memory and in the log, and files after a flush that somebody asks for', async () => {
    await write('one', `m,t=a v=1 ${START_NS}`);
    await write('one', `other v=1 ${START_NS}`);
    const before = await get('?db=one');
    assert.ok(before.buffered_bytes > 0 && before.log_bytes > 0 && before.log_file_count > 0);
    assert.deepEqual([before.files, before.file_count, before.obstacle], [[], 0, null]);
    assert.deepEqual(before.flush, { running: null, last: null });
    const asked = Date.now();
    const { flush: flushed } = await flush();
    assert.equal(flushed.last.error, null);
    assert.ok(Math.abs(Date.parse(flushed.last.ended_at) - asked) < 60_000);
    const { files, file_count } = await get('?db=one&table=m');
    assert.equal(file_count, 1);
    const [{ path, size_bytes, ...others }] = files;
    assert.deepEqual(others, {
      ...{ db: 'one', table: 'm', kind: 'unique', level: 0, row_count: 1 },
      ...{ min_time: `${START_NS}`, max_time: `${START_NS}` },
    });
    assert.ok(size_bytes > 0);
    assert.deepEqual(
      await rowsOf(
        'one',
        "SELECT path, size_bytes FROM system.parquet_files WHERE table_name = 'm'",
      ),
      [{ path, size_bytes }],
    );
    assert.equal((await get('?db=one')).file_count, 2);
    assert.equal((await get('?db=one&limit=1')).files.length, 1);
    // With nothing in memory a flush has no effect, and the response is the same.
    assert.equal((await post('flush')).status, 202);
    await write('one', `m,t=a v=2 ${START_NS + 1n}`);
    await sleep(200);
    assert.ok((await get()).buffered_bytes > 0, 'what comes later waits for its own time');
  });

  it('has few files merged when somebody asks for it, within the time that is named', async () => {
    for (const day of [0n, 1n])
      for (const turn of [0n, 1n, 2n]) {
        await write('two', `m,t=a v=${day * 10n + turn} ${START_NS + day * DAY_NS + turn}`);
        await flush();
      }
    assert.equal((await get('?db=two&table=m')).file_count, 6);
    const { merge_count } = (await get()).compaction;
    const within = { min_time: `${START_NS}`, max_time: `${START_NS + 5n}` };
    assert.equal((await post('compact', { db: 'two', table: 'm', ...within })).status, 202);
    const first = await until(isIdle, '?db=two&table=m');
    assert.deepEqual(
      first.files.map(({ level, row_count }: Json) => [level, row_count]),
      [
        [1, 3],
        [0, 1],
        [0, 1],
        [0, 1],
      ],
    );
    assert.equal((await post('compact', { db: 'two', table: 'm' })).status, 202);
    const second = await until(isIdle, '?db=two&table=m');
    assert.deepEqual(
      second.files.map(({ level, row_count }: Json) => [level, row_count]),
      [
        [1, 3],
        [1, 3],
      ],
    );
    assert.equal(second.compaction.merge_count, merge_count + 2);
    // Files that are already merged do not change.
    await post('compact', { db: 'two', table: 'm' });
    const third = await until(isIdle, '?db=two&table=m');
    assert.deepEqual(third.files, second.files);
    assert.deepEqual(await rowsOf('two', 'SELECT count(*) AS n, sum(v) AS s FROM m'), [
      { n: 6, s: 0 + 1 + 2 + 10 + 11 + 12 },
    ]);
  });

  it('makes one file of few that span years, too', async () => {
    for (const turn of [0n, 1n]) {
      const days = Array.from({ length: 40 }, (_, index) => BigInt(index) * 12n + turn);
      const lines = days.map((day) => `m,t=a v=${day} ${START_NS + day * DAY_NS}`);
      await write('sparse', lines.join('\n'));
      await flush();
    }
    const before = await get('?db=sparse');
    await post('compact', { db: 'sparse', table: 'm' });
    const { files } = await until(isIdle, '?db=sparse');
    assert.equal(files.length, before.file_count / 2);
    const rows = await rowsOf('sparse', 'SELECT count(*) AS n, count(DISTINCT v) AS d FROM m');
    assert.deepEqual(rows, [{ n: 80, d: 80 }]);
  });

  it('is told and changed for admins alone, and by requests that make sense', async () => {
    const permissions = [
      { resource_type: 'db', resource_identifier: ['two'], actions: ['read', 'write'] },
    ];
    const made = await server.http.send('/api/v3/enterprise/configure/token', {
      headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
      body: JSON.stringify({ token_name: 'granted', permissions }),
    });
    const granted = JSON.parse(made.text).token;
    const compact = JSON.stringify({ db: 'two', table: 'm' });
    for (const [path, options] of [
      [PATH, {}],
      [`${PATH}?db=two`, {}],
      [`${PATH}/flush`, { method: 'POST' }],
      [`${PATH}/compact`, { method: 'POST', body: compact }],
    ] as const) {
      assert.equal((await send(path, { ...options, token: '' })).status, 401, path);
      assert.equal((await send(path, { ...options, token: granted })).status, 403, path);
    }
    for (const [path, status, message] of [
      ['?db=nowhere', 404, 'database not found: nowhere'],
      ['?db=two&table=x', 404, 'table not found: two.x'],
      ['?table=m', 422, "the parameter 'table' requires 'db'"],
      ['?db=two&limit=0', 422, undefined],
    ] as const) {
      const response = await send(`${PATH}${path}`);
      assert.equal(response.status, status, path);
      if (message !== undefined) assert.equal(JSON.parse(response.text).message, message);
    }
    for (const [body, status] of [
      [{ db: 'two' }, 422],
      [{ db: 'two', table: 'x' }, 404],
      [{ db: 'x', table: 'm' }, 404],
      [{ db: 'two', table: 'm', min_time: 'yesterday' }, 422],
      [{ db: 'two', table: 'm', min_time: '9999999999999999999' }, 422],
      [{ db: 'two', table: 'm', max_time: '-9223372036854775809' }, 422],
      [{ db: 'two', table: 'm', min_time: '6', max_time: '5' }, 422],
    ] as const)
      assert.equal((await post('compact', body)).status, status, JSON.stringify(body));
    for (const [times, message] of [
      [{ min_time: '6', max_time: '5' }, 'min_time is after max_time'],
      [
        { max_time: '9223372036854775808' },
        'max_time is out of range; expected a signed 64-bit integer, in nanoseconds since 1970',
      ],
    ] as const)
      assert.equal(
        JSON.parse((await post('compact', { db: 'two', table: 'm', ...times })).text).message,
        message,
      );
  });
});
