// Source: RFC 3986, sections 5.2.4 and 6.2.2.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { endpointOf } from './endpoint.js';

it('maps all forms of a path to one endpoint', () => {
  for (const [target, name] of [
    ['/', '/'],
    ['/a/b', '/a/b'],
    ['//a///b//', '/a/b'],
    ['/%61/./b/c/..', '/a/b'],
    ['/../../a%2Fb?c=/d', '/a/b'],
    ['https://example.com/a/%2e%2e/b#c', '/b'],
    ['/caf%C3%A9', '/café'],
    ['/..', '/'],
    ['/%25%36%31', '/%61'],
    [`/${'a'.repeat(300)}`, `/${'a'.repeat(255)}`],
  ] as const)
    assert.equal(endpointOf(target), name, target);
});

it('maps all invalid paths to one endpoint', () => {
  for (const target of ['', '*', 'a', '/%', '/%zz', '/%ff', '/a%E9']) {
    assert.equal(endpointOf(target), '*', target);
  }
});
