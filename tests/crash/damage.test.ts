// Source: docs/DURABILITY.md, "Recovery"; docs/formats/commit-log.md, "Reading".
// Own process: one is killed.
import assert from 'node:assert/strict';
import {
  cp,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { runCli } from '../harness/cli.js';
import { encode, FlightClient } from '../harness/flight-client.js';
import {
  Chance,
  FLUSH_AT_ONCE,
  type OwnServer,
  query,
  ServerInProcess,
  ServerProcess,
  StartFailed,
  untilInFiles,
} from '../harness/index.js';

/** CRC-32C, bit by bit. Source: RFC 3720. */
function crc32c(bytes: Uint8Array, before = 0): number {
  let sum = ~before;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (0x82f63b78 & -(sum & 1));
  }
  return ~sum >>> 0;
}

/** Sizes from docs/formats/commit-log.md. */
const FILE_HEADER_SIZE = 64;
const RECORD_HEADER_SIZE = 32;

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'plinth-damage-'));
});
afterEach(async () => await rm(dataDir, { recursive: true, force: true }));

/** On a slow machine the server's own metrics would add segments. */
const FLAGS = ['--without-auth', '--services=tsdb', '--tsdb-internal-metrics-interval-ms=0'];
const IN_FILES = { end: 'in files' } as const;

async function withServer<T>(
  work: (server: OwnServer) => Promise<T>,
  options: { readonly flags?: readonly string[]; readonly end?: 'stop' | 'kill' | 'in files' } = {},
): Promise<T> {
  const flags = [...FLAGS, ...(options.flags ?? [])];
  if (options.end === 'in files') flags.push(...FLUSH_AT_ONCE);
  const server = await ServerInProcess.start({ dataDir, flags });
  if (options.end === 'kill') return await work(server).finally(() => server.kill());
  try {
    const result = await work(server);
    if (options.end === 'in files') await untilInFiles(server);
    return result;
  } finally {
    assert.equal(await server.stop(), 0);
  }
}

async function write(server: OwnServer, body: string): Promise<void> {
  const response = await server.http.send('/api/v3/write_lp?db=d&precision=s', { body });
  assert.equal(response.status, 204, response.text);
}

/** Writes `m v=1i 1`, `m v=2i 2` and so on, one request each. */
async function writeNumbers(server: OwnServer, from: number, to: number): Promise<void> {
  for (let n = from; n <= to; n++) await write(server, `m v=${n}i ${n}`);
}

/** Tag and value of all rows of `m`, by time. */
const tagged = async (server: OwnServer): Promise<string> =>
  (await query(server, { db: 'd', q: 'SELECT t, v FROM m ORDER BY time', format: 'csv' }))
    .trim()
    .split('\n')
    .slice(1)
    .join('\n')
    .replaceAll(',', ' ');

const numbers = async (server: OwnServer): Promise<string> =>
  (await query(server, { db: 'd', q: 'SELECT v FROM m ORDER BY v', format: 'csv' }))
    .trim()
    .split('\n')
    .slice(1)
    .join(' ');

async function paths(folder: string, ending: string): Promise<string[]> {
  const names = await readdir(join(dataDir, folder), { recursive: true });
  return names
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(dataDir, folder, name));
}

const only = (list: readonly string[]): string => {
  assert.equal(list.length, 1, list.join());
  return list[0] as string; // there is one
};

/** Returns the end of the records in a log file; preallocated zeros may follow. */
async function recordsEnd(path: string): Promise<number> {
  const bytes = await readFile(path);
  let at = FILE_HEADER_SIZE;
  while (bytes.toString('latin1', at, at + 4) === 'PREC') {
    at += RECORD_HEADER_SIZE + bytes.readUInt32LE(at + 8);
  }
  return at;
}

/** Returns the start offset of each record in a log file. */
async function recordStarts(path: string): Promise<number[]> {
  const bytes = await readFile(path);
  const starts: number[] = [];
  for (let at = FILE_HEADER_SIZE; bytes.toString('latin1', at, at + 4) === 'PREC'; ) {
    starts.push(at);
    at += RECORD_HEADER_SIZE + bytes.readUInt32LE(at + 8);
  }
  return starts;
}

