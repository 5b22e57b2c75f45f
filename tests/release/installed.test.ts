// Source: docs/RELEASING.md. The released package as a new user finds it: installed in an empty home folder.
// Own process: the installed command is started.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rows, ServerProcess } from '../harness/index.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const ENTRY = 'lib/node_modules/plinth/packages/cli/dist/cli.cjs';
/** npm's error codes for an unreachable registry. */
const NO_REGISTRY = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH/;

let top: string;
let files: ReadonlyMap<string, string>;
let noRegistry: string | undefined;

const env = (): NodeJS.ProcessEnv => ({ ...process.env, HOME: join(top, 'home') });
const fileOf = (pattern: RegExp): string => {
  const found = [...files].find(([name]) => pattern.test(name))?.[1];
  assert.ok(found, `${pattern} is among ${[...files.keys()]}`);
  return found;
};

before(
  async () => {
    top = await mkdtemp(join(tmpdir(), 'plinth-release-'));
    await mkdir(join(top, 'home'));
    try {
      const args = ['run', '--silent', 'release', '--', '--out', join(top, 'out')];
      await run('npm', args, { cwd: ROOT });
    } catch (error) {
      const { stderr = '' } = error as { readonly stderr?: string };
      if (!NO_REGISTRY.test(stderr)) throw error;
      noRegistry = 'no package registry';
    }
    const names = noRegistry === undefined ? await readdir(join(top, 'out')) : [];
    files = new Map(names.map((name) => [name, join(top, 'out', name)]));
  },
  { timeout: 600_000 },
);
after(() => rm(top, { recursive: true, force: true }));

/** Uses each service and the console in ways that need files outside the bundle. */
async function use(server: ServerProcess): Promise<void> {
  const { http } = server;
  const json = { 'content-type': 'application/json' };
  assert.equal(
    (await http.send('/write?db=r', { body: 'm,host=a v=1.5 1\nm,host=b v=2.5 2' })).status,
    204,
  );
  const sql = 'SELECT host, sum(v) AS s FROM m GROUP BY host ORDER BY host';
  assert.deepEqual(await rows(server, 'r', sql), [
    { host: 'a', s: 1.5 },
    { host: 'b', s: 2.5 },
  ]);
  // Large bodies are parsed in a thread, which has an entry file of its own.
  const lines = Array.from({ length: 10_000 }, (_, i) => `large,host=h${i % 10} v=${i} ${i + 1}`);
  assert.equal((await http.send('/write?db=r', { body: lines.join('\n') })).status, 204);
  assert.deepEqual(await rows(server, 'r', 'SELECT count(*) AS n FROM large'), [{ n: 10_000 }]);
  for (const [path, type] of [
    ['/query?db=r&q=SELECT%20mean(v)%20FROM%20m', /json/],
    ['/query?db=r&q=SELECT%20v%20FROM%20m', /msgpack/],
    ['/api/v3/query_sql?db=r&format=parquet&q=SELECT%20*%20FROM%20m', /parquet/],
    ['/api/v3/query_influxql?db=r&format=parquet&q=SELECT%20*%20FROM%20m', /parquet/],
  ] as const) {
    const accept = type.source === 'msgpack' ? { accept: 'application/x-msgpack' } : {};
    const response = await http.send(path, { headers: accept });
    assert.equal(response.status, 200, `${path}: ${response.text}`);
    assert.match(String(response.headers['content-type']), type);
  }
  const account = await http.send('/v2/core/accounts', {
    headers: json,
    body: JSON.stringify({
      contact_email: 'a@example.com',
      contact_phone: '+491701234567',
      identity: { country: 'DE', entity_type: 'company' },
    }),
  });
  assert.ok(account.status === 200 || account.status === 401, account.text);
  assert.equal((await http.send('/ops/v1/apps')).status, 200);
  assert.equal((await http.send('/rate_limit')).status, 200);
  assert.equal((await http.send('/api')).status, 200);
  const page = await http.send('/console/', { headers: { accept: 'text/html' } });
  assert.match(page.text, /<script type="module"/);
  const tutorial = await http.send('/docs/TUTORIAL.html');
  assert.match(tutorial.text, /<title>First steps \| Plinth<\/title>/);
}

const skipped = (context: TestContext): boolean => {
  if (noRegistry !== undefined) context.skip(noRegistry);
  return noRegistry !== undefined;
};

