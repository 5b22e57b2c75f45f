import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const created: string[] = [];

/**
 * Creates a folder that is removed when the process exits: after all hooks of the tests, which may
 * close files in it.
 */
export async function temporaryFolder(): Promise<string> {
  if (created.length === 0) process.once('exit', removeCreated);
  const folder = await mkdtemp(join(tmpdir(), 'plinth-test-'));
  created.push(folder);
  return folder;
}

function removeCreated(): void {
  for (const folder of created) rmSync(folder, { recursive: true, force: true });
}
