import fs from 'node:fs';
import path from 'node:path';
import { root } from '../lib/root.mjs';

/** Licenses that permit redistribution with Plinth. */
const LICENSES = new Set([
  ...[
    'MIT',
    'ISC',
    'BSD-2-Clause',
    'BSD-3-Clause',
    'Apache-2.0',
    'MPL-2.0',
    '0BSD',
    'BlueOak-1.0.0',
  ],
  'Apache-2.0 AND MIT',
]);

/** Returns the manifest of an installed package. */
export const manifestOf = (name) =>
  JSON.parse(fs.readFileSync(path.join(placeOf(name), 'package.json'), 'utf8'));

/** Returns the packages in these folders with the text of their licenses. */
export const readLicenses = (places) =>
  places.map((place) => {
    const folder = path.join(root, place);
    const { name, version, license } = JSON.parse(
      fs.readFileSync(path.join(folder, 'package.json'), 'utf8'),
    );
    const text = fs
      .readdirSync(folder)
      .filter((each) => /^(?:licen[cs]e|copying|notice)/i.test(each))
      .map((each) => fs.readFileSync(path.join(folder, each), 'utf8').trim())
      .join('\n\n');
    return { name, version, identifier: license, text };
  });

/** Writes the licenses of all bundled packages. Throws for a license that is not allowed. */
export function writeNotices(file, licenses) {
  const parts = new Map();
  for (const { name, version, identifier, text } of licenses) {
    const title = `${name} ${version} (${identifier})`;
    if (!LICENSES.has(identifier))
      throw new Error(`${title}: license not allowed; see LICENSES in scripts/release/notices.mjs`);
    parts.set(title, `${title}\n\n${text.trim()}\n`);
  }
  const sorted = [...parts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part);
  fs.writeFileSync(file, sorted.join(`\n${'-'.repeat(80)}\n\n`));
}

function placeOf(name) {
  const place = path.join(root, 'node_modules', name);
  if (!fs.existsSync(place)) throw new Error(`${name} is not installed`);
  return place;
}