describe('the released package', () => {
  it('installs, serves, keeps its data over a second installation, and uninstalls', async (context) => {
    if (skipped(context)) return;
    const prefix = join(top, 'prefix');
    const npm = (...args: readonly string[]) =>
      run('npm', [...args, '--global', '--prefix', prefix, '--no-audit', '--no-fund'], {
        env: env(),
      });
    const dataDir = join(top, 'data');
    const flags = ['--without-auth'];
    for (const round of [1, 2]) {
      await npm('install', fileOf(/^plinth-\d.*\.tgz$/));
      const { stdout } = await run(join(prefix, 'bin', 'plinth'), ['version', '--format', 'json'], {
        env: env(),
      });
      const told = JSON.parse(stdout) as { version: string; commit: string };
      assert.match([...files.keys()].join(), new RegExp(`plinth-${told.version}\\.tgz`));
      assert.match(told.commit, /^[0-9a-f]{12}|unknown$/);
      const server = await ServerProcess.start({ cli: join(prefix, ENTRY), dataDir, flags });
      try {
        if (round === 2) {
          assert.deepEqual(await rows(server, 'r', 'SELECT count(*) AS n FROM m'), [{ n: 2 }]);
        }
        await use(server);
      } finally {
        assert.equal(await server.stop(), 0);
      }
    }
    const manifest = JSON.parse(
      await readFile(join(prefix, 'lib/node_modules/plinth/package.json'), 'utf8'),
    ) as Record<string, unknown>;
    assert.equal(manifest['scripts'], undefined); // the installation runs no scripts
    await npm('uninstall', 'plinth');
    assert.equal(existsSync(join(prefix, 'bin', 'plinth')), false);
    assert.equal(existsSync(join(prefix, 'lib/node_modules/plinth')), false);
  });

  it('has libraries that a program can import', async (context) => {
    if (skipped(context)) return;
    const folder = join(top, 'program');
    await mkdir(folder);
    await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}');
    const libraries = [/^plinth-kernel/, /^plinth-ratelimit/, /^plinth-gamedata-client/].map(
      fileOf,
    );
    const install = ['install', '--no-audit', '--no-fund', ...libraries];
    await run('npm', install, { cwd: folder, env: env() });
    await writeFile(
      join(folder, 'main.mjs'),
      `import { createServer } from 'node:http';
       import { once } from 'node:events';
       import { createLimiter } from '@plinth/ratelimit';
       import { createGameDataClient } from '@plinth/gamedata-client';
       const limiter = createLimiter({ settings: { resources: { core: { limit: 1 } } } });
       await limiter.start();
       const limit = limiter.middleware({ identify: () => 'user:7' });
       const server = createServer((q, a) => limit(q, a, () => a.end('in')));
       server.listen(0, '127.0.0.1');
       await once(server, 'listening');
       const baseUrl = 'http://127.0.0.1:' + server.address().port;
       const statuses = [];
       for (let i = 0; i < 2; i++) statuses.push((await fetch(baseUrl)).status);
       const client = createGameDataClient({ baseUrl });
       const failed = await client.get('/api/items').catch((error) => error.status);
       console.log(JSON.stringify([...statuses, failed]));
       server.close();
       server.closeAllConnections();
       await limiter.close();`,
    );
    const { stdout } = await run(process.execPath, ['main.mjs'], { cwd: folder, env: env() });
    const [first, second, failed] = JSON.parse(stdout) as number[];
    assert.equal(first, 200);
    assert.ok(second === 403 || second === 429, stdout);
    assert.equal(failed, second);
  });
});

it('the checksums cover every other file in the format of sha256sum', async (context) => {
  if (skipped(context)) return;
  const out = join(top, 'out');
  const { stdout } = await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out });
  const checked = stdout
    .trim()
    .split('\n')
    .map((line) => line.replace(/: OK$/, ''));
  assert.deepEqual(
    checked.sort(),
    [...files.keys()].filter((name) => name !== 'SHA256SUMS').sort(),
  );
});