/** Returns the end of the last nonzero byte of a file: zeros at the end are not a loss. */
async function lastByteEnd(path: string): Promise<number> {
  return (await readFile(path)).findLastIndex((byte) => byte !== 0) + 1;
}

/** Overwrites bytes of an existing file. */
async function writeAt(path: string, bytes: Uint8Array, position: number): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.write(bytes, 0, bytes.length, position);
  } finally {
    await file.close();
  }
}

/** Changes one byte to another value. */
async function spoil(path: string, offset: number): Promise<void> {
  const bytes = await readFile(path);
  bytes[offset] = (bytes[offset] ?? 0) ^ 0xff;
  await writeFile(path, bytes);
}

async function startFailure(flags: readonly string[] = []): Promise<StartFailed> {
  try {
    const server = await ServerInProcess.start({
      dataDir,
      flags: ['--without-auth', '--services=tsdb', ...flags],
    });
    await server.stop();
  } catch (error) {
    if (error instanceof StartFailed) return error;
    throw error;
  }
  assert.fail('the server started');
}

const TAIL_CUT =
  'last log record is incomplete or corrupt, and was removed; if it was acknowledged, its rows are lost';

/** Waits until the idle log has marked its records as synced. */
async function untilMarked(log: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const bytes = await readFile(log);
    const end = await recordsEnd(log);
    if (bytes.toString('latin1', end, end + 4) === 'SL\0\0') return;
    await setTimeout(50);
  }
  assert.fail('the log was not marked');
}

describe('A flipped bit in the last acknowledged record after kill -9', () => {
  it('stops the start and fails verify; a repair names the rows and quarantines them', async () => {
    await withServer(
      async (server) => {
        await writeNumbers(server, 1, 4);
        await write(server, 'm v=5i 50\nm v=6i 60');
        await untilMarked(only(await paths('tsdb-log', '.log')));
      },
      { end: 'kill' },
    );
    const log = only(await paths('tsdb-log', '.log'));
    const last = (await recordStarts(log)).at(-1) as number; // there are five
    await spoil(log, (await recordsEnd(log)) - 1);
    const why = `${log} at offset ${last}: invalid record that was synced: its rows were acknowledged`;
    assert.ok((await startFailure()).message.includes(why));
    const checked = await runCli(['verify', '--data-dir', dataDir]);
    assert.equal(checked.code, 1);
    assert.ok(checked.stderr.includes(why), checked.stderr);
    await withServer(
      async (server) => {
        const loss = server.logged('log records were lost');
        assert.deepEqual(
          [loss?.['kind'], loss?.['lostRecordCount'], loss?.['lostContent']],
          [
            ...['moved_aside', 1],
            [
              '2 rows of table d.m from 1970-01-01T00:00:50.000Z to 1970-01-01T00:01:00.000Z, according to the corrupt record',
            ],
          ],
        );
        assert.equal(await numbers(server), '1 2 3 4');
      },
      { flags: ['--repair'] },
    );
    assert.deepEqual(await paths('tsdb-log', '.damaged'), [`${log}.damaged`]);
  });
});

describe('A torn tail of the log', () => {
  it('is cut with a warning, and only the torn record is lost', async () => {
    // The only case with a server process of its own. `kill.test.ts` kills servers that are writing.
    const killed = await ServerProcess.start({ dataDir, flags: FLAGS });
    await writeNumbers(killed, 1, 5).finally(() => killed.kill());
    const log = only(await paths('tsdb-log', '.log'));
    const end = await recordsEnd(log);
    await truncate(log, end - 1);
    const length = await lastByteEnd(log);
    await withServer(async (server) => {
      const loss = server.logged(TAIL_CUT);
      const kept = `${log}.tail.damaged`;
      assert.deepEqual(
        [loss?.['kind'], loss?.['file'], loss?.['level'], loss?.['quarantined']],
        ['tail_cut', log, 'warn', kept],
      );
      const listed = await runCli(['aside', '--data-dir', dataDir]);
      assert.ok(listed.stdout.includes(`${kept}: ${loss?.['lostBytes']} bytes\n`), listed.stdout);
      assert.equal(Number(loss?.['offset']) + Number(loss?.['lostBytes']), length);
      assert.equal(await numbers(server), '1 2 3 4');
      await writeNumbers(server, 5, 6);
      assert.equal(await numbers(server), '1 2 3 4 5 6');
    });
  });

  it('without a record loses no acknowledged data', async () => {
    for (const size of [1, RECORD_HEADER_SIZE, 5000]) {
      await withServer((server) => writeNumbers(server, 1, 3), { end: 'kill' });
      const log = (await paths('tsdb-log', '.log')).at(-1) ?? '';
      const end = await recordsEnd(log);
      const garbage = new Chance(size).bytes(size);
      garbage[size - 1] = 0xff;
      await writeAt(log, garbage, end);
      await withServer(async (server) => {
        // One byte cannot be part of a record; more bytes can.
        const loss = server.logged(
          size === 1 ? 'stray bytes after the last log record removed' : TAIL_CUT,
        );
        assert.deepEqual([loss?.['file'], loss?.['offset'], loss?.['lostBytes']], [log, end, size]);
        assert.equal(await numbers(server), '1 2 3');
      });
    }
  });
});

