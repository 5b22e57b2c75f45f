// Source: docs/formats/backup.md: a backup contains all data of the server, or lists the missing data.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLI, runCli } from '../../harness/cli.js';
import {
  assertEmpty,
  ServerInProcess,
  WebhookApp,
  WITH_SAMPLE_DATA,
  write,
} from '../../harness/index.js';

const LONGEST_WAIT_MS = 30_000;
const MAX_ATTEMPT_COUNT = 20;
const JSON_TYPE = { 'content-type': 'application/json' };
const PLATFORM_KEY = 'sk_test_0123456789abcdefghijABCDEFGH';
const EDITOR_TOKEN = 'an-editor-of-the-game-data';
const ENV = {
  ...WITH_SAMPLE_DATA,
  PLINTH_ACCOUNTS_BOOTSTRAP_KEYS: PLATFORM_KEY,
  PLINTH_GAMEDATA_ADMIN_TOKEN: EDITOR_TOKEN,
};
const PLUGIN = `
def process_writes(influxdb3_local, table_batches, args=None):
    influxdb3_local.info("seen")
`;

let root = '';
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'plinth-backup-'));
});
after(async () => await rm(root, { recursive: true, force: true }));

async function plinth(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(args);
  assert.equal(code, 0, stderr);
  return stdout + stderr;
}

