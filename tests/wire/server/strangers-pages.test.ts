// Source: docs/SECURITY-NETWORK.md, "Browsers": a foreign page in a browser must not be able to use requests that need no
// credential, neither from its own origin nor through a DNS name that resolves to this server.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  assertError,
  Http2Client,
  HttpClient,
  type HttpResponse,
  ServerInProcess,
} from '../../harness/index.js';

const FIRST_TOKEN = '/api/v3/configure/token/admin';
/** Paths that create the first token. */
const FIRST_TOKENS = [FIRST_TOKEN, '/api/v2/setup'];
const EVIL = 'https://evil.example';
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36';

type Headers = Readonly<Record<string, string>>;
const corsOf = ({ headers }: HttpResponse) => headers['access-control-allow-origin'];

/** Requests that a foreign page can make a browser send; `own` is the server's host in the browser. */
const ofStrangers = (own: string): readonly Headers[] => [
  { origin: EVIL },
  { origin: 'null' },
  { origin: `${own}0` },
  { origin: own.replace('http:', 'ftp:') },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { host: 'evil.example' },
  { host: `127.0.0.1.evil.example:${new URL(own).port}` },
  { host: 'localhost.evil.example' },
  { host: '[::1].evil.example' },
  { host: 'evil.example', origin: 'http://evil.example' },
];
/** Requests of the server's own pages, and of non-browser programs. */
const ofFriends = (own: string): readonly Headers[] => {
  const { port } = new URL(own);
  return [
    {},
    { host: `localhost:${port}` },
    { host: 'LOCALHOST.' },
    { host: `[::1]:${port}` },
    { origin: own, 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ];
};

describe('the first token', () => {
  it('is not created for a foreign page', async () => {
    await using server = await ServerInProcess.start({ flags: [] });
    for (const path of FIRST_TOKENS) {
      for (const headers of ofStrangers(server.url)) {
        const response = await server.http.send(path, { method: 'POST', headers });
        assert.equal(response.status, 403, `${JSON.stringify(headers)}: ${response.text}`);
        assert.match(JSON.parse(response.text).error, /allowed_hosts|requests without credentials/);
        assert.equal(corsOf(response), undefined);
      }
      const preflight = await server.http.send(path, {
        method: 'OPTIONS',
        headers: { origin: EVIL },
      });
      assert.deepEqual([preflight.status, corsOf(preflight)], [204, undefined]);
      assert.equal(preflight.headers['access-control-allow-methods'], undefined);
    }
    const made = await server.http.send(FIRST_TOKEN, { method: 'POST' });
    assert.equal(made.status, 201, made.text);
  });

  it('is created for the own page under each configured name', async () => {
    const flags = ['--server-allowed-hosts', 'plinth,.plinth.example'];
    const url = ['--server-public-url', 'https://data.example'];
    for (const [headers, status] of [
      [{ host: 'plinth:8181' }, 201],
      [{ host: 'a.plinth.example' }, 201],
      [{ host: 'data.example' }, 201],
      // A proxy that uses its own host name for the page of the public one.
      [{ host: 'plinth', origin: 'https://data.example' }, 201],
      [{ host: 'plinth', origin: 'http://data.example' }, 403],
      [{ host: 'plinth.example.evil' }, 403],
      [{ host: 'xplinth' }, 403],
    ] as const) {
      await using server = await ServerInProcess.start({ flags: [...flags, ...url] });
      const code = await readFile(join(server.dataDir, 'claim-code'), 'utf8');
      const response = await server.http.send(FIRST_TOKEN, {
        method: 'POST',
        headers: { ...headers, 'x-plinth-claim-code': code.trimEnd() },
      });
      assert.equal(response.status, status, `${JSON.stringify(headers)}: ${response.text}`);
    }
  });
});

async function rawResponse(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(request);
  let text = '';
  for await (const piece of socket) text += piece;
  return text;
}

describe('token recovery', () => {
  it('is refused for a foreign page', async () => {
    await using server = await ServerInProcess.start({
      flags: ['--admin-token-recovery-http-bind', '127.0.0.1:0'],
    });
    await server.http.send(FIRST_TOKEN, { method: 'POST' });
    const { port } =
      server.logged('admin token recovery is open to every client of this port') ?? {};
    const own = `http://127.0.0.1:${port}`;
    const recovery = new HttpClient(own);
    const regenerate = (headers: Headers) =>
      recovery.send(`${FIRST_TOKEN}/regenerate`, { method: 'POST', headers });
    for (const headers of ofStrangers(own)) {
      const response = await regenerate(headers);
      assert.equal(response.status, 403, `${JSON.stringify(headers)}: ${response.text}`);
    }
    assert.match(
      await rawResponse(
        Number(port),
        `POST ${FIRST_TOKEN}/regenerate HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nHost: evil.example\r\n\r\n`,
      ),
      /^HTTP\/1\.1 400 /,
      'two hosts were taken for the first of them',
    );
    assert.equal((await regenerate({})).status, 201);
    recovery.close();
  });
});

describe('a server without authentication', () => {
  let server: ServerInProcess;
  before(async () => {
    server = await ServerInProcess.start();
    await server.http.send('/write?db=own', { body: 'm v=1 1' });
  });
  after(async () => await server.close());

  const REQUESTS = [
    ['POST', '/api/v3/write_lp?db=own'],
    ['GET', '/api/v3/query_sql?db=own&q=SELECT%20v%20FROM%20m'],
    ['POST', '/query?db=own&q=SELECT%20v%20FROM%20m'],
    ['DELETE', '/api/v3/configure/database?db=own'],
    ['GET', '/metrics'],
    ['GET', '/ops/v1/apps'],
    ['GET', '/ops/v1/routes'],
    ['GET', '/ops/v1/accounts/platforms'],
    ['GET', '/nowhere'],
  ] as const;

  it('refuses foreign pages on every service', async () => {
    for (const [method, path] of REQUESTS) {
      for (const headers of ofStrangers(server.url)) {
        const response = await server.http.send(path, { method, headers });
        const name = `${method} ${path} ${JSON.stringify(headers)}: ${response.status}`;
        assert.ok([401, 403].includes(response.status), name);
        assert.equal(corsOf(response), undefined, name);
      }
    }
    const left = await server.http.send('/query?db=own&q=SELECT%20v%20FROM%20m');
    assert.match(left.text, /\["1970-01-01T00:00:00.000000001Z",1\]/);
  });

  it('does the same over HTTP/2', async () => {
    await using client = new Http2Client(server.url);
    const path = '/api/v3/query_sql?db=own&q=SELECT%201';
    assert.equal((await client.send(path)).status, 200);
    for (const headers of [{ origin: EVIL }, { ':authority': 'evil.example' }]) {
      assert.equal((await client.send(path, { headers })).status, 403);
    }
  });

  it('serves its own page and non-browser programs', async () => {
    for (const headers of ofFriends(server.url)) {
      const response = await server.http.send('/api/v3/query_sql?db=own&q=SELECT%201', { headers });
      assert.equal(response.status, 200, `${JSON.stringify(headers)}: ${response.text}`);
    }
  });

  it('lets no foreign page read its responses', async () => {
    const headers = { origin: EVIL, 'access-control-request-method': 'POST' };
    for (const path of ['/api/v3/write_lp', '/query', '/health', '/nowhere']) {
      const response = await server.http.send(path, { method: 'OPTIONS', headers });
      assert.equal(response.status, 204);
      const names = Object.keys(response.headers).filter((name) =>
        name.startsWith('access-control'),
      );
      assert.deepEqual(names, [], path);
    }
    for (const path of ['/health', '/ping', '/query?q=SHOW%20DATABASES']) {
      assert.equal(corsOf(await server.http.send(path)), undefined, path);
    }
  });

  it('serves configured origins, and lets them read', async () => {
    const page = 'https://grafana.example';
    await using named = await ServerInProcess.start({
      flags: ['--without-auth', '--server-cors-origins', page],
    });
    const path = '/api/v3/query_sql?db=_internal&q=SELECT%201';
    const headers = { origin: page, 'sec-fetch-site': 'cross-site' };
    const response = await named.http.send(path, { headers });
    assert.equal(response.status, 200, response.text);
    assert.equal(corsOf(response), page);
    assert.match(String(response.headers['vary']), /Origin/);
    const refused = await named.http.send(path, { headers: { origin: EVIL } });
    assert.equal(refused.status, 403);
    assert.equal(corsOf(refused), undefined);
  });

  it('changes nothing on a GET or HEAD of a browser, which has no origin', async () => {
    for (const statement of [
      'DROP DATABASE own',
      'CREATE DATABASE stolen',
      'DELETE FROM m',
      'SELECT v INTO copied FROM m',
      'KILL QUERY 1',
    ]) {
      const path = `/query?db=own&q=${encodeURIComponent(statement)}`;
      const headers = { 'user-agent': BROWSER };
      await server.http.send(path, { method: 'HEAD', headers });
      const response = await server.http.send(path, { headers });
      assert.match(response.text, /rejected in GET requests from browsers/);
    }
    const left = await server.http.send('/query?db=own&q=SELECT%20v%20FROM%20m');
    assert.match(left.text, /\["1970-01-01T00:00:00.000000001Z",1\]/);
    const shown = await server.http.send('/query?q=SHOW%20DATABASES');
    assert.doesNotMatch(shown.text, /stolen/);
    const measurements = await server.http.send('/query?db=own&q=SHOW%20MEASUREMENTS');
    assert.doesNotMatch(measurements.text, /copied/);
  });

  it('keeps public game data readable by every page', async () => {
    const response = await server.http.send('/api/levels', { headers: { origin: EVIL } });
    assert.equal(response.status, 200);
    assert.equal(corsOf(response), '*');
  });
});

describe('a server with tokens', () => {
  it('accepts pages of any origin that have a token, because there are no cookies', async () => {
    await using server = await ServerInProcess.start({ flags: [] });
    const made = await server.http.send(FIRST_TOKEN, { method: 'POST' });
    const authorization = `Bearer ${JSON.parse(made.text).token}`;
    for (const headers of [{ origin: EVIL }, { host: 'any.example' }]) {
      const path = '/api/v3/configure/database?format=json';
      const response = await server.http.send(path, { headers: { authorization, ...headers } });
      assert.equal(response.status, 200, response.text);
      assert.equal(corsOf(response), '*');
      assertError(
        await server.http.send(path, { headers }),
        401,
        'the request was not authenticated',
      );
    }
  });

  it('accepts only the origins in `server.cors_origins`', async () => {
    const page = 'https://grafana.example';
    await using server = await ServerInProcess.start({ flags: ['--server-cors-origins', page] });
    const ask = (origin: string, method = 'GET') =>
      server.http.send('/health', { method, headers: { origin } });
    assert.equal(corsOf(await ask(page)), page);
    assert.equal(corsOf(await ask(EVIL)), undefined);
    const preflight = await ask(page, 'OPTIONS');
    assert.equal(preflight.headers['access-control-allow-methods'], '*');
    assert.equal((await ask(EVIL, 'OPTIONS')).headers['access-control-allow-methods'], undefined);
  });
});
