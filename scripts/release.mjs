#!/usr/bin/env node
// npm run release [-- --out FOLDER]: everything that is handed out, made of this checkout without any network:
// npm packages (`plinth`, and the libraries that others import), and on Linux an archive with all its packages and a unit file.
// docs/RELEASING.md says what is done with them.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuiltOrExit } from './ensure-built.mjs';
import { buildDocs } from './lib/docs-site.mjs';
import { root } from './lib/root.mjs';
import { makeArchive } from './release/archive.mjs';
import { layLibrary } from './release/library.mjs';
import { pack } from './release/pack.mjs';
import { layPlinth } from './release/plinth-package.mjs';
import { readRelease } from './release/version.mjs';

/** Imported by users; the kernel because the limiter stands on it. */
const LIBRARIES = ['gamedata-client', 'ratelimit', 'kernel'];

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'release' },
    'no-archive': { type: 'boolean', default: false },
  },
});
const out = path.resolve(root, values.out);

await ensureBuiltOrExit();
await buildDocs();
const release = readRelease();
fs.rmSync(out, { recursive: true, force: true });
const work = path.join(out, 'work');

const made = [];
const plinth = await layPlinth(path.join(work, 'plinth'), release);
const main = pack(plinth, out);
made.push(main);
for (const name of LIBRARIES)
  made.push(pack(layLibrary(name, path.join(work, name), release), out));
if (process.platform === 'linux')
  made.push(makeArchive({ package: main.file, work, out, release }));
fs.rmSync(work, { recursive: true });

const lines = made.map(
  ({ file, sizeBytes, fileCount }) =>
    `| ${path.basename(file)} | ${(sizeBytes / 1e6).toFixed(1)} MB | ${fileCount} |`,
);
const notes = `# plinth ${release.version}\n\ncommit ${release.commit}\n\n| File | Size | Files in it |\n|---|---|---|\n${lines.join('\n')}\n`;
fs.writeFileSync(path.join(out, 'RELEASE.md'), notes);
process.stdout.write(notes);