/** Sends JSON; the response must be a success. */
async function call(
  server: ServerInProcess,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  method = 'POST',
): Promise<unknown> {
  const response = await server.http.send(path, {
    method,
    headers: { ...JSON_TYPE, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  assert.ok(response.status < 300, `${method} ${path}: ${response.status} ${response.text}`);
  return response.text === '' ? undefined : JSON.parse(response.text);
}

describe('a server that has used every feature', () => {
  /** Uses every feature that stores data. Returns the paths to read. */
  async function useAll(server: ServerInProcess): Promise<readonly Read[]> {
    const db = 'kept';
    await call(server, '/api/v3/configure/database', {
      db,
      retention_period: '3650d',
      integer_fields: 'float',
    });
    assertEmpty(
      await write(server, { db, parameters: 'precision=s' }, 'm,host=a v=1,s="x" 1700000000'),
    );
    assertEmpty(
      await write(
        server,
        { db, parameters: 'precision=s' },
        'm,host=b v=2 1700000001\ngone v=1 1700000000\nm,host=b v=3 1700000002',
      ),
    );
    await call(server, `/api/v2/delete?bucket=${db}`, {
      start: '2023-11-14T22:13:22Z',
      stop: '2023-11-14T22:13:23Z',
      predicate: '_measurement="m"',
    });
    await call(
      server,
      `/api/v3/configure/table?db=${db}&table=gone&hard_delete_at=now`,
      undefined,
      {},
      'DELETE',
    );
    await call(server, '/api/v3/configure/last_cache', { db, table: 'm', name: 'last' });
    await call(server, '/api/v3/configure/distinct_cache', {
      db,
      table: 'm',
      name: 'hosts',
      columns: ['host'],
    });
    await call(server, '/api/v3/configure/processing_engine_trigger', {
      db,
      trigger_name: 'seen',
      plugin_filename: 'seen.py',
      trigger_specification: 'all_tables',
      trigger_settings: { run_async: false, error_behavior: 'log' },
      trigger_arguments: { a: 'b' },
      disabled: true,
    });
    const account = Object(
      await call(
        server,
        '/v2/core/accounts',
        { contact_email: 'someone@example.com', include: ['identity'] },
        { authorization: `Bearer ${PLATFORM_KEY}`, 'stripe-version': '2026-08-26.preview' },
      ),
    ) as { id: string };
    const app = await WebhookApp.register(server, {
      url: 'https://hook.example/in',
      secret: 'a secret of the hook',
      active: true,
      events: ['ping'],
    });
    const editor = { authorization: `Bearer ${EDITOR_TOKEN}` };
    const [map] = (await call(server, '/api/maps', undefined, {}, 'GET')) as { id: string }[];
    const path = `/api/editor/maps/${map?.id}`;
    await call(server, path, { wiki: 'https://wiki.example/1' }, editor, 'PATCH');
    await call(server, '/api/editor/save', { message: 'one of its own' }, editor);
    await call(server, path, { wiki: 'https://wiki.example/2' }, editor, 'PATCH');
    await call(server, '/ops/v1/identities', { kind: 'user', id: 7 });
    const platform = {
      authorization: `Bearer ${PLATFORM_KEY}`,
      'stripe-version': '2026-08-26.preview',
    };
    const plain: Read[] = (await routesOf(server)).map(({ path, access }) => {
      if (access === 'platform') return { path, headers: () => platform };
      if (access === 'editor') return { path, headers: () => editor };
      if (access === 'app')
        return { path, headers: () => ({ authorization: `Bearer ${app.jwt()}` }) };
      return { path };
    });
    return [
      ...plain,
      { path: '/api/v3/configure/database?format=json' },
      ...[
        'SELECT * FROM m ORDER BY time',
        "SELECT * FROM last_cache('m') ORDER BY host",
        "SELECT * FROM distinct_cache('m') ORDER BY host",
        'SELECT * FROM system.last_caches',
        'SELECT * FROM system.distinct_caches',
        'SELECT * FROM system.processing_engine_triggers',
        'SELECT table_name, column_name FROM information_schema.columns ORDER BY 1, 2',
      ].map((q) => ({
        path: `/api/v3/query_sql?db=${db}&q=${encodeURIComponent(q)}&format=json_rows`,
      })),
      { path: `/query?db=${db}&q=${encodeURIComponent('SHOW SERIES; SHOW RETENTION POLICIES')}` },
      { path: `/ops/v1/apps/${app.id}` },
      { path: `/v2/core/accounts/${account.id}?include=identity`, headers: () => platform },
      { path, headers: () => editor },
    ];
  }
  interface Read {
    readonly path: string;
    readonly headers?: () => Readonly<Record<string, string>>;
  }

  /** All parameterless GET routes, except those about the process instead of stored data. */
  async function routesOf(
    server: ServerInProcess,
  ): Promise<readonly { readonly path: string; readonly access: unknown }[]> {
    const response = await server.http.send('/ops/v1/routes');
    const routes = JSON.parse(response.text) as { method: string; path: string; access: unknown }[];
    return routes.filter(
      ({ method, path }) =>
        method === 'GET' &&
        !/[:*]/.test(path) &&
        !/metrics|debug|rate|query|docs|health|livez|ping|\/ready|^\/(console.*)?$|v1\/(info|logs|settings|stream|tsdb\/(queries|databases|schema|storage))$/.test(
          path,
        ),
    );
  }

  async function readAll(
    server: ServerInProcess,
    reads: readonly Read[],
  ): Promise<readonly string[]> {
    const found: string[] = [];
    for (const { path, headers } of reads) {
      const response = await server.http.send(path, { headers: headers?.() ?? {} });
      found.push(`${path}\n${response.status}\n${response.text.replaceAll(server.url, '')}`);
    }
    return found;
  }

  it('returns the same responses after a restore, and its plugins exist', async () => {
    const plugins = join(root, 'plugins of the first');
    await mkdir(join(plugins, 'größe'), { recursive: true });
    await writeFile(join(plugins, 'seen.py'), PLUGIN);
    await writeFile(join(plugins, 'größe', '__init__.py'), PLUGIN);
    const flags = ['--without-auth', '--tsdb-buffer-flush-age-ms', '300'];
    const server = await ServerInProcess.start({
      flags: [...flags, '--plugin-dir', plugins],
      env: ENV,
    });
    const backup = join(root, 'all');
    const dataDir = join(root, 'all restored');
    let expected: readonly string[];
    let reads: readonly Read[];
    try {
      reads = await useAll(server);
      // Some rows in files, the rest in the log.
      await until(async () => (await segmentCount(server, 'kept')) > 0);
      assertEmpty(await write(server, { db: 'kept' }, 'm,host=d v=4 1700000009000000000'));
      await plinth('backup', '--to', backup, '--host', server.url);
      expected = await readAll(server, reads);
    } finally {
      await server.close();
    }
    assert.match(await plinth('verify', '--from', backup), /intact/);
    const told = await plinth('restore', '--from', backup, '--data-dir', dataDir);
    assert.match(told, /to run the plugins, start the server with --plugin-dir .*plugins/);
    assert.match(told, /not in the backup: rate limit counters/);
    assert.match(told, /not in the backup: Python packages/);
    for (const name of ['seen.py', join('größe', '__init__.py')]) {
      assert.equal(await readFile(join(dataDir, 'plugins', name), 'utf8'), PLUGIN);
    }
    const restored = await ServerInProcess.start({ dataDir, flags, env: ENV });
    try {
      assert.deepEqual(await readAll(restored, reads), expected);
      const failed = expected.filter((text) => !/^.*\n(?:200|303|400|404|422)\n/.test(text));
      assert.deepEqual(failed, []);
      // The database still stores integers as floats.
      assertEmpty(await write(restored, { db: 'kept' }, 'new v=1i 1'));
      assertEmpty(await write(restored, { db: 'kept' }, 'new v=1.5 2'));
    } finally {
      await restored.close();
    }
  });
});

describe('a server without the time-series service', () => {
  it('can be backed up, including data of services that do not run', async () => {
    const dataDir = join(root, 'some');
    const all = await ServerInProcess.start({ dataDir, env: WITH_SAMPLE_DATA });
    assertEmpty(await write(all, { db: 'd' }, 'm v=1 1'));
    const items = (await all.http.send('/api/items')).text;
    await all.stop();
    const some = await ServerInProcess.start({
      dataDir,
      flags: ['--without-auth', '--services', 'webhooks'],
    });
    const backup = join(root, 'some-backup');
    try {
      await plinth('backup', '--to', backup, '--host', some.url);
    } finally {
      await some.close();
    }
    const target = join(root, 'some-restored');
    await plinth('restore', '--from', backup, '--data-dir', target);
    await using restored = await ServerInProcess.start({ dataDir: target });
    assert.equal((await restored.http.send('/api/items')).text, items);
    const q = encodeURIComponent('SELECT v FROM m');
    const rows = await restored.http.send(`/api/v3/query_sql?db=d&q=${q}&format=json_rows`);
    assert.equal(rows.text, '[{"v":1.0}]');
    await restored.close();
  });
});

describe('a backup that was interrupted', () => {
  it('releases its slot at once, for any reason', async () => {
    await using server = await ServerInProcess.start();
    const temporary = join(server.dataDir, 'backup-temp');
    const isFree = () => until(async () => (await readdir(temporary)).length === 0);
    for (const signal of ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGKILL'] as const) {
      // Two backups occupy all slots: they stop before the first file and stay open.
      const holding = [1, 2].map(() => {
        const script = `const q = require('node:http').request(process.argv[1], { method: 'POST' }, (a) => {
          a.once('data', (text) => process.stdout.write(a.statusCode === 201 ? '201' : a.statusCode + ' ' + text)); });
          q.end();`;
        return spawn(process.execPath, ['-e', script, `${server.url}/ops/v1/backups`], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
      });
      for (const child of holding) {
        const [status] = (await once(child.stdout, 'data')) as [Buffer];
        assert.equal(status.toString(), '201');
      }
      const third = await server.http.send('/ops/v1/backups', { method: 'POST' });
      assert.equal(third.status, 503);
      assert.ok(Number(third.headers['retry-after']) > 0);
      for (const child of holding) {
        child.kill(signal);
        await once(child, 'exit');
      }
      await isFree();
      await plinth(
        'backup',
        '--to',
        join(root, `after-${signal}-${Date.now()}`),
        '--host',
        server.url,
      );
      await isFree();
    }
  });

  it('waits for other backups, or names them and leaves no folder', async () => {
    await using server = await ServerInProcess.start();
    const holders = [1, 2].map(() => new AbortController());
    // An unreferenced response is garbage collected, which closes its connection.
    const responses = await Promise.all(
      holders.map(({ signal }) =>
        fetch(`${server.url}/ops/v1/backups`, { method: 'POST', signal }),
      ),
    );
    for (const { status } of responses) assert.equal(status, 201);
    const folder = join(root, 'busy/deep');
    const args = ['backup', '--to', folder, '--host', server.url];
    const refused = await runCli([...args, '--wait', '0']);
    assert.equal(refused.code, 1);
    const running = String.raw`started by a client at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
    assert.match(
      refused.stderr,
      new RegExp(`503: too many backups are in progress \\(${running}, ${running}\\); retry later`),
    );
    assert.ok(!(await readdir(root)).includes('busy'));
    {
      const child = spawn(process.execPath, [CLI, ...args], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const ended = once(child, 'close');
      const [note] = await once(child.stderr, 'data');
      assert.match(String(note), /waiting: too many backups/);
      child.kill('SIGINT');
      await ended;
      assert.ok(!(await readdir(root)).includes('busy'), 'an interrupted command leaves no folder');
    }
    const waiting = [1, 2].map(() => runCli(args));
    await sleep(1500);
    for (const holder of holders) holder.abort();
    assert.equal(responses.length, 2); // keeps them until here
    const codes = (await Promise.all(waiting)).map(({ code, stderr }) => {
      if (code !== 0) assert.match(stderr, /busy\/deep is not empty; use an empty or a new folder/);
      return code;
    });
    assert.deepEqual(codes.sort(), [0, 1], 'only one of two backups to the same folder succeeds');
    const whole = await runCli(['verify', '--from', folder]);
    assert.equal(whole.code, 0, whole.stderr);
    assert.ok(!(await readdir(folder)).includes('.plinth-backup-in-progress'));
  });

  it('leaves no folder that verify or restore accept', async () => {
    await using server = await ServerInProcess.start();
    const namesIn = (folder: string): Promise<readonly string[]> =>
      readdir(folder).catch((): string[] => []);
    const isCut = async (folder: string): Promise<boolean> => {
      const names = await namesIn(folder);
      return names.length > 0 && !names.includes('backup.json');
    };
    let to = '';
    // Repeats until a backup is interrupted while it copies files.
    for (let attempt = 1; to === '' || !(await isCut(to)); attempt += 1) {
      assert.ok(attempt <= MAX_ATTEMPT_COUNT, 'every backup was faster');
      const folder = join(root, `cut ${attempt}`);
      const args = ['backup', '--to', folder, '--host', server.url];
      const child = spawn(process.execPath, [CLI, ...args], { stdio: 'ignore' });
      const exited = once(child, 'exit');
      await until(async () => child.exitCode !== null || (await namesIn(folder)).length > 0);
      child.kill('SIGKILL');
      await exited;
      to = folder;
    }
    for (const args of [
      ['verify', '--from', to],
      ['restore', '--from', to, '--data-dir', join(root, 'cut-restored')],
    ]) {
      const run = await runCli(args);
      assert.notEqual(run.code, 0);
      assert.match(run.stderr, /not a complete backup/);
    }
  });
});

it('a named pipe in place of the manifest is refused without blocking', async () => {
  const folder = join(root, 'pipe');
  await mkdir(folder);
  await once(spawn('mkfifo', [join(folder, 'backup.json')]), 'exit');
  const run = await runCli(['verify', '--from', folder]);
  assert.equal(run.code, 1);
  assert.match(
    run.stderr,
    /not a complete backup: .*backup\.json is a link, is reached through a link, or is not a regular file/,
  );
});

describe('a restore that was killed', () => {
  it('cannot be served: serve reports the fix, and a second restore starts again', async () => {
    const backup = join(root, 'whole');
    {
      await using server = await ServerInProcess.start();
      assertEmpty(await write(server, { db: 'd' }, 'm v=1 1'));
      await plinth('backup', '--to', backup, '--host', server.url);
    }
    const target = join(root, 'half');
    // Repeats until a backup is interrupted while it copies files.
    const isUnderWay = async (): Promise<boolean> =>
      (await readdir(target).catch((): string[] => [])).includes('restore-under-way');
    for (let attempt = 1; !(await isUnderWay()); attempt += 1) {
      assert.ok(attempt <= MAX_ATTEMPT_COUNT, 'every restore was faster');
      await rm(target, { recursive: true, force: true });
      const args = ['restore', '--from', backup, '--data-dir', target];
      const child = spawn(process.execPath, [CLI, ...args], { stdio: 'ignore' });
      const exited = once(child, 'exit');
      await until(async () => child.exitCode !== null || (await isUnderWay()));
      child.kill('SIGKILL');
      await exited;
    }

    const before = await readdir(target, { recursive: true });
    const refused = await runCli(['serve', '--data-dir', target, '--http-bind', '127.0.0.1:0']);
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /the restore into .* is incomplete; run `plinth restore`/);
    assert.deepEqual(
      (await readdir(target, { recursive: true })).filter((name) => !name.startsWith('server.')),
      before.filter((name) => !name.startsWith('server.')),
    );
    await plinth('restore', '--from', backup, '--data-dir', target);
    await using server = await ServerInProcess.start({ dataDir: target });
    const q = encodeURIComponent('SELECT v FROM m');
    const rows = await server.http.send(`/api/v3/query_sql?db=d&q=${q}&format=json_rows`);
    assert.equal(rows.text, '[{"v":1.0}]');
    await server.stop();
  });
});

async function segmentCount(server: ServerInProcess, db: string): Promise<number> {
  const q = encodeURIComponent('SELECT count(*) AS n FROM system.parquet_files');
  const response = await server.http.send(`/api/v3/query_sql?db=${db}&q=${q}&format=json_rows`);
  return (JSON.parse(response.text) as readonly { readonly n: number }[])[0]?.n ?? 0;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const endMs = Date.now() + LONGEST_WAIT_MS;
  while (!(await holds())) {
    assert.ok(Date.now() < endMs, 'it did not come in time');
    await sleep(20);
  }
}
