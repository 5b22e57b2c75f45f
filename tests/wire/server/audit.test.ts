// Source: docs/SECURITY-CREDENTIALS.md, "Audit log".
import assert from 'node:assert/strict';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCli } from '../../harness/cli.js';
import { type OwnServer, ServerInProcess, temporaryFolder } from '../../harness/index.js';

let server: OwnServer;
let admin = '';
const dataDir = await temporaryFolder();
before(async () => {
  server = await ServerInProcess.start({ flags: [], dataDir });
  const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  admin = JSON.parse(made.text).token;
});
after(() => server.close());

const send = (path: string, body?: object, method = 'POST') =>
  server.http.send(path, {
    method,
    headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const statement = (q: string, at = {}) => send(`/query?${new URLSearchParams({ q, ...at })}`);

async function shown(): Promise<readonly string[]> {
  const { text } = await send('/api/v3/query_sql', {
    db: '_internal',
    q: 'SELECT * FROM system.audit',
    format: 'json_rows',
  });
  return JSON.parse(text).map(
    ({ who, address, action, target, result }: Record<string, string>) =>
      `${who ?? '-'} ${address} ${action} ${target}: ${result}`,
  );
}

const BY_ADMIN = '_admin 127.0.0.1';
const EXPECTED = [
  '- 127.0.0.1 POST /api/v3/configure/token/admin : 201',
  `${BY_ADMIN} POST /api/v3/configure/database db=a: 200`,
  `${BY_ADMIN} POST /api/v3/configure/database db=a: resource_exists`,
  `${BY_ADMIN} DELETE /api/v3/configure/database db=a: 200`,
  `${BY_ADMIN} POST /api/v3/enterprise/configure/token token_name=reader: 201`,
  `${BY_ADMIN} POST /api/v2/authorizations description=writer: 201`,
  `${BY_ADMIN} POST /ops/v1/identities kind=user id=7: 201`,
  `${BY_ADMIN} POST /query CREATE USER ann WITH PASSWORD [REDACTED]: ok`,
  `${BY_ADMIN} POST /query GRANT READ ON none TO ann: database_not_found`,
  `${BY_ADMIN} POST /query CREATE DATABASE b: ok`,
  `${BY_ADMIN} POST /query db="b" DELETE FROM m: ok`,
  `${BY_ADMIN} POST /query db="none" DROP SERIES FROM m: database_not_found`,
  `${BY_ADMIN} POST /query db="b" rp="typo" DELETE FROM m: plan_error`,
];

describe('the audit log', () => {
  it('contains changes by operators with their result, but no secret', async () => {
    await send('/api/v3/configure/database', { db: 'a' });
    await send('/api/v3/configure/database', { db: 'a' });
    await send('/api/v3/configure/database?db=a', undefined, 'DELETE');
    const permissions = [{ resource_type: 'db', resource_identifier: ['b'], actions: ['read'] }];
    const made = await send('/api/v3/enterprise/configure/token', {
      token_name: 'reader',
      permissions,
    });
    const of2x = await send('/api/v2/authorizations', {
      description: 'writer',
      permissions: [{ action: 'write', resource: { type: 'buckets' } }],
    });
    await send('/ops/v1/identities', { kind: 'user', id: 7 });
    await statement("CREATE USER ann WITH PASSWORD 'swordfish'");
    await statement('GRANT READ ON none TO ann');
    await statement('CREATE DATABASE b');
    await statement('DELETE FROM m', { db: 'b' });
    await statement('DROP SERIES FROM m', { db: 'none' });
    await statement('DELETE FROM m', { db: 'b', rp: 'typo' });
    // Requests that change no administrative data are not logged.
    await server.http.send('/write?db=b', {
      headers: { authorization: `Bearer ${admin}` },
      body: 'm v=1',
    });
    await statement('SHOW USERS');
    // Unauthenticated attempts are not logged either.
    await server.http.send('/api/v3/configure/database?db=b', { method: 'DELETE' });
    assert.deepEqual(await shown(), EXPECTED);
    const linesOfFile = async () =>
      (await readFile(join(dataDir, 'audit', 'audit.jsonl'), 'utf8')).trimEnd().split('\n');
    // Responses do not wait for the file.
    for (let tries = 0; tries < 100 && (await linesOfFile()).length < EXPECTED.length; tries++)
      await sleep(50);
    const text = (await linesOfFile()).join('\n');
    const lines = (await linesOfFile()).map((line) => JSON.parse(line));
    assert.equal(lines.length, EXPECTED.length);
    assert.deepEqual(Object.keys(lines[0]), [
      'time',
      'who',
      'address',
      'action',
      'target',
      'result',
    ]);
    assert.ok(Math.abs(Date.parse(lines[0].time) - Date.now()) < 60_000);
    const tokens = [admin, JSON.parse(made.text).token, JSON.parse(of2x.text).token];
    for (const secret of ['swordfish', ...tokens]) {
      assert.ok(!text.includes(secret));
    }
    const { mode } = await stat(join(dataDir, 'audit', 'audit.jsonl'));
    assert.equal(mode & 0o777, 0o600);
  });

  it('is in a backup, which a token with that permission makes', async () => {
    const permissions = [
      { resource_type: 'system', resource_identifier: ['backup'], actions: ['read'] },
    ];
    const made = await send('/api/v3/enterprise/configure/token', {
      token_name: 'nightly',
      permissions,
    });
    const to = join(dataDir, '..', `${basename(dataDir)}-backup`);
    const { token } = JSON.parse(made.text);
    const args = ['backup', '--to', to, '--host', server.url, '--token', token];
    try {
      const ran = await runCli(args);
      assert.equal(ran.code, 0, ran.stderr);
      const copy = await readFile(join(to, 'audit', 'audit.jsonl'), 'utf8');
      const lines = copy.trimEnd().split('\n').slice(0, EXPECTED.length);
      assert.deepEqual(
        lines.map((line) => JSON.parse(line).action),
        EXPECTED.map((line) => /(?:POST|DELETE) \/\S+/.exec(line)?.[0]),
      );
    } finally {
      await rm(to, { recursive: true, force: true });
    }
    const listed = await shown();
    assert.ok(listed.includes('nightly 127.0.0.1 POST /ops/v1/backups : 201'), listed.join('\n'));
  });

  it('is not visible to tokens with permissions', async () => {
    const permissions = [
      { resource_type: 'db', resource_identifier: ['_internal'], actions: ['read'] },
    ];
    const made = await send('/api/v3/enterprise/configure/token', { token_name: 'i', permissions });
    const { text } = await server.http.send('/api/v3/query_sql', {
      headers: {
        authorization: `Bearer ${JSON.parse(made.text).token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        db: '_internal',
        q: 'SELECT * FROM system.audit',
        format: 'json_rows',
      }),
    });
    assert.equal(text, '[]');
  });

  it('continues after a restart, and in a new file when one is full', async () => {
    const before = await shown();
    assert.equal(await server.stop(), 0);
    server = await ServerInProcess.start({ flags: [], dataDir });
    assert.deepEqual(await shown(), before);
    const name = 'x'.repeat(900);
    for (let round = 0; round < 60; round++) {
      await Promise.all(
        Array.from({ length: 100 }, () =>
          send(`/api/v3/configure/database?db=${name}`, undefined, 'DELETE'),
        ),
      );
    }
    for (let tries = 0; tries < 100 && (await readdir(join(dataDir, 'audit'))).length < 2; tries++)
      await sleep(50);
    const files = await readdir(join(dataDir, 'audit'));
    assert.deepEqual(files.sort(), ['audit.1.jsonl', 'audit.jsonl']);
    const { size } = await stat(join(dataDir, 'audit', 'audit.1.jsonl'));
    assert.ok(size >= 4 * 1024 * 1024 && size < 5 * 1024 * 1024, `${size}`);
    assert.equal((await shown()).length, 1000);
  });
});
