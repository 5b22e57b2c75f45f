import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from '@plinth/kernel/testing';
import { endStoreThread, startStoreThread, takeStoreThread } from './store-thread.js';

describe('the store thread that starts early', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  const start = async (code: string): Promise<void> => {
    await writeFile(
      join(folder, 'sqlite-worker.mjs'),
      `import { parentPort } from 'node:worker_threads';\n${code}`,
    );
    startStoreThread(pathToFileURL(`${folder}/`));
  };

  it('has no environment variables of the process, which contain secrets', async () => {
    process.env['PLINTH_MASTER_KEY'] = 'a key that nobody else should know';
    try {
      await start('parentPort.postMessage({ ...process.env });');
    } finally {
      delete process.env['PLINTH_MASTER_KEY'];
    }
    const thread = takeStoreThread() ?? assert.fail('there is none');
    const ended = once(thread, 'exit');
    assert.deepEqual(await once(thread, 'message'), [{}]);
    await ended;
  });

  it('exits on request if it was not taken', async () => {
    const told = join(folder, 'told');
    await start(`
      import { writeFileSync } from 'node:fs';
      parentPort.once('message', (message) => {
        writeFileSync(${JSON.stringify(told)}, String(message));
        parentPort.close();
      });`);
    const thread = Reflect.get(globalThis, Symbol.for('plinth.store-thread'));
    endStoreThread();
    assert.deepEqual(await once(thread, 'exit'), [0]);
    assert.equal(await readFile(told, 'utf8'), 'undefined');
    endStoreThread();
    assert.equal(takeStoreThread(), undefined);
  });
});
