import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { createLogger, NodeFileSystem } from '@plinth/kernel';
import { temporaryFolder } from '@plinth/kernel/testing';
import { BACKED_UP } from '../backup/backed-up-files.js';
import { claimCodeDelivery } from './claim-code.js';

const CODE = 'abcd-efgh-jkmn';

describe('claimCodeDelivery', () => {
  let folder: string;
  let printed: string;
  let logged: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
    printed = '';
    logged = '';
  });

  const delivery = (isTTY: boolean, dataDir = folder) =>
    claimCodeDelivery({
      stores: { files: new NodeFileSystem(), dataDir },
      log: createLogger({
        level: 'trace',
        destination: {
          write: (line: string) => {
            logged += line;
          },
        },
        isText: false,
      }),
      terminal: {
        isTTY,
        write: (text: unknown) => {
          printed += String(text);
          return true;
        },
      },
    });

  it('prints the code on a terminal, stores none and removes an older one', async () => {
    await writeFile(join(folder, 'claim-code'), 'old\n');
    await delivery(true).deliver(CODE);
    assert.match(printed, /\n {2}abcd-efgh-jkmn\n$/);
    assert.deepEqual(await readdir(folder), []);
    assert.ok(!logged.includes(CODE));
  });

  it('writes a file of the owner elsewhere in place of an older one, and removes it', async () => {
    const file = join(folder, 'claim-code');
    await writeFile(file, 'old\n', { mode: 0o644 });
    await writeFile(`${file}.tmp`, 'half of a code');
    await delivery(false).deliver(CODE);
    assert.deepEqual(await readdir(folder), ['claim-code']);
    assert.equal(await readFile(file, 'utf8'), `${CODE}\n`);
    if (process.platform !== 'win32') assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal(printed, '');
    assert.equal(JSON.parse(logged).claimCodeFile, file);
    assert.ok(!logged.includes(CODE));
    await delivery(false).withdraw();
    await delivery(false).withdraw();
    assert.deepEqual(await readdir(folder), []);
  });

  it('goes on where the file cannot be written or removed, and logs no code', async () => {
    const notFolder = join(folder, 'file');
    await writeFile(notFolder, '');
    await delivery(false, notFolder).deliver(CODE);
    assert.match(logged, /"msg":"claim code not written"/);
    assert.equal(printed, '');
    assert.ok(!logged.includes(CODE));
  });

  it('keeps to a file that no backup has', () => {
    assert.ok(!BACKED_UP.some(({ paths }) => paths.some((path) => 'claim-code'.startsWith(path))));
  });
});
