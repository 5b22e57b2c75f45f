// Source: processing-engine, "Trigger record", "Trigger specification grammar" and "Lifecycle"; tsdb-http, "Processing engine over HTTP".
import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { assertError, ServerInProcess, temporaryFolder, write } from '../../harness/index.js';
import {
  ANY_TYPE,
  assertDone,
  ECHO_WRITES,
  JSON_TYPE,
  noPython,
  PluginServer,
  rows,
  TRIGGER,
} from './plugin-server.js';

const DATABASE = '/api/v3/configure/database';

describe('Triggers', { skip: noPython }, () => {
  let plugins: PluginServer;
  before(async () => {
    plugins = await PluginServer.start();
  });
  after(() => plugins.close());

  it('E-01 takes every form of specification and refuses the rest with its reason', async () => {
    await plugins.plugin('any.py', ANY_TYPE);
    const base = { plugin_filename: 'any.py', disabled: true };
    const forms: readonly (readonly [spec: string, json: string])[] = [
      ['all_tables', '"all_tables_wal_write"'],
      [' all_tables ', '"all_tables_wal_write"'],
      ['table:cpu', '{"single_table_wal_write":{"table_name":"cpu"}}'],
      ['cron:0 0 6 * * 1-5', '{"schedule":{"schedule":"0 0 6 * * 1-5"}}'],
      ['every:1m', '{"every":{"duration":{"secs":60,"nanos":0}}}'],
      ['every:1h 30m', '{"every":{"duration":{"secs":5400,"nanos":0}}}'],
      ['request:hello', '{"request_path":{"path":"hello"}}'],
    ];
    for (const [index, [trigger_specification]] of forms.entries()) {
      assertDone(
        await plugins.create({ ...base, trigger_name: `form${index}`, trigger_specification }),
      );
    }
    const shown = await rows(
      plugins.server,
      'db1',
      "SELECT trigger_specification, disabled, error_behavior FROM system.processing_engine_triggers WHERE trigger_name LIKE 'form%' ORDER BY trigger_name",
    );
    assert.deepEqual(
      shown,
      forms.map(([, trigger_specification]) => ({
        trigger_specification,
        disabled: true,
        error_behavior: 'log',
      })),
    );
    const refused: readonly (readonly [spec: string, context: string])[] = [
      ['all_tables:', ': expect one of the following forms'],
      ['table:', ': table name is empty'],
      ['cron:0 6 * * *', ': cron expressions have 6 fields'],
      ['cron:@never', ': unknown shorthand "@never"; use @yearly'],
      ['cron:60 * * * * *', ': invalid second "60"; use 0 to 59'],
      ['every:1.5s', ": couldn't parse to duration"],
      ['every:0s', ": couldn't parse to duration"],
      ['every:2y', ": don't support every schedules of over 1 year"],
      ['request:', ''],
      ['nothing', ': expect one of the following forms'],
    ];
    for (const [trigger_specification, context] of refused) {
      const response = await plugins.create({
        ...base,
        trigger_name: 'bad',
        trigger_specification,
      });
      assert.equal(response.status, 400, trigger_specification);
      const { error, data } = JSON.parse(response.text) as { error: string; data: unknown };
      assert.deepEqual(data, { field: 'trigger_specification' });
      const expected = `failed to parse trigger from ${trigger_specification}${context}`;
      assert.ok(error.startsWith(expected), error);
      if (context === '') assert.equal(error, expected);
    }
    for (const index of forms.keys()) await plugins.remove(`form${index}`);
  });

  it('E-01 answers what is wrong with a trigger, and keeps nothing of it', async () => {
    await plugins.plugin('any.py', ANY_TYPE);
    await mkdir(join(plugins.folder, 'no_init'), { recursive: true });
    await symlink('/', join(plugins.folder, 'out'));
    const good = {
      plugin_filename: 'any.py',
      trigger_name: 'once',
      trigger_specification: 'all_tables',
      disabled: true,
    };
    assertDone(await plugins.create(good));
    const exists = 'attempted to create a resource that already exists';
    assertError(await plugins.create(good), 409, exists, { field: 'trigger_name' });
    const unnamed = 'trigger name cannot be empty';
    assertError(await plugins.create({ ...good, trigger_name: '' }), 400, unnamed, {
      field: 'trigger_name',
    });
    assertDone(await plugins.create({ ...good, db: 'db2' }));
    const unknown = await plugins.create({ ...good, db: 'none' });
    assertError(unknown, 404, 'Database not found none', { field: 'db' });
    assertError(
      await plugins.create({ ...good, db: '_internal' }),
      400,
      'cannot modify internal db',
      { field: 'db' },
    );
    const ofPlugin = { field: 'plugin_filename' };
    const missing = 'Plugin error: reading plugin file: Plugin not found: nope.py';
    assertError(
      await plugins.create({ ...good, plugin_filename: 'nope.py' }),
      404,
      missing,
      ofPlugin,
    );
    const incomplete =
      'Plugin error: reading plugin file: Multi-file plugin directory must contain __init__.py: no_init';
    assertError(
      await plugins.create({ ...good, plugin_filename: 'no_init' }),
      400,
      incomplete,
      ofPlugin,
    );
    for (const path of ['../any.py', '/etc/passwd', 'a/../../b.py', 'out/etc/passwd']) {
      const escapes = `Plugin error: Path traversal detected: plugin filename '${path}' attempts to access files outside the plugin directory`;
      assertError(await plugins.create({ ...good, plugin_filename: path }), 400, escapes, ofPlugin);
    }
    for (const [trigger_arguments, status] of [
      [{ a: 90, b: true, c: 'x' }, 200],
      [{ a: null }, 400],
      [{ a: [1] }, 400],
      ['x', 400],
    ] as const) {
      const response = await plugins.create({ ...good, trigger_name: 'args', trigger_arguments });
      assert.equal(response.status, status, response.text);
    }
    const args = await rows(
      plugins.server,
      'db1',
      'SELECT argument_key AS k, argument_value AS v FROM system.processing_engine_trigger_arguments ORDER BY k',
    );
    assert.deepEqual(args, [
      { k: 'a', v: '90' },
      { k: 'b', v: 'true' },
      { k: 'c', v: 'x' },
    ]);
    await plugins.remove('args');
    const numbers = '{"a":12345678901234567890,"b":-0.0,"c":1e400,"d":"1.0","e":1.50}';
    const body = `${JSON.stringify({ db: 'db1', ...good, trigger_name: 'args' }).slice(0, -1)},"trigger_arguments":${numbers}}`;
    assertDone(
      await plugins.server.http.send(TRIGGER, { method: 'POST', body, headers: JSON_TYPE }),
    );
    const exact = await rows(
      plugins.server,
      'db1',
      'SELECT argument_value AS v FROM system.processing_engine_trigger_arguments ORDER BY argument_key',
    );
    assert.deepEqual(
      exact.map(({ v }) => v),
      ['12345678901234567890', '-0.0', '1e400', '1.0', '1.50'],
      'numbers as they were written',
    );
    const text = await plugins.server.http.send(TRIGGER, { method: 'POST', body: '{}' });
    assertError(text, 415, 'unacceptable content-type, expected: application/json');
    assert.equal((await plugins.create({ ...good, trigger_name: undefined })).status, 400);
    const settings = { error_behavior: 'explode' };
    assert.equal((await plugins.create({ ...good, trigger_settings: settings })).status, 400);
    for (const name of ['once', 'args']) await plugins.remove(name);
    await plugins.remove('once', 'db2');
  });

  it('refuses at once a plugin that cannot run for its trigger, and names the line', async () => {
    await plugins.plugin(
      'torn.py',
      'import os\n\ndef process_writes(local, batches, args=None)\n  pass\n',
    );
    await plugins.plugin('other.py', 'def process_request(local, query, headers, body): pass\n');
    await plugins.plugin('lent.py', 'from other import process_request as process_writes\n');
    const at = (plugin_filename: string, trigger_specification: string) =>
      plugins.create({
        trigger_name: 'looked',
        plugin_filename,
        trigger_specification,
        disabled: true,
      });
    const torn = await at('torn.py', 'all_tables');
    assert.equal(torn.status, 400);
    assert.match(torn.text, /"Plugin error: torn\.py, line 3: [^"]+"/);
    const lacks = 'Plugin error: other.py has no function process_scheduled_call';
    assertError(await at('other.py', 'every:1h'), 400, lacks, { field: 'plugin_filename' });
    assertDone(await at('other.py', 'request:looked'));
    await plugins.remove('looked');
    assertDone(await at('lent.py', 'table:cpu'));
    await plugins.remove('looked');
  });

  it('lets one enabled trigger answer a path', async () => {
    await plugins.plugin('any.py', ANY_TYPE);
    const request = (trigger_name: string, path: string, disabled = false) =>
      plugins.create({
        trigger_name,
        plugin_filename: 'any.py',
        trigger_specification: `request:${path}`,
        disabled,
      });
    assertDone(await request('first', 'shared'));
    const taken =
      "request path 'shared' is already used by trigger 'first'; disable that trigger first";
    const ofPath = { field: 'trigger_specification' };
    assertError(await request('second', 'shared'), 409, taken, ofPath);
    const spelled =
      "request path '/sh%61red' is already used by trigger 'first'; disable that trigger first";
    assertError(await request('second', '/sh%61red'), 409, spelled, ofPath);
    assertDone(await request('second', 'shared', true));
    assertDone(await request('third', 'own'));
    const enable = (name: string) =>
      plugins.post(`${TRIGGER}/enable`, {
        db: 'db1',
        trigger_name: name,
        plugin_filename: 'any.py',
        trigger_specification: 'request:shared',
      });
    assertError(await enable('second'), 409, taken);
    assertDone(await enable('first'));
    await plugins.remove('first');
    assertDone(await enable('second'));
    for (const name of ['second', 'third']) await plugins.remove(name);
  });

  it('E-02 enables, disables and deletes as often as asked', async () => {
    await plugins.plugin('any.py', ECHO_WRITES);
    await plugins.create({
      plugin_filename: 'any.py',
      trigger_name: 'life',
      trigger_specification: 'all_tables',
    });
    const at = { db: 'db1', trigger_name: 'life' };
    const isDisabled = async () =>
      rows(
        plugins.server,
        'db1',
        "SELECT disabled FROM system.processing_engine_triggers WHERE trigger_name = 'life'",
      );
    assertDone(await plugins.post(`${TRIGGER}/enable`, at));
    assertDone(
      await plugins.server.http.send(`${TRIGGER}/disable?db=db1&trigger_name=life`, {
        method: 'POST',
      }),
    );
    assertDone(await plugins.post(`${TRIGGER}/disable`, { ...at, plugin_filename: 'any.py' }));
    assert.deepEqual(await isDisabled(), [{ disabled: true }]);
    assertDone(await plugins.post(`${TRIGGER}/enable`, at));
    assert.deepEqual(await isDisabled(), [{ disabled: false }]);
    const running = 'Cannot delete running plugin life. Disable it first or use --force.';
    assertError(await plugins.post(TRIGGER, at, 'DELETE'), 409, running);
    assertDone(
      await plugins.server.http.send(`${TRIGGER}?db=db1&trigger_name=life&force=true`, {
        method: 'DELETE',
      }),
    );
    const gone = 'the requested resource was not found: life';
    for (const path of [`${TRIGGER}/enable`, `${TRIGGER}/disable`]) {
      assertError(await plugins.post(path, at), 404, gone);
    }
    assertError(await plugins.post(TRIGGER, at, 'DELETE'), 404, gone);
  });

  it('answers no request behind the deletion of its database, which it did for a second more', async () => {
    await plugins.plugin('any.py', ANY_TYPE);
    const { http } = plugins.server;
    const ask = async () => {
      const { status, text } = await http.send('/api/v3/engine/short');
      return [status, text];
    };
    const missing = [404, '{"error":"not found","data":{}}'];
    const deletions = [
      () => http.send('/api/v3/configure/database?db=leaving', { method: 'DELETE' }),
      () => http.send('/query?q=DROP+DATABASE+leaving', { method: 'POST' }),
      // A database without tables, but with a retention policy.
      () => http.send('/api/v3/configure/database?db=leaving/w', { method: 'DELETE' }),
    ];
    for (const [index, remove] of deletions.entries()) {
      const db = index === 2 ? 'leaving/w' : 'leaving';
      if (index === 2) assert.equal((await plugins.post(DATABASE, { db })).status, 200);
      else await write(plugins.server, { db }, 'seed f=1 1');
      assertDone(
        await plugins.create({
          db,
          plugin_filename: 'any.py',
          trigger_name: 'short',
          trigger_specification: 'request:short',
        }),
      );
      assert.deepEqual(await ask(), [200, 'done']);
      assert.equal((await remove()).status, 200);
      assert.deepEqual(await ask(), missing, `${index}`);
      const back = await plugins.post(`${DATABASE}/undelete`, { db });
      assert.equal(back.status, 200, back.text);
      assert.deepEqual(await ask(), [200, 'done'], 'back with its database');
      assert.equal((await remove()).status, 200);
      assert.deepEqual(await ask(), missing, `${index}`);
    }
  });
});

