import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';

const INDEX = new URL('../index.js', import.meta.url).href;

/** Not `--input-type=module`: worker threads would inherit the option and refuse it. */
const PROGRAM = `import('${INDEX}').then(async ({ closeOnSignals, readSettings, startServer }) => {
  const flags = new Map([['http-bind', '127.0.0.1:0'], ['object-store', 'memory'], ['log-level', 'silent']]);
  const server = await startServer({ settings: readSettings({ env: {}, flags }) });
  const closed = closeOnSignals(server);
  console.log('listens', server.address.port);
  await closed;
});`;

async function startProcess(): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, ['-e', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface(child.stdout)) {
    const port = /^listens (\d+)$/.exec(line)?.[1];
    if (port !== undefined) return { child, port: Number(port) };
  }
  throw new Error('the server did not start');
}

describe('closeOnSignals', () => {
  it('ends the process with code 0 after a first signal', async () => {
    const { child } = await startProcess();
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  it('does not wait for a running request after a second signal', async () => {
    const { child, port } = await startProcess();
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n');
    // The response precedes the body, and the connection stays busy with an incomplete request.
    await once(socket, 'data');
    child.kill('SIGINT');
    const refused = async (): Promise<boolean> => {
      const probe = connect(port, '127.0.0.1');
      const [isOpen] = await Promise.race([
        once(probe, 'connect').then(() => [true]),
        once(probe, 'error').then(() => [false]),
      ]).catch(() => [false]);
      probe.destroy();
      return !isOpen;
    };
    while (!(await refused()));
    assert.equal(child.exitCode, null);
    child.kill('SIGINT');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
});
