// Source: Telegraf's outputs.influxdb and outputs.influxdb_v2 and its inputs.influxdb, as version 1.37 behaves.
// Own process: it is killed.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, rows, ServerProcess, temporaryFolder } from '../../harness/index.js';

const isInstalled = spawnSync('telegraf', ['--version']).status === 0;
/** Timeout of every wait. */
const PATIENCE_MS = 60_000;

describe('Telegraf', { skip: isInstalled ? false : 'telegraf is not installed' }, () => {
  let server: ServerProcess;
  let token = '';
  let folder = '';
  let port = 0;
  const start = async () =>
    await ServerProcess.start({ flags: ['--http-bind', `127.0.0.1:${port}`], dataDir: folder });
  before(async () => {
    folder = await temporaryFolder();
    port = await freePort();
    server = await start();
    const created = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    token = (JSON.parse(created.text) as { token: string }).token;
  });
  after(() => server.close());

  const headers = () => ({ authorization: `Bearer ${token}` });
  const v1 = (database: string, more = '') =>
    `[[outputs.influxdb]]\nurls = ["${server.url}"]\ndatabase = "${database}"\n` +
    `username = "any"\npassword = "${token}"\n${more}\n`;
  const v2 = (bucket: string, more = '') =>
    `[[outputs.influxdb_v2]]\nurls = ["${server.url}"]\nbucket = "${bucket}"\norganization = ""\n` +
    `token = "${token}"\n${more}\n`;
  const count = async (db: string, q: string) => await rows(server, db, q, headers());
  const until = async (db: string, q: string, expected: unknown) => {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const found = await count(db, q).catch((error: unknown) => error);
      if (isSame(found, expected)) return;
      assert.ok(Date.now() < deadline, `${db}: ${JSON.stringify(found)}`);
      await sleep(100);
    }
  };

  it('W-07 W-08 loses nothing and writes nothing twice while the server is killed', async () => {
    const lineCount = 6000;
    const listener = await freePort();
    const input = `[[inputs.http_listener_v2]]\nservice_address = "tcp://127.0.0.1:${listener}"\ndata_format = "influx"\n`;
    const plain = 'content_encoding = "identity"';
    const databases = ['gzip1', 'plain1', 'gzip2', 'plain2'] as const;
    await using telegraf = await Telegraf.start(
      folder,
      '[agent]\nflush_interval = "100ms"\nmetric_batch_size = 200\nomit_hostname = true\n' +
        `${input}${v1('gzip1')}${v1('plain1', plain)}${v2('gzip2')}${v2('plain2', plain)}`,
    );
    for (let from = 0; from < lineCount; from += 500) {
      if (from === 2000) {
        await server.kill();
        server = await start();
      }
      const lines = Array.from(
        { length: 500 },
        (_, i) => `seq,host=h${i % 7} n=${from + i}i,s="a \\"b\\", c" ${from + i}000000000`,
      );
      await telegraf.feed(`http://127.0.0.1:${listener}/telegraf`, lines.join('\n'));
    }
    const sum = (lineCount * (lineCount - 1)) / 2;
    for (const db of databases) {
      await until(db, 'SELECT count(*) AS c, sum(n) AS n FROM seq', [{ c: lineCount, n: sum }]);
    }
  });

  it('W-08 names the line that is refused, and the others are there', async () => {
    const body = 'm,t=a v=1i 1\nm,t=b v="text" 2\nm,t=c v=3i 3\n';
    const lines = join(folder, 'lines.txt');
    await writeFile(lines, body);
    const input = `[agent]\nomit_hostname = true\n[[inputs.file]]\nfiles = ["${lines}"]\ndata_format = "influx"\n`;
    const log = await runOnce(folder, input + v2('refused'));
    assert.match(log, /400 Bad Request.*line 2: invalid column type for column 'v'/);
    assert.deepEqual(await count('refused', 'SELECT t FROM m ORDER BY t'), [
      { t: 'a' },
      { t: 'c' },
    ]);
  });

  it('W-08 splits a batch that is too large', async () => {
    const flags = ['--without-auth', '--max-http-request-size', '10000'];
    await using small = await ServerProcess.start({ flags });
    const lines = join(folder, 'many.txt');
    const many = Array.from({ length: 900 }, (_, i) => `m,host=h${i % 9} v=${i}i ${i}000000000`);
    await writeFile(lines, many.join('\n'));
    const input = `[agent]\nomit_hostname = true\n[[inputs.file]]\nfiles = ["${lines}"]\ndata_format = "influx"\n`;
    await runOnce(folder, input + v2('split').replace(server.url, small.url), 'may fail');
    const found = await rows(small, 'split', 'SELECT count(*) AS c, sum(v) AS v FROM m');
    assert.deepEqual(found, [{ c: 900, v: (900 * 899) / 2 }]);
  });

  it('P-03 reads what the server counts', async () => {
    const input = `[agent]\nomit_hostname = true\n[[inputs.influxdb]]\nurls = ["${server.url}/debug/vars"]\nusername = "any"\npassword = "${token}"\n`;
    const log = await runOnce(folder, input + v1('own'));
    assert.doesNotMatch(log, / E! /);
    const tables = await count('own', 'SHOW TABLES');
    const names = (tables as { table_schema: string; table_name: string }[])
      .filter(({ table_schema }) => table_schema === 'iox')
      .map(({ table_name }) => table_name);
    assert.deepEqual(names.toSorted(), [
      'influxdb',
      ...['build', 'database', 'httpd', 'queryExecutor', 'runtime', 'system'].map(
        (name) => `influxdb_${name}`,
      ),
    ]);
    const q = 'SELECT "pointsWrittenOK" > 0 AS written FROM influxdb_httpd';
    assert.deepEqual(await count('own', q), [{ written: true }]);
  });
});

class Telegraf {
  readonly #child: ChildProcess;
  #log = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (piece: string) => {
        this.#log += piece;
      });
    }
  }

  static async start(folder: string, settings: string): Promise<Telegraf> {
    const file = join(folder, 'telegraf.conf');
    await writeFile(file, settings);
    return new Telegraf(spawn('telegraf', ['--config', file]));
  }

  /** Retries until the request succeeds: Telegraf may not be listening yet. */
  async feed(url: string, body: string): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const response = await fetch(url, { method: 'POST', body }).catch(() => undefined);
      if (response?.status === 204) return;
      assert.ok(Date.now() < deadline && this.#child.exitCode === null, this.#log);
      await sleep(100);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}

/** Gathers and writes metrics once. @returns its log */
async function runOnce(folder: string, settings: string, how?: 'may fail'): Promise<string> {
  const file = join(folder, 'once.conf');
  await writeFile(file, settings);
  const child = spawn('telegraf', ['--config', file, '--once'], { timeout: PATIENCE_MS });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      log += piece;
    });
  }
  const [code] = await once(child, 'close');
  if (how === undefined) assert.equal(code, 0, log);
  return log;
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
