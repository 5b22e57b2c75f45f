// Source: docs/COMMANDS.md: every command that shows data prints JSON. The list of commands comes from the program itself.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import {
  assertEmpty,
  ServerInProcess,
  temporaryFolder,
  WITH_SAMPLE_DATA,
  write,
} from '../../harness/index.js';

/** Commands that show data, with their arguments. `$X` is replaced by an item created before. */
const SHOWING: Readonly<Record<string, readonly string[]>> = {
  'database list': [],
  'table list': ['-d', 'd'],
  'cache list': ['-d', 'd'],
  'rollup list': ['-d', 'd'],
  'trigger list': ['-d', 'd'],
  'trigger logs': ['-d', 'd'],
  'plugin list': [],
  aside: ['--data-dir', '$DATA'],
  snapshot: ['--data-dir', '$DATA'],
  'table published': ['-d', 'd'],
  'token list': [],
  'identity list': [],
  'identity show': ['user:1'],
  'limits show': ['user:1'],
  'limits check': ['--identity', 'user:1'],
  'limits bans': [],
  'limits top': [],
  'limits routes': [],
  'ratelimit show': ['user:1'],
  'ratelimit check': ['--identity', 'user:1'],
  'ratelimit bans': [],
  'ratelimit top': [],
  'ratelimit routes': [],
  'app list': [],
  'app show': ['ci'],
  'deliveries list': ['--app', 'ci'],
  'deliveries show': ['$DELIVERY', '--app', 'ci'],
  'webhook deliveries': ['ci'],
  status: [],
  'accounts platforms list': [],
  'accounts platforms show': [],
  'accounts keys list': [],
  'accounts list': [],
  'accounts show': ['Shown'],
  'gamedata validate': ['--token', '$EDITOR'],
  'gamedata versions': [],
  version: [],
};
/** Other commands; `query` and `export` have their own formats. */
const DOING =
  /^(?:serve|write|query|import|export|backup|support-bundle|verify|restore|migrate(?: \S+)*|shell|completion|gamedata (?:generate|import|export|publish|token)|watch|webhook listen|event \w+|\w+(?: \w+)* (?:create|update|delete|undelete|enable|disable|new|test|upload|install|regenerate|set|revoke|token|reset|ban|unban|rotate-secret|rotate-key|add-key|remove-key|ping|suspend|unsuspend|redeliver|redrive|publish|close|tick|restore|generate|rename|forget-name|convert|conversions|cancel))$/;
/** Lists that contain at least one row at that point. */
const FILLED = ['database list', 'table list', 'cache list', 'identity list', 'limits routes'];
FILLED.push(
  'app list',
  'deliveries list',
  'accounts list',
  'accounts keys list',
  'gamedata versions',
);

/** Aliases: influxdb3.test.ts. */
const OTHER_NAMES =
  /^(?:create|show|delete|update|enable|disable|install|test|debug|stop|remove|activate|q|w)\b/;

let server: ServerInProcess;
let outside: string;
const told = new Map<string, string>();
const run = (...args: string[]) => runCli([...args, '--host', server.url]);
const ok = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await run(...args);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
};

before(async () => {
  outside = await temporaryFolder();
  server = await ServerInProcess.start({
    flags: [
      '--without-auth',
      '--open-tables-databases=d',
      '--webhooks-allow-private-targets=127.0.0.0/8',
      `--gamedata-tokens=editor:${createHash('sha256').update('gd_editor').digest('hex')}:read`,
    ],
    env: WITH_SAMPLE_DATA,
  });
  told.set('$DATA', server.dataDir).set('$EDITOR', 'gd_editor');
  assertEmpty(await write(server, { db: 'd' }, 'm,t=a v=1'));
  for (const kind of ['last', 'distinct'])
    await ok('cache', 'create', '-d', 'd', '--kind', kind, '--table', 'm', '--columns', 't');
  await ok('identity', 'create', 'user', '--id', '1');
  const hook = ['--webhook-url', 'http://127.0.0.1:9/', '--secret', 's', '--key-out'];
  await ok('app', 'create', '--name', 'ci', ...hook, join(outside, 'ci.pem'));
  const key = (await ok('accounts', 'keys', 'create')).trim();
  const made = await server.http.send('/v2/core/accounts', {
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ display_name: 'Shown', contact_email: 'shown@example.com' }),
  });
  assert.equal(made.status, 200, made.text);
  while (!told.has('$DELIVERY')) {
    const [first] = JSON.parse(await ok('deliveries', 'list', '--app', 'ci', '-f', 'json')) as [
      { id: number }?,
    ];
    if (first !== undefined) told.set('$DELIVERY', String(first.id));
  }
});
after(() => server.close());

/** All leaf commands, from the completion script. */
async function leaves(): Promise<readonly string[]> {
  const { stdout } = await runCli(['completion', 'bash']);
  const paths = [...stdout.matchAll(/^ {4}"([^"]+)"\) words=/gm)].map(([, path = '']) => path);
  return paths.filter((path) => !paths.some((other) => other.startsWith(`${path} `)));
}

it('classifies every command', async () => {
  const all = (await leaves()).filter((path) => !OTHER_NAMES.test(path));
  const showing = Object.keys(SHOWING);
  assert.deepEqual(
    all.filter((path) => !showing.includes(path) && !DOING.test(path)),
    [],
    'a new command: put it into one of the two lists',
  );
  assert.deepEqual(
    showing.filter((path) => !all.includes(path)),
    [],
  );
});

describe('--format json', () => {
  for (const [path, args] of Object.entries(SHOWING)) {
    it(`of plinth ${path}`, async () => {
      const needsServer = !['version', 'aside', 'snapshot'].includes(path);
      const words = [...path.split(' '), ...args.map((arg) => told.get(arg) ?? arg)];
      const format = (name: string) =>
        (needsServer ? run : (...all: string[]) => runCli(all))(...words, '--format', name);
      const { code, stdout, stderr } = await format('json');
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^[^\n]+\n$/);
      const value: unknown = JSON.parse(stdout);
      const isList =
        /(?:list|bans|top|routes|versions|logs|aside|snapshot|published|webhook deliveries)$/.test(
          path,
        );
      assert.equal(Array.isArray(value), isList, stdout);
      if (FILLED.includes(path)) assert.notDeepEqual(value, []);
      const wrong = await format('nonsense');
      assert.equal(wrong.code, 2);
      assert.match(wrong.stderr, /Allowed choices are pretty, json/);
      assert.equal((await format('pretty')).code, 0);
    });
  }

  it('keeps all digits of the response', async () => {
    const payload = '{"n":9007199254740993}';
    const publish = [
      'event',
      'publish',
      '--event',
      'installation',
      '--app',
      'ci',
      '--payload',
      '-',
    ];
    const { code, stderr } = await runCli([...publish, '--host', server.url], { input: payload });
    assert.equal(code, 0, stderr);
    for (let shown = ''; !shown.includes('9007199254740993'); ) {
      const listed = await ok('webhook', 'deliveries', 'ci', '-f', 'json');
      const { id } = (JSON.parse(listed) as { id: number; event: string }[]).find(
        ({ event }) => event === 'installation',
      ) ?? { id: 0 };
      if (id !== 0) shown = await ok('deliveries', 'show', `${id}`, '--app', 'ci', '-f', 'json');
    }
  });
});
