import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** Packs a folder as npm would publish it. @returns the path and the contents of the package file. */
export function pack(folder, out) {
  fs.mkdirSync(out, { recursive: true });
  fixRights(folder);
  // Runs no script of the folder and sends no request to a registry.
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', out, folder];
  const printed = execFileSync('npm', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [packed] = Object.values(JSON.parse(printed));
  const file = path.join(out, packed.filename.replace('@', '').replace('/', '-'));
  return { file, sizeBytes: fs.statSync(file).size, fileCount: packed.entryCount };
}

/** Sets fixed permissions. npm would keep the permissions of the files, which depend on the umask. */
function fixRights(folder) {
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isFile()) continue;
    fs.chmodSync(file, (fs.statSync(file).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}
