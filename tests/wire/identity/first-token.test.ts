// Source: tsdb-http, "First token".
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CLI, runCli } from '../../harness/cli.js';
import {
  assertError,
  Http2Client,
  HttpClient,
  type HttpResponse,
  type OwnServer,
  ServerInProcess,
} from '../../harness/index.js';
import { SharedNodes, until } from '../../harness/shared-nodes.js';
import { POSTGRES_URL } from '../../harness/test-database.js';

const ADMIN = '/api/v3/configure/token/admin';
const OPEN = ['--http-bind', '0.0.0.0:0'];
const MISSING =
  'missing claim code; send it in the header X-Plinth-Claim-Code. The server printed it on its terminal or wrote it to the file claim-code in its data directory';
const WRONG =
  'wrong claim code; use the code of the last server start. The server prints it on its terminal or writes it to the file claim-code in its data directory';

type CliOptions = Parameters<typeof runCli>[1];
type Headers = Readonly<Record<string, string>>;
const claim = (server: OwnServer, headers: Headers = {}): Promise<HttpResponse> =>
  server.http.send(ADMIN, { method: 'POST', headers });
const codeOf = async ({ dataDir }: OwnServer): Promise<string> =>
  (await readFile(join(dataDir, 'claim-code'), 'utf8')).trimEnd();
const hasCode = async ({ dataDir }: OwnServer): Promise<boolean> =>
  (await readdir(dataDir)).some((name) => name.startsWith('claim-code'));
const firstTokenOf = async (server: OwnServer): Promise<unknown> =>
  JSON.parse((await server.http.send('/ops/v1/info')).text).first_token;

/** Clients of the server on each address of this machine. */
function clients(server: OwnServer): readonly HttpClient[] {
  const { port } = new URL(server.url);
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const addresses = own.filter(({ family }) => family === 'IPv4').map(({ address }) => address);
  return [...new Set(['127.0.0.1', '127.0.0.2', ...addresses])].map(
    (address) => new HttpClient(`http://${address}:${port}`),
  );
}

