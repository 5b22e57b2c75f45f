import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { createLogger, NodeFileSystem } from '@plinth/kernel';
import { temporaryFolder } from '@plinth/kernel/testing';
import { deliverFirstKeys } from './first-keys.js';

const KEYS = ['sk_test_first', 'pk_test_second'];

describe('deliverFirstKeys', () => {
  let folder: string;
  let printed: string;
  let logged: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
    printed = '';
    logged = '';
  });

  const deliver = async (isTTY: boolean, dataDir = folder): Promise<void> => {
    const destination = {
      write: (line: string) => {
        logged += line;
      },
    };
    await deliverFirstKeys(KEYS, {
      stores: { files: new NodeFileSystem(), dataDir },
      log: createLogger({ level: 'trace', destination, isText: false }),
      terminal: {
        isTTY,
        write: (text: unknown) => {
          printed += String(text);
          return true;
        },
      },
    });
  };

  it('prints them on a terminal and stores nothing', async () => {
    await deliver(true);
    assert.match(printed, /\n {2}sk_test_first\n {2}pk_test_second\n$/);
    assert.deepEqual(await readdir(folder), []);
    assert.equal(logged, '');
  });

  it('writes them to a file of the owner elsewhere, and logs only its name', async () => {
    await deliver(false);
    const file = join(folder, 'initial-account-keys');
    assert.equal(await readFile(file, 'utf8'), 'sk_test_first\npk_test_second\n');
    if (process.platform !== 'win32') assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal(printed, '');
    assert.equal(JSON.parse(logged).file, file);
    assert.doesNotMatch(logged, /first"|sk_|second/);
  });

  it('goes on without a file that cannot be written, and names the remedy', async () => {
    const notFolder = join(folder, 'file');
    await writeFile(notFolder, '');
    await deliver(false, notFolder);
    assert.equal(printed, '');
    assert.match(logged, /plinth accounts keys create/);
    assert.doesNotMatch(logged, /sk_|second/);
  });
});
