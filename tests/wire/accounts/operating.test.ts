// Source: accounts, sections 1, 4 and 19.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import { AccountsServer, KEYS, RawConnection, ServerInProcess } from '../../harness/index.js';

/** Separate server, because the command line counts all accounts and rotates the first key. */
let server: AccountsServer;
before(async () => {
  server = await AccountsServer.start();
});
after(async () => await server.close());

const ACCOUNTS = '/v2/core/accounts';
const PLATFORM = '/platforms/plat_default';
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64');

const plinth = async (...args: string[]) =>
  await runCli(['accounts', ...args, '--host', server.process.url]);

// Needs a server without accounts and with its first key.
it('manages platforms and keys, shows and closes accounts, advances clocks and rotates keys', async () => {
  const created = await plinth('platforms', 'create', '--name', 'Second', '--country', 'DE');
  assert.equal(created.code, 0, created.stderr);
  const platform = created.stdout.trim();
  assert.match(platform, /^plat_[0-9A-Za-z]{16}$/);
  const listed = await plinth('platforms', 'list');
  assert.match(listed.stdout, new RegExp(`${platform}\\s+Second\\s+DE\\s+ok`));
  const key = (await plinth('keys', 'create', '--platform', platform)).stdout.trim();
  assert.match(key, /^sk_test_[0-9A-Za-z]{40}$/);
  const account = await server.create({ display_name: 'Shown' }, { key });
  const table = await plinth('list', '--platform', platform);
  assert.match(table.stdout, new RegExp(`^id .*\n${account.id}\\s+Shown`));
  const shown = await plinth('show', account.id, '--platform', platform);
  assert.equal(JSON.parse(shown.stdout).account.display_name, 'Shown');
  const closed = await plinth('close', account.id, '--platform', platform);
  assert.equal(closed.code, 0, closed.stderr);
  assert.equal((await server.ok(`/v2/core/accounts/${account.id}`, { key })).closed, true);
  assert.match((await plinth('tick')).stderr, /^accounts evaluated: 0$/m);
  assert.match((await plinth('rotate-key')).stderr, /^key k2 in use/m);
  const unknown = await plinth('show', 'acct_unknown');
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /returned 404: No such account: acct_unknown/);
});

describe('operator API', () => {
  it('stores a file that an account refers to and rejects one with too large a declared size', async () => {
    const path = `${PLATFORM}/files`;
    const file = await server.operate(path, {
      purpose: 'business_logo',
      filename: 'logo.png',
      content_base64: PNG,
      livemode: false,
    });
    const configuration = { merchant: { branding: { logo: file.id } } };
    await server.create({ identity: { country: 'us' }, configuration });
    using connection = await RawConnection.open(server.process.url);
    const head = `POST /ops/v1/accounts${path} HTTP/1.1\r\nHost: localhost\r\n`;
    connection.send(`${head}Content-Length: ${15 * 1024 * 1024 + 1}\r\n\r\n`);
    await connection.until(/^HTTP\/1\.1 413 [\s\S]*"code":"request_too_large"/);
  });

  it('needs its token', async () => {
    // A separate server: the other servers of these tests require no token.
    const guarded = await ServerInProcess.start({ flags: ['--services', 'accounts'] });
    try {
      const path = '/ops/v1/accounts/platforms';
      const response = await guarded.http.send(path);
      assert.equal(response.status, 401);
      assert.equal(JSON.parse(response.text).error.code, 'operator_token_required');
      const created = await guarded.http.send('/api/v3/configure/token/admin', { method: 'POST' });
      const { token } = JSON.parse(created.text);
      const headers = { authorization: `Bearer ${token}` };
      const allowed = await guarded.http.send(path, { headers });
      assert.equal(allowed.status, 200, allowed.text);
      assert.equal(JSON.parse(allowed.text).data[0].id, 'plat_default');
      const asPlatform = '/ops/v1/as/platform/plat_default/test/v2/core/accounts';
      assert.equal((await guarded.http.send(asPlatform)).status, 401);
      const accounts = await guarded.http.send(asPlatform, { headers });
      assert.deepEqual(JSON.parse(accounts.text).data, []);
    } finally {
      await guarded.close();
    }
  });
});

describe('secrets', () => {
  it('never shows id numbers, token contents or keys in responses, events, logs or files', async () => {
    const number = '987654321';
    const { id } = await server.create({
      identity: {
        country: 'us',
        entity_type: 'company',
        business_details: { id_numbers: [{ type: 'us_ein', value: number }] },
      },
      include: ['identity'],
    });
    const account = await server.ok(`${ACCOUNTS}/${id}?include=identity`);
    assert.deepEqual(account.identity.business_details.id_numbers, [{ type: 'us_ein' }]);
    const ssn = '666554444';
    const secretName = 'Zaphodine';
    const token = await server.ok(`${ACCOUNTS}/${id}/person_tokens`, {
      body: { given_name: secretName, id_numbers: [{ type: 'us_ssn', value: ssn }] },
    });
    const error = await server.send(ACCOUNTS, {
      body: {
        identity: {
          country: 'us',
          business_details: { id_numbers: [{ type: 'us_ein', value: 'x-1-2-y' }] },
        },
      },
    });
    assert.doesNotMatch(error.text, /x-1-2-y/);
    const seen = [
      JSON.stringify(token),
      (await server.send('/v2/core/events?limit=100')).text,
      (await server.send(`${ACCOUNTS}?limit=100`)).text,
      server.process.logText,
    ].join('\n');
    const files: Buffer[] = [];
    for (const name of await readdir(server.process.dataDir)) {
      if (name.startsWith('plinth.db'))
        files.push(await readFile(join(server.process.dataDir, name)));
    }
    const stored = Buffer.concat(files).toString('latin1');
    assert.ok(stored.includes(id), 'the files are those of the accounts');
    for (const secret of [number, ssn, secretName, ...Object.values(KEYS)]) {
      assert.ok(!seen.includes(secret), secret);
      assert.ok(!stored.includes(secret), secret);
    }
  });
});
