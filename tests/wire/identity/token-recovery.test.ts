// Source: tsdb-http, "Preset token file" and "Recovery listener".
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  assertError,
  HttpClient,
  ServerInProcess,
  StartFailed,
  temporaryFolder,
  testCertificate,
} from '../../harness/index.js';

const folder = await temporaryFolder();

const ADMIN = '/api/v3/configure/token/admin';
const REGENERATE = `${ADMIN}/regenerate`;
const UNAUTHENTICATED = 'the request was not authenticated';
const RECOVERY_OPEN = 'admin token recovery is open to every client of this port';

const works = async (server: ServerInProcess, token: string) => {
  const headers = { authorization: `Bearer ${token}` };
  return (await server.http.send('/health', { headers })).status === 200;
};
async function createAdmin(server: ServerInProcess): Promise<Record<string, unknown>> {
  const created = await server.http.send(ADMIN, { method: 'POST' });
  assert.equal(created.status, 201, created.text);
  return JSON.parse(created.text) as Record<string, unknown>;
}

/** The port closes after its response; before that, it serves no other response. */
async function closed(recovery: HttpClient): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      assertError(await recovery.send(REGENERATE, { method: 'POST' }), 404, 'Not found');
    } catch (error) {
      const code: unknown = Reflect.get(Object(error), 'code');
      if (code === 'ECONNREFUSED') return;
      if (code !== 'ECONNRESET') throw error;
    }
  }
  assert.fail('the recovery port is still open');
}

describe('the recovery listener', () => {
  it('K-04 regenerates the admin token without one, once, and closes', async () => {
    const flags = ['--admin-token-recovery-http-bind', '127.0.0.1:0'];
    await using server = await ServerInProcess.start({ flags });
    const { host, port } = server.logged(RECOVERY_OPEN) ?? {};
    assert.equal(host, '127.0.0.1');
    const recovery = new HttpClient(`http://127.0.0.1:${port}`);
    try {
      const nothing = await recovery.send(REGENERATE, { method: 'POST' });
      assertError(nothing, 404, 'missing admin token, cannot update');
      const old = await createAdmin(server);
      for (const [path, method] of [
        ['/health', 'GET'],
        [REGENERATE, 'GET'],
        [ADMIN, 'POST'],
        ['/api/v3/query_sql?db=_internal&q=SELECT%201', 'GET'],
      ] as const) {
        assertError(await recovery.send(path, { method }), 404, 'Not found');
      }
      const response = await recovery.send(REGENERATE, { method: 'POST' });
      assert.equal(response.status, 201, response.text);
      const renewed = JSON.parse(response.text) as Record<string, unknown>;
      const token = String(renewed['token']);
      const hash = createHash('sha512').update(token).digest('hex');
      assert.deepEqual(renewed, { ...old, token, hash });
      assert.ok(await works(server, token));
      assert.equal(await works(server, String(old['token'])), false);
      await closed(recovery);
      assert.ok(await works(server, token));
      const query = new URLSearchParams({
        db: '_internal',
        q: "SELECT target, result, address FROM system.audit WHERE action = 'recover admin token'",
        format: 'json_rows',
      });
      const { text } = await server.http.send(`/api/v3/query_sql?${query}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      assert.deepEqual(JSON.parse(text), [
        { target: 'token_name=_admin', result: 'ok', address: '127.0.0.1' },
      ]);
    } finally {
      recovery.close();
    }
  });

  it('K-04 T-01 speaks TLS where the server does, and nothing else', async () => {
    const { keyFile, certFile, ca } = testCertificate('first');
    const flags = ['--admin-token-recovery-http-bind', '127.0.0.1:0'];
    const tls = ['--tls-key', keyFile, '--tls-cert', certFile, '--tls-plaintext', 'allow'];
    await using server = await ServerInProcess.start({ flags: [...flags, ...tls] });
    const { port } = server.logged(RECOVERY_OPEN) ?? {};
    const main = new HttpClient(server.url, ca);
    const recovery = new HttpClient(`https://127.0.0.1:${port}`, ca);
    const plain = new HttpClient(`http://127.0.0.1:${port}`);
    try {
      const created = await main.send(ADMIN, { method: 'POST' });
      const old = JSON.parse(created.text) as Record<string, unknown>;
      await assert.rejects(plain.send(REGENERATE, { method: 'POST' }));
      const response = await recovery.send(REGENERATE, { method: 'POST' });
      assert.equal(response.status, 201, response.text);
      const { token } = JSON.parse(response.text) as Record<string, unknown>;
      assert.notEqual(token, old['token']);
      const headers = { authorization: `Bearer ${token}` };
      assert.equal((await main.send('/health', { headers })).status, 200);
    } finally {
      for (const client of [main, recovery, plain]) client.close();
    }
  });

  it('K-04 is not open unless asked for, and asks nobody on the main port', async () => {
    await using server = await ServerInProcess.start({ flags: [] });
    assert.equal(server.logged(RECOVERY_OPEN), undefined);
    await createAdmin(server);
    assertError(await server.http.send(REGENERATE, { method: 'POST' }), 401, UNAUTHENTICATED);
  });
});

describe('the token file', () => {
  const TEXT = `apiv3_${'a'.repeat(86)}`;
  const fileOf = async (name: string, content: unknown) => {
    const path = join(folder, name);
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    await writeFile(path, text, { mode: 0o600 });
    return ['--admin-token-file', path];
  };

  it('K-04 presets the admin token of a server that has none, for good', async () => {
    const flags = await fileOf('preset.json', { token: TEXT, name: '_admin' });
    await using server = await ServerInProcess.start({ flags });
    assert.ok(await works(server, TEXT));
    assertError(
      await server.http.send(ADMIN, { method: 'POST' }),
      409,
      'token name already exists, _admin',
    );
    const other = await fileOf('other.json', { token: `apiv3_${'b'.repeat(86)}`, name: 'other' });
    await server.stop();
    await using again = await ServerInProcess.start({ dataDir: server.dataDir, flags: other });
    assert.ok(await works(again, TEXT));
    assert.equal(await works(again, `apiv3_${'b'.repeat(86)}`), false);
  });

  it('K-04 is not read once there is an admin token, and presets one that expires', async () => {
    const expired = { token: TEXT, name: 'preset', expiry_millis: Date.now() - 1 };
    await using server = await ServerInProcess.start({ flags: await fileOf('old.json', expired) });
    assert.equal(await works(server, TEXT), false);
    const admin = await createAdmin(server);
    await server.stop();
    const valid = { token: TEXT, name: 'late', expiry_millis: Date.now() + 3_600_000 };
    const flags = await fileOf('late.json', valid);
    await using again = await ServerInProcess.start({ dataDir: server.dataDir, flags });
    assert.ok(await works(again, String(admin['token'])));
    assert.equal(await works(again, TEXT), false);
  });

  it('K-04 stops the start when it is unreadable, without showing what is in it', async () => {
    const secret = `apiv3_${'c'.repeat(86)}`;
    const broken = [
      `{"token":"${secret}"`,
      { token: secret.slice(6) },
      { token: secret, expiry_millis: 'soon' },
    ];
    for (const [index, content] of broken.entries()) {
      const flags = await fileOf(`broken${index}.json`, content);
      await assert.rejects(ServerInProcess.start({ flags }), (error) => {
        assert.ok(error instanceof StartFailed);
        assert.equal(error.message.includes(secret.slice(6)), false);
        return true;
      });
    }
    const flags = ['--admin-token-file', join(folder, 'missing.json')];
    await assert.rejects(ServerInProcess.start({ flags }), StartFailed);
  });
});
