// Source: docs/SECURITY.md, "The port": every page may ask where a token is needed, unless some are named.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Cors } from './cors.js';

const PAGE = 'https://app.example';
/** The origin that may read the answer, and whether caches have to tell pages apart. */
function told(cors: Cors, origin?: string) {
  const headers = new Map(cors.headersFor(origin));
  const mayAsk = cors.preflightFor(origin).length > 0;
  return [headers.get('access-control-allow-origin'), headers.get('vary'), mayAsk];
}

it('lets every page ask where a token is needed and no page is named', () => {
  const cors = new Cors({ isOpen: true, origins: undefined });
  for (const origin of [undefined, PAGE, 'null']) {
    assert.deepEqual(told(cors, origin), ['*', undefined, true]);
  }
});

it('lets named pages ask and no others', () => {
  for (const isOpen of [true, false]) {
    const cors = new Cors({ isOpen, origins: [PAGE] });
    assert.deepEqual(told(cors, PAGE), [PAGE, 'Origin', true]);
    for (const origin of [undefined, 'https://evil.example', `${PAGE}.evil`]) {
      assert.deepEqual(told(cors, origin), [undefined, 'Origin', false]);
    }
  }
});

it('lets no page ask where no token is needed and none is named', () => {
  const cors = new Cors({ isOpen: false, origins: undefined });
  for (const origin of [undefined, PAGE]) {
    assert.deepEqual(told(cors, origin), [undefined, undefined, false]);
  }
  assert.deepEqual(told(new Cors({ isOpen: true, origins: [] }), PAGE), [
    undefined,
    undefined,
    false,
  ]);
});
