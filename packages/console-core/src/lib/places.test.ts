import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { documentTitle, placesOf } from './places.js';

describe('Pages', () => {
  it('have a title that starts with the shown object', () => {
    assert.equal(documentTitle('/'), 'Home – plinth');
    assert.equal(documentTitle('/explore'), 'Explore – plinth');
    assert.equal(documentTitle('/data/my%20db/a%2Fb'), 'a/b – my db – Databases – plinth');
  });

  it('are listed for enabled services', () => {
    assert.deepEqual(
      placesOf([]).map(({ title }) => title),
      ['Home'],
    );
    assert.ok(placesOf(['tsdb']).length > 5);
  });
});