describe('Damage of the last record after a clean stop', () => {
  it('stops the start instead of being cut as a torn tail; a repair quarantines it', async () => {
    await withServer((server) => writeNumbers(server, 1, 5));
    const log = only(await paths('tsdb-log', '.log'));
    const last = (await recordStarts(log)).at(-1) as number; // there are five
    await spoil(log, last + RECORD_HEADER_SIZE + 2);
    const failure = await startFailure();
    assert.match(
      failure.message,
      new RegExp(
        `${log} at offset ${last}: invalid record before the end recorded at a clean stop`,
      ),
    );
    await withServer(async (server) => assert.equal(await numbers(server), '1 2 3 4'), {
      flags: ['--repair'],
    });
    assert.deepEqual(await paths('tsdb-log', '.damaged'), [`${log}.damaged`]);
  });
});

describe('Damage in the middle of the log', () => {
  it('stops the start with file, offset and fix; a repair loses only the corrupt record', async () => {
    await withServer((server) => writeNumbers(server, 1, 5), { end: 'kill' });
    const log = only(await paths('tsdb-log', '.log'));
    const second = FILE_HEADER_SIZE + RECORD_HEADER_SIZE + (await firstPayloadSize(log));
    await spoil(log, second + RECORD_HEADER_SIZE + 3);
    const secondSize = (await readFile(log)).readUInt32LE(second + 8) + RECORD_HEADER_SIZE;

    const failure = await startFailure();
    assert.equal(failure.code, 1);
    assert.match(failure.message, new RegExp(`${log} at offset ${second}`));
    assert.match(failure.message, /--repair/);
    assert.doesNotMatch(failure.message, /\n +at /, 'it is no bug, so it has no stack');

    await withServer(
      async (server) => {
        const loss = server.logged('log records were lost');
        const { kind, file, offset, lostBytes, lostRecordCount, keptRecordCount } = loss ?? {};
        assert.deepEqual(
          { kind, file, offset, lostBytes, lostRecordCount, keptRecordCount },
          {
            ...{ kind: 'moved_aside', file: log, offset: second, lostBytes: secondSize },
            ...{ lostRecordCount: 1, keptRecordCount: 3 },
          },
        );
        assert.ok(String(loss?.['writtenAfter']) <= String(loss?.['writtenBefore']));
        assert.equal(await numbers(server), '1 3 4 5');
        await writeNumbers(server, 7, 7);
      },
      { flags: ['--repair'] },
    );
    await withServer(async (server) => assert.equal(await numbers(server), '1 3 4 5 7'));
    assert.deepEqual(await paths('tsdb-log', '.damaged'), [`${log}.damaged`]);
    const { length } = await readFile(`${log}.damaged`);
    const listed = await runCli(['aside', '--data-dir', dataDir]);
    assert.ok(listed.stdout.includes(`${log}.damaged: ${length} bytes\n`), listed.stdout);
    await runCli(['aside', '--data-dir', dataDir, '--remove']);
    const left = await runCli(['aside', '--data-dir', dataDir]);
    assert.doesNotMatch(left.stdout, /\.log\.damaged/);
    await withServer(async (server) => assert.equal(await numbers(server), '1 3 4 5 7'));
  });

  it('keeps files of an interrupted flush: they may contain the rows of the lost record', async () => {
    await withServer((server) => writeNumbers(server, 1, 3), { end: 'kill' });
    const log = only(await paths('tsdb-log', '.log'));
    await spoil(log, ((await recordStarts(log))[1] as number) + RECORD_HEADER_SIZE);
    const orphan = join(dataDir, 'objects', 'tsdb', 'orphan.parquet');
    await mkdir(join(dataDir, 'objects', 'tsdb'), { recursive: true });
    await writeFile(orphan, 'rows');
    await withServer(
      async (server) => {
        const moved = server.logged('quarantined files that are not registered in plinth.db');
        assert.equal(moved?.['count'], 1);
      },
      { flags: ['--repair'] },
    );
  });

  it('also stops the start in a file other than the last', async () => {
    await withServer((server) => writeNumbers(server, 1, 2), { end: 'kill' });
    await withServer((server) => writeNumbers(server, 3, 4), { end: 'kill' });
    const [first = ''] = await paths('tsdb-log', '.log');
    const { length } = await readFile(first);
    await truncate(first, length - 1);
    const failure = await startFailure();
    assert.equal(failure.code, 1);
    assert.match(failure.message, new RegExp(`${first} at offset \\d+`));
    await withServer(async (server) => assert.equal(await numbers(server), '1 3 4'), {
      flags: ['--repair'],
    });
  });

  it('loses the rows whose tags were only in the corrupt record, and never assigns them other tags', async () => {
    await withServer(
      async (server) => {
        for (const row of ['m,t=a v=1i 1', 'm,t=b v=2i 2', 'm,t=b v=3i 3', 'm,t=a v=4i 4'])
          await write(server, row);
        // After this many rows all tags are logged again: docs/formats/write-record.md.
        const rows = Array.from({ length: 4096 }, (_, i) => `n v=1i ${i}\nm,t=a v=9i 9`);
        await write(server, rows.join('\n'));
        await write(server, 'm,t=b v=5i 5');
      },
      { end: 'kill' },
    );
    const log = only(await paths('tsdb-log', '.log'));
    await spoil(log, (await recordStarts(log))[1] as number);
    await withServer(
      async (server) => {
        assert.equal(await tagged(server), 'a 1\na 4\nb 5\na 9');
        const lost = server.logged(
          'rows in the log refer to tags defined in a lost record; these rows are lost',
        );
        assert.deepEqual([lost?.['rowCount'], lost?.['level']], [1, 'warn']);
        assert.match(
          JSON.stringify(lost?.['tables']),
          /^\[{"tableId":\d+,"table":"d\.m","rowCount":1}\]$/,
        );
      },
      { flags: ['--repair'] },
    );
    await withServer(async (server) => assert.equal(await tagged(server), 'a 1\na 4\nb 5\na 9'));
  });

  it('never assigns rows the tags that their number has in another file', async () => {
    await withServer((server) => write(server, 'm,t=a v=1i 1'), { end: 'kill' });
    await withServer(
      async (server) => {
        await write(server, 'm,t=b v=2i 2');
        await write(server, 'm,t=b v=3i 3');
      },
      { end: 'kill' },
    );
    const second = (await paths('tsdb-log', '.log'))[1] ?? '';
    const [first = 0, last = 0] = await recordStarts(second);
    const bytes = await readFile(second);
    // Gives `t=b` the number that `t=a` has in the previous file. Offsets: docs/formats/write-record.md.
    const end = last + RECORD_HEADER_SIZE + bytes.readUInt32LE(last + 8);
    const payload = bytes.subarray(last + RECORD_HEADER_SIZE, end);
    assert.equal(payload.readUInt32LE(16 + 16 + 10), 1);
    payload.writeUInt32LE(0, 16 + 16 + 10);
    bytes.writeUInt32LE(crc32c(payload), last + 24);
    const seed = bytes.readUInt32LE(60);
    bytes.writeUInt32LE(crc32c(bytes.subarray(last + 8, last + 32), seed), last + 4);
    bytes[first] = 0;
    await writeFile(second, bytes);
    await withServer(async (server) => assert.equal(await tagged(server), 'a 1'), {
      flags: ['--repair'],
    });
  });

  it('that removed a complete file is detected by the record numbers', async () => {
    for (const n of [1, 2, 3]) {
      await withServer((server) => writeNumbers(server, n, n), { end: 'kill' });
    }
    const [, second = ''] = await paths('tsdb-log', '.log');
    await rm(second);
    const failure = await startFailure();
    assert.equal(failure.code, 1);
    assert.match(failure.message, /records missing before this file: 1/);
    await withServer(async (server) => assert.equal(await numbers(server), '1 3'), {
      flags: ['--repair'],
    });
  });
});

