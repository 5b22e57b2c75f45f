// Source: docs/OPEN-TABLES.md; the readers are PyIceberg and ClickHouse's engine (chdb).
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pythonWith, runProgram, ServerInProcess, ServerProcess } from '../../harness/index.js';
import { READERS } from './open-tables-packages.js';

const SCRIPT = fileURLToPath(
  new URL('../../../wire/clients/open-tables-readers.py', import.meta.url),
);
const GUIDE = fileURLToPath(new URL('../../../../docs/OPEN-TABLES.md', import.meta.url));
const FLAGS = [
  ...['--services', 'tsdb', '--first-token', 'anyone', '--open-tables-databases', 'home'],
  ...['--open-tables-interval-ms', '100', '--open-tables-flush-age-ms', '100'],
];
const LAST_NS = 9_223_372_036_854_775_806n;
const KILLS = 6;
const SUM_OF_FLOATS = 2;

// biome-ignore lint/suspicious/noExplicitAny: results of readers.
type Json = any;

describe('readers of published tables', { timeout: 300_000 }, () => {
  let python: string | undefined;
  let dataDir = '';
  let server: ServerInProcess | ServerProcess;
  let token = '';
  let reader: ChildProcess | undefined;
  let lines: AsyncIterator<string>;
  const setUp = { skip: (reason?: string) => (skipped = reason) };
  let skipped: string | undefined;

  const start = async (Server: typeof ServerInProcess | typeof ServerProcess = ServerInProcess) => {
    server = await Server.start({ dataDir, flags: FLAGS });
  };
  before(async () => {
    python = await pythonWith(READERS, setUp);
    if (python === undefined) return;
    dataDir = await mkdtemp(join(tmpdir(), 'plinth-open-tables-'));
    await start();
    const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    token = JSON.parse(made.text).token;
    reader = spawn(python, [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
    lines = createInterface({ input: reader.stdout as NodeJS.ReadableStream })[
      Symbol.asyncIterator
    ]();
  });
  after(async () => {
    reader?.kill();
    if (python === undefined) return;
    await server.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const read = async (what: string, table = 'm'): Promise<Json> => {
    const request = { what, address: server.url, token, namespace: 'home', table };
    reader?.stdin?.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await lines.next();
    assert.ok(done !== true, 'the reader has failed; see its message above');
    return JSON.parse(value);
  };
  const send = async (path: string, options: { method?: string; body?: string } = {}) => {
    const response = await server.http.send(path, {
      method: options.method ?? (options.body === undefined ? 'GET' : 'POST'),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(options.body !== undefined && { body: options.body }),
    });
    assert.ok(response.status < 300, `${path}: ${response.status} ${response.text}`);
    return response.text;
  };
  const write = (body: string): Promise<string> =>
    send('/api/v3/write_lp?db=home&precision=nanosecond', { body });
  const publish = (): Promise<string> =>
    send('/ops/v1/tsdb/open-tables/publish', { body: '{"db":"home"}' });
  const query = async (q: string): Promise<Json> => {
    const text = await send(`/api/v3/query_sql?db=home&format=csv&q=${encodeURIComponent(q)}`);
    return text.trim().split('\n')[1];
  };
  const sql = async (): Promise<Json[]> => {
    const row = await query(
      'SELECT count(*), sum(i), sum(f), CAST(min(time) AS BIGINT), CAST(max(time) AS BIGINT), min(i), max(i), count(s), max(tag), max("Tag") FROM m',
    );
    const cells = row.split(',').map((cell: string) => cell.replaceAll('"', ''));
    cells[SUM_OF_FLOATS] = Number(cells[SUM_OF_FLOATS]);
    return cells;
  };
  /** Integers are compared as text, to the last digit. */
  const agree = async (): Promise<void> => {
    const found = await read('sums');
    const expected = await sql();
    assert.deepEqual(found.pyiceberg, expected);
    assert.deepEqual(found.clickhouse, expected);
  };
  const ready = (context: { skip(reason?: string): void }): boolean => {
    if (python === undefined) context.skip(skipped);
    return python !== undefined;
  };

  it('read the same rows as SQL, before 1970 and to the last nanosecond', async (context) => {
    if (!ready(context)) return;
    await write(
      [
        'm,tag=a,Tag=x i=1i,f=0.5,s="one",u=18446744073709551615u -5000000000000000001',
        `m,tag=b i=-9223372036854775808i,f=-0.0,b=true,u=9223372036854775808u ${LAST_NS}`,
        'm i=9223372036854775807i,u=1u 1700000000123456789',
        'm,Tag=z s="" 1',
      ].join('\n'),
    );
    await publish();
    await agree();
    const { pyiceberg, clickhouse } = await read('columns');
    const columns = ['time', 'tag', 'Tag__2', 'i', 'f', 's', 'b'];
    assert.deepEqual([...pyiceberg].sort(), [...columns].sort(), 'without the column u');
    assert.deepEqual([...clickhouse].sort(), [...columns].sort());
  });

  it('agree after a deletion, an added column, merges and a restart', async (context) => {
    if (!ready(context)) return;
    const remove = {
      predicate: 'tag="b"',
      start: '1677-09-22T00:00:00Z',
      stop: '2262-04-11T00:00:00Z',
    };
    await send('/api/v2/delete?org=o&bucket=home', { body: JSON.stringify(remove) });
    await publish();
    await agree();
    await write('m,tag=c i=7i,added=1.5 1700000000123456790');
    await publish();
    await agree();
    await read('hold');
    const before = await sql();
    for (let round = 0; round < 9; round++) {
      await write(`m,tag=d i=${round}i,f=${round}.25 ${1_700_000_000_200_000_000 + round}`);
      await publish();
    }
    await send('/ops/v1/tsdb/storage/compact', { body: '{"db":"home","table":"m"}' });
    await publish();
    await agree();
    const { pyiceberg } = await read('held');
    assert.deepEqual(pyiceberg, before, 'a snapshot that was opened before the merge');
    await server.stop();
    await start();
    await agree();
  });

  it('agree after kill -9 while versions are published', async (context) => {
    if (!ready(context)) return;
    await server.stop();
    await start(ServerProcess);
    for (let round = 0; round < KILLS; round++) {
      const writing = (async () => {
        for (let row = 0; row < 40; row++)
          await write(`m,tag=k i=${row}i ${1_700_000_100_000_000_000 + round * 1000 + row}`);
      })().catch(() => undefined); // the kill interrupts it
      const publishing = publish().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 60 + round * 25));
      await server.kill();
      await Promise.all([writing, publishing]);
      await start(round < KILLS - 1 ? ServerProcess : ServerInProcess);
      await publish();
      await agree();
    }
  });

  it('run the examples of the guide', async (context) => {
    if (!ready(context) || python === undefined) return;
    await write(
      'room,host=a temp=21.5 1700000000000000000\nroom,host=b temp=22.5 1700000000000000001',
    );
    await publish();
    const guide = await readFile(GUIDE, 'utf8');
    const examples = [...guide.matchAll(/```python\n(.*?)```/gs)].map(([, code = '']) => code);
    assert.ok(examples.length >= 3, 'PyIceberg, pandas and ClickHouse');
    const folder = JSON.parse(await send('/ops/v1/tsdb/open-tables?db=home')).tables.find(
      (each: Json) => each.table === 'room',
    ).location;
    for (const code of examples) {
      const adapted = code
        .replaceAll('http://localhost:8181', server.url)
        .replaceAll('apiv3_...', token)
        .replaceAll('file:///var/lib/plinth/objects/open-tables/01a2...', folder);
      const output = await runProgram(python, ['-c', adapted], { cwd: '/' });
      assert.match(output, /\b22\b/, code);
    }
  });
});
