// Source: the reference of the influxdb3 command line (its commands and options), and docs/COMMANDS.md, "Commands of influxdb3".
// Own process: one has variables for installers.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import { rows, ServerInProcess } from '../../harness/index.js';
import { ANY_TYPE, indexOf, makeWheel, noPython, PluginServer } from '../tsdb/plugin-server.js';

/** A command in the syntax of the reference, its exit code and its output. Rows run in order on one server. */
type Row = readonly [words: readonly string[], code: number, says: RegExp];

const DB = ['--database', 'home'];
const ROWS: readonly Row[] = [
  [['create', 'database', 'home'], 0, /^database home created$/m],
  [['create', 'database', '--retention-period', '30d', 'brief'], 0, /^database brief created$/m],
  [['show', 'databases', '--format', 'csv'], 0, /^home$/m],
  [['show', 'databases', '--format=json'], 0, /"iox::database":"home"/],
  [
    [
      'create',
      'table',
      '--tags',
      'room,sensor_id',
      '--fields',
      'temp:float64,co:int64',
      ...DB,
      'air',
    ],
    0,
    /^table air created$/m,
  ],
  [['write', ...DB, 'air,room=Living\\ Room temp=21.1,co=0i 1641024000'], 0, /^wrote 1 line /],
  [['write', ...DB, '--file', '$FOLDER/data.lp'], 0, /^wrote 2 lines/],
  [['write', ...DB, '--accept-partial', '--file', '$FOLDER/bad.lp'], 1, /wrote 1 line, rejected 1/],
  [['w', ...DB, '-f', '$FOLDER/data.lp'], 0, /^wrote 2 lines/],
  [['query', ...DB, '--format', 'csv', 'SELECT count(*) AS n FROM air'], 0, /^4$/m],
  [['q', ...DB, '--language', 'influxql', 'SELECT count(co) FROM air'], 0, /\b4\b/],
  [['q', ...DB, '-f', '$FOLDER/q.sql', '--format', 'csv'], 0, /^4$/m],
  [
    [
      'create',
      'last_cache',
      ...DB,
      '--table',
      'air',
      '--key-columns',
      'room',
      '--value-columns',
      'temp',
      '--count',
      '10',
      '--ttl',
      '1h',
      'latest',
    ],
    0,
    /^last cache of air created$/m,
  ],
  [
    [
      'create',
      'distinct_cache',
      ...DB,
      '-t',
      'air',
      '--columns',
      'room',
      '--max-age',
      '30d',
      'rooms',
    ],
    0,
    /^distinct cache of air created$/m,
  ],
  [
    ['query', ...DB, '--format', 'jsonl', 'SELECT name, "count", ttl FROM system.last_caches'],
    0,
    /"name":"latest","count":10,"ttl":3600/,
  ],
  [
    [
      'query',
      ...DB,
      '--format',
      'jsonl',
      'SELECT name, max_age_seconds FROM system.distinct_caches',
    ],
    0,
    /"name":"rooms","max_age_seconds":2592000/,
  ],
  [['delete', 'last_cache', ...DB, '--table', 'air', 'latest'], 0, /^last cache latest deleted$/m],
  [['delete', 'distinct_cache', ...DB, '-t', 'air', 'rooms'], 0, /^distinct cache rooms deleted$/m],
  [
    [
      'create',
      'trigger',
      ...DB,
      '--path',
      'any.py',
      '--trigger-spec',
      'request:hello',
      '--trigger-arguments',
      'a=1,b=2',
      '--error-behavior',
      'retry',
      '--run-asynchronous',
      '--disabled',
      'hello',
    ],
    0,
    /^trigger hello created, disabled$/m,
  ],
  [
    [
      'create',
      'trigger',
      ...DB,
      '--plugin-filename',
      'any.py',
      '--trigger-spec',
      'all_tables',
      'each',
    ],
    0,
    /^trigger each created$/m,
  ],
  [['enable', 'trigger', ...DB, 'hello'], 0, /^trigger hello enabled$/m],
  [['disable', 'trigger', ...DB, 'hello'], 0, /^trigger hello disabled$/m],
  [['show', 'plugins', '--format', 'csv'], 0, /any\.py/],
  [
    [
      'test',
      'wal_plugin',
      ...DB,
      '--lp',
      'air,room=x temp=1',
      '--input-arguments',
      'a=1',
      'any.py',
    ],
    0,
    /^/,
  ],
  [['test', 'wal_plugin', ...DB, '--file', '$FOLDER/data.lp', 'any.py'], 0, /^/],
  [['test', 'wal_plugin', ...DB, 'any.py'], 2, /requires --lp/],
  [['test', 'schedule_plugin', ...DB, '--schedule', '0 0 0 * * *', 'any.py'], 0, /trigger time: /],
  [['delete', 'trigger', ...DB, '--force', 'each'], 0, /^trigger each deleted$/m],
  [['delete', 'trigger', ...DB, 'hello'], 0, /^trigger hello deleted$/m],
  [['install', 'package', 'plinth_sample'], 0, /^installed$/m],
  [['update', 'database', '--retention-period', '7d', 'brief'], 0, /^database brief updated$/m],
  [['update', 'database', '-d', 'brief', '-r', 'none'], 0, /^database brief updated$/m],
  [
    ['update', 'database', '--database=brief', '--retention-period=1d'],
    0,
    /^database brief updated$/m,
  ],
  [['update', 'table', ...DB, '-r', '30d', 'air'], 0, /^table air updated$/m],
  [['show', 'nodes'], 0, /node_id/],
  [['delete', 'table', ...DB, '--hard-delete', 'now', 'air'], 0, /^table air deleted$/m],
  [['delete', 'database', 'home'], 0, /^database home deleted$/m],
  [['show', 'databases', '--show-deleted', '--format', 'csv'], 0, /^home/m],
];

