// Source: processing-engine, "HTTP API" and "Plugin files"; tsdb-http, "Processing engine over HTTP".
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { assertError } from '../../harness/index.js';
import { assertDone, noPython, PluginServer, rows } from './plugin-server.js';

describe('Files of plugins', { skip: noPython }, () => {
  let plugins: PluginServer;
  before(async () => {
    plugins = await PluginServer.start();
  });
  after(() => plugins.close());

  it('E-05 tries plugins out without storing anything', async () => {
    const test = async (kind: 'wal' | 'schedule', source: string, more: object) => {
      await plugins.plugin('trial.py', source);
      const response = await plugins.post(`/api/v3/plugin_test/${kind}`, {
        filename: 'trial.py',
        database: 'foo',
        ...more,
      });
      assert.equal(response.status, 200, response.text);
      return JSON.parse(response.text) as Record<string, unknown>;
    };
    const input = { input_lp: 'cpu,host=A usage=1 5' };
    const good = await test(
      'wal',
      `
def process_writes(influxdb3_local, table_batches, args=None):
    influxdb3_local.info(table_batches, args)
    influxdb3_local.write(LineBuilder("queued").int64_field("n", 1))
    influxdb3_local.write_sync(LineBuilder("now").int64_field("n", 2), no_sync=True)
    influxdb3_local.write_to_db("other", type("L", (), {"build": lambda self: "a b=1i\\nbroken"})())
`,
      { ...input, input_arguments: { a: 'b' } },
    );
    const lines = good['log_lines'] as string[];
    assert.equal(lines[0], 'INFO: starting execution of wal plugin.');
    assert.equal(
      lines[1],
      "INFO: [{'table_name': 'cpu', 'rows': [{'host': 'A', 'usage': 1.0, 'time': 5}]}] {'a': 'b'}",
    );
    assert.match(lines[2] ?? '', /^INFO: finished execution in /);
    assert.deepEqual(good['database_writes'], {
      foo: ['now n=2i', 'queued n=1i'],
      other: ['a b=1i\nbroken'],
    });
    assert.equal((good['errors'] as string[]).length, 1);
    const failures: readonly (readonly [source: string, error: string])[] = [
      ['x = 1\n  y = 1', 'IndentationError: unexpected indent (<string>, line 2)'],
      [
        'x = 1',
        'the process_writes function is not present in the plugin. Should be defined as: process_writes(influxdb3_local, table_batches, args=None)',
      ],
      [
        'def process_writes(a, b): pass',
        'TypeError: process_writes() takes 2 positional arguments but 3 were given',
      ],
      [
        'def process_writes(a, b, c=None):\n    a.write(LineBuilder("some_table"))',
        'InvalidLineError: At least one field is required: some_table',
      ],
    ];
    for (const [source, error] of failures) {
      const { errors } = await test('wal', source, input);
      assert.deepEqual(errors, [`error executing plugin: ${error}`]);
    }
    const scheduled = await test(
      'schedule',
      'def process_scheduled_call(a, call_time, c=None):\n    a.info(call_time.second)',
      { database: 'db1', schedule: '30 * * * * *' },
    );
    assert.match(String(scheduled['trigger_time']), /:30Z$/);
    assert.equal((scheduled['log_lines'] as string[])[1], 'INFO: 30');
    assert.deepEqual((await test('schedule', 'x = 1', {}))['errors'], ["couldn't find db"]);
    const bad = { filename: 'trial.py', database: 'db1', schedule: 'x' };
    assertError(
      await plugins.post('/api/v3/plugin_test/schedule', bad),
      400,
      'invalid cron syntax: cron expressions have 6 fields (second, minute, hour, day of month, month, day of week) or 7 (year last), but "x" has 1',
    );
    assertError(
      await plugins.post('/api/v3/plugin_test/wal', {
        ...input,
        filename: 'none.py',
        database: 'foo',
      }),
      404,
      'Plugin error: reading plugin file: Plugin not found: none.py',
    );
    assert.equal(
      (await rows(plugins.server, 'db1', 'SHOW TABLES')).some(
        (row) => row['table_name'] === 'queued',
      ),
      false,
    );
  });

  it('E-05 takes plugin files, and whole folders in one step', async () => {
    const files = '/api/v3/plugins/files';
    const source = (text: string) =>
      `def process_request(a, b, c, d, args=None):\n    return "${text}"\n`;
    assertDone(await plugins.post(files, { plugin_name: 'up/one.py', content: source('one') }));
    await plugins.create({
      plugin_filename: 'up/one.py',
      trigger_name: 'up',
      trigger_specification: 'request:up',
    });
    const ask = async () => (await plugins.server.http.send('/api/v3/engine/up')).text;
    assert.equal(await ask(), 'one');
    assertDone(await plugins.post(files, { plugin_name: 'up', content: source('changed') }, 'PUT'));
    assert.equal(await ask(), 'changed');
    const unknown = 'Processing engine error: plugin error: Plugin not found: nobody';
    assertError(
      await plugins.post(files, { plugin_name: 'nobody', content: '' }, 'PUT'),
      404,
      unknown,
    );
    const outside = await plugins.post(files, { plugin_name: '../x.py', content: '' });
    assert.equal(outside.status, 400, outside.text);
    const long = await plugins.post(files, { plugin_name: `up/${'x'.repeat(300)}`, content: '' });
    assertError(long, 400, 'a name in the path is longer than 200 bytes; use a shorter name');
    await plugins.remove('up');
    await plugins.post(files, { plugin_name: 'many/__init__.py', content: source('many') });
    await plugins.create({
      plugin_filename: 'many',
      trigger_name: 'many',
      trigger_specification: 'request:many',
    });
    const askMany = async () => (await plugins.server.http.send('/api/v3/engine/many')).text;
    assert.equal(await askMany(), 'many');
    const replaced = await plugins.post(
      '/api/v3/plugins/directory',
      {
        plugin_name: 'many',
        files: [
          { relative_path: '__init__.py', content: 'from .sub.part import process_request\n' },
          { relative_path: 'sub/part.py', content: source('from a part') },
        ],
      },
      'PUT',
    );
    assertDone(replaced);
    assert.equal(await askMany(), 'from a part');
    const shown = await rows(
      plugins.server,
      '_internal',
      "SELECT file_name AS f FROM system.plugin_files WHERE plugin_name = 'many' ORDER BY f",
    );
    assert.deepEqual(shown, [{ f: '__init__.py' }, { f: 'sub/part.py' }]);
    await plugins.remove('many');
  });

  it('returns the code of plugins to editors, and runs code that is not stored', async () => {
    await plugins.plugin('shown.py', 'def process_writes(a, b, c=None): a.info("stored")\n');
    const read = async (path: string) =>
      await plugins.server.http.send(`/ops/v1/tsdb/plugin-files?${new URLSearchParams({ path })}`);
    const shown = JSON.parse((await read('shown.py')).text);
    assert.deepEqual(shown, {
      path: 'shown.py',
      content: 'def process_writes(a, b, c=None): a.info("stored")\n',
      sha256: createHash('sha256').update(shown.content).digest('hex'),
      files: [],
    });
    await mkdir(join(plugins.folder, 'several'));
    await plugins.plugin('several/__init__.py', 'from .part import *\n');
    await plugins.plugin('several/part.py', 'x = 1\n');
    const folder = JSON.parse((await read('several')).text);
    assert.equal(folder.content, 'from .part import *\n');
    assert.deepEqual(folder.files, ['several/__init__.py', 'several/part.py']);
    assert.equal(JSON.parse((await read('several/part.py')).text).content, 'x = 1\n');

    await plugins.plugin('bytes.py', '');
    await writeFile(join(plugins.folder, 'bytes.py'), Buffer.from([0xff, 0xfe]));
    await writeFile(join(plugins.folder, '.env'), 'SECRET=1');
    await symlink('/etc/hostname', join(plugins.folder, 'link.py'));
    for (const [path, status] of [
      ['absent.py', 404],
      ['../shown.py', 422],
      ['/etc/hostname', 422],
      ['link.py', 422],
      ['.env', 422],
      ['bytes.py', 422],
    ] as const) {
      assert.equal((await read(path)).status, status, path);
    }

    const run = async (code: string | undefined) => {
      const body = { filename: 'shown.py', database: 'db1', input_lp: 'cpu f=1 1', code };
      return JSON.parse((await plugins.post('/api/v3/plugin_test/wal', body)).text).log_lines[1];
    };
    assert.equal(await run(undefined), 'INFO: stored');
    assert.equal(await run('def process_writes(a, b, c=None): a.info("new")'), 'INFO: new');
    assert.equal(await run(undefined), 'INFO: stored');
  });

  it('E-05 refuses files below files and in the place of folders, and leaves what is there', async () => {
    const files = '/api/v3/plugins/files';
    const directory = '/api/v3/plugins/directory';
    const content = 'def process_request(a, b, c, d, args=None):\n    return "kept"\n';
    assertDone(await plugins.post(files, { plugin_name: 'single.py', content }));
    assertDone(await plugins.post(files, { plugin_name: 'folder/__init__.py', content }));
    for (const name of ['single.py', 'folder']) {
      const trigger = { trigger_name: name, trigger_specification: `request:${name}` };
      assertDone(await plugins.create({ ...trigger, plugin_filename: name }));
    }
    const below = { plugin_filename: 'single.py/x', trigger_name: 'below' };
    assertError(
      await plugins.create({ ...below, trigger_specification: 'request:below' }),
      404,
      'Plugin error: reading plugin file: Plugin not found: single.py/x',
      { field: 'plugin_filename' },
    );
    const taken = (name: string): string =>
      `${name} conflicts with an existing file or folder; use another name`;
    assertError(
      await plugins.post(files, { plugin_name: 'single.py/x', content }),
      400,
      taken('x'),
    );
    const init = { relative_path: '__init__.py', content: 'x = 1\n' };
    const put = async (plugin_name: string, ...more: readonly string[]) =>
      await plugins.post(
        directory,
        { plugin_name, files: [init, ...more.map((path) => ({ relative_path: path, content }))] },
        'PUT',
      );
    assertError(await put('folder', '__init__.py/x'), 400, taken('x'));
    assertError(await put('folder', 'a/b.py', 'a'), 400, taken('a'));
    assertError(await put('single.py'), 400, 'single.py is a single-file plugin, not a directory');
    for (const name of ['single.py', 'folder']) {
      assert.equal((await plugins.server.http.send(`/api/v3/engine/${name}`)).text, 'kept');
      await plugins.remove(name);
    }
    // Python may store compiled files in the same folder.
    const left = (await readdir(join(plugins.folder, 'folder'))).filter(
      (name) => name !== '__pycache__',
    );
    assert.deepEqual(left, ['__init__.py']);
  });

  it('E-05 replaces a folder as a whole also when several replace it at once', async () => {
    const content = 'def process_request(a, b, c, d, args=None):\n    return "first"\n';
    const init = { plugin_name: 'busy/__init__.py', content };
    assertDone(await plugins.post('/api/v3/plugins/files', init));
    const trigger = { trigger_name: 'busy', trigger_specification: 'request:busy' };
    assertDone(await plugins.create({ ...trigger, plugin_filename: 'busy' }));
    const filesOf = (who: number): string[] =>
      ['__init__.py', ...Array.from({ length: 20 }, (_, i) => `of_${who}_${i}.py`)].sort();
    const responses = await Promise.all(
      [1, 2, 3, 4].map((who) =>
        plugins.post(
          '/api/v3/plugins/directory',
          {
            plugin_name: 'busy',
            files: filesOf(who).map((relative_path) => ({ relative_path, content })),
          },
          'PUT',
        ),
      ),
    );
    for (const response of responses) assertDone(response);
    const left = (await readdir(join(plugins.folder, 'busy'))).filter((name) =>
      name.endsWith('.py'),
    );
    assert.ok(
      [1, 2, 3, 4].some((who) => left.sort().join() === filesOf(who).join()),
      left.join(),
    );
    await plugins.remove('busy');
  });

  it('fetches plugins from a repository, and says why when it cannot', async () => {
    const repository: Server = createServer((request, response) => {
      if (request.url === '/base/dir/remote.py') {
        response.end('def process_request(a, b, c, d, args=None):\n    return "remote"\n');
      } else response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => repository.once('listening', resolve));
    const { port } = repository.address() as AddressInfo;
    const base = `http://127.0.0.1:${port}/base`;
    await plugins.restart(['--plugin-repo', base]);
    const fetched = {
      trigger_name: 'remote',
      trigger_specification: 'request:remote',
    };
    assertDone(await plugins.create({ ...fetched, plugin_filename: 'gh:dir/remote.py' }));
    assert.equal((await plugins.server.http.send('/api/v3/engine/remote')).text, 'remote');
    assertError(
      await plugins.create({ ...fetched, trigger_name: 'x', plugin_filename: 'gh:none.py' }),
      502,
      `Plugin error: error fetching plugin from repository: 404 Not Found ${base}/none.py`,
      { field: 'plugin_filename' },
    );
    for (const path of ['../x.py', 'dir/%2e%2e/../../x.py']) {
      assertError(
        await plugins.create({ ...fetched, trigger_name: 'x', plugin_filename: `gh:${path}` }),
        400,
        `Plugin error: Path traversal detected: plugin filename 'gh:${path}' attempts to access files outside the plugin directory`,
        { field: 'plugin_filename' },
      );
    }
    await plugins.remove('remote');
    repository.close();
  });
});
