// Source: docs/OPEN-TABLES.md, "Namespaces".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nameFault, namespacesOf, sameInLowerCase } from './namespaces.js';

const names = (published: string[], others: string[] = []): string[] =>
  namespacesOf(published, [...published, ...others]).map(({ name }) => name);

it('gives a database two namespaces, and a retention policy a name with a dot', () => {
  assert.deepEqual(names(['home', 'home/week']), [
    'home',
    'home__jvm',
    'home.week',
    'home.week__jvm',
  ]);
});

it('leaves the name of a namespace to a database of that name', () => {
  assert.deepEqual(names(['home'], ['home__jvm']), ['home']);
  assert.deepEqual(names(['home', 'home__jvm']), ['home', 'home__jvm', 'home__jvm__jvm']);
});

it('rejects names of tables that readers cannot express', () => {
  assert.equal(nameFault({ name: 'Raum 1.äöü' }), undefined);
  assert.equal(nameFault({ name: 'x'.repeat(255) }), undefined);
  for (const name of ['a/b', 'a\nb', '\u0000', 'x'.repeat(256), 'ä'.repeat(128)])
    assert.equal(typeof nameFault({ name }), 'string', JSON.stringify(name));
});

it('finds names that differ only in case', () => {
  for (const [name, others, expected] of [
    ['Home__jvm', ['Home', 'Home__jvm', 'home', 'home__jvm'], 'home__jvm'],
    ['home__jvm', ['home', 'home__jvm', 'home__JVM'], 'home__JVM'],
    ['ÄÖ', ['ÄÖ', 'äö'], 'äö'],
    ['home', ['home', 'home__jvm', 'homes'], undefined],
  ] as const)
    assert.equal(sameInLowerCase(name, others), expected);
});
