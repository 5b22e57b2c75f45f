// Source: docs/CONFIGURATION.md, "Check the configuration"; docs/TOKENS.md, "The admin token as a file".
import assert from 'node:assert/strict';
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type CliRun, runCli } from '../../harness/cli.js';
import { ServerInProcess, temporaryFolder, testCertificate } from '../../harness/index.js';

const folder = await temporaryFolder();

const check = (flags: readonly string[], env: Record<string, string> = {}): Promise<CliRun> =>
  runCli(['serve', '--check', ...flags], { env });

describe('plinth serve --check', () => {
  it('prints every setting with its origin, and opens neither folder nor port', async () => {
    const config = join(folder, 'plinth.json');
    const settings = { server: { node_id: 'a node', log_level: 'debug' }, backup: { keep: 3 } };
    await writeFile(config, JSON.stringify(settings));
    const dataDir = join(folder, 'data');
    const flags = ['--config', config, '--data-dir', dataDir, '--log-level', 'warn'];
    const env = { PLINTH_HTTP_BIND: '127.0.0.1:8199', PLINTH_LOG_FORMAT: 'json' };
    const { code, stdout, stderr } = await check(flags, env);
    assert.equal(code, 0, stderr);
    assert.equal(stderr, '');
    const lines = stdout.trimEnd().split('\n');
    for (const line of [
      'server.http_bind = "127.0.0.1:8199"  # PLINTH_HTTP_BIND',
      `server.data_dir = ${JSON.stringify(dataDir)}  # --data-dir`,
      `server.node_id = "a node"  # ${config}`,
      'server.log_level = "warn"  # --log-level',
      'server.log_format = "json"  # PLINTH_LOG_FORMAT',
      `backup.keep = 3  # ${config}`,
      'server.trusted_proxies = []  # default',
      'server.public_url = (not set)  # default',
    ]) {
      assert.ok(lines.includes(line), `${line}\n${stdout}`);
    }
    assert.deepEqual(await readdir(folder), ['plinth.json']);
    const page = await readFile(new URL('../../../../docs/SETTINGS.md', import.meta.url), 'utf8');
    const named = [...page.matchAll(/^\| `(\w+\.\w+)` \|.*$/gm)].filter(
      ([row]) => !row.includes('Accepted for compatibility'),
    );
    assert.ok(named.length > 100);
    for (const [, name] of named) {
      assert.ok(
        lines.some((line) => line.startsWith(`${name} = `)),
        name,
      );
    }
  });

  it('shows no secret, from any source', async () => {
    const secret = 'SECRETLONG0123456789012345678901234567';
    const config = join(folder, 'secrets.json');
    await writeFile(config, JSON.stringify({ gamedata: { admin_token: secret } }));
    const { code, stdout, stderr } = await check(
      ['--config', config, '--server-database-url', `postgres://plinth:${secret}@db/plinth`],
      {
        PLINTH_MASTER_KEY: secret,
        PLINTH_ACCOUNTS_BOOTSTRAP_KEYS: `sk_test_${secret}`,
        PLINTH_WEBHOOKS_EGRESS_PROXY: `http://me:${secret}@proxy:3128`,
      },
    );
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stdout + stderr, /SECRETLONG/);
    const lines = stdout.split('\n');
    for (const line of [
      'server.master_key = (secret)  # PLINTH_MASTER_KEY',
      'accounts.bootstrap_keys = (secret)  # PLINTH_ACCOUNTS_BOOTSTRAP_KEYS',
      `gamedata.admin_token = (secret)  # ${config}`,
      'server.database_url = "postgres://***@db/plinth"  # --server-database-url',
      'webhooks.egress_proxy = "http://***@proxy:3128"  # PLINTH_WEBHOOKS_EGRESS_PROXY',
    ]) {
      assert.ok(lines.includes(line), `${line}\n${stdout}`);
    }
  });

  it('refuses what startup would refuse, with code 2', async () => {
    const missing = join(folder, 'none.json');
    const short = join(folder, 'short.json');
    await writeFile(short, JSON.stringify({ token: 'apiv3_secret' }), { mode: 0o600 });
    for (const [flags, env, why] of [
      [['--http-bind', 'nowhere'], {}, /--http-bind: expected text like/],
      [[], { PLINTH_HTPP_BIND: 'x' }, /PLINTH_HTPP_BIND: .*did you mean PLINTH_HTTP_BIND\?/],
      [[], { PLINTH_SERVER_DATADIR: 'x' }, /did you mean PLINTH_SERVER_DATA_DIR\?/],
      [[], { PLINTH_WITHOUT_AUTH: '1' }, /did you mean PLINTH_IDENTITY_WITHOUT_AUTH\?/],
      [['--tls-cert', missing], {}, /--tls-cert: also requires --tls-key/],
      [[], { PLINTH_TLS_KEY: missing }, /--tls-key: also requires --tls-cert/],
      [
        ['--server-proxy-protocol', 'true'],
        {},
        /server.proxy_protocol: requires the proxy networks/,
      ],
      [['--admin-token-file', missing], {}, /none\.json: .*ENOENT/],
      [['--admin-token-file', short], {}, /short\.json: the token has 6 characters/],
      [['--server-master-key-file', missing], {}, /master_key_file: cannot be read/],
      [
        [],
        { PLINTH_ACCOUNTS_BOOTSTRAP_KEYS: 'plat-x:sk_test_secret' },
        /invalid platform id; use "plat_"/,
      ],
      [['--config', missing], {}, /none\.json: .*ENOENT/],
    ] as const) {
      const { code, stdout, stderr } = await check(flags, env);
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(stderr, why);
      assert.doesNotMatch(stderr, /secret/);
    }
  });

  it('refuses by the same rules as startup, with the same message', async () => {
    const missing = join(folder, 'nowhere', 'file');
    const file = join(folder, 'a-file');
    await writeFile(file, '');
    for (const [flags, why] of [
      [['--backup-schedule', '@daily'], /backup\.folder: required by backup\.schedule/],
      [
        ['--backup-schedule', '0 30 2 * *', '--backup-folder', folder],
        /backup\.schedule: .*6 fields/,
      ],
      [['--webhooks-egress-proxy', 'http://me:secret@x:99999'], /webhooks\.egress_proxy: not a/],
      [['--accounts-egress-proxy', 'http://x:99999'], /accounts\.egress_proxy: not a valid URL/],
      [['--server-database-url', 'postgres://secret@['], /server\.database_url: not a valid URL/],
      [
        ['--rate-limit-store', 'redis', '--rate-limit-redis-url', 'redis://:secret@['],
        /rate_limit\.redis_url: not a valid URL/,
      ],
      [
        ['--admin-token-recovery-http-bind', '127.0.0.1:99999'],
        /the port is too large; use 1 to 65535/,
      ],
      [
        ['--access-log', 'json', '--access-log-file', missing],
        /access_log_file: cannot be opened: ENOENT/,
      ],
      [
        ['--access-log', 'json', '--access-log-file', folder],
        /access_log_file: cannot be opened: .* is a folder/,
      ],
      [['--webhooks-extra-ca-file', missing], /webhooks\.extra_ca_file: cannot be read: ENOENT/],
      [['--accounts-extra-ca-file', missing], /accounts\.extra_ca_file: cannot be read: ENOENT/],
      [
        ['--gamedata-admin-token-file', missing],
        /gamedata\.admin_token_file: cannot be read: ENOENT/,
      ],
      [['--accounts-bootstrap-keys', 'secret'], /use sk_, rk_ or pk_/],
      [['--data-dir', file], /server\.data_dir: cannot be used: .*a-file is not a folder/],
      [['--data-dir', join(file, 'data')], /server\.data_dir: cannot be used: ENOTDIR/],
      [['--admin-token-file', missing], /identity\.admin_token_file: .*ENOENT/],
      [['--admin-token-recovery-http-bind', '--http-bind', '127.0.0.1:8182'], /has this port/],
      [
        ['--admin-token-recovery-http-bind', '127.0.0.1:8199', '--http-bind', '0.0.0.0:8199'],
        /admin_token_recovery_http_bind: server\.http_bind has this port/,
      ],
      [['--tls-key', file, '--tls-cert', folder], /--tls-cert: .* is not a regular file/],
    ] as const) {
      const checked = await check(flags);
      assert.deepEqual([checked.code, checked.stdout], [2, ''], `${flags}: ${checked.stderr}`);
      assert.match(checked.stderr, why);
      assert.doesNotMatch(checked.stderr, /secret/);
      const started = await runCli(['serve', '--data-dir', join(folder, 'unused'), ...flags]);
      assert.deepEqual([started.code, started.stderr], [2, checked.stderr]);
    }
    assert.ok(!(await readdir(folder)).includes('unused'), 'nothing is created');
  });

  it('refuses hosts that a start cannot listen on', async () => {
    for (const [host, why] of [
      ['192.0.2.1', /this machine cannot listen on 192\.0\.2\.1: .*EADDRNOTAVAIL/],
      ['no-such-host.invalid', /cannot listen on no-such-host\.invalid: .*(ENOTFOUND|EAI_AGAIN)/],
    ] as const) {
      const { code, stdout, stderr } = await check(['--http-bind', `${host}:8199`]);
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(stderr, why);
    }
  });

  it('lists settings without effect', async () => {
    const { code, stderr } = await check(['--wal-files-per-snapshot', '4']);
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /^--wal-files-per-snapshot: accepted for compatibility; has no effect because /m,
    );
  });
});

