// Source: gamedata, section 3 (`image`) and docs/spec/gamedata.md, section 2.13.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { imageLinks } from './image-links.js';

const FILES = new Set(['items/a.webp', 'items/a b.png', 'ü.png']);
const own = imageLinks('', (name) => FILES.has(name));
const away = imageLinks('https://cdn.example/pictures', () => false);

it('links to an existing file of this server, or to nothing', () => {
  for (const [stored, link] of [
    ['images/items/a.webp', '/images/items/a.webp'],
    ['/images/items/a.webp', '/images/items/a.webp'],
    ['./images/items/a.webp', '/images/items/a.webp'],
    ['items/a.webp', '/images/items/a.webp'],
    ['items/a.webp?v=2', '/images/items/a.webp'],
    ['images/items/a%20b.png', '/images/items/a%20b.png'],
    ['%C3%BC.png', '/images/%C3%BC.png'],
    ['images/items/b.webp', null],
    ['../images/items/a.webp', null],
    ['images/../items/a.webp', null],
    ['images/%2e%2e/items/a.webp', null],
    ['images/items%2f..%2fitems/a.webp', null],
    ['images//items/a.webp', null],
    ['%zz', null],
    ['%00', null],
  ] as const) {
    assert.equal(own(stored), link, stored);
  }
});

it('keeps absolute URLs, and prefixes relative ones with the base', () => {
  for (const links of [own, away]) {
    assert.equal(
      links('https://elsewhere.example/x.png?a=1'),
      'https://elsewhere.example/x.png?a=1',
    );
  }
  assert.equal(away('images/items/b.webp'), 'https://cdn.example/pictures/items/b.webp');
  assert.equal(away('images/../secret'), null);
});
