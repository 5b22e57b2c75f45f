// Source: docs/LOGGING.md, "Log requests": access log, failed logins, request ids.
import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Http2Client,
  type HttpClient,
  ServerInProcess,
  temporaryFolder,
  testCertificate,
  tlsFlags,
} from '../../harness/index.js';

const folder = await temporaryFolder();

async function adminOf({ http }: { readonly http: Pick<HttpClient, 'send'> }): Promise<string> {
  const made = await http.send('/api/v3/configure/token/admin', { method: 'POST' });
  return String(JSON.parse(made.text).token);
}

async function linesOf(file: string, count: number): Promise<string[]> {
  for (let tries = 0; ; tries++) {
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').slice(0, -1);
    if (lines.length >= count || tries > 200) return lines;
    await sleep(20);
  }
}

describe('the access log', () => {
  it('is off by default', async () => {
    await using server = await ServerInProcess.start({ flags: ['--without-auth'] });
    await server.http.send('/health');
    await server.http.send('/nowhere');
    assert.doesNotMatch(server.logText, /nowhere/);
    assert.deepEqual(
      (await readdir(server.dataDir)).filter((name) => name.includes('access')),
      [],
    );
  });

  it('as JSON contains caller, request, size and duration', async () => {
    const file = join(folder, 'access.json');
    await using server = await ServerInProcess.start({
      flags: ['--access-log', 'json', '--access-log-file', file],
    });
    const token = await adminOf(server);
    const authorization = `Bearer ${token}`;
    const get = (path: string, headers = {}) =>
      server.http.send(path, { headers: { 'user-agent': 'test/1', ...headers } });
    const write = await server.http.send('/api/v3/write_lp?db=d', {
      headers: { authorization, 'x-request-id': 'write-1' },
      body: 'm,t=a v=1 1\nm,t=b v=2 2',
    });
    assert.equal(write.status, 204);
    const rows = await get('/api/v3/query_sql?db=d&q=SELECT+*+FROM+m&format=csv', {
      authorization,
    });
    assert.equal(rows.status, 200);
    await get('/api/v3/query_sql?db=d&q=SELECT+1', { authorization: 'Bearer wrong' });
    await get('/query?db=d&u=kim&p=SECRETLONG&q=SHOW+DATABASES');
    await get('/nowhere', { authorization });
    const lines = (await linesOf(file, 6)).map((line) => JSON.parse(line));
    assert.equal(lines.length, 6);
    const shown = lines.map(({ method, route, status, principal, bytes, requestId }) => ({
      ...{ method, route, status, principal, bytes, requestId },
    }));
    const none = { principal: undefined, requestId: undefined };
    const query = { method: 'GET', route: '/api/v3/query_sql' };
    assert.deepEqual(shown[1], {
      ...{ method: 'POST', route: '/api/v3/write_lp', status: 204, bytes: 0 },
      ...{ principal: '_admin', requestId: 'write-1' },
    });
    const bytes = Buffer.byteLength(rows.text);
    assert.deepEqual(shown[2], { ...query, ...none, status: 200, principal: '_admin', bytes });
    const refused = { ...none, status: 401 };
    assert.deepEqual({ ...shown[3], bytes: 0 }, { ...query, ...refused, bytes: 0 });
    assert.equal(shown[4]?.status, 401);
    assert.equal(shown[5]?.status, 404);
    assert.equal(shown[5]?.route, undefined);
    for (const { time, address, durationMs } of lines) {
      assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000);
      assert.equal(address, '127.0.0.1');
      assert.ok(durationMs > 0 && durationMs < 60_000);
    }
    assert.equal(lines[2].userAgent, 'test/1');
    assert.equal(lines[4].url, '/query?db=d&u=kim&p=[redacted]&q=SHOW+DATABASES');
    const text = await readFile(file, 'utf8');
    assert.ok(!text.includes(token) && !text.includes('SECRETLONG'));
    if (process.platform !== 'win32') assert.equal((await stat(file)).mode & 0o777, 0o600);
  });

  it('in the combined format is parsable, whatever clients send', async () => {
    const file = join(folder, 'access.log');
    await using server = await ServerInProcess.start({
      flags: ['--without-auth', '--access-log', 'combined', '--access-log-file', file],
    });
    await server.http.send('/ping', {
      headers: { 'user-agent': 'a "quoted\\" agent', referer: 'https://a.example/x?token=SECRET' },
    });
    await server.http.send('/nowhere%0A%22x');
    await server.stop();
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    const form =
      /^127\.0\.0\.1 - - \[\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000\] "(GET [^"]*) HTTP\/1\.1" (\d{3}) (\d+) "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"$/;
    const parts = lines.map((line) => form.exec(line)?.slice(1));
    assert.equal(parts.length, 2, lines.join('\n'));
    assert.deepEqual(
      [parts[0]?.[0], parts[0]?.[4]],
      ['GET /ping', 'a \\"quoted\\\\\\" agent'],
      lines.join('\n'),
    );
    assert.doesNotMatch(lines.join('\n'), /SECRET/);
    assert.deepEqual(parts[1]?.slice(0, 2), ['GET /nowhere%0A%22x', '404']);
  });

  it('contains the address of HTTP/2 requests, whose streams are closed before the line', async () => {
    const file = join(folder, 'access-h2.json');
    const certificate = testCertificate('first');
    await using server = await ServerInProcess.start({
      flags: ['--access-log', 'json', '--access-log-file', file, ...tlsFlags(certificate)],
    });
    await using http = new Http2Client(server.url, certificate.ca);
    const token = await adminOf({ http });
    const paths = ['/livez', '/ping', '/metrics', '/nowhere'];
    for (const path of paths) {
      await http.send(path, { headers: { authorization: `Bearer ${token}` } });
    }
    assert.equal(http.protocol, 'h2');
    const lines = (await linesOf(file, 1 + paths.length)).slice(1).map((line) => JSON.parse(line));
    assert.deepEqual(
      lines.map(({ url, address }) => [url, address]),
      paths.map((path) => [path, '127.0.0.1']),
    );
  });

  it('prevents the start if its file cannot be opened', async () => {
    const flags = ['--without-auth', '--services', 'tsdb', '--access-log', 'json'];
    const file = join(folder, 'none', 'access.json');
    await assert.rejects(
      ServerInProcess.start({ flags: [...flags, '--access-log-file', file] }),
      (error: Error) => {
        assert.match(error.message, /server\.access_log_file: cannot be opened: ENOENT/);
        assert.equal(Reflect.get(error, 'code'), 2);
        return true;
      },
    );
  });
});