/** For a server that requires tokens. */
const TOKENS: readonly Row[] = [
  [['create', 'token', '--admin'], 0, /^apiv3_/m],
  [
    ['create', 'token', '--admin', '--name', 'ci', '--expiry', '10d', '--token', '$TOKEN'],
    0,
    /^apiv3_/m,
  ],
  [
    ['create', 'token', '--permission', 'db:home:read', '--name', 'r', '--token', '$TOKEN'],
    0,
    /^apiv3_/m,
  ],
  [['show', 'tokens', '--format', 'jsonl', '--token', '$TOKEN'], 0, /"name":"ci"/],
  [['delete', 'token', '--token-name', 'ci', '--token', '$TOKEN'], 0, /^token ci deleted$/m],
];

/** Commands without an equivalent report this and suggest an alternative. */
const WITHOUT: readonly Row[] = [
  ['create', 'file_index'],
  ['create', 'plugin'],
  ['create', 'query_group'],
  ['show', 'retention'],
  ['show', 'system'],
  ['show', 'license'],
  ['show', 'query_groups'],
  ['update', 'trigger'],
  ['update', 'query_group'],
  ['delete', 'file_index'],
  ['delete', 'plugin'],
  ['delete', 'query_group'],
  ['debug', 'object-store-check'],
  ['debug', 'verify-references'],
  ['debug', 'sweep'],
  ['stop', 'node'],
  ['remove', 'node'],
  ['activate', 'license'],
].map((words) => [
  words,
  2,
  new RegExp(`^plinth: plinth ${words.join(' ')} has no equivalent: .{20,}\\n$`),
]);

