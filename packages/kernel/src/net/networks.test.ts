// Source: RFC 4632, RFC 4291; docs/SECURITY-NETWORK.md: ambiguous address forms are rejected.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { addressKey, isNetwork, networkMatcher, networkOf, parseAddress } from './networks.js';

it('parses addresses as proxies write them, and rejects other forms', () => {
  const read = (text: string) => parseAddress(text)?.toString();
  for (const [text, address] of [
    ...[
      ['192.0.2.1', '192.0.2.1'],
      [' 192.0.2.1:80 ', '192.0.2.1'],
      ['"192.0.2.1"', '192.0.2.1'],
    ],
    ...[
      ['[2001:db8::1]:80', '2001:db8::1'],
      ['[::1]', '::1'],
      ['fe80::1%eth0', 'fe80::1'],
    ],
    ...[
      ['::ffff:192.0.2.1', '192.0.2.1'],
      ['2001:DB8::A', '2001:db8::a'],
    ],
  ] as const) {
    assert.equal(read(text ?? ''), address, text);
  }
  for (const text of [
    ...['', 'localhost', '127.1', '2130706433', '0x7f.0.0.1', '127.0.0.01', '0177.0.0.1'],
    ...['256.0.0.1', '1.2.3.4.5', '1.2.3', '::1::', '[::1', 'g::1', '192.0.2.1/24', '[]'],
  ]) {
    assert.equal(read(text), undefined, text);
  }
});

it('matches networks by ranges, addresses and names', () => {
  const within = networkMatcher(['192.0.2.0/24', '2001:db8::7', 'loopback', 'private']);
  const inside = ['192.0.2.9', '2001:db8::7', '127.9.9.9', '::1', '10.1.1.1', '172.31.0.1'];
  const outside = ['192.0.3.1', '2001:db8::8', '128.0.0.1', '::2', '11.0.0.1', '172.32.0.1'];
  for (const text of [...inside, '192.168.1.1', 'fd00::1', '169.254.1.1', 'fe80::1']) {
    assert.equal(within(text), true, text);
  }
  for (const text of [...outside, '192.169.0.1', 'fec0::1', 'nonsense', '']) {
    assert.equal(within(text), false, text);
  }
  // An IPv4 address is in no IPv6 network.
  assert.equal(networkMatcher(['::/0'])('192.0.2.1'), false);
});

it('distinguishes valid networks in settings from others', () => {
  for (const text of ['10.0.0.0/8', '::/0', '10.0.0.1', '::1', 'loopback', 'private']) {
    assert.equal(isNetwork(text), true, text);
  }
  for (const text of ['', 'public', '10.0.0.0/33', 'x/8', 'constructor', '__proto__']) {
    assert.equal(isNetwork(text), false, text);
  }
});

it('returns the network of an address, to the bit', () => {
  const of = (text: string, bits: number) => {
    const address = parseAddress(text);
    assert.ok(address);
    return networkOf(address, bits);
  };
  assert.equal(of('192.0.2.255', 32), '192.0.2.255/32');
  assert.equal(of('192.0.2.255', 25), '192.0.2.128/25');
  assert.equal(of('192.0.2.255', 0), '0.0.0.0/0');
  assert.equal(of('2001:db8:ffff:ffff::1', 47), '2001:db8:fffe::/47');
});

it('uses an IPv6 network as one client', () => {
  assert.equal(addressKey('2001:db8::1'), '2001:db8::/64');
  assert.equal(addressKey('::ffff:192.0.2.1'), '192.0.2.1');
  for (const text of ['192.0.2.1', 'unknown', 'a:b', '']) assert.equal(addressKey(text), text);
});
