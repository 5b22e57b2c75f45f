// Source: processing-engine, "Packages and environment"; pip, "Requirements File Format".
import assert from 'node:assert/strict';
import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { NodeFileSystem, SystemClock, SystemRandom } from '@plinth/kernel';
import { temporaryFolder } from '@plinth/kernel/testing';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { PluginFolder } from './plugin-folder.js';
import { findRequirements } from './requirements-files.js';

let top: string;
let root: string;
let folder: PluginFolder;
before(async () => {
  top = await realpath(await temporaryFolder());
  root = join(top, 'plugins');
  await mkdir(join(root, 'sub/deep'), { recursive: true });
  await writeFile(join(top, 'outside.txt'), 'root:secret\n');
  await writeFile(join(root, 'inner.txt'), 'requests\n');
  await writeFile(join(root, 'sub/beside.txt'), '-r ../inner.txt\n');
  await symlink(join(top, 'outside.txt'), join(root, 'leads-out.txt'));
  await symlink(join(root, 'inner.txt'), join(root, 'leads-in.txt'));
  await symlink(top, join(root, 'up'));
  await symlink(join(top, 'away'), join(root, 'away'));
  await mkdir(join(top, 'away/below'), { recursive: true });
  folder = new PluginFolder({
    root,
    files: new NodeFileSystem(),
    random: new SystemRandom(new SystemClock()),
  });
});

async function check(text: string | Uint8Array): Promise<string> {
  await writeFile(join(root, 'requirements.txt'), text);
  return await findRequirements(folder, 'requirements.txt');
}
const refused = async (text: string | Uint8Array, why: RegExp): Promise<void> => {
  await assert.rejects(check(text), (error: Error) => {
    assert.ok(tsdbError.is(error, 'requirements_refused'), `${text}: ${error.message}`);
    assert.match(error.message, why);
    assert.doesNotMatch(error.message, /secret|outside\.txt|shadow/);
    return true;
  });
};
const OUTSIDE = /requirements\.txt, line \d+: the file is not in the plugin directory/;

describe('a requirements file', () => {
  it('is found by its path below the folder, and by an absolute path into it', async () => {
    const path = await check('requests==2.0\n');
    assert.equal(path, join(root, 'requirements.txt'));
    assert.equal(await findRequirements(folder, path), path);
    assert.equal(await findRequirements(folder, './sub/beside.txt'), join(root, 'sub/beside.txt'));
    assert.equal(await findRequirements(folder, 'leads-in.txt'), join(root, 'leads-in.txt'));
    await assert.rejects(findRequirements(folder, 'none.txt'), { kind: 'requirements_missing' });
  });

  it('is refused outside of the folder in each notation, whether it exists or not', async () => {
    for (const location of [
      ...['/etc/shadow', '/no/such/file', join(top, 'outside.txt'), join(top, 'none.txt')],
      ...['../outside.txt', '../none.txt', 'sub/../../outside.txt', '..\\outside.txt'],
      ...[`${root}/../outside.txt`, `${root}x`, 'leads-out.txt', 'up/outside.txt', 'a\0b', ''],
    ]) {
      await assert.rejects(
        findRequirements(folder, location),
        { kind: 'plugin_path_escapes' },
        location,
      );
    }
  });

  it('is read to its end, also after a comment that ends like a continued line', async () => {
    // A comment in a continued line starts with a space, so it is not part of the name.
    await check('-r inner.txt\\\n#x\n');
    await refused('x\n-r ../outside.txt \\', OUTSIDE);
    await refused('# x \\\n-r ../outside.txt\n', OUTSIDE);
    await refused('x \\\n# y \\\n-r ../outside.txt\n', OUTSIDE);
  });

  it('must not be a folder, a device or text in another encoding', async () => {
    await assert.rejects(findRequirements(folder, 'sub'), { kind: 'requirements_refused' });
    const utf16 = Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from('-r /etc/shadow', 'utf16le')]);
    await refused(utf16, /not valid UTF-8 text/);
    await refused('# coding: utf-7\n+AC0-r /etc/shadow\n', /not valid UTF-8 text/);
    await refused('#!x\n# -*- coding=latin-1 -*-\n', /not valid UTF-8 text/);
    await refused('requests\0\n', /not valid UTF-8 text/);
    await check('# coding: utf-8\nrequests\n');
    await check('\ufeffrequests\n');
  });

  it('may refer to other files of the folder, to URLs, and to known options', async () => {
    await check(
      [
        '--index-url https://mirror.example/simple',
        '--find-links wheels --no-index',
        '-r inner.txt',
        '-rsub/beside.txt',
        '--constraint=leads-in.txt',
        `-c ${join(root, 'inner.txt')}`,
        '-c https://example.com/constraints.txt',
        'plinth_sample[extra]>=1.2 ; python_version > "3.8"  # a comment -r /etc/shadow',
        'sample==1 --hash=sha256:aa \\',
        '  --hash=sha256:bb',
        '# -r /etc/shadow',
        '-e ./sub',
      ].join('\n'),
    );
  });

  it('is refused if it, or a file it refers to, refers to a file outside', async () => {
    for (const line of [
      ...[
        '-r /etc/shadow',
        '-r/etc/shadow',
        '--requirement /etc/shadow',
        '--requirement=/etc/shadow',
      ],
      ...['-c /etc/shadow', '-c/etc/shadow', '--constraint=/etc/shadow', '--pre -r /etc/shadow'],
      ...[
        '  -r   ../outside.txt',
        '-r leads-out.txt',
        '-r up/outside.txt',
        '-r file:///etc/shadow',
      ],
      ...[
        '-r \\\n/etc/shadow',
        '\\-r ../outside.txt\\\n',
        '-r sub/../../outside.txt',
        '-r none.txt',
      ],
      ...['-r away/below/../../outside.txt', `-r ${root}/../outside.txt`],
      ...[
        'x\u2028-r /etc/shadow',
        'x\v-r /etc/shadow',
        'x\r-r /etc/shadow',
        'x\x85-r ../outside.txt',
      ],
    ]) {
      await refused(`requests\n${line}\n`, OUTSIDE);
    }
    await writeFile(join(root, 'sub/deep/nested.txt'), '\n\n-r ../../../outside.txt\n');
    await refused('-r sub/deep/nested.txt', /^sub\/deep\/nested\.txt, line 3: /);
  });

  it('is refused if the installer could read it differently', async () => {
    await refused('--requi /etc/shadow', /line 1: unknown option/);
    await refused('--pre "-r" /etc/shadow', /line 1: quotes/);
    await refused("-r '/etc/shadow'", /line 1: quotes/);
    await refused('-r \\/etc/shadow', /line 1: quotes/);
    await refused(
      `-r $${'{HOME}'}/outside.txt`,
      /line 1: variables are not supported in file names/,
    );
    await refused('-r -', /line 1: unknown option/);
  });

  it('is refused if it refers to too many files, and may refer to itself', async () => {
    await check('-r requirements.txt\n');
    await check('-r sub/../requirements.txt\n');
    for (let index = 0; index < 60; index++) {
      await writeFile(join(root, `chain-${index}.txt`), `-r chain-${index + 1}.txt\n`);
    }
    await writeFile(join(root, 'chain-60.txt'), 'requests\n');
    await refused('-r chain-0.txt\n', /more than 50 files/);
    await refused('x'.repeat(1024 * 1024 + 1), /larger than 1048576 bytes/);
  });
});
