// Source: docs/TLS-AND-PROXIES.md, "Use a reverse proxy": the documented configurations, with the addresses of this test.
// Own process: only the command reads a configuration file.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts, ServerProcess, temporaryFolder, testCertificate } from '../../harness/index.js';

const GUIDE = new URL('../../../../docs/TLS-AND-PROXIES.md', import.meta.url);
const PATIENCE_MS = 20_000;
const HOST = 'plinth.example.com';

const missing = (program: string, flag: string): false | string =>
  spawnSync(program, [flag]).status === 0 ? false : `there is no ${program}`;

async function documented(pattern: RegExp): Promise<string> {
  const block = pattern.exec(await readFile(GUIDE, 'utf8'))?.[1];
  assert.ok(block, String(pattern));
  return block;
}

interface Response {
  readonly status: number;
  readonly text: string;
  /** Remaining requests of this caller. */
  readonly remaining: number;
}

/** Sends a request to the proxy, which uses a certificate of this test. */
async function ask(
  port: number,
  path: string,
  {
    method = 'GET',
    body,
    headers = {},
  }: { method?: string; body?: string; headers?: Record<string, string> } = {},
): Promise<Response> {
  const call = request({
    host: '127.0.0.1',
    port,
    path,
    method,
    servername: HOST,
    rejectUnauthorized: false,
    headers: { host: HOST, ...headers },
  });
  call.end(body);
  const [response] = (await once(call, 'response')) as [import('node:http').IncomingMessage];
  let text = '';
  for await (const piece of response) text += String(piece);
  return {
    status: response.statusCode ?? 0,
    text,
    remaining: Number(response.headers['x-ratelimit-remaining']),
  };
}

/** Checks that a server behind the documented proxy configuration behaves as without it. */
async function tryProxy(
  context: TestContext,
  start: (options: {
    readonly folder: string;
    readonly front: number;
    readonly back: number;
  }) => Promise<readonly string[]>,
): Promise<void> {
  const folder = await temporaryFolder();
  const [front = 0] = await freePorts(1);
  const settings = JSON.parse(await documented(/plinth\.json -->\n```json\n(.*?)```/s)) as {
    server: Record<string, unknown>;
  };
  await writeFile(
    join(folder, 'plinth.json'),
    JSON.stringify({
      ...settings,
      rate_limit: {
        services: { gamedata: { enabled: true } },
        resources: { gamedata: { limit: 100, anonymous_limit: 100 } },
      },
    }),
  );
  await using server = await ServerProcess.start({
    flags: ['--config', join(folder, 'plinth.json'), '--services', 'tsdb,ratelimit,gamedata'],
  });
  const back = Number(new URL(server.url).port);
  const [program = '', ...args] = await start({ folder, front, back });
  const proxy = spawn(program, args, {
    stdio: 'ignore',
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  context.after(async () => {
    if (proxy.exitCode !== null) return;
    const ended = once(proxy, 'exit');
    proxy.kill('SIGTERM'); // nginx then also ends its worker
    await ended;
  });
  for (const endMs = Date.now() + PATIENCE_MS; ; await sleep(50)) {
    const seen = await ask(front, '/ready').catch((error: unknown) => ({
      status: 0,
      text: String(error),
    }));
    if (seen.status === 401) break; // From the server, which requires a token there.
    assert.ok(Date.now() < endMs, `${program} does not answer: ${seen.status} ${seen.text}`);
  }
  // Behind a proxy, also a client on this machine needs the claim code.
  const code = await readFile(join(server.dataDir, 'claim-code'), 'utf8');
  const made = await server.http.send('/api/v3/configure/token/admin', {
    method: 'POST',
    headers: { 'x-plinth-claim-code': code.trim() },
  });
  const { token } = JSON.parse(made.text) as { token: string };
  const headers = { authorization: `Bearer ${token}` };
  const lines = Array.from({ length: 100_000 }, (_, i) => `m,host=h${i % 9} v=${i} ${i + 1}`).join(
    '\n',
  );
  const written = await ask(front, '/api/v3/write_lp?db=home', {
    method: 'POST',
    body: lines,
    headers,
  });
  assert.equal(written.status, 204, written.text);
  const rows = await ask(
    front,
    '/api/v3/query_sql?db=home&format=csv&q=SELECT%20v%20FROM%20m%20ORDER%20BY%20time',
    { headers },
  );
  assert.equal(rows.text.split('\n').length, 100_002);
  // A body within the documented limit, but above the proxy's default.
  assert.equal(
    (
      await ask(front, '/api/v3/write_lp?db=home', {
        method: 'POST',
        body: `t s="${'x'.repeat(2_000_000)}" 1`,
        headers,
      })
    ).status,
    400,
    'the server refuses it, not the proxy',
  );
  // Addresses in headers of untrusted clients are ignored: both requests count for one caller.
  const [first, second] = [
    await ask(front, '/api/items?limit=1', { headers: { 'x-forwarded-for': '192.0.2.1' } }),
    await ask(front, '/api/items?limit=1', { headers: { 'x-forwarded-for': '192.0.2.2' } }),
  ];
  assert.ok(first.remaining > 0);
  assert.equal(second.remaining, first.remaining - 1);
  // Paths arrive unchanged.
  const name = await ask(front, '/api/items/%41?x=%2F%2B', { headers });
  assert.equal(name.status, (await server.http.send('/api/items/%41?x=%2F%2B')).status);
  // The first line of a backup arrives immediately, and the response continues until the client closes it.
  const call = request({
    host: '127.0.0.1',
    port: front,
    path: '/ops/v1/backups',
    method: 'POST',
    servername: HOST,
    rejectUnauthorized: false,
    headers: { host: HOST, ...headers },
  });
  call.end();
  const [response] = (await once(call, 'response')) as [import('node:http').IncomingMessage];
  const [line] = (await once(response, 'data')) as [Buffer];
  assert.match(String(line), /"format_version"/);
  call.destroy();
}

it('nginx as documented', { skip: missing('nginx', '-v') }, async (context) => {
  await tryProxy(context, async ({ folder, front, back }) => {
    const { certFile, keyFile } = await testCertificate('first');
    const own = (await documented(/```nginx\n(.*?)```/s))
      .replace('listen 443 ', `listen 127.0.0.1:${front} `)
      .replace('/etc/nginx/plinth.pem', certFile)
      .replace('/etc/nginx/plinth.key', keyFile)
      .replace('127.0.0.1:8181', `127.0.0.1:${back}`);
    const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (kind) => `${kind}_temp_path ${folder}/${kind};`,
    );
    const whole = `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;\nevents {}\nhttp { access_log off; ${temp.join(' ')}\n${own}}\n`;
    await writeFile(join(folder, 'nginx.conf'), whole);
    return ['nginx', '-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf')];
  });
});

it('Caddy as documented', { skip: missing('caddy', 'version') }, async (context) => {
  await tryProxy(context, async ({ folder, front, back }) => {
    const { certFile, keyFile } = await testCertificate('first');
    const own = (await documented(/Caddyfile, needs caddy -->\n```text\n(.*?)```/s))
      .replace(
        'plinth.example.com {',
        `https://plinth.example.com:${front} {\n\ttls ${certFile} ${keyFile}`,
      )
      .replace('127.0.0.1:8181', `127.0.0.1:${back}`);
    await writeFile(join(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https off\n}\n${own}`);
    return ['caddy', 'run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')];
  });
});
