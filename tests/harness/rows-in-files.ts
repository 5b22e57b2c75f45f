import type { RunningServer } from './running-server.js';
import { until } from './shared-nodes.js';

/** Flags of a server that flushes rows immediately: a kill leaves few rows in the log. */
export const FLUSH_AT_ONCE: readonly string[] = ['--tsdb-buffer-flush-age-ms', '100'];

/** Resolves when all rows are in files; the server needs `FLUSH_AT_ONCE`. */
export async function untilInFiles(server: RunningServer): Promise<void> {
  const areInFiles = async () => {
    const { text } = await server.http.send('/metrics');
    return /^plinth_tsdb_buffered_bytes 0$/m.test(text);
  };
  await until(areInFiles, 'all rows in files', 60_000);
}