describe('A damaged journal of the relational store', () => {
  it('stops the start with file, offset and fix; a repair reports what it removes', async () => {
    await withServer(
      async (server) => {
        await writeNumbers(server, 1, 3);
        for (const name of ['b', 'c', 'e']) {
          const body = 'm v=1i 1';
          const response = await server.http.send(`/api/v3/write_lp?db=${name}`, { body });
          assert.equal(response.status, 204, response.text);
        }
      },
      { end: 'kill' },
    );
    const wal = join(dataDir, 'plinth.db-wal');
    const size = (await readFile(wal)).length;
    await spoil(wal, 7612);
    const failure = await startFailure();
    assert.equal(failure.code, 1);
    assert.match(failure.message, new RegExp(`${wal} at offset 32: invalid frame`));
    assert.match(failure.message, /--repair/);
    assert.doesNotMatch(failure.message, /\n +at /, 'it is no bug, so it has no stack');
    await withServer(
      async (server) => {
        const loss = server.logged('relational store transactions were lost');
        const { kind, file, offset, lostBytes, level } = loss ?? {};
        assert.deepEqual(
          { kind, file, offset, lostBytes, level },
          { kind: 'moved_aside', file: wal, offset: 32, lostBytes: size - 32, level: 'warn' },
        );
        // Three rows of `m` in `d`, and one in each of the other databases.
        const rows = server.logged(
          'rows in the log belong to tables that are missing from the catalog; these rows are lost',
        );
        const { tables, tableCount, rowCount } = rows ?? {};
        assert.deepEqual([tableCount, rowCount, rows?.['level']], [4, 6, 'warn']);
        const told = tables as readonly { readonly tableId: number; readonly rowCount: number }[];
        assert.deepEqual(
          told.map((table) => table.rowCount),
          [3, 1, 1, 1],
        );
        assert.equal(new Set(told.map(({ tableId }) => tableId)).size, 4);
        const { text } = await server.http.send('/metrics');
        assert.match(text, /^plinth_tsdb_log_rows_lost_total 6$/m);
        // New rows must not be mixed with records whose state is unknown.
        const body = 'm v=7i 1';
        assert.equal((await server.http.send('/api/v3/write_lp?db=d', { body })).status, 204);
      },
      { flags: ['--repair'], end: 'kill' },
    );
    assert.equal((await readFile(`${wal}.damaged`)).length, size);
    await withServer(async (server) => assert.equal(await numbers(server), '7'));
  });
});

