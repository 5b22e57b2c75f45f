// Source: webhooks, section 9.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TargetGuard } from './target-guard.js';

/** The first and last address of every blocked range, and an allowed one next to it. */
const RANGES: readonly (readonly [first: string, last: string, beside?: string])[] = [
  ['0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['10.0.0.0', '10.255.255.255', '11.0.0.0'],
  ['100.64.0.0', '100.127.255.255', '100.128.0.0'],
  ['127.0.0.0', '127.255.255.255', '128.0.0.0'],
  ['169.254.0.0', '169.254.255.255', '169.255.0.0'],
  ['172.16.0.0', '172.31.255.255', '172.32.0.0'],
  ['192.0.0.0', '192.0.0.255', '192.0.1.0'],
  ['192.0.2.0', '192.0.2.255', '192.0.3.0'],
  ['192.88.99.0', '192.88.99.255', '192.88.100.0'],
  ['192.168.0.0', '192.168.255.255', '192.169.0.0'],
  ['198.18.0.0', '198.19.255.255', '198.20.0.0'],
  ['198.51.100.0', '198.51.100.255', '198.51.101.0'],
  ['203.0.113.0', '203.0.113.255', '203.0.114.0'],
  ['224.0.0.0', '239.255.255.255', '223.255.255.255'],
  ['240.0.0.0', '255.255.255.255'],
  ['::', '::ffff:ffff', '1::'],
  ['::1', '::1'],
  ['::ffff:0:0:0', '::ffff:0:ffff:ffff'],
  ['64:ff9b::', '64:ff9b::ffff:ffff', '64:ff9b:0:1::'],
  ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', '64:ff9b:2::'],
  ['100::', '100::ffff:ffff:ffff:ffff', '100:1::'],
  ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:1000::'],
  ['5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '5f01::'],
  ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'fe00::'],
  ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'fe40::'],
  ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
];

const strict = new TargetGuard({ allowed: [] });
const literal = (address: string): string => (address.includes(':') ? `[${address}]` : address);

