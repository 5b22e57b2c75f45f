import fs from 'node:fs';
import path from 'node:path';
import { root } from '../lib/root.mjs';

/** Files that are not published: compiled tests, their helpers and build records of the compiler. */
const NOT_HANDED_OUT = /(?:\.test\.|\.prop\.test\.|[\\/]testing[\\/]|\.tsbuildinfo$|\.map$)/;

/** Copies the published files of a package. @returns the folder. */
export function layLibrary(name, folder, { version }) {
  const source = path.join(root, 'packages', name);
  fs.mkdirSync(folder, { recursive: true });
  fs.cpSync(path.join(source, 'dist'), path.join(folder, 'dist'), {
    recursive: true,
    filter: (file) => !NOT_HANDED_OUT.test(path.relative(source, file)),
  });
  for (const file of fs.readdirSync(path.join(folder, 'dist'), { recursive: true })) {
    dropMapComment(path.join(folder, 'dist', file));
  }
  fs.copyFileSync(path.join(source, 'README.md'), path.join(folder, 'README.md'));
  fs.copyFileSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
  const own = JSON.parse(fs.readFileSync(path.join(source, 'package.json'), 'utf8'));
  const { private: _private, devDependencies: _dev, exports, dependencies = {}, ...kept } = own;
  const { './testing': _testing, ...outside } = exports;
  const manifest = {
    ...kept,
    version,
    engines: { node: '>=20.19' },
    exports: outside,
    files: ['dist'],
    dependencies: Object.fromEntries(
      Object.entries(dependencies).map(([dependency, range]) => [
        dependency,
        dependency.startsWith('@plinth/') ? version : range,
      ]),
    ),
  };
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  return folder;
}

function dropMapComment(file) {
  if (!/\.(?:js|d\.ts)$/.test(file)) return;
  const text = fs.readFileSync(file, 'utf8');
  fs.writeFileSync(file, text.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n'));
}
