// Source: rate-limits, section 13: which proxies are trusted, and what counts as one client.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type AddressRules, ClientAddresses } from './client-address.js';

const RULES: AddressRules = {
  trustedProxies: ['10.0.0.0/8', 'loopback'],
  header: 'x-forwarded-for',
  ipv4Prefix: 32,
  ipv6Prefix: 64,
  exemptNetworks: ['203.0.113.0/24'],
};
/** The key, with `+` if the connection belongs to a proxy. */
function keyOf(
  rules: Partial<AddressRules>,
  from: string,
  given?: string | readonly string[],
): string {
  const addresses = new ClientAddresses({ ...RULES, ...rules });
  const header = rules.header ?? RULES.header;
  const headers = given === undefined ? {} : { [header]: given };
  const { key, isForwarded } = addresses.of({ headers, socket: { remoteAddress: from } });
  return key + (isForwarded ? '+' : '');
}

it('trusts only the configured proxies', () => {
  assert.equal(keyOf({}, '192.0.2.1', '198.51.100.7'), 'ip:192.0.2.1');
  assert.equal(keyOf({}, '10.0.0.1', '198.51.100.7'), 'ip:198.51.100.7+');
  assert.equal(keyOf({ trustedProxies: [] }, '10.0.0.1', '198.51.100.7'), 'ip:10.0.0.1');
  // A proxy that reports no client is the client itself.
  assert.equal(keyOf({}, '10.0.0.1'), 'ip:10.0.0.1+');
});

it('uses the last hop that is not a proxy, and ignores earlier ones', () => {
  assert.equal(keyOf({}, '10.0.0.1', '1.2.3.4, 198.51.100.7, 10.0.0.2'), 'ip:198.51.100.7+');
  assert.equal(keyOf({}, '10.0.0.1', ['1.2.3.4', '198.51.100.7']), 'ip:198.51.100.7+');
  assert.equal(keyOf({}, '10.0.0.1', '10.0.0.3, 10.0.0.2'), 'ip:10.0.0.3+');
  // An invalid address ends the search, and a long list is not searched completely.
  assert.equal(keyOf({}, '10.0.0.1', '1.2.3.4, nonsense, 10.0.0.2'), 'ip:10.0.0.2+');
  assert.equal(keyOf({}, '10.0.0.1', 'nonsense'), 'ip:10.0.0.1+');
  const long = `1.2.3.4${', 10.0.0.2'.repeat(64)}`;
  assert.equal(keyOf({}, '10.0.0.1', long), 'ip:10.0.0.2+');
  assert.equal(keyOf({}, '10.0.0.1', `1.2.3.4${', 10.0.0.2'.repeat(63)}`), 'ip:1.2.3.4+');
});

it('reads the configured header', () => {
  const forwarded = 'for=1.2.3.4;by=x, proto=https;For="[2001:db8::7]:4711"';
  assert.equal(keyOf({ header: 'forwarded' }, '10.0.0.1', forwarded), 'ip:2001:db8::/64+');
  assert.equal(keyOf({ header: 'forwarded' }, '10.0.0.1', 'for=1.2.3.4, by=x'), 'ip:10.0.0.1+');
  assert.equal(keyOf({ header: 'cf-connecting-ip' }, '10.0.0.1', '1.2.3.4'), 'ip:1.2.3.4+');
});

it('takes scheme and host only from the nearest trusted proxy', () => {
  const askedAt = (rules: Partial<AddressRules>, from: string, headers: Record<string, string>) =>
    new ClientAddresses({ ...RULES, ...rules }).askedAt({
      headers,
      socket: { remoteAddress: from },
    });
  const said = { 'x-forwarded-proto': 'http, HTTPS', 'x-forwarded-host': 'evil, api.example:8443' };
  const believed = { scheme: 'https', host: 'api.example:8443' };
  assert.deepEqual(askedAt({}, '10.0.0.1', said), believed);
  assert.deepEqual(askedAt({}, '192.0.2.1', said), {});
  assert.deepEqual(askedAt({}, '10.0.0.1', {}), {});
  const standard = { ...said, forwarded: 'host=evil, for=1.2.3.4;proto=https;host="[::1]:80"' };
  const found = { scheme: 'https', host: '[::1]:80' };
  assert.deepEqual(askedAt({ header: 'forwarded' }, '10.0.0.1', standard), found);
  for (const host of ['a/b', 'a@b', 'a>', 'a b', 'a:', '[::1', `${'a'.repeat(254)}`]) {
    const headers = { 'x-forwarded-host': host, 'x-forwarded-proto': 'ftp' };
    assert.deepEqual(askedAt({}, '10.0.0.1', headers), {}, host);
  }
});

it('treats an IPv6 network as one client, and an IPv4 network if configured', () => {
  assert.equal(keyOf({}, '2001:db8::1:2:3:4'), 'ip:2001:db8::/64');
  assert.equal(keyOf({}, '::ffff:192.0.2.1'), 'ip:192.0.2.1');
  assert.equal(keyOf({ ipv4Prefix: 24, ipv6Prefix: 48 }, '192.0.2.77'), 'ip:192.0.2.0/24');
  assert.equal(keyOf({ ipv6Prefix: 48 }, '2001:db8:0:9::1'), 'ip:2001:db8::/48');
});

it('treats all clients of a Unix socket as one, without connection limits', () => {
  assert.equal(keyOf({}, ''), 'ip:unknown+');
  assert.equal(new ClientAddresses(RULES).of({ headers: {} }).key, 'ip:unknown');
});

it('recognizes exempt networks', () => {
  const addresses = new ClientAddresses(RULES);
  const isExempt = (remoteAddress: string, given?: string) =>
    addresses.of({
      socket: { remoteAddress },
      headers: given === undefined ? {} : { 'x-forwarded-for': given },
    }).isExempt;
  assert.deepEqual(
    [isExempt('203.0.113.9'), isExempt('192.0.2.1'), isExempt('10.0.0.1', '203.0.113.9')],
    [true, false, true],
  );
  assert.equal(isExempt('192.0.2.1', '203.0.113.9'), false);
});

it('finds the key for an address given by an operator', () => {
  const addresses = new ClientAddresses(RULES);
  for (const key of ['user:7', 'ip:unknown', 'ip:192.0.2.1', 'ip:2001:db8::/64']) {
    assert.equal(addresses.keyOf(key), key);
  }
  assert.equal(addresses.keyOf('ip:2001:db8::7'), 'ip:2001:db8::/64');
  for (const key of ['ip:', 'ip:x', 'ip:192.0.2.0/24', 'ip:2001:db8::/48', 'ip:2001:db8::7/64']) {
    assert.equal(addresses.keyOf(key), undefined, key);
  }
  assert.equal(addresses.parse('[::1]:80')?.address, '::1');
  assert.equal(addresses.parse('localhost'), undefined);
});
