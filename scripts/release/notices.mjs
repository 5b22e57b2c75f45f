import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { root } from '../lib/root.mjs';

/** What may be handed out with us. */
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

/** The package as it is installed for one of ours. */
export function manifestOf(name, from = root) {
  return JSON.parse(fs.readFileSync(path.join(placeOf(name, from), 'package.json'), 'utf8'));
}

/** Folders of all packages that one of ours needs to run, by its `dependencies` and theirs. */
export function closureOf(own) {
  const found = new Set();
  const walk = (folder) => {
    const { dependencies = {} } = JSON.parse(
      fs.readFileSync(path.join(folder, 'package.json'), 'utf8'),
    );
    for (const name of Object.keys(dependencies)) {
      const place = placeOf(name, folder);
      if (found.has(place)) continue;
      found.add(place);
      walk(place);
    }
  };
  walk(path.join(root, own));
  return [...found].map((place) => path.relative(root, place));
}

/** The words of the licences of everything that is inside of our files. Throws for a licence that is not on the list. */
export function writeNotices(file, places) {
  const parts = places.sort().map((place) => {
    const folder = path.join(root, place);
    const { name, version, license } = JSON.parse(
      fs.readFileSync(path.join(folder, 'package.json'), 'utf8'),
    );
    if (!LICENSES.has(license)) throw new Error(`${name} ${version} has the licence ${license}`);
    const text = fs
      .readdirSync(folder)
      .filter((each) => /^(?:licen[cs]e|copying|notice)/i.test(each))
      .map((each) => fs.readFileSync(path.join(folder, each), 'utf8').trim())
      .join('\n\n');
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  fs.writeFileSync(file, parts.join(`\n${'-'.repeat(80)}\n\n`));
}

/** As Node looks for it: upwards from whoever asks. */
function placeOf(name, from) {
  for (const folder of createRequire(path.join(from, 'package.json')).resolve.paths(name) ?? []) {
    const place = path.join(folder, name);
    if (fs.existsSync(path.join(place, 'package.json'))) return fs.realpathSync(place);
  }
  throw new Error(`${name} is not installed`);
}
