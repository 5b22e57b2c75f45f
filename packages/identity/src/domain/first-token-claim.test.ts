import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createLogger } from '@plinth/kernel';
import { ManualClock, SeededRandom, temporaryFolder } from '@plinth/kernel/testing';
import { openTestIdentity, type TestIdentityOptions } from '../testing/open-test-identity.js';
import { FirstTokenClaim } from './first-token-claim.js';

const ADMIN = '/api/v3/configure/token/admin';
const CODE = /^(?:[a-km-np-z2-9]{4}-){6}[a-km-np-z2-9]{4}$/;

type Sent = { readonly headers?: Record<string, string>; readonly remoteAddress?: string };
type Opened = Awaited<ReturnType<typeof openTestIdentity>>;

const claim = async (to: Opened, sent: Sent = {}) => {
  const response = await to.send({ method: 'POST', url: ADMIN, ...sent });
  return { status: response.status, text: Buffer.from(response.body as Uint8Array).toString() };
};
const withCode = (code: string | undefined) => ({ 'x-plinth-claim-code': code ?? '' });
const open = (options: TestIdentityOptions = {}, flags = {}) => openTestIdentity(flags, options);

describe('the first token without a claim code', () => {
  it('is created for a direct client on the same machine as a loopback server', async () => {
    const hosts = ['127.0.0.1:8181', 'localhost:8181', 'LOCALHOST.', '[::1]:8181', 'a.localhost'];
    for (const bind of ['127.0.0.1:8181', '[::1]:0', 'localhost:8181', '127.5.6.7:1']) {
      for (const remoteAddress of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '127.0.0.9']) {
        await using to = await open({ bind });
        assert.equal((await claim(to, { remoteAddress })).status, 201, `${bind} ${remoteAddress}`);
      }
    }
    for (const host of hosts) {
      await using to = await open();
      assert.equal((await claim(to, { headers: { host } })).status, 201, host);
    }
  });

  it('is refused to every client if the server listens beyond loopback', async () => {
    for (const bind of ['0.0.0.0:8181', '[::]:8181', '10.0.0.5:8181', '[fd00::1]:8181', 'db:1']) {
      await using to = await open({ bind });
      for (const remoteAddress of ['127.0.0.1', '::1', '10.0.0.6']) {
        const { status, text } = await claim(to, { remoteAddress });
        assert.equal(status, 403, `${bind} ${remoteAddress}`);
        assert.match(text, /"error":"missing claim code; .*"data":/);
      }
      assert.equal(to.identity.listTokens().length, 0);
    }
  });

  it('is refused to other machines and to requests through a proxy', async () => {
    await using to = await open();
    for (const remoteAddress of ['10.0.0.6', '192.168.0.1', '2001:db8::1', '128.0.0.1', '']) {
      assert.equal((await claim(to, { remoteAddress })).status, 403, remoteAddress);
    }
    for (const headers of [
      { 'x-forwarded-for': '127.0.0.1' },
      { 'x-forwarded-proto': 'https' },
      { 'x-forwarded-host': 'localhost' },
      { forwarded: 'for=127.0.0.1' },
      { via: '1.1 proxy' },
      { 'x-real-ip': '127.0.0.1' },
      { 'cf-connecting-ip': '127.0.0.1' },
      { 'x-client-address': '127.0.0.1' }, // the header named in the settings
    ]) {
      const { status } = await claim(to, { headers });
      assert.equal(status, 403, JSON.stringify(headers));
    }
    assert.equal(to.identity.listTokens().length, 0);
    assert.equal((await claim(to)).status, 201);
  });

  it('is refused if the host is a name that remote clients use', async () => {
    await using to = await open({ bind: '127.0.0.1:8181' });
    const request = { headers: { host: 'plinth.example' }, socket: { remoteAddress: '127.0.0.1' } };
    assert.equal(to.identity.firstTokenState(request), 'claim_code');
    const http2 = { ...request, headers: { ':authority': 'plinth.example', host: 'localhost' } };
    assert.equal(to.identity.firstTokenState(http2), 'claim_code');
    const own = { ...request, headers: { host: 'localhost' } };
    assert.equal(to.identity.firstTokenState(own), 'open');
  });
});

