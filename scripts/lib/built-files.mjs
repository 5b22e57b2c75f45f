import fs from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const COMPRESSED = /\.(?:html|js|css|svg|json|lp)$/;
/** Smaller ones gain nothing. */
const MIN_SIZE_BYTES = 512;
const FORMS = {
  gz: (bytes) => gzipSync(bytes, { level: 9 }),
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
};

/** Writes a file's compressed forms beside it, for those who hand it out; `br` is what browsers take over TLS alone. */
export function compress(file, forms = ['gz', 'br']) {
  if (!COMPRESSED.test(file)) return;
  const bytes = fs.readFileSync(file);
  if (bytes.length < MIN_SIZE_BYTES) return;
  for (const form of forms) fs.writeFileSync(`${file}.${form}`, FORMS[form](bytes));
}

/** Files of a folder and of those in it, in one order. */
export function filesBelow(top) {
  return fs
    .readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

/** `undefined`: there is none. */
export function readText(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
