// Source: webhooks, section 5.3.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pageSize } from './page-size.js';

it('uses the default for invalid sizes, and the maximum for larger ones', () => {
  for (const [text, size] of [
    [null, 30],
    ['1', 1],
    ['007', 7],
    ['100', 100],
    ['101', 100],
    ['9'.repeat(400), 100],
    ...['', '0', '-1', '+5', '1e1', '0x10', '2.0', ' 5', 'ten'].map((each) => [each, 30] as const),
  ] as const) {
    assert.equal(pageSize(text), size, String(text));
  }
  assert.equal(pageSize('2000', 100, 1000), 1000);
});