describe('the claim code', () => {
  const BEYOND = { bind: '0.0.0.0:8181' };

  it('has 140 random bits and differs at each start', async () => {
    await using first = await open(BEYOND);
    await using second = await first.restart();
    await using third = await second.restart();
    const codes = [first, second, third].map((each) => each.claimCode() ?? '');
    for (const code of codes) assert.match(code, CODE);
    assert.equal(new Set(codes).size, 3);
  });

  it('creates the first token once and is then withdrawn', async () => {
    await using to = await open(BEYOND);
    const code = to.claimCode();
    const made = await claim(to, { headers: withCode(code), remoteAddress: '10.0.0.6' });
    assert.equal(made.status, 201, made.text);
    assert.equal(to.claimCode(), undefined);
    assert.equal((await claim(to, { headers: withCode(code) })).status, 409);
    assert.deepEqual(
      to.logged
        .map((line) => JSON.parse(line))
        .filter(({ msg }) => msg === 'server claimed')
        .map(({ address }) => address),
      ['10.0.0.6'],
    );
    assert.ok(!to.logged.join('').includes(code ?? '-'));
    await using again = await to.restart();
    assert.equal(again.claimCode(), undefined);
  });

  it('accepts capitals, spaces and missing dashes', async () => {
    for (const change of [
      (code: string) => code.toUpperCase(),
      (code: string) => code.replaceAll('-', ''),
      (code: string) => ` ${code.replaceAll('-', ' ')} `,
    ]) {
      await using to = await open(BEYOND);
      const headers = withCode(change(to.claimCode() ?? ''));
      assert.equal((await claim(to, { headers })).status, 201);
    }
  });

  it('is counted and logged without the code when it is wrong, and creates nothing', async () => {
    await using to = await open(BEYOND);
    const code = to.claimCode() ?? '';
    const wrong = [
      `${code}x`,
      code.slice(0, -1),
      'x',
      code.replace(/^./, (c) => (c === 'a' ? 'b' : 'a')),
    ];
    for (const text of wrong) {
      const response = await claim(to, { headers: withCode(text), remoteAddress: '10.0.0.6' });
      assert.equal(response.status, 403);
      assert.match(response.text, /wrong claim code; .*file claim-code/);
    }
    for (let count = wrong.length; count < 30; count++) await claim(to, { headers: withCode('x') });
    const locked = await to.send({ method: 'POST', url: ADMIN, headers: withCode('x') });
    assert.equal(locked.status, 429);
    assert.deepEqual(
      locked.headers?.filter(([name]) => name === 'retry-after'),
      [['retry-after', '60']],
    );
    const lines = to.logged
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'wrong claim code');
    assert.equal(lines.length, 30);
    assert.equal(lines[0].address, '10.0.0.6');
    for (const text of wrong.filter(({ length }) => length > 1))
      assert.ok(!to.logged.join('').includes(text));
    assert.equal(to.identity.listTokens().length, 0);
    // Wrong codes from other clients do not lock out the client with the correct code.
    assert.equal((await claim(to, { headers: withCode(code) })).status, 201);
  });

  it('is withdrawn once and invalid after another node has created the token', async () => {
    const codes: string[] = [];
    let withdrawnCount = 0;
    const clock = new ManualClock(0);
    const alone = new FirstTokenClaim({
      ...{ policy: 'claim', bind: '0.0.0.0:8181', proxyHeader: 'x-forwarded-for' },
      isBehindProxy: false,
      delivery: {
        deliver: async (code) => {
          codes.push(code);
        },
        withdraw: async () => {
          withdrawnCount += 1;
        },
      },
      ...{ clock, random: new SeededRandom(1) },
      log: createLogger({ level: 'silent', destination: { write: () => undefined } }),
    });
    // Before `open` there is nothing to withdraw.
    await alone.completedElsewhere();
    assert.equal(withdrawnCount, 0);
    await alone.open();
    const request = { headers: withCode(codes[0]), client: { address: '10.0.0.6' } };
    alone.check(request);
    await alone.completedElsewhere();
    await alone.completedElsewhere();
    assert.equal(withdrawnCount, 1);
    assert.throws(() => alone.check(request), { kind: 'claim_code_wrong' });
  });

  it('resets its failure count after a minute', async () => {
    await using to = await open(BEYOND);
    for (let count = 0; count < 31; count++) await claim(to, { headers: withCode('x') });
    await to.clock.advanceMs(60_000);
    assert.equal((await claim(to, { headers: withCode('x') })).status, 403);
  });
});

describe('the start of a server without a token', () => {
  const NO_CODE = 'direct requests from this machine need no claim code';

  it('logs that direct requests from this machine need no claim code, if that is so', async () => {
    await using local = await open({ bind: '127.0.0.1:8181' });
    const line = local.logged
      .map((each) => JSON.parse(each))
      .find(({ msg }) => msg.endsWith(NO_CODE));
    assert.match(line?.remedy, /before a proxy .*server\.public_url or server\.trusted_proxies/);
    await using beyond = await open({ bind: '0.0.0.0:8181' });
    assert.ok(beyond.logged.every((each) => !each.includes(NO_CODE)));
  });
});

describe('a server without a claim code', () => {
  it('logs a warning if any client may create the token', async () => {
    await using to = await open({ bind: '0.0.0.0:8181', policy: 'anyone' });
    assert.equal(to.claimCode(), undefined);
    const warnings = to.logged
      .map((line) => JSON.parse(line))
      .filter(({ level }) => level === 'warn');
    assert.deepEqual(
      warnings.map(({ msg }) => msg),
      ['no admin token yet; the first client to connect can create it'],
    );
    const headers = { 'x-forwarded-for': '203.0.113.5' };
    assert.equal((await claim(to, { headers, remoteAddress: '10.0.0.6' })).status, 201);
  });

  it('reads the token from a preset file', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'token.json');
    await writeFile(path, JSON.stringify({ token: `apiv3_${'T'.repeat(86)}`, name: 'ops' }), {
      mode: 0o600,
    });
    await using to = await open({ bind: '0.0.0.0:8181' }, { 'admin-token-file': path });
    assert.equal(to.claimCode(), undefined);
    assert.equal((await claim(to)).status, 401);
  });

  it('runs without authentication', async () => {
    await using to = await open({}, { 'without-auth': 'true' });
    assert.equal(to.claimCode(), undefined);
    const request = { headers: {}, socket: { remoteAddress: '127.0.0.1' } };
    assert.equal(to.identity.firstTokenState(request), undefined);
  });
});
