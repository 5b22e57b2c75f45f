// Source: docs/WIDE-QUERIES.md, "Connect the server".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ConfigInvalid } from '@plinth/kernel';
import { trinoEndpoint } from './trino-endpoint.js';

it('reads the address, the catalog and the login', () => {
  const plain = trinoEndpoint('http://trino:8080');
  assert.deepEqual([plain.origin, plain.catalog], ['http://trino:8080', 'plinth']);
  assert.equal(plain.headers['X-Trino-User'], 'plinth');
  const { origin, catalog, headers } = trinoEndpoint('https://ann:a%25%40b@trino:8443/my%20lake');
  assert.deepEqual([origin, catalog], ['https://trino:8443', 'my lake']);
  assert.equal(headers['Authorization'], `Basic ${Buffer.from('ann:a%@b').toString('base64')}`);
});

it('rejects invalid addresses without showing them', () => {
  for (const text of [
    'http://trino:99999/lake',
    'http://ann:100%@trino/lake',
    'http://%ff@trino',
    'http://trino/%zz',
    'http://[::1/lake',
  ])
    assert.throws(
      () => trinoEndpoint(text),
      (error: unknown) =>
        error instanceof ConfigInvalid &&
        /^configuration: query\.wide_url: not a valid URL; use a URL such as [^ ]+, with % in names and passwords as %25$/.test(
          error.message,
        ),
      text,
    );
});
