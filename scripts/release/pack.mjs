import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** Makes the file that npm would publish of a folder. @returns where it is, and what is in it. */
export function pack(folder, out) {
  fs.mkdirSync(out, { recursive: true });
  fixRights(folder);
  // Nothing of the folder is run, and nothing asked of a registry.
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', out, folder];
  const printed = execFileSync('npm', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [told] = Object.values(JSON.parse(printed));
  const file = path.join(out, told.filename.replace('@', '').replace('/', '-'));
  return { file, sizeBytes: fs.statSync(file).size, fileCount: told.entryCount };
}

/** npm takes the rights of the files over, which depend on the umask. */
function fixRights(folder) {
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isFile()) continue;
    fs.chmodSync(file, (fs.statSync(file).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}
