// Source: RFC 8288, section 3.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { linkValue } from './link-value.js';

it('limits the length of the Link header for long addresses', () => {
  const long = (length: number): string => `/${'x'.repeat(length)}`;
  assert.equal(linkValue([]), undefined);
  const [prev, next] = ['</a>; rel="prev"', '</b>; rel="next"'];
  assert.equal(
    linkValue([
      ['prev', '/a'],
      ['next', '/b'],
    ]),
    `${prev}, ${next}`,
  );
  // `</…>; rel="next"` has 14 characters in addition to the address.
  const most = long(4096 - 15);
  assert.equal(linkValue([['next', most]])?.length, 4096);
  assert.equal(linkValue([['next', `${most}x`]]), undefined);
  assert.equal(
    linkValue([
      ['first', most],
      ['next', '/b'],
      ['last', most],
    ]),
    next,
  );
  assert.equal(
    linkValue([
      ['first', most],
      ['last', most],
    ]),
    undefined,
  );
});
