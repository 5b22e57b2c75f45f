#!/usr/bin/env node
// npm run release [-- --out FOLDER]: builds all release files from this checkout: the npm packages (`plinth` and its libraries), an SBOM
// and SHA256SUMS. On Linux, also an archive with all dependencies and a systemd unit.
// The build is reproducible: the same commit produces the same bytes.
// docs/RELEASING.md describes how to publish the files.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuiltOrExit } from './ensure-built.mjs';
import { buildDocs } from './lib/docs-site.mjs';
import { root } from './lib/root.mjs';
import { makeArchive } from './release/archive.mjs';
import { writeChecksums } from './release/checksums.mjs';
import { layLibrary } from './release/library.mjs';
import { pack } from './release/pack.mjs';
import { readRelease } from './release/version.mjs';

/** Libraries for users. The rate limiter depends on the kernel. */
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
// Imported here, because the bundler may not be installed earlier.
const { layPlinth } = await import('./release/plinth-package.mjs');
const release = readRelease();
fs.rmSync(out, { recursive: true, force: true });
const work = path.join(out, 'work');

const made = [];
const { folder: plinth, bundled } = await layPlinth(path.join(work, 'plinth'), release);
const main = pack(plinth, out);
made.push(main);
for (const name of LIBRARIES)
  made.push(pack(layLibrary(name, path.join(work, name), release), out));
if (process.platform === 'linux' && !values['no-archive'])
  made.push(...makeArchive({ package: main.file, work, out, release, bundled }));
fs.rmSync(work, { recursive: true });

const lines = made.map(
  ({ file, sizeBytes, fileCount }) =>
    `| ${path.basename(file)} | ${(sizeBytes / 1e6).toFixed(1)} MB | ${fileCount} |`,
);
const notes = `# plinth ${release.version}\n\ncommit ${release.commit}\n\n| File | Size | Files in it |\n|---|---|---|\n${lines.join('\n')}\n`;
fs.writeFileSync(path.join(out, 'RELEASE.md'), notes);
writeChecksums(out);
process.stdout.write(notes);
