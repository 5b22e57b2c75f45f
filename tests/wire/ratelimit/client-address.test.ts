// Source: rate-limits, section 13.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServerInProcess } from '../../harness/index.js';
import { PROBE } from './platform.js';

const start = (flags: readonly string[]) =>
  ServerInProcess.start({
    flags: [
      '--without-auth',
      '--services',
      'ratelimit',
      '--rate-limit-resources',
      '{"core":{"anonymous_limit":1000}}',
      ...flags,
    ],
  });

/** The usage of a request's bucket. Equal addresses share a bucket. */
async function usedWith(server: ServerInProcess, headers: Record<string, string>): Promise<number> {
  const response = await server.http.send(PROBE, { headers });
  assert.equal(response.status, 200, response.text);
  return Number(response.headers['x-ratelimit-used']);
}

/** Whether two requests count as the same client. */
async function isSame(
  server: ServerInProcess,
  one: Record<string, string>,
  other: Record<string, string>,
): Promise<boolean> {
  const before = await usedWith(server, one);
  await usedWith(server, other);
  return (await usedWith(server, one)) === before + 2;
}

describe('the address of a client', () => {
  it('is that of its connection, regardless of forwarding headers', async () => {
    await using server = await start([]);
    const claims = [
      { 'x-forwarded-for': '192.0.2.1' },
      { forwarded: 'for=192.0.2.2' },
      { 'x-real-ip': '192.0.2.3' },
      { 'cf-connecting-ip': '192.0.2.4' },
      { 'x-forwarded-for': '192.0.2.5, 127.0.0.1' },
    ];
    let used = await usedWith(server, {});
    for (const claim of claims) {
      used += 1;
      assert.equal(await usedWith(server, claim), used, JSON.stringify(claim));
    }
  });

  it('is the first untrusted hop from the right behind a trusted proxy', async () => {
    await using server = await start(['--server-trusted-proxies', 'loopback,10.0.0.0/8']);
    const via = (list: string) => ({ 'x-forwarded-for': list });
    const client = via('203.0.113.5');
    const same = [
      // Entries that a client sends itself are on the left and are not trusted.
      '198.51.100.99, 203.0.113.5',
      '1.2.3.4,  203.0.113.5 , 10.1.2.3',
      '203.0.113.5:4711',
      '::ffff:203.0.113.5',
      'unknown, 203.0.113.5, 10.0.0.1, 10.0.0.2',
    ];
    for (const list of same) assert.equal(await isSame(server, client, via(list)), true, list);
    const others = ['203.0.113.6', '203.0.113.5, 203.0.113.6'];
    for (const list of others) assert.equal(await isSame(server, client, via(list)), false, list);
    // If all hops are trusted, the first one counts. After a malformed entry, the last valid one
    // counts.
    assert.equal(await isSame(server, via('10.9.9.9'), via('10.9.9.9, 10.0.0.1')), true);
    assert.equal(await isSame(server, via('10.9.9.9'), via('garbage, 10.9.9.9')), true);
    assert.equal(await isSame(server, {}, via('garbage')), true);
    assert.equal(await isSame(server, {}, via('0177.0.0.1')), true);
    assert.equal(await isSame(server, {}, via('1.2.3')), true);
  });

  it('for IPv6 is its /64 network', async () => {
    await using server = await start(['--server-trusted-proxies', 'loopback']);
    const via = (list: string) => ({ 'x-forwarded-for': list });
    const one = via('2001:db8:1:2:aaaa::1');
    assert.equal(await isSame(server, one, via('2001:db8:1:2:ffff:ffff:ffff:ffff')), true);
    assert.equal(await isSame(server, one, via('[2001:DB8:1:2::7%eth0]:443')), true);
    assert.equal(await isSame(server, one, via('2001:db8:1:3::1')), false);
  });

  it('means the same in operator requests', async () => {
    await using server = await start(['--server-trusted-proxies', 'loopback']);
    const ops = (method: string, path: string, body?: object) =>
      server.http.send(`/ops/v1/rate-limits/${path}`, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    await usedWith(server, { 'x-forwarded-for': '2001:db8:1:2::1' });
    for (const name of ['2001:db8:1:2::9', '2001:DB8:1:2:0::0', '2001:db8:1:2::%2F64']) {
      const { identity, buckets } = JSON.parse((await ops('GET', `ip:${name}`)).text);
      assert.equal(identity, 'ip:2001:db8:1:2::/64', name);
      assert.equal(buckets.core.used, 1, name);
    }
    const mapped = JSON.parse((await ops('GET', 'ip:::ffff:192.0.2.1')).text);
    assert.equal(mapped.identity, 'ip:192.0.2.1');
    const nobodys = ['nonsense', '192.0.2.0%2F24', '2001:db8::%2F48', '', '192.0.2.1%2F32%2F1'];
    for (const name of nobodys) assert.equal((await ops('GET', `ip:${name}`)).status, 422, name);
    const ban = await ops('POST', 'bans', { identity: 'ip:2001:db8:1:2::77' });
    assert.equal(JSON.parse(ban.text).identity, 'ip:2001:db8:1:2::/64');
    const headers = { 'x-forwarded-for': '2001:db8:1:2::1' };
    assert.equal((await server.http.send(PROBE, { headers })).status, 403);
    assert.equal((await ops('DELETE', 'bans/ip:2001:db8:1:2::78')).status, 204);
    assert.equal(await usedWith(server, headers), 2);
  });

  it('comes from the header that the operator names', async () => {
    const proxy = ['--server-trusted-proxies', '127.0.0.1', '--server-client-address-header'];
    await using forwarded = await start([...proxy, 'Forwarded']);
    const one = { forwarded: 'for=192.0.2.60;proto=http;by=203.0.113.43' };
    const other = { forwarded: 'for="[2001:db8::1]:80", FOR="192.0.2.60:47011"' };
    assert.equal(await isSame(forwarded, one, other), true);
    assert.equal(await isSame(forwarded, one, { 'x-forwarded-for': '192.0.2.60' }), false);
    await using named = await start([...proxy, 'CF-Connecting-IP']);
    const client = { 'cf-connecting-ip': '192.0.2.1' };
    assert.equal(await isSame(named, client, { ...client, 'x-forwarded-for': '192.0.2.9' }), true);
    assert.equal(await isSame(named, client, { 'cf-connecting-ip': '192.0.2.2' }), false);
  });

  it('is shown whole in a refusal, and never limited where the operator says so', async () => {
    await using server = await ServerInProcess.start({
      flags: [
        '--without-auth',
        '--services',
        'ratelimit',
        '--server-trusted-proxies',
        'loopback',
        '--rate-limit-resources',
        '{"core":{"anonymous_limit":1}}',
        '--rate-limit-exempt-cidrs',
        '192.0.2.0/24',
      ],
    });
    const send = async (address: string) =>
      await server.http.send(PROBE, { headers: { 'x-forwarded-for': address } });
    await send('2001:db8::5');
    const refused = JSON.parse((await send('2001:db8::6')).text);
    assert.match(refused.message, /^API rate limit exceeded for 2001:db8::6\./);
    for (let index = 0; index < 3; index += 1) {
      const free = await send('192.0.2.77');
      assert.equal(free.status, 200);
      assert.equal(free.headers['x-ratelimit-limit'], undefined);
    }
  });
});