describe('A server whose plugins are restricted or off', () => {
  it('E-01 refuses what its settings say', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'any.py'), ANY_TYPE);
    const trigger = {
      db: 'db1',
      plugin_filename: 'any.py',
      trigger_name: 't',
      trigger_specification: 'every:1h',
    };
    const ask = async (flags: readonly string[], path: string, body: unknown, env = {}) => {
      const server = await ServerInProcess.start({ flags: ['--without-auth', ...flags], env });
      try {
        await write(server, { db: 'db1' }, 'm f=1');
        return await server.http.send(path, { body: JSON.stringify(body), headers: JSON_TYPE });
      } finally {
        await server.close();
      }
    };
    assertError(
      await ask([], TRIGGER, trigger),
      500,
      'Plugin error: Node not configured with plugin directory: start the server with --plugin-dir',
    );
    const dir = ['--plugin-dir', folder];
    assertError(
      await ask([...dir, '--restrict-plugin-triggers-to', 'wal,request'], TRIGGER, trigger),
      400,
      'invalid request: server is configured to reject Schedule plugin triggers',
      { field: 'trigger_specification' },
    );
    assertError(
      await ask([...dir, '--python', '/no/such/python'], TRIGGER, trigger),
      503,
      'Python plugins not enabled on this server: python3 (>= 3.9) not found; install it (Debian/Ubuntu: apt install python3 python3-venv) or set --python',
    );
    const install = '/api/v3/configure/plugin_environment/install_packages';
    assertError(
      await ask([...dir, '--package-manager', 'disabled'], install, { packages: ['x'] }),
      403,
      'Package installation has been disabled. Contact your administrator for more information.',
    );
  });
});