/** Bytes 8 to 11 of a record's header. */
async function firstPayloadSize(log: string): Promise<number> {
  return (await readFile(log)).readUInt32LE(FILE_HEADER_SIZE + 8);
}

describe('A damaged segment', () => {
  const DAY_SEC = 86_400;

  /** Writes table `m` to two segments of one day each, and table `n` to a third. Returns the path of the first day of `m`. */
  async function writeSegments(): Promise<string> {
    await withServer((server) => write(server, `m,t=a v=1i 10\nm,t=a v=2i 20`), IN_FILES);
    const before = new Set(await paths('objects', '.parquet'));
    await withServer(async (server) => {
      await write(server, `m,t=b v=3i ${5 * DAY_SEC}`);
      await write(server, 'n v=4i 10');
    }, IN_FILES);
    // The first start wrote a segment and the series of the table; the segment has the time in its name.
    for (const path of before) {
      if ((await readFile(path)).includes('time')) return path;
    }
    assert.fail('no segment');
  }

  const get = (server: OwnServer, q: string) =>
    server.http.send(`/api/v3/query_sql?${new URLSearchParams({ db: 'd', q, format: 'csv' })}`);

  async function assertOnlyItFails(server: OwnServer, name: RegExp): Promise<void> {
    for (const q of [
      'SELECT * FROM m',
      'SELECT count(*) FROM m WHERE v = 3',
      'SELECT max(v) FROM m',
    ]) {
      const response = await get(server, q);
      assert.equal(response.status, 500, response.text);
      const { error } = JSON.parse(response.text) as { error: string };
      assert.match(error, /^query error: error while executing plan: stored file .* is corrupt/);
      assert.match(error, name);
    }
    assert.equal((await get(server, 'SELECT v FROM n')).text.trim(), 'v\n4');
    const later = `SELECT v FROM m WHERE time >= '1970-01-03T00:00:00Z'`;
    assert.equal((await get(server, later)).text.trim(), 'v\n3');
    assert.equal(server.logged('stored file is corrupt')?.['level'], 'error');
    assert.equal((await server.http.send('/health')).status, 200);
  }

  it('fails only the queries that read it; a repair quarantines it and reports the loss', async () => {
    const path = await writeSegments();
    const name = new RegExp((path.split('/').at(-1) ?? '').replace('.', '\\.'));
    await spoil(path, (await readFile(path)).length >> 1);
    await withServer((server) => assertOnlyItFails(server, name));
    await withServer(
      async (server) => {
        const loss = server.logged('corrupt segment quarantined; its rows are lost');
        assert.deepEqual(
          [loss?.['table'], loss?.['rowCount'], loss?.['minTime'], loss?.['maxTime']],
          ['d.m', 2, '1970-01-01T00:00:10.000Z', '1970-01-01T00:00:20.000Z'],
        );
        assert.match(String(loss?.['objectName']), name);
        assert.equal(await numbers(server), '3');
        await writeNumbers(server, 10, 10);
        assert.equal(await numbers(server), '3 10');
      },
      { flags: ['--repair'] },
    );
    assert.match(only(await paths('objects/tsdb-damaged', '.parquet')), name);
    await withServer(async (server) => assert.equal(await numbers(server), '3 10'));
  });

  it('fails queries the same way when it is missing or short', async () => {
    const path = await writeSegments();
    const bytes = await readFile(path);
    await truncate(path, bytes.length - 10);
    await withServer((server) => assertOnlyItFails(server, /bytes instead of/));
    await rm(path);
    await withServer((server) => assertOnlyItFails(server, /not found/));
    // After the file is restored from a copy, nothing is lost.
    await writeFile(path, bytes);
    await withServer(async (server) => assert.equal(await numbers(server), '1 2 3'));
  });

  it('fails a query of any endpoint with one log line that has its request id', async () => {
    const path = await writeSegments();
    await spoil(path, (await readFile(path)).length >> 1);
    await withServer(async (server) => {
      const flight = new FlightClient(server.url);
      const send = (endpoint: string) => async (id: string) => {
        const query = new URLSearchParams({ db: 'd', q: 'SELECT v FROM m' });
        const headers = { 'x-request-id': id };
        const { text } = await server.http.send(`${endpoint}?${query}`, { headers });
        return text;
      };
      const callFlight = async (id: string): Promise<string> => {
        const metadata = { database: 'd', 'x-request-id': id };
        const ticket = JSON.stringify({ database: 'd', sql_query: 'SELECT v FROM m' });
        const call = flight.call('DoGet', encode('Ticket', { ticket: Buffer.from(ticket) }), {
          metadata,
        });
        return await call.then(
          () => '',
          (error: Error) => error.message,
        );
      };
      try {
        for (const [id, run] of [
          ['of-sql', send('/api/v3/query_sql')],
          ['of-influxql', send('/api/v3/query_influxql')],
          ['of-v1', send('/query')],
          ['of-flight', callFlight],
        ] as const) {
          assert.match(await run(id), /stored file .* is corrupt/, id);
          const lines = server.logText.split('\n').filter((line) => line.includes(`"${id}"`));
          assert.equal(lines.length, 1, `${id}: ${server.logText}`);
          const { level, msg, err } = JSON.parse(lines[0] ?? '');
          assert.deepEqual([level, msg], ['error', 'request failed'], id);
          assert.match(err.message, /stored file .* is corrupt/, id);
        }
      } finally {
        flight.close();
      }
    });
  });

  it('of later values also fails queries, and its loss affects only those values', async () => {
    await withServer((server) => write(server, 'm a=1i,v=1i 10\nm v=2i 20'), IN_FILES);
    const before = new Set(await paths('objects', '.parquet'));
    await withServer(async (server) => {
      await write(server, 'm v=9i 10');
      // More rows than a shutdown leaves in the log, without a later merge.
      const text = 'x'.repeat(60_000);
      for (let part = 0; part < 2; part++)
        await write(server, Array.from({ length: 80 }, (_, i) => `n s="${text}" ${i}`).join('\n'));
    });
    const added = (await paths('objects', '.parquet')).filter((path) => !before.has(path));
    for (const path of added) {
      const bytes = await readFile(path);
      const isOverlay = bytes.includes('_seq') && bytes.includes('time');
      if (isOverlay) await spoil(path, bytes.length >> 1);
    }
    await withServer(async (server) => {
      const response = await get(server, 'SELECT * FROM m');
      assert.equal(response.status, 500, response.text);
      assert.match(response.text, /is corrupt/);
    });
    await withServer(async (server) => assert.equal(await numbers(server), '1 2'), {
      flags: ['--repair'],
    });
  });
});