/** Options without an equivalent. */
const OPTIONS: readonly Row[] = [
  [
    ['create', 'trigger', '--upload', ...DB, 't'],
    2,
    /--upload has no equivalent: run `plinth plugin upload FILE` first/,
  ],
  [
    ['create', 'token', '--admin', '--regenerate'],
    2,
    /--regenerate has no equivalent: use `plinth token regenerate`/,
  ],
  [
    ['show', 'databases', '--tls-no-verify'],
    2,
    /--tls-no-verify has no equivalent: .*--tls-ca FILE/,
  ],
  [['show', 'tokens', '--format', 'parquet', '--output', 'x'], 2, /--output has no equivalent/],
  [
    ['install', 'package', '--package-manager=uv', 'x'],
    2,
    /--package-manager has no equivalent: this is a server setting/,
  ],
  [['delete', 'database', '--data-only', 'home'], 2, /--data-only has no equivalent/],
];

describe('verbs of influxdb3', { skip: noPython }, () => {
  let plugins: PluginServer;
  let secured: ServerInProcess;
  let token = '';
  before(async () => {
    plugins = await PluginServer.startProcess((folder) => indexOf(join(folder, 'wheels')));
    secured = await ServerInProcess.start({ flags: [] });
    await makeWheel(join(plugins.folder, 'wheels'), 'plinth_sample', '1.2');
    await plugins.plugin('any.py', ANY_TYPE);
    const files = {
      'data.lp': 'air,room=a temp=1,co=1i 1641024001\nair,room=b temp=2,co=2i 1641024002\n',
      'bad.lp': 'air,room=c temp=1,co=1i 1641024003\nair\n',
      'q.sql': 'SELECT count(*) AS n FROM air\n',
    };
    for (const [name, text] of Object.entries(files))
      await writeFile(join(plugins.folder, name), text);
  });
  after(async () => {
    await plugins.close();
    await secured.close();
  });

  const run = (words: readonly string[], server = plugins.server) =>
    runCli(
      words.map((word) => word.replace('$FOLDER', plugins.folder).replace('$TOKEN', token)),
      { env: { INFLUXDB3_HOST_URL: server.url } },
    );

  for (const [words, code, says] of [...ROWS, ...TOKENS, ...WITHOUT, ...OPTIONS]) {
    it(words.join(' '), async () => {
      const isOfToken = TOKENS.some(([those]) => those === words);
      const done = await run(words, isOfToken ? secured : plugins.server);
      assert.equal(done.code, code, done.stdout + done.stderr);
      assert.match(done.stdout + done.stderr, says);
      if (words.join(' ') === 'create token --admin') token = done.stdout.trim();
      if (words.includes('--trigger-arguments')) {
        const q = 'SELECT error_behavior, disabled FROM system.processing_engine_triggers';
        assert.deepEqual(await rows(plugins.server, 'home', q), [
          { error_behavior: 'retry', disabled: true },
        ]);
      }
    });
  }

  it('has a test for each', async () => {
    const { stdout } = await runCli(['completion', 'bash']);
    const all = [...stdout.matchAll(/^ {4}"([^"]+)"\) words=/gm)].map(([, path = '']) => path);
    const verbs = new Set([...ROWS, ...WITHOUT].map(([[verb = '']]) => verb));
    const leaves = all.filter((path) => verbs.has(path.split(' ')[0] ?? '') && path.includes(' '));
    assert.ok(leaves.length >= 35, leaves.join());
    const tested = new Set(
      [...ROWS, ...TOKENS, ...WITHOUT].map(([words]) => words.slice(0, 2).join(' ')),
    );
    assert.deepEqual(
      leaves.filter((path) => !tested.has(path)),
      [],
    );
  });

  it('shows the help of the equivalent command with the option names', async () => {
    for (const flag of ['--help', '-h', '--help-all']) {
      const { code, stdout } = await run(['create', 'last_cache', flag]);
      assert.equal(code, 0);
      assert.match(stdout, /^Usage: plinth cache create/);
      assert.match(stdout, /--key-columns is --columns/);
    }
    assert.match(
      (await run(['create', '--help'])).stdout,
      /last_cache .*plinth cache create --kind last/,
    );
    assert.equal((await run(['create', 'nonsense'])).code, 2);
  });
});
