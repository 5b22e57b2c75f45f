import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { startServerProcess } from './server-process.mjs';

/**
 * Starts servers for test files that can share one (`tests/harness/shared-server.ts`). Each set of flags and variables has one
 * server, which starts when the first file requests it. A request is a line of JSON, `{flags, env}`. The response is
 * `{url, adminToken}` or `{error}`.
 * @param folder contains the socket and the data.
 * @returns the socket's path, and a function that stops the servers.
 */
export async function openSharedServers(folder) {
  const socket = path.join(folder, 'servers.sock');
  const servers = new Map();
  const listener = net.createServer((connection) => {
    connection.on('error', () => {}); // The test process was killed.
    createInterface({ input: connection }).once('line', async (line) => {
      if (!servers.has(line)) servers.set(line, start(folder, servers.size, JSON.parse(line)));
      const response = await servers.get(line).catch(({ message }) => ({ error: message }));
      connection.end(`${JSON.stringify({ ...response, process: undefined })}\n`);
    });
  });
  await new Promise((resolve, reject) => listener.once('error', reject).listen(socket, resolve));
  return {
    socket,
    count: () => servers.size,
    async close() {
      listener.close();
      for (const started of await Promise.allSettled(servers.values()))
        await started.value?.process.stop();
      fs.rmSync(socket, { force: true });
    },
  };
}

async function start(folder, index, { flags, env }) {
  const dataDir = path.join(folder, `server-${index}-${Date.now()}`);
  const process = await startServerProcess({ dataDir, flags, env });
  const { url } = process;
  if (flags.includes('--without-auth')) return { process, url };
  const response = await fetch(`${url}/api/v3/configure/token/admin`, { method: 'POST' });
  const { token } = await response.json();
  return { process, url, adminToken: token };
}
