// Source: docs/SECURITY-CREDENTIALS.md: no secret is in the log or on standard output, at any level and in any format. The
// master key is not in the data folder here; a generated one is in backups (docs/formats/backup.md).
// Own process: all of its output is read.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { CLI, countStart, runCli } from '../../harness/cli.js';
import { ownVariables } from '../../harness/server-process.js';

const KEYS_FILE = 'initial-account-keys';
const KEY = /^[sp]k_(?:test|live)_[0-9A-Za-z]{24,}$/;
const MASTER_KEY = 'a master key that nobody else should know';
const EDITOR_TOKEN = 'an-editor-of-the-game-data';
const PASSWORD = 'a-password-of-kim-1';
const HOOK_SECRET = 'a-secret-of-a-webhook';
const WRONG_CODE = 'aaaa-bbbb-cccc-dddd-eeee-ffff-gggg';
const WRONG_TOKEN = 'apiv3_a-token-that-nobody-has-0123456789';

/** A server whose standard output and error are captured. */
class Run implements AsyncDisposable {
  readonly #child;
  #output = '';

  constructor(dataDir: string, flags: readonly string[]) {
    const bind = ['--data-dir', dataDir, '--http-bind', '127.0.0.1:0'];
    this.#child = spawn(process.execPath, [CLI, 'serve', ...bind, ...flags], {
      env: { ...ownVariables(), PLINTH_GAMEDATA_ADMIN_TOKEN: EDITOR_TOKEN },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('utf8').on('data', (piece: string) => {
        this.#output += piece;
      });
    }
  }

  async url(): Promise<string> {
    for (let tries = 0; ; tries++) {
      const url = /address"?[:=]"?(http:\/\/127\.0\.0\.1:\d+)/.exec(this.#output)?.[1];
      if (url !== undefined) return url;
      assert.ok(tries < 1800 && this.#child.exitCode === null, this.#output);
      await sleep(50);
    }
  }

  /** Stops the server. Returns its output. */
  async end(): Promise<string> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const closed = once(this.#child, 'close');
      this.#child.kill('SIGTERM');
      await closed;
      const { exitCode, signalCode } = this.#child;
      assert.equal(exitCode, 0, `signal ${signalCode}: ${this.#output.slice(-2000)}`);
    }
    return this.#output;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}

/** Creates every kind of credential, and uses each correctly and incorrectly. @returns the secrets */
async function useSecrets(
  url: string,
  given: { readonly admin: string } | { readonly claimCode: string },
): Promise<string[]> {
  const post = async (path: string, token: string | undefined, body?: unknown) => {
    const isForm = typeof body === 'string';
    const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': type, ...(token && { authorization: `Bearer ${token}` }) },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text };
  };
  const secrets: string[] = [];
  let admin: string;
  if ('admin' in given) {
    admin = given.admin;
  } else {
    const claim = async (code: string) => {
      const headers = { via: '1.1 proxy', 'x-plinth-claim-code': code };
      const response = await fetch(`${url}/api/v3/configure/token/admin`, {
        method: 'POST',
        headers,
      });
      return { status: response.status, text: await response.text() };
    };
    const { claimCode } = given;
    for (const code of ['', WRONG_CODE]) {
      const refused = await claim(code);
      assert.equal(refused.status, 403);
      assert.ok(!refused.text.includes(claimCode));
    }
    const made = await claim(claimCode);
    assert.equal(made.status, 201, made.text);
    admin = String(JSON.parse(made.text).token);
    secrets.push(claimCode, claimCode.replaceAll('-', ''), WRONG_CODE);
    const user = `q=CREATE USER kim WITH PASSWORD '${PASSWORD}' WITH ALL PRIVILEGES`;
    assert.equal((await post('/query', admin, user)).status, 200);
  }
  secrets.push(admin, PASSWORD);
  for (const [options, name] of [
    [['--kind', 'secret'], 'key'],
    [['--kind', 'publishable', '--live'], 'key'],
  ] as const) {
    const args = ['accounts', 'keys', 'create', ...options, '--host', url, '--token', admin];
    const { code, stdout, stderr } = await runCli(args);
    assert.equal(code, 0, `${name}: ${stderr}`);
    const [key] = /[sp]k_(?:test|live)_\w+/.exec(stdout) ?? [];
    assert.ok(key, stdout);
    secrets.push(key);
  }
  const token = await runCli([
    ...['token', 'create', '--name', `t${Date.now()}`, '--permission', 'db:*:read'],
    ...['--host', url, '--token', admin],
  ]);
  assert.equal(token.code, 0, token.stderr);
  secrets.push(token.stdout.trim());
  const app = await post('/ops/v1/apps', admin, {
    name: `app ${Date.now()}`,
    webhook: { url: 'https://hook.example/in', secret: HOOK_SECRET, events: ['ping'] },
  });
  assert.equal(app.status, 201, app.text);
  const { pem } = JSON.parse(app.text) as { pem?: string };
  if (pem !== undefined) secrets.push(pem.split('\n')[3] ?? pem);
  secrets.push(HOOK_SECRET, EDITOR_TOKEN, MASTER_KEY, WRONG_TOKEN);
  // Each secret in valid and invalid places, in headers and in the query.
  for (const secret of secrets) {
    if (secret === MASTER_KEY || secret.includes(' ')) continue;
    for (const path of ['/api/v3/query_sql?db=a&q=SELECT+1', '/v2/core/accounts', '/app/hook']) {
      for (const scheme of ['Bearer', 'Token']) {
        const headers = { authorization: `${scheme} ${secret}` };
        await (await fetch(url + path, { headers })).text();
      }
    }
    await (await fetch(`${url}/query?db=a&u=kim&p=${secret}&q=SHOW+DATABASES`)).text();
    await (await fetch(`${url}/api/editor/maps`, { headers: { 'x-api-key': secret } })).text();
  }
  return secrets;
}

/** Sends secrets in the text of queries, and adds them to `secrets`. */
async function queryWithSecrets(url: string, admin: string, secrets: string[]): Promise<void> {
  const [login, connection, option] = ['a-login-pw-1', 'a-connection-pw-2', 'an-option-3'];
  const post = async (path: string, body: string) => {
    const headers = { authorization: `Bearer ${admin}`, 'content-type': 'application/json' };
    const response = await fetch(url + path, { method: 'POST', headers, body });
    return { status: response.status, text: await response.text() };
  };
  assert.equal((await post('/api/v3/write_lp?db=a', 'm v=1')).status, 204);
  for (const q of [
    `SELECT 'postgres://u:${login}@h/db', 'Bearer ${admin}'`,
    `SELECT 1 -- password=${connection}`,
  ]) {
    const response = await post('/api/v3/query_sql', JSON.stringify({ db: 'a', q }));
    assert.equal(response.status, 200, response.text);
  }
  const q = `CREATE SECRET s (TYPE S3, KEY_ID 'k', SECRET '${option}')`;
  await post('/api/v3/query_sql', JSON.stringify({ db: 'a', q })); // SQL has no such statement.
  secrets.push(login, connection, option);
}

/** Runs a command that must succeed. Returns its output. */
async function collect(
  args: readonly string[],
  server?: { readonly url: string; readonly admin: string },
): Promise<string> {
  const connection = server && ['--host', server.url, '--token', server.admin];
  const { code, stdout, stderr } = await runCli([...args, ...(connection ?? [])]);
  assert.equal(code, 0, stderr);
  return stdout + stderr;
}

/** The contents of all files below `folder`. */
async function textOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1'));
  return (await Promise.all(texts)).join('');
}

for (const format of ['json', 'text']) {
  it(`no secret is in the logs, the audit log, a backup or a support bundle (${format})`, async () => {
    const root = await mkdtemp(join(tmpdir(), 'plinth-secrets-'));
    try {
      const dataDir = join(root, 'data');
      const masterKey = join(root, 'master');
      const accessLog = join(root, 'access.log');
      await writeFile(masterKey, `${MASTER_KEY}\n`, { mode: 0o600 });
      const flags = [
        ...['--log-format', format, '--log-level', 'trace'],
        ...['--server-master-key-file', masterKey],
        ...[
          '--access-log',
          format === 'json' ? 'json' : 'combined',
          '--access-log-file',
          accessLog,
        ],
      ];
      const secrets: string[] = [];
      let admin = '';
      let output = '';
      {
        await countStart();
        await using run = new Run(dataDir, flags);
        const url = await run.url();
        const claimCode = (await readFile(join(dataDir, 'claim-code'), 'utf8')).trim();
        assert.match(claimCode, /^[a-z2-9]{4}(-[a-z2-9]{4}){6}$/);
        secrets.push(...(await useSecrets(url, { claimCode })));
        admin = secrets.find((secret) => secret.startsWith('apiv3_')) ?? '';
        output += await run.end();
      }
      const file = join(dataDir, KEYS_FILE);
      const keys = (await readFile(file, 'utf8')).trim().split('\n');
      if (process.platform !== 'win32') assert.equal((await stat(file)).mode & 0o777, 0o600);
      assert.equal(keys.length, 4);
      for (const key of keys) assert.match(key, KEY);
      assert.ok(output.includes(file), 'the log names the file');
      await rm(file);
      {
        await countStart();
        await using run = new Run(dataDir, flags);
        const url = await run.url();
        const [key = ''] = keys;
        const headers = { authorization: `Bearer ${key}`, 'stripe-version': '2026-08-26.preview' };
        assert.equal((await fetch(`${url}/v2/core/accounts`, { headers })).status, 200);
        secrets.push(...(await useSecrets(url, { admin })));
        const bundle = join(root, 'bundle.tar.gz');
        await queryWithSecrets(url, admin, secrets);
        for (const [server, code] of [
          [{ url, admin: WRONG_TOKEN }, 4],
          [{ url: 'http://127.0.0.1:1', admin }, 3],
        ] as const) {
          const args = ['support-bundle', '--out', bundle, '--host', server.url];
          assert.equal((await runCli([...args, '--token', server.admin])).code, code);
          await assert.rejects(stat(bundle), { code: 'ENOENT' });
        }
        output += await collect(['support-bundle', '--out', bundle], { url, admin });
        const unpacked = gunzipSync(await readFile(bundle)).toString('latin1');
        for (const part of ['logs.json', 'settings.json', 'queries.json', 'databases.json'])
          assert.ok(unpacked.includes(part), part);
        assert.match(unpacked, /password=\[redacted\]/, 'the query is in the bundle');
        assert.doesNotMatch(unpacked, /status [45]\d\d\n|no response:/, 'every part was read');
        assert.match(unpacked, /"login failed"|master_key_file/);
        const copy = join(root, 'copy');
        output += await collect(['backup', '--to', copy], { url, admin });
        const denied = await runCli(['status', '--host', url, '--token', WRONG_TOKEN]);
        output += unpacked + denied.stdout + denied.stderr + (await run.end());
        for (const folder of [copy, join(dataDir, 'audit')]) output += await textOf(folder);
        output += await readFile(accessLog, 'utf8');
        const stopped = ['support-bundle', '--data-dir', dataDir, '--out', `${bundle}.2`];
        output += await collect(stopped);
        const ofFolder = gunzipSync(await readFile(`${bundle}.2`)).toString('latin1');
        assert.doesNotMatch(ofFolder, /the settings|the health|the metrics|latest log lines/);
        output += ofFolder;
      }
      await assert.rejects(stat(file), { code: 'ENOENT' }, 'a further start writes no keys');
      assert.ok(secrets.length > 15);
      assert.ok(output.includes('"claimCodeFile":') || output.includes(' claimCodeFile='), output);
      const found = [...secrets, ...keys].filter((secret) => output.includes(secret));
      assert.deepEqual(found, [], output);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });
}