describe('A lost file of series', () => {
  it('is rebuilt from the segments', async () => {
    await withServer((server) => write(server, 'm,t=a,u=x v=1i 10\nm,t=b v=2i 20'), IN_FILES);
    const series = [];
    for (const path of await paths('objects', '.parquet')) {
      if (!(await readFile(path)).includes('time')) series.push(path);
    }
    await rm(only(series));
    await withServer(async (server) => {
      assert.equal(server.logged('series index rebuilt from segments')?.['level'], 'warn');
      const q = `SELECT v FROM m WHERE t = 'b'`;
      assert.equal((await query(server, { db: 'd', q, format: 'csv' })).trim(), 'v\n2');
      await write(server, 'm,t=b v=3i 30\nm,t=c v=4i 40');
      const all = 'SELECT t, u, v FROM m ORDER BY v';
      const response = await query(server, { db: 'd', q: all, format: 'csv' });
      assert.equal(response.trim(), 't,u,v\na,x,1\nb,,2\nb,,3\nc,,4');
    });
  });
});

describe('A repair that is killed as soon as it is done', () => {
  /** Folders whose server was killed; written once, because each takes three starts. */
  let killed: string;
  let killedElsewhere: string;
  before(async () => {
    const own = dataDir;
    killed = dataDir = await mkdtemp(join(tmpdir(), 'plinth-damage-'));
    await writeThreeFiles();
    killedElsewhere = dataDir = await mkdtemp(join(tmpdir(), 'plinth-damage-'));
    await writeThreeFiles();
    dataDir = own;
  });
  after(async () => {
    for (const folder of [killed, killedElsewhere])
      await rm(folder, { recursive: true, force: true });
  });

  /** Writes three log files, 1 to 3, with two rows each; a fourth file is only preallocated. */
  async function writeThreeFiles(): Promise<void> {
    for (const n of [1, 3, 5]) {
      await withServer((server) => writeNumbers(server, n, n + 1), { end: 'kill' });
    }
  }

  async function threeFiles(): Promise<readonly [string, string, string]> {
    await cp(killed, dataDir, { recursive: true });
    const [first, second, third] = await paths('tsdb-log', '.log');
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    return [first, second, third];
  }

  /** Returns the file of the same name from another server's log. */
  const fileOfAnotherServer = async (path: string): Promise<Uint8Array> =>
    await readFile(path.replace(dataDir, killedElsewhere));

  const MISSING_BEFORE =
    'log records before this file are missing; rows that were written to segments may be in objects/tsdb-unknown';
  const DAMAGE: readonly {
    readonly name: string;
    readonly damage: (files: readonly [string, string, string]) => Promise<unknown>;
    /** Undefined when no repair is needed. */
    readonly refusal?: RegExp;
    readonly message?: string;
    readonly loss: { readonly kind: string; readonly fileIndex: number };
    readonly aside?: string;
    readonly kept: string;
  }[] = [
    {
      name: 'a torn tail',
      damage: async ([, , third]) => await truncate(third, (await recordsEnd(third)) - 1),
      message: TAIL_CUT,
      loss: { kind: 'tail_cut', fileIndex: 2 },
      aside: '000000000003.log.tail.damaged',
      kept: '1 2 3 4 5',
    },
    {
      name: 'a flipped byte of a record',
      damage: async ([, second]) => await spoil(second, FILE_HEADER_SIZE + RECORD_HEADER_SIZE + 2),
      refusal: /02\.log at offset 64: invalid record in a file before the last one/,
      loss: { kind: 'moved_aside', fileIndex: 1 },
      aside: '000000000002.log.damaged',
      kept: '1 2 5 6',
    },
    {
      name: 'a flipped byte of the head of a file',
      damage: async ([, second]) => await spoil(second, 20),
      refusal: /02\.log at offset 0: invalid file header/,
      message: 'corrupt log file quarantined; no records were lost',
      loss: { kind: 'moved_aside', fileIndex: 1 },
      aside: '000000000002.log.damaged',
      kept: '1 2 3 4 5 6',
    },
    {
      name: 'a file that is missing in the middle',
      damage: async ([, second]) => await rm(second),
      refusal: /03\.log at offset 0: records missing before this file: \d+/,
      message: MISSING_BEFORE,
      loss: { kind: 'missing', fileIndex: 2 },
      aside: '000000000002.log.damaged',
      kept: '1 2 5 6',
    },
    {
      name: 'a file of another server',
      damage: async ([, , third]) => await writeFile(third, await fileOfAnotherServer(third)),
      refusal: /03\.log at offset 0: it was written by another server|first record has number/,
      loss: { kind: 'moved_aside', fileIndex: 2 },
      aside: '000000000003.log.damaged',
      kept: '1 2 3 4',
    },
    {
      name: 'a file of another time',
      // Simulates a folder that was emptied and filled again: the first file has the number of the last.
      async damage([first, , third]) {
        const bytes = await readFile(first);
        bytes.writeBigUInt64LE(3n, 16);
        bytes.writeUInt32LE(crc32c(bytes.subarray(0, 60)), 60);
        await writeFile(third, bytes);
      },
      refusal: /03\.log at offset 0: its first record has number 1 instead of \d+/,
      loss: { kind: 'moved_aside', fileIndex: 2 },
      aside: '000000000003.log.damaged',
      kept: '1 2 3 4',
    },
  ];

  const RECORDS_LOST = 'log records were lost';
  for (const { name, damage, refusal, message = RECORDS_LOST, loss, aside, kept } of DAMAGE) {
    it(`${name}: the next start needs no further repair and loses no more data`, async () => {
      const files = await threeFiles();
      await damage(files);
      if (refusal !== undefined) {
        const failure = await startFailure();
        assert.equal(failure.code, 1);
        assert.match(failure.message, refusal);
        assert.match(failure.message, /--repair/);
      }
      const flags = refusal === undefined ? [] : ['--repair'];
      await withServer(
        async (server) => {
          const told = server.logged(message);
          assert.deepEqual(
            [told?.['kind'], told?.['file'], told?.['level']],
            [loss.kind, files[loss.fileIndex], 'warn'],
          );
          const isLoss = Number(told?.['lostBytes']) > 0 || Number(told?.['lostRecordCount']) > 0;
          assert.equal(isLoss, [RECORDS_LOST, MISSING_BEFORE, TAIL_CUT].includes(message));
        },
        { flags, end: 'kill' },
      );
      await withServer(
        async (server) => {
          assert.equal(server.logged('log records were lost'), undefined);
          assert.equal(await numbers(server), kept);
          await writeNumbers(server, 9, 9);
        },
        { end: 'kill' },
      );
      await withServer(async (server) => assert.equal(await numbers(server), `${kept} 9`));
      const companions = (await paths('tsdb-log', '.damaged')).map((path) => basename(path));
      assert.deepEqual(companions, aside === undefined ? [] : [aside]);
    });
  }

  it('a damaged segment', async () => {
    await withServer((server) => write(server, 'm v=1i 10'), IN_FILES);
    const [path = ''] = (
      await Promise.all(
        (
          await paths('objects', '.parquet')
        ).map(async (each) => ((await readFile(each)).includes('time') ? [each] : [])),
      )
    ).flat();
    await spoil(path, (await readFile(path)).length >> 1);
    await withServer(
      async (server) =>
        assert.ok(server.logged('corrupt segment quarantined; its rows are lost') !== undefined),
      { flags: ['--repair'], end: 'kill' },
    );
    await withServer(async (server) => {
      assert.equal(server.logged('stored file is corrupt'), undefined);
      assert.equal(await numbers(server), '');
      await writeNumbers(server, 2, 2);
      assert.equal(await numbers(server), '2');
    });
  });
});
