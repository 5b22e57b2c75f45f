import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { freeSlug } from '../../model/normal-text.js';
import { SlugOwners } from './slug-owners.js';

const long = 'x'.repeat(77);
const slug = fc.oneof(
  fc.constantFrom('lamp', 'lamp-2', 'lamp-3', 'lamp-11', 'lamp-02', `${long}aaa`, `${long}aab`),
  fc.integer({ min: 2, max: 120 }).map((n) => `lamp-${n}`),
);

it('returns the first free slug, regardless of earlier owners', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(slug, { maxLength: 8 }),
      fc.array(slug, { maxLength: 150 }),
      (before, wanted) => {
        const rows = before.map((taken, n) => ({ id: `i${n}`, slug: taken }));
        const owners = new SlugOwners(rows);
        const model = new Map(rows.map((row) => [row.slug, row.id]));
        for (const [n, name] of wanted.entries()) {
          const id = `i${n}`;
          const expected = freeSlug(name, (one) => (model.get(one) ?? id) !== id);
          model.set(expected, id);
          assert.equal(owners.take(id, name, rows[n]?.slug), expected);
        }
      },
    ),
  );
});
