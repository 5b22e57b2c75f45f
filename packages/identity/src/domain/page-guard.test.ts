// Source: docs/SECURITY-NETWORK.md, "Browsers": pages of other sites, including DNS rebinding to
// this machine.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { identityError } from '../errors.js';
import { PageGuard, type PageGuardSettings, type VisitHeaders } from './page-guard.js';

const LOCAL: PageGuardSettings = { bind: '127.0.0.1:8181' };

/** The accepted visits. `at`: the local address of the connection. */
function letIn(
  settings: PageGuardSettings,
  visits: readonly (VisitHeaders & { readonly at?: string })[],
): readonly boolean[] {
  const guard = new PageGuard(settings);
  return visits.map(({ at, ...headers }) => {
    try {
      guard.refuseForeignPages({
        headers,
        socket: at === undefined ? undefined : { localAddress: at },
      });
      return true;
    } catch (error) {
      assert.ok(identityError.is(error, 'page_refused'));
      return false;
    }
  });
}
const hosts = (...names: readonly string[]) => names.map((host) => ({ host }));
const all = (count: number, isIn: boolean): readonly boolean[] => Array(count).fill(isIn);

it("accepts every form of this machine's names and no others", () => {
  const own = hosts('localhost', 'LocalHost.:8181', 'a.localhost', '127.0.0.1:8181', '127.9.9.9');
  assert.deepEqual(letIn(LOCAL, [...own, ...hosts('[::1]:8181', '::1')]), all(7, true));
  const foreign = hosts(
    'evil.example',
    '127.evil.example',
    'localhost.evil.example',
    '[::1].evil.example',
  );
  assert.deepEqual(letIn(LOCAL, foreign), all(4, false));
  // HTTP/2 sends `:authority` instead of `host`; an HTTP/1.0 client may send neither.
  assert.deepEqual(letIn(LOCAL, [{ ':authority': 'evil.example' }, {}]), [false, true]);
  assert.deepEqual(letIn(LOCAL, [{ host: 'localhost', ':authority': 'evil.example' }]), [false]);
});

it('accepts an address that the server listens on and no other', () => {
  const visits = hosts('10.0.0.5:8181', '10.0.0.6', '[fd00::1]:80', 'fd00::2');
  assert.deepEqual(letIn(LOCAL, visits), all(4, false));
  assert.deepEqual(letIn({ bind: '10.0.0.5:8181' }, visits), [true, false, false, false]);
  assert.deepEqual(letIn({ bind: 'fd00::2' }, visits), [false, false, false, true]);
  assert.deepEqual(letIn({ bind: '[fd00::1]:8181' }, visits), [false, false, true, false]);
  for (const bind of ['0.0.0.0:8181', '[::]:8181', '::']) {
    assert.deepEqual(letIn({ bind }, visits), all(4, true), bind);
    assert.deepEqual(letIn({ bind }, hosts('evil.example')), [false], bind);
  }
  // The connection reached a local address other than the bound one.
  assert.deepEqual(letIn(LOCAL, [{ host: '10.0.0.6', at: '10.0.0.6' }]), [true]);
  assert.deepEqual(letIn(LOCAL, [{ host: 'evil.example', at: 'evil.example' }]), [false]);
});

it('accepts names configured by the operator', () => {
  const settings: PageGuardSettings = {
    ...LOCAL,
    publicUrl: 'https://data.example:8443',
    allowedHosts: ['Plinth:80', '.Deep.example'],
  };
  const own = hosts('data.example', 'plinth', 'PLINTH:1', 'a.deep.example', 'a.b.deep.example');
  assert.deepEqual(letIn(settings, own), all(5, true));
  assert.deepEqual(letIn(LOCAL, own), all(5, false));
  assert.deepEqual(letIn(settings, hosts('deep.example', 'xdeep.example')), [false, false]);
});

it('rejects pages of other sites and accepts its own and configured ones', () => {
  const host = 'localhost:8181';
  const page = (origin: string) => ({ host, origin });
  assert.deepEqual(letIn(LOCAL, [page(`http://${host}`), page(`https://${host}`)]), [true, true]);
  const foreign = ['https://evil.example', 'null', 'http://localhost', 'ftp://localhost:8181', ''];
  assert.deepEqual(letIn(LOCAL, foreign.map(page)), all(5, false));
  assert.deepEqual(letIn(LOCAL, [{ origin: 'http://localhost' }, { origin: 'null' }]), [
    false,
    false,
  ]);
  const named = {
    ...LOCAL,
    publicUrl: 'https://data.example',
    origins: ['https://app.example'],
  };
  const friends = ['https://app.example', 'https://data.example'];
  assert.deepEqual(letIn(named, [...friends, 'https://evil.example'].map(page)), [
    true,
    true,
    false,
  ]);
});

it('uses sec-fetch-site if the browser sends no origin', () => {
  const from = (site: string) => ({ host: 'localhost', 'sec-fetch-site': site });
  const sites = ['cross-site', 'same-site', 'same-origin', 'none'];
  assert.deepEqual(letIn(LOCAL, sites.map(from)), [false, false, true, true]);
});

it('quotes the requested host only if it is short and printable', () => {
  const guard = new PageGuard(LOCAL);
  const messageOf = (headers: VisitHeaders): string => {
    try {
      guard.refuseForeignPages({ headers });
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.match(
    messageOf({ host: 'e\u001bvil' }),
    /^the host e\?vil is not allowed; set server\.public_url to the URL that clients use, or add/,
  );
  assert.match(
    messageOf({ origin: `https://${'x'.repeat(500)}` }),
    /^pages from https:\/\/x{92} cannot send/,
  );
  assert.match(
    messageOf({ 'sec-fetch-site': 'cross-site' }),
    /^pages from other sites cannot send/,
  );
});