describe('the archive for machines without npm', { skip: process.platform !== 'linux' }, () => {
  it('runs from its folder and notifies a service manager when it is ready, alive and stopping', async (context) => {
    if (skipped(context)) return;
    await run('tar', ['-xzf', fileOf(/linux-.*\.tar\.gz$/), '-C', top]);
    const [name = ''] = (await readdir(top)).filter((each) => each.includes('-linux-'));
    const home = join(top, name);
    const { stdout } = await run(join(home, 'bin/plinth'), ['version'], { env: env() });
    assert.match(stdout, /^plinth \d+\.\d+\.\d+/);

    const hasTools = await run('systemd-notify', ['--version']).then(
      () => run('python3', ['--version']).then(() => true),
      () => false,
    );
    if (!hasTools)
      return void context.diagnostic('without systemd-notify: its words are not tested');
    const socket = join(top, 'notify');
    const listener = spawn('python3', [
      '-uc',
      `import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("bound")
while True: print(s.recv(4096).decode().replace("\\n", " "))`,
      socket,
    ]);
    context.after(() => listener.kill());
    let heard = '';
    listener.stdout.on('data', (bytes: Buffer) => (heard += bytes));
    const until = async (words: RegExp): Promise<void> => {
      for (const endMs = Date.now() + 30_000; !words.test(heard); ) {
        assert.ok(Date.now() < endMs, `${words} in ${heard}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    await until(/bound/);
    await using server = await ServerProcess.start({
      cli: join(home, ENTRY),
      env: { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '400000' },
    });
    await until(new RegExp(`READY=1.*MAINPID=${server.pid}`, 's'));
    await until(/WATCHDOG=1[\s\S]*WATCHDOG=1/);
    assert.doesNotMatch(heard, /STOPPING/);
    await use(server);
    assert.equal(await server.stop(), 0);
    await until(/STOPPING=1/);
  });

  it('contains exactly the locked versions, and an SBOM that lists them and the bundled packages', async (context) => {
    if (skipped(context)) return;
    const [name = ''] = (await readdir(top)).filter((each) => each.includes('-linux-'));
    const modules = join(top, name, 'lib/node_modules');
    const packages = (await readdir(modules, { recursive: true })).flatMap(
      (file) =>
        /^(?:.*node_modules\/)?(?:@[^/]+\/)?[^/@]+(?=\/package\.json$)/.exec(file)?.[0] ?? [],
    );
    const read = async (file: string) => JSON.parse(await readFile(file, 'utf8'));
    const lock = (await read(join(ROOT, 'package-lock.json'))).packages;
    const sbom = await read(fileOf(/^plinth-.*\.cdx\.json$/));
    const listed = new Set<string>();
    for (const each of [sbom.metadata.component, ...sbom.components]) {
      listed.add(`${each.name} ${each.version}`);
    }
    for (const each of packages) {
      const own = await read(join(modules, each, 'package.json'));
      assert.ok(listed.has(`${own.name} ${own.version}`), `${each} ${own.version} in the SBOM`);
      if (each === 'plinth') continue;
      const locked = lock[`node_modules/${each}`];
      assert.equal(own.version, locked?.version, each);
      if (locked.integrity === undefined) continue;
      const component = sbom.components.find(
        (it: { name: string; version: string }) =>
          it.name === own.name && it.version === own.version,
      );
      const sum = Buffer.from(locked.integrity.replace('sha512-', ''), 'base64').toString('hex');
      assert.deepEqual(component.hashes, [{ alg: 'SHA-512', content: sum }], each);
    }
    assert.ok(packages.includes('plinth') && packages.length > 20, packages.join());
    const notices = await readFile(join(modules, 'plinth/THIRD-PARTY-NOTICES.txt'), 'utf8');
    const bundled = [...notices.matchAll(/(?:^|-{80}\n\n)(\S+ \d\S*) \([^)\n]+\)\n/g)];
    assert.ok(bundled.length > 20, `${bundled.length} packages`);
    for (const [, title = ''] of bundled) assert.ok(listed.has(title), `${title} in the SBOM`);
    assert.equal(sbom.bomFormat, 'CycloneDX');
  });

  it('has a unit that systemd understands', async (context) => {
    if (skipped(context)) return;
    const [name = ''] = (await readdir(top)).filter((each) => each.includes('-linux-'));
    const unit = await readFile(join(top, name, 'lib/systemd/system/plinth.service'), 'utf8');
    const file = join(top, 'plinth.service');
    await writeFile(file, unit.replaceAll('/opt/plinth', join(top, name)));
    try {
      await run('systemd-analyze', ['verify', '--man=no', file]);
    } catch (error) {
      const { code, stderr = '' } = error as { readonly code?: unknown; readonly stderr?: string };
      if (code === 'ENOENT') return void context.skip('no systemd-analyze');
      // Problems of other units on this machine do not matter.
      assert.doesNotMatch(stderr, /plinth\.service/);
    }
  });
});
