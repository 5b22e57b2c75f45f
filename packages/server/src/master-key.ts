import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Random } from '@plinth/kernel';

const FILE_NAME = 'master.key';
const KEY_SIZE_BYTES = 32;

/**
 * The key with which stored secrets are sealed: what the operator gives, or one that is made once and kept beside the
 * data, readable by the server's own user alone.
 */
export async function readMasterKey(
  given: string | undefined,
  dataDir: string,
  random: Random,
): Promise<Uint8Array> {
  if (given !== undefined) return Buffer.from(given);
  const path = join(dataDir, FILE_NAME);
  try {
    return Buffer.from((await readFile(path, 'utf8')).trim());
  } catch (error) {
    if (Reflect.get(Object(error), 'code') !== 'ENOENT') throw error;
  }
  const text = Buffer.from(random.bytes(KEY_SIZE_BYTES)).toString('base64');
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(`${text}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  return Buffer.from(text);
}