describe('TargetGuard', () => {
  it('blocks every non-public range up to its bounds, as address and as URL', () => {
    for (const [first, last, beside] of RANGES) {
      for (const [address, isFine] of [
        [first, false],
        [last, false],
        [beside, true],
      ] as const) {
        if (address === undefined) continue;
        assert.equal(strict.isAddressAllowed(address, 443, 'example.com'), isFine, address);
        const url = new URL(`https://${literal(address)}/`);
        assert.equal(strict.isUrlReachable(url), isFine, url.href);
      }
    }
  });

  it('checks an IPv4-mapped IPv6 address as IPv4', () => {
    for (const inner of ['127.0.0.1', '10.1.2.3', '169.254.169.254', '192.168.0.1']) {
      assert.equal(strict.isAddressAllowed(`::ffff:${inner}`, 80, 'x.example'), false, inner);
      assert.equal(strict.isUrlReachable(new URL(`http://[::ffff:${inner}]/`)), false, inner);
    }
    assert.equal(strict.isAddressAllowed('::ffff:8.8.8.8', 80, 'x.example'), true);
    const own = new TargetGuard({ allowed: ['10.0.0.0/8'] });
    assert.equal(own.isAddressAllowed('::ffff:10.1.2.3', 80, 'x.example'), true);
  });

  it('blocks link-local addresses with a zone, and invalid addresses', () => {
    for (const text of ['fe80::1%eth0', 'fe80::1%0', '127.0.0.1%lo', '', 'x', '1.2.3.4.5']) {
      assert.equal(strict.isAddressAllowed(text, 80, 'x.example'), false, text);
    }
  });

  it('blocks names of this machine in every form, and accepts other names', () => {
    for (const host of ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'a.b.localhost.']) {
      assert.equal(strict.isUrlReachable(new URL(`http://${host}/`)), false, host);
    }
    for (const host of ['127.1', '0x7f.1', '017700000001', '2130706433', '127.0.0.1.']) {
      assert.equal(strict.isUrlReachable(new URL(`http://${host}/`)), false, host);
    }
    for (const host of ['example.com', 'localhost.example.com', 'notlocalhost']) {
      assert.equal(strict.isUrlReachable(new URL(`http://${host}/`)), true, host);
    }
  });

  it('checks the explicit or default port against the allowed ports', () => {
    const guard = new TargetGuard({ allowed: ['*'], allowedPorts: [443, 8443] });
    const check = (url: string, isFine: boolean) =>
      assert.equal(guard.isUrlReachable(new URL(url)), isFine, url);
    check('https://example.com/', true);
    check('http://example.com/', false);
    check('http://example.com:443/', true);
    check('https://example.com:8443/', true);
    check('https://example.com:22/', false);
    check('https://127.0.0.1:22/', false);
    assert.equal(guard.isAddressAllowed('8.8.8.8', 443, 'example.com'), true);
    assert.equal(guard.isAddressAllowed('8.8.8.8', 25, 'example.com'), false);
  });

  it('blocks the listeners of the server, unless their address is allowed', () => {
    const listeners = [
      { address: '203.0.114.7', port: 8181 },
      { address: '2a00::7', port: 8181 },
    ];
    strict.blockListeners(listeners);
    for (const address of ['203.0.114.7', '::ffff:203.0.114.7', '2a00::7', '2a00:0:0::0:7']) {
      assert.equal(strict.isAddressAllowed(address, 8181, 'x.example'), false, address);
      assert.equal(strict.isAddressAllowed(address, 8182, 'x.example'), true, address);
    }
    assert.equal(strict.isAddressAllowed('203.0.114.8', 8181, 'x.example'), true);
    const allowing = new TargetGuard({ allowed: ['203.0.114.7'] });
    allowing.blockListeners(listeners);
    assert.equal(allowing.isAddressAllowed('203.0.114.7', 8181, 'x.example'), true);
  });

  it('blocks the listeners of the server in allowed ranges and names', () => {
    const allowings = ['*', '127.0.0.0/8', 'inner.example'].map(
      (allowed) => new TargetGuard({ allowed: [allowed, '::1'] }),
    );
    for (const guard of allowings) {
      guard.blockListeners([
        { address: '127.0.0.1', port: 8181 },
        { address: '127.0.0.1', port: 8182, isNeverTarget: true },
      ]);
      for (const address of ['127.0.0.1', '127.9.9.9', '::ffff:127.0.0.1', '0.0.0.0', '::']) {
        for (const port of [8181, 8182])
          assert.equal(guard.isAddressAllowed(address, port, 'inner.example'), false, address);
      }
      assert.equal(guard.isAddressAllowed('127.0.0.1', 8183, 'inner.example'), true);
      assert.equal(guard.isAddressAllowed('203.0.114.7', 8181, 'x.example'), true);
      assert.equal(guard.isUrlReachable(new URL('http://127.0.0.1:8181/')), false);
      assert.equal(guard.isAddressAllowed('::1', 8181, 'x.example'), true, 'named itself');
      assert.equal(guard.isAddressAllowed('::1', 8182, 'x.example'), false, 'never');
    }
  });

  it('allows only the listed ranges, addresses and names', () => {
    const guard = new TargetGuard({
      allowed: ['10.1.0.0/16', '192.168.0.9', 'Inner.Example', 'fd00::/8'],
    });
    const check = (address: string, host: string, isFine: boolean) =>
      assert.equal(guard.isAddressAllowed(address, 80, host), isFine, `${host} ${address}`);
    check('10.1.255.255', 'x.example', true);
    check('10.2.0.0', 'x.example', false);
    check('192.168.0.9', 'x.example', true);
    check('192.168.0.8', 'x.example', false);
    check('fd12::1', 'x.example', true);
    check('fc12::1', 'x.example', false);
    check('127.0.0.1', 'inner.example', true);
    check('127.0.0.1', 'outer.inner.example', false);
    assert.equal(guard.isUrlReachable(new URL('http://10.1.0.1/')), true);
    assert.equal(guard.isUrlReachable(new URL('http://10.2.0.1/')), false);
    assert.equal(guard.isUrlReachable(new URL('http://localhost/')), false);
    const one = new TargetGuard({ allowed: ['fd00:1::7', 'a.localhost'] });
    assert.equal(one.isAddressAllowed('fd00:1::7', 80, 'x.example'), true);
    assert.equal(one.isAddressAllowed('fd00:1::8', 80, 'x.example'), false);
    assert.equal(one.isUrlReachable(new URL('http://a.localhost/')), true);
    assert.equal(one.isUrlReachable(new URL('http://b.localhost/')), false);
    for (const own of ['127.0.0.0/8', '::1', 'localhost']) {
      const loopback = new TargetGuard({ allowed: [own] });
      assert.equal(loopback.isUrlReachable(new URL('http://localhost/')), true, own);
    }
    const all = new TargetGuard({ allowed: ['*'] });
    assert.equal(all.isAddressAllowed('127.0.0.1', 80, 'x.example'), true);
    assert.equal(all.isUrlReachable(new URL('http://localhost/')), true);
  });

  it('filters the addresses of a name', () => {
    const found = ['10.0.0.1', '8.8.8.8', '::1', '2a00::1'].map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }));
    const kept = strict.filter('x.example', 443, found).map(({ address }) => address);
    assert.deepEqual(kept, ['8.8.8.8', '2a00::1']);
  });
});
