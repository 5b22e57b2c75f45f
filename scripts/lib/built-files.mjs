import fs from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const COMPRESSED = /\.(?:html|js|css|svg|json|lp)$/;
/** Compression does not help smaller files. */
const MIN_SIZE_BYTES = 512;
const FORMS = {
  gz: (bytes) => gzipSync(bytes, { level: 9 }),
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
};

/** Writes compressed copies of a file next to it. Browsers accept `br` only over TLS. */
export function compress(file, forms = ['gz', 'br']) {
  if (!COMPRESSED.test(file)) return;
  const bytes = fs.readFileSync(file);
  if (bytes.length < MIN_SIZE_BYTES) return;
  for (const form of forms) fs.writeFileSync(`${file}.${form}`, FORMS[form](bytes));
}

/** Lists the files of a folder recursively, in a fixed order. */
export function filesBelow(top) {
  return fs
    .readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

/** @returns `undefined` if the file does not exist. */
export function readText(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
