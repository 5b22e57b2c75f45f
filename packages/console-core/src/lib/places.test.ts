import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { documentTitle, isInSection, pagesOf, placesOf, sectionsOf } from './places.js';

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

  it('are tabs of sections, unless the section is not available', () => {
    const all = ['tsdb', 'accounts', 'webhooks', 'ratelimit', 'gamedata'];
    assert.deepEqual(
      sectionsOf(all).map(({ title, section = title }) => section),
      [
        ...['Home', 'Explore', 'Databases', 'Triggers', 'Accounts', 'Webhooks'],
        ...['Rate limits', 'Game data', 'Server', 'Access'],
      ],
    );
    assert.deepEqual(
      pagesOf('/tokens', all).map(({ path }) => path),
      ['/tokens', '/identities', '/users'],
    );
    assert.deepEqual(
      sectionsOf(['ratelimit']).map(({ path }) => path),
      ['/', '/limits', '/identities'],
    );
    assert.ok(isInSection('/data', '/caches'));
    assert.ok(isInSection('/data', '/data/home/cpu'));
    assert.ok(!isInSection('/data', '/triggers'));
    assert.ok(!isInSection('/', '/data'));
  });
});
