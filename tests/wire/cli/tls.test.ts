// Source: docs/COMMANDS.md: messages for failed connections. Uses real certificates and servers.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import { ServerInProcess } from '../../harness/index.js';
import { testCertificate, tlsFlags } from '../../harness/test-certificate.js';

const good = testCertificate('first');
const servers = new Map<string, ServerInProcess>();
before(async () => {
  const start = async (name: string, flags: readonly string[]) =>
    servers.set(name, await ServerInProcess.start({ flags: ['--without-auth', ...flags] }));
  await start('plain', []);
  await start('secure', tlsFlags(good));
  // With the same key.
  for (const name of ['expired', 'elsewhere'] as const)
    await start(name, tlsFlags({ ...testCertificate(name), keyFile: good.keyFile }));
});
after(async () => {
  for (const server of servers.values()) await server.close();
});

const port = (name: string): string => new URL(servers.get(name)?.url ?? '').port;
const status = (host: string, args: readonly string[] = [], env: Record<string, string> = {}) =>
  runCli(['status', '--host', host, ...args], { env });

it('trusts the certificate of --tls-ca or its variables', async () => {
  const host = `https://127.0.0.1:${port('secure')}`;
  for (const run of [
    await status(host, ['--tls-ca', good.certFile]),
    await status(host, [], { PLINTH_TLS_CA: good.certFile }),
    await status(host, [], { INFLUXDB3_TLS_CA: good.certFile }),
  ]) {
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stdout, /^health {5}OK/m);
  }
});

const REFUSED: readonly [string, () => [string, ...string[]], RegExp][] = [
  [
    'a certificate that is self-signed',
    () => [`https://127.0.0.1:${port('secure')}`],
    /its certificate is self-signed\n.*\n.*--tls-ca <file> or PLINTH_TLS_CA\.$/m,
  ],
  [
    'another certificate than that which is believed',
    () => [`https://127.0.0.1:${port('secure')}`, '--tls-ca', testCertificate('second').certFile],
    /its certificate is self-signed\n.*\n.*--tls-ca <file>/m,
  ],
  [
    'a certificate that has expired',
    () => [`https://127.0.0.1:${port('expired')}`, '--tls-ca', testCertificate('expired').certFile],
    /its certificate has expired\n {2}Renew the server certificate/,
  ],
  [
    'a certificate of another host',
    () => [
      `https://127.0.0.1:${port('elsewhere')}`,
      '--tls-ca',
      testCertificate('elsewhere').certFile,
    ],
    /its certificate is not valid for 127\.0\.0\.1, only for plinth\.example\n {2}Use --host with one of these names/,
  ],
  [
    'TLS to a port without it',
    () => [`https://127.0.0.1:${port('plain')}`],
    /the port does not use TLS\n {2}Use --host http:\/\/127\.0\.0\.1:\d+\.$/m,
  ],
  [
    'no TLS to a port with it',
    () => [`http://127.0.0.1:${port('secure')}`],
    /the port uses TLS\n {2}Use --host https:\/\/127\.0\.0\.1:\d+\.$/m,
  ],
];
for (const [what, args, words] of REFUSED) {
  it(`suggests a fix for ${what}`, async () => {
    const [host, ...more] = args();
    const { code, stdout, stderr } = await status(host, more);
    assert.match(stderr, words);
    assert.deepEqual([code, stdout], [3, '']);
  });
}

it('reports an unreadable --tls-ca file', async () => {
  const { code, stderr } = await status('https://127.0.0.1:1', ['--tls-ca', '/nowhere.pem']);
  assert.match(stderr, /^plinth: --tls-ca: cannot read \/nowhere\.pem: ENOENT/);
  assert.equal(code, 2);
});

it('reads the token from PLINTH_AUTH_TOKEN, PLINTH_TOKEN or INFLUXDB3_AUTH_TOKEN, in this order', async () => {
  await using secured = await ServerInProcess.start({ flags: [] });
  const of = (env: Record<string, string>) =>
    runCli(['status', '--format', 'json'], { env: { INFLUXDB3_HOST_URL: secured.url, ...env } });
  const made = await runCli(['token', 'create', '--host', secured.url]);
  const token = made.stdout.trim();
  for (const name of ['PLINTH_AUTH_TOKEN', 'PLINTH_TOKEN', 'INFLUXDB3_AUTH_TOKEN']) {
    const { code, stdout, stderr } = await of({ [name]: token });
    assert.equal(code, 0, stderr);
    assert.equal((JSON.parse(stdout) as { server: string }).server, secured.url);
  }
  assert.equal((await of({ PLINTH_TOKEN: token, INFLUXDB3_AUTH_TOKEN: 'no' })).code, 0);
  assert.equal((await of({ PLINTH_TOKEN: token, PLINTH_AUTH_TOKEN: 'no' })).code, 4);
});