describe('failed logins', () => {
  it('are logged with address, kind and service, and never the secret', async () => {
    await using server = await ServerInProcess.start({ flags: [] });
    await adminOf(server);
    const secret = 'SECRETLONG0123';
    const basic = `Basic ${Buffer.from(`kim:${secret}`).toString('base64')}`;
    const query = '/api/v3/query_sql?db=d&q=SELECT+1';
    const app = '/api/v3/app/hook/config';
    for (const [path, authorization] of [
      [query, `Bearer ${secret}`],
      [query, `Token ${secret}`],
      [query, basic],
      [`/query?db=d&u=kim&p=${secret}&q=SHOW+DATABASES`, undefined],
      ['/v2/core/accounts', `Bearer sk_test_${secret}`],
      [app, `Bearer ${secret}`],
      // No credential, or a valid one, is not a failed login.
      [query, undefined],
      ['/health', undefined],
    ] as const) {
      const headers = { 'x-request-id': 'r1', ...(authorization && { authorization }) };
      await server.http.send(path, { headers });
    }
    const logged = server.logText
      .split('\n')
      .filter((line) => line.includes('login failed'))
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      logged.map(({ level, address, kind, service, status, requestId }) => [
        ...[level, address, kind, service, status, requestId],
      ]),
      [
        ['info', '127.0.0.1', 'bearer', 'tsdb', 401, 'r1'],
        ['info', '127.0.0.1', 'token', 'tsdb', 401, 'r1'],
        ['info', '127.0.0.1', 'basic', 'tsdb', 401, 'r1'],
        ['info', '127.0.0.1', 'query', 'tsdb', 401, 'r1'],
        ['info', '127.0.0.1', 'bearer', 'accounts', 401, 'r1'],
        ['info', '127.0.0.1', 'bearer', 'webhooks', 401, 'r1'],
      ],
    );
    assert.ok(!server.logText.includes(secret));
    assert.ok(!server.logText.includes(basic.slice(6)));
  });

  it('have at most 100 lines a minute', async () => {
    await using server = await ServerInProcess.start({ flags: ['--services', 'tsdb'] });
    await adminOf(server);
    const headers = { authorization: 'Bearer wrong' };
    for (let count = 0; count < 150; count++) await server.http.send('/ping', { headers });
    const lines = server.logText.split('\n').filter((line) => line.includes('login failed'));
    assert.equal(lines.length, 100);
  });
});

describe('X-Request-Id', () => {
  it('is returned by all services, for successes and refusals', async () => {
    await using server = await ServerInProcess.start({ flags: ['--without-auth'] });
    for (const [path, method] of [
      ...['/ping', '/health', '/api/v3/query_sql?db=d&q=SELECT+1', '/query?q=x', '/nowhere'],
      ...['/v2/core/accounts', '/api/v3/app/hook/config', '/rate_limit', '/api/items'],
      ...['/ops/v1/settings', '/metrics', '/console/', '/'],
    ].flatMap((path) => [[path, 'GET'] as const, [path, 'POST'] as const])) {
      const id = `id-${method}-1.2~3`;
      const response = await server.http.send(path, { method, headers: { 'x-request-id': id } });
      assert.equal(response.headers['x-request-id'], id, `${method} ${path} ${response.status}`);
    }
  });

  it('is not sent without one, and not repeated when it is not valid', async () => {
    await using server = await ServerInProcess.start({ flags: ['--without-auth'] });
    for (const id of ['a b', 'a,b', '"a"', 'a'.repeat(129), undefined]) {
      const headers = id === undefined ? {} : { 'x-request-id': id };
      const response = await server.http.send('/health', { headers });
      assert.equal(response.status, 200);
      assert.equal(response.headers['x-request-id'], undefined, id);
    }
    const longest = 'a'.repeat(128);
    const response = await server.http.send('/health', { headers: { 'x-request-id': longest } });
    assert.equal(response.headers['x-request-id'], longest);
  });
});
