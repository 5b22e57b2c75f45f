import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

/** Writes `SHA256SUMS` for all files of the folder, in the format of `sha256sum --check`. */
export function writeChecksums(folder) {
  const lines = fs
    .readdirSync(folder)
    .sort()
    .map((name) => `${sha256Of(path.join(folder, name))}  ${name}\n`);
  fs.writeFileSync(path.join(folder, 'SHA256SUMS'), lines.join(''));
}

const sha256Of = (file) => createHash('sha256').update(fs.readFileSync(file)).digest('hex');