it('PLINTH_TLS_CERT and PLINTH_TLS_KEY make the port speak TLS', async () => {
  const { certFile, keyFile } = testCertificate('first');
  const env = { PLINTH_TLS_CERT: certFile, PLINTH_TLS_KEY: keyFile };
  await using server = await ServerInProcess.start({ flags: ['--services', 'tsdb'], env });
  assert.match(server.url, /^https:/);
});

describe('plinth token generate', () => {
  it('creates the admin token file of a server', async () => {
    const file = join(folder, 'admin.json');
    const made = await runCli(['token', 'generate', '--file', file]);
    assert.deepEqual([made.code, made.stdout], [0, ''], made.stderr);
    const { token } = JSON.parse(await readFile(file, 'utf8')) as { token: string };
    assert.ok(!made.stderr.includes(token));
    const flags = ['--services', 'tsdb', '--admin-token-file', file];
    await using server = await ServerInProcess.start({ flags });
    const headers = { authorization: `Bearer ${token}` };
    assert.equal((await server.http.send('/ops/v1/settings', { headers })).status, 200);
    assert.equal((await server.http.send('/ops/v1/settings')).status, 401);
  });

  it('does not replace a file, and refuses invalid values', async () => {
    const file = join(folder, 'kept.json');
    await writeFile(file, 'kept');
    for (const [args, code, why] of [
      [['--file', file], 1, /kept\.json.*EEXIST/],
      [['--file', join(folder, 'a', 'b.json')], 1, /ENOENT/],
      [['--file', join(folder, 'n.json'), '--name', ''], 2, /not a valid token name/],
      [
        ['--file', join(folder, 'n.json'), '--expires-in', 'soon'],
        2,
        /"soon" is not a valid duration/,
      ],
      [[], 2, /--file/],
    ] as const) {
      const run = await runCli(['token', 'generate', ...args]);
      assert.equal(run.code, code, run.stderr);
      assert.match(run.stderr, why);
    }
    assert.equal(await readFile(file, 'utf8'), 'kept');
    assert.ok(!(await readdir(folder)).includes('n.json'));
  });

  it('a file that all users can read prevents the start', {
    skip: process.platform === 'win32',
  }, async () => {
    const file = join(folder, 'open.json');
    assert.equal((await runCli(['token', 'generate', '--file', file])).code, 0);
    await chmod(file, 0o644);
    const { code, stderr } = await check(['--admin-token-file', file]);
    assert.equal(code, 2);
    assert.match(stderr, /open\.json: all users of this machine can access it \(mode 0644\)/);
    await assert.rejects(
      ServerInProcess.start({ flags: ['--admin-token-file', file] }),
      /mode 0644/,
    );
  });
});
