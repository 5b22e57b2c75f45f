import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerProcess } from './server-process.js';

/** Flags of a server whose rows go to files as soon as they are there: an end leaves few rows in the log. */
export const FLUSH_AT_ONCE: readonly string[] = ['--tsdb-buffer-flush-age-ms', '100'];

/** Resolves when all rows are in files, of a server with `FLUSH_AT_ONCE`. */
export async function untilInFiles(server: ServerProcess): Promise<void> {
  for (let tries = 0; ; tries++) {
    const { text } = await server.http.send('/metrics');
    if (/^plinth_tsdb_buffered_bytes 0$/m.test(text)) return;
    assert.ok(tries < 1200, 'rows are never in files');
    await sleep(50);
  }
}
