import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chown, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '@plinth/kernel/testing';
import { shellWord } from '../shell-word.js';
import { insteadOfRoot, refusalForRoot } from './folder-owner.js';

// Source: docs/DATA-RECOVERY.md, "Run a command as the service user".
const OWNER = { uid: 1234, gid: 1235 };
const UNIT =
  'systemd-run --pipe --wait --collect -p DynamicUser=yes -p User=plinth -p StateDirectory=plinth -p StateDirectoryMode=0700 -p UMask=0077';

describe('What root runs instead', () => {
  const COMMAND = 'plinth restore --from /var/lib/plinth-backups/a --data-dir /var/lib/plinth';

  it('is a unit of its own for the folder of a unit, which sees what the command reads', () => {
    const reads = '/var/lib/plinth-backups/a';
    assert.equal(
      insteadOfRoot('/var/lib/private/plinth', OWNER, { command: COMMAND, reads }),
      `run ${UNIT} -p BindReadOnlyPaths=/var/lib/plinth-backups/a /opt/plinth/bin/${COMMAND}`,
    );
    const aside = 'plinth aside --data-dir /var/lib/plinth --remove';
    assert.equal(
      insteadOfRoot('/var/lib/private/plinth', OWNER, { command: aside }),
      `run ${UNIT} /opt/plinth/bin/${aside}`,
    );
    const inUnit = 'start its unit';
    assert.equal(
      insteadOfRoot('/var/lib/private/plinth', OWNER, { command: 'plinth serve', inUnit }),
      inUnit,
    );
  });

  it('names paths with spaces as shell and systemd read them', () => {
    const reads = "/mnt/my disk/it's: a";
    const text = insteadOfRoot('/var/lib/private/plinth', OWNER, { command: COMMAND, reads });
    const [, property = ''] = /-p ('BindReadOnlyPaths=.*') \/opt/.exec(text) ?? [];
    const read = execFileSync('sh', ['-c', `printf %s ${property}`], { encoding: 'utf8' });
    assert.equal(read, `BindReadOnlyPaths="/mnt/my disk/it's\\: a"`);
    for (const path of ['/a b', "/it's", '/$HOME', '/a;b', '/plain-1.2']) {
      const back = execFileSync('sh', ['-c', `printf %s ${shellWord(path)}`], { encoding: 'utf8' });
      assert.equal(back, path);
    }
    assert.equal(shellWord('/plain-1.2'), '/plain-1.2');
  });

  it('is the command as the owner elsewhere', () => {
    assert.equal(
      insteadOfRoot('/srv/plinth', OWNER, { command: 'plinth serve' }),
      'run it as that user: setpriv --reuid=1234 --regid=1235 --clear-groups plinth serve',
    );
  });
});

it('a refusal leaves nothing in the folder', {
  skip: process.geteuid?.() !== 0 && 'needs root',
}, async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'plinth.db'), '');
  await chown(join(folder, 'plinth.db'), OWNER.uid, OWNER.gid);
  const refusal = await refusalForRoot(folder, { command: 'plinth serve' });
  assert.match(String(refusal), /belongs to the user with id 1234, and this command runs as root/);
  assert.deepEqual(await readdir(folder), ['plinth.db']);
});