describe('a server that other machines reach', () => {
  it('creates the first token only with the code of its data directory, and once', async () => {
    await using server = await ServerInProcess.start({ flags: OPEN });
    const code = await codeOf(server);
    const { mode } = await stat(join(server.dataDir, 'claim-code'));
    assert.equal(mode & 0o777, 0o600);
    assert.deepEqual(
      server.logged('no admin token yet')?.['claimCodeFile'],
      join(server.dataDir, 'claim-code'),
    );
    assert.equal(await firstTokenOf(server), 'claim_code');
    for (const client of clients(server)) {
      assertError(await client.send(ADMIN, { method: 'POST' }), 403, MISSING);
      const headers = { 'x-plinth-claim-code': `${code.slice(0, -1)}0` };
      assertError(await client.send(ADMIN, { method: 'POST', headers }), 403, WRONG);
      client.close();
    }
    await using http2 = new Http2Client(server.url);
    assert.equal((await http2.send(ADMIN, { method: 'POST' })).status, 403);
    // Nothing has changed.
    assert.equal(await codeOf(server), code);
    assert.equal(await firstTokenOf(server), 'claim_code');

    const made = await claim(server, { 'X-Plinth-Claim-Code': code });
    assert.equal(made.status, 201, made.text);
    const { token, name } = JSON.parse(made.text) as { token: string; name: string };
    assert.equal(name, '_admin');
    assert.equal(await hasCode(server), false);
    assertError(
      await claim(server, { 'X-Plinth-Claim-Code': code }),
      409,
      'token name already exists, _admin',
    );
    assert.equal(await firstTokenOf(server), undefined);
    assert.equal(server.logged('server claimed')?.['address'], '127.0.0.1');
    const q = 'SELECT address, action, result FROM system.audit';
    const { text } = await server.http.send(
      `/api/v3/query_sql?${new URLSearchParams({ db: '_internal', q, format: 'json_rows' })}`,
      { headers: { authorization: `Bearer ${token}` } },
    );
    assert.deepEqual(JSON.parse(text)[0], {
      address: '127.0.0.1',
      action: `POST ${ADMIN}`,
      result: '201',
    });
    assert.ok(!server.logText.includes(code));
  });

  it('replaces the code at each start, and removes what is left once there is a token', async () => {
    await using first = await ServerInProcess.start({ flags: OPEN });
    const { dataDir } = first;
    const old = await codeOf(first);
    await first.kill();
    await using second = await ServerInProcess.start({ flags: OPEN, dataDir });
    const code = await codeOf(second);
    assert.notEqual(code, old);
    assertError(await claim(second, { 'x-plinth-claim-code': old }), 403, WRONG);
    assert.equal((await claim(second, { 'x-plinth-claim-code': code })).status, 201);
    await second.stop();
    // As a process leaves it that was killed between the two.
    await writeFile(join(dataDir, 'claim-code'), `${code}\n`);
    await using third = await ServerInProcess.start({ flags: OPEN, dataDir });
    assert.equal(await hasCode(third), false);
    assert.equal((await claim(third, { 'x-plinth-claim-code': code })).status, 409);
  });

  it('backs up no code', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plinth-claim-'));
    try {
      const backup = ['--backup-folder', folder, '--backup-schedule', '* * * * * *'];
      await using server = await ServerInProcess.start({ flags: [...OPEN, ...backup] });
      const code = await codeOf(server);
      const complete = async () => (await readdir(folder)).find((name) => !name.includes('.part'));
      for (const endMs = Date.now() + 30_000; (await complete()) === undefined; ) {
        assert.ok(Date.now() < endMs, 'no backup');
        await sleep(100);
      }
      await server.stop();
      const files = await readdir(folder, { recursive: true, withFileTypes: true });
      assert.ok(files.some(({ name }) => name === 'master.key'));
      for (const file of files.filter((each) => each.isFile())) {
        assert.notEqual(file.name, 'claim-code');
        const bytes = await readFile(join(file.parentPath, file.name));
        assert.ok(!bytes.includes(code), file.name);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('needs the code behind a configured proxy, which may add no header', async () => {
    for (const flags of [
      ['--server-trusted-proxies', 'loopback'],
      ['--server-public-url', 'https://plinth.example.com'],
      ['--server-trusted-proxies', 'loopback', '--server-proxy-protocol'],
    ]) {
      await using server = await ServerInProcess.start({ flags });
      assert.equal(await hasCode(server), true, flags.join(' '));
      if (flags.includes('--server-proxy-protocol')) continue;
      assertError(await claim(server), 403, MISSING);
      const code = await codeOf(server);
      assert.equal((await claim(server, { 'x-plinth-claim-code': code })).status, 201);
    }
  });

  it('has no code when a file brings the token along', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plinth-claim-'));
    try {
      const file = join(folder, 'token.json');
      await writeFile(file, JSON.stringify({ token: `apiv3_${'T'.repeat(86)}` }), { mode: 0o600 });
      await using server = await ServerInProcess.start({
        flags: [...OPEN, '--admin-token-file', file],
      });
      assert.equal(await hasCode(server), false);
      assert.equal((await claim(server)).status, 409);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('gives the token to the first client where anyone may create it, and warns', async () => {
    await using server = await ServerInProcess.start({
      flags: [...OPEN, '--first-token', 'anyone'],
    });
    assert.equal(await hasCode(server), false);
    assert.equal(await firstTokenOf(server), 'anyone');
    const message = 'no admin token yet; the first client to connect can create it';
    assert.equal(server.logged(message)?.['level'], 'warn');
    assert.equal((await claim(server, { 'x-forwarded-for': '203.0.113.5' })).status, 201);
  });
});

const noDatabase = POSTGRES_URL === undefined ? 'PLINTH_TEST_POSTGRES_URL is not set' : false;

describe('nodes that share a database', { skip: noDatabase }, () => {
  it('have a code each, and the code of one claims all of them', async () => {
    await using nodes = await SharedNodes.create({ flags: ['--services', 'webhooks', ...OPEN] });
    const one = await nodes.start();
    const other = await nodes.start();
    const [code, otherCode] = [await codeOf(one), await codeOf(other)];
    assert.notEqual(code, otherCode);
    assertError(await claim(other, { 'x-plinth-claim-code': code }), 403, WRONG);
    assert.equal((await claim(one, { 'x-plinth-claim-code': code })).status, 201);
    await until(async () => !(await hasCode(other)), 'the end of the other code');
    assert.equal((await claim(other, { 'x-plinth-claim-code': otherCode })).status, 409);
    assert.equal(await firstTokenOf(other), undefined);
    const third = await nodes.start();
    assert.equal(await hasCode(third), false);
  });
});

describe('a server on loopback', () => {
  it('creates the first token for a direct client, and not for one behind a proxy', async () => {
    await using server = await ServerInProcess.start({
      flags: ['--server-allowed-hosts', 'data.example'],
    });
    for (const headers of [
      { 'x-forwarded-for': '127.0.0.1' },
      { forwarded: 'for=127.0.0.1' },
      { via: '1.1 caddy' },
      { host: 'data.example' },
    ]) {
      assertError(await claim(server, headers), 403, MISSING);
    }
    const info = await server.http.send('/ops/v1/info', { headers: { via: '1.1 caddy' } });
    assert.equal(JSON.parse(info.text).first_token, 'claim_code');
    assert.equal(await firstTokenOf(server), 'open');
    assert.equal((await claim(server)).status, 201);
    assert.equal(await hasCode(server), false);
  });

  it('creates it through a proxy with the code', async () => {
    await using server = await ServerInProcess.start({
      flags: ['--server-trusted-proxies', 'loopback'],
    });
    const from = { 'x-forwarded-for': '203.0.113.5' };
    assertError(await claim(server, from), 403, MISSING);
    const made = await claim(server, { ...from, 'x-plinth-claim-code': await codeOf(server) });
    assert.equal(made.status, 201, made.text);
    assert.equal(server.logged('server claimed')?.['address'], '203.0.113.5');
  });
});

/** Types a line into a command once it has printed the mark; a real pseudo terminal. Prints what the terminal showed. */
const TYPE = `
import json, os, pty, sys, time
command, mark, line = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
shown, is_typed = b'', False
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    shown += piece
    if not is_typed and mark.encode() in shown:
        is_typed = True
        os.write(terminal, (line + '\\n').encode())
print(shown.decode())
`;

describe('`plinth token create` on a server that other machines reach', () => {
  const create = (server: OwnServer, more: readonly string[] = [], options: CliOptions = {}) =>
    runCli(['token', 'create', '--host', server.url, ...more], options);
  const TOKEN = /^apiv3_[\w-]{86}\n$/;

  it('says where the code is, and creates nothing without it', async () => {
    await using server = await ServerInProcess.start({ flags: OPEN });
    const { code, stdout, stderr } = await create(server);
    assert.deepEqual([code, stdout], [4, '']);
    assert.match(
      stderr,
      /requires its claim code .*\n {2}Run this command as root or the server's OS user with --claim-code-file DATA_DIR\/claim-code/,
    );
    const wrong = await create(server, ['--claim-code-file', '-'], { input: 'aaaa-bbbb\n' });
    assert.deepEqual([wrong.code, wrong.stdout], [4, '']);
    assert.match(wrong.stderr, /wrong claim code/);
    for (const input of ['', 'x\u00e9', 'x'.repeat(201)]) {
      const none = await create(server, ['--claim-code-file', '-'], { input });
      assert.equal(none.code, 2, none.stderr);
    }
    const named = await create(server, ['ci', '--claim-code-file', '-']);
    assert.equal(named.code, 2);
    assert.equal(await firstTokenOf(server), 'claim_code');
  });

  it('names the setting of the URL if a proxy forwards another host name, with and without a code', async () => {
    await using server = await ServerInProcess.start({ flags: OPEN });
    const proxy = createServer((request, response) => {
      const { port } = new URL(server.url);
      const headers = { ...request.headers, host: 'plinth.example.com' };
      const { method, url: path } = request;
      request.pipe(
        send({ port, method, path, headers }, (answer) => {
          response.writeHead(answer.statusCode ?? 0, answer.headers);
          answer.pipe(response);
        }),
      );
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const { port } = proxy.address() as AddressInfo; // it listens on a port
    try {
      for (const more of [[], ['--claim-code-file', '-']]) {
        const host = ['token', 'create', '--host', `http://127.0.0.1:${port}`];
        const { code, stderr } = await runCli([...host, ...more], { input: 'aaaa-bbbb\n' });
        assert.equal(code, 1, stderr);
        assert.match(
          stderr,
          /rejected the host name in --host \(the host plinth\.example\.com is not allowed; set server\.public_url/,
        );
        assert.doesNotMatch(stderr, /permission/);
      }
    } finally {
      proxy.close();
      proxy.closeAllConnections();
    }
  });

  it('reads the code from a file, standard input or the data directory of its variables', async () => {
    const ways = [
      (server: OwnServer) =>
        create(server, ['--claim-code-file', join(server.dataDir, 'claim-code')]),
      async (server: OwnServer) =>
        create(server, ['--claim-code-file', '-'], { input: await codeOf(server) }),
      (server: OwnServer) => create(server, [], { env: { PLINTH_DATA_DIR: server.dataDir } }),
    ];
    for (const way of ways) {
      await using server = await ServerInProcess.start({ flags: OPEN });
      const { code, stdout, stderr } = await way(server);
      assert.equal(code, 0, stderr);
      assert.match(stdout, TOKEN);
    }
  });

  it('asks for the code on a terminal', async () => {
    await using server = await ServerInProcess.start({ flags: OPEN });
    const command = [process.execPath, CLI, 'token', 'create', '--host', server.url];
    const given = JSON.stringify([command, 'claim code: ', await codeOf(server)]);
    const { stdout } = await promisify(execFile)('python3', ['-c', TYPE, given]);
    assert.match(stdout, /\r\napiv3_[\w-]{86}\r\n/);
  });
});
