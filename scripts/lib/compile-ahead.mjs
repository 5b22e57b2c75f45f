import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { HttpClient } from './http-client.mjs';
import { startServerProcess } from './server-process.mjs';

const server = fileURLToPath(new URL('./compile-ahead-server.mjs', import.meta.url));

/**
 * Writes beside the bundle what V8 made of the program while a server started and did its common work: later starts
 * compile nothing of it again. Where no server can be started, they go without.
 */
export async function makeCode() {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'plinth-build-'));
  let running;
  try {
    running = await startServerProcess({ dataDir, program: server, flags: ['--without-auth'] });
    await doCommonWork(new HttpClient(running.url));
    const code = await running.stop();
    if (code !== 0) throw new Error(`exit code ${code}`);
  } catch (error) {
    await running?.kill();
    console.error(`plinth: starts will take longer, no code was compiled ahead: ${error.message}`);
  } finally {
    fs.rmSync(dataDir, { recursive: true, force: true });
  }
}

async function doCommonWork(http) {
  await http.call('GET', '/health');
  await http.write('build', 'cpu,host=a usage=0.5 1735689600', 'second');
  await http.query('build', 'SELECT host, avg(usage) AS mean FROM cpu GROUP BY host');
  await http.query('build', 'SELECT * FROM cpu ORDER BY time DESC LIMIT 1');
  const q = 'SELECT mean(usage) FROM cpu GROUP BY host';
  await http.call('GET', '/query', { query: { db: 'build', q } });
}
