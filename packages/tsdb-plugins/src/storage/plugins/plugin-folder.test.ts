// Source: processing-engine, "Plugin files".
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { type FileSystem, NodeFileSystem, SystemClock, SystemRandom } from '@plinth/kernel';
import { temporaryFolder } from '@plinth/kernel/testing';
import { PluginFolder } from './plugin-folder.js';

describe('a plugin folder whose replacement was interrupted between its renames', () => {
  let root: string;
  const open = (): PluginFolder =>
    new PluginFolder({
      root,
      files: new NodeFileSystem(),
      random: new SystemRandom(new SystemClock()),
    });
  const put = async (folder: string, text: string): Promise<void> => {
    await mkdir(join(root, folder), { recursive: true });
    await writeFile(join(root, folder, '__init__.py'), text);
  };
  beforeEach(async () => {
    root = await temporaryFolder();
    await put('team/p.old', 'before');
    await put('team/p.tmp', 'after');
  });

  const assertBack = async (text: string): Promise<void> => {
    assert.deepEqual(await readdir(join(root, 'team')), ['p']);
    assert.equal(await readFile(join(root, 'team', 'p', '__init__.py'), 'utf8'), text);
  };

  it('is found in its previous state', async () => {
    assert.deepEqual(await open().find('team/p'), { kind: 'dir', path: join(root, 'team/p') });
    await assertBack('before');
  });

  it('is found by one of its files', async () => {
    assert.equal((await open().find('team/p/__init__.py')).kind, 'file');
    await assertBack('before');
  });

  it('keeps its other files when one is written', async () => {
    await open().write('team/p/more.py', 'more');
    assert.deepEqual((await readdir(join(root, 'team/p'))).sort(), ['__init__.py', 'more.py']);
  });

  it('can be replaced again', async () => {
    await open().replaceFolder('team/p', [{ path: '__init__.py', content: 'again' }]);
    await assertBack('again');
  });

  it('keeps its previous state when its next replacement fails', async () => {
    const broken = [{ path: '../x', content: '' }];
    await assert.rejects(open().replaceFolder('team/p', broken), /names/);
    const files = [
      { path: 'a.py', content: '' },
      { path: 'a.py/b.py', content: '' },
    ];
    await assert.rejects(open().replaceFolder('team/p', files), { kind: 'plugin_file_refused' });
    await assertBack('before');
  });

  it("is not restored from a user's own copy", async () => {
    await rm(join(root, 'team/p.tmp'), { recursive: true });
    await assert.rejects(open().find('team/p'), { kind: 'plugin_file_missing' });
    assert.deepEqual(await readdir(join(root, 'team')), ['p.old']);
  });
});

describe('a plugin folder', () => {
  let top: string;
  let root: string;
  const open = (more: Partial<ConstructorParameters<typeof PluginFolder>[0]> = {}): PluginFolder =>
    new PluginFolder({
      root,
      files: new NodeFileSystem(),
      random: new SystemRandom(new SystemClock()),
      ...more,
    });
  beforeEach(async () => {
    top = await realpath(await temporaryFolder());
    root = join(top, 'plugins');
    await mkdir(join(root, 'team/inner'), { recursive: true });
    await mkdir(join(top, 'outside'));
    await writeFile(join(top, 'outside/o.py'), 'o');
    await writeFile(join(root, 'a.py'), 'a');
    await writeFile(join(root, 'team/__init__.py'), 'team');
    await symlink(join(top, 'outside'), join(root, 'away'));
    await symlink(join(root, 'team'), join(root, 'near'));
  });
  const textOf = (name: string): Promise<string> => readFile(join(root, name), 'utf8');
  const ESCAPING = [
    '../a.py',
    'team/../../x',
    '/etc/passwd',
    '',
    'a\0.py',
    'away/o.py',
    'away/new.py',
  ];

  it('finds plugins of one file and of a folder, and reports missing ones', async () => {
    const folder = open();
    assert.deepEqual(await folder.find('a.py'), { kind: 'file', path: join(root, 'a.py') });
    assert.deepEqual(await folder.find('team'), { kind: 'dir', path: join(root, 'team') });
    assert.deepEqual(await folder.find('near'), { kind: 'dir', path: join(root, 'near') });
    await assert.rejects(folder.find('none.py'), { kind: 'plugin_file_missing' });
    await assert.rejects(folder.find('team/inner'), { kind: 'plugin_folder_incomplete' });
    for (const name of [...ESCAPING, '..\\a.py', '..', 'team/..']) {
      await assert.rejects(folder.find(name), { kind: 'plugin_path_escapes' }, name);
    }
    // `__init__.py` is run, so it must not be a link to another folder.
    await symlink(join(top, 'outside/o.py'), join(root, 'team/inner/__init__.py'));
    await assert.rejects(folder.find('team/inner'), { kind: 'plugin_path_escapes' });
    await symlink('round.py', join(root, 'round.py'));
    for (const act of [() => folder.find('round.py'), () => folder.write('round.py', '')]) {
      await assert.rejects(act, { kind: 'plugin_file_refused', message: /symbolic link loop/ });
    }
    assert.deepEqual(folder.list('round.py'), []);
    await assert.rejects(folder.find('x'.repeat(201)), /longer than 200 bytes/);
    await assert.rejects(folder.find('ä'.repeat(101)), /longer than 200 bytes/);
    await assert.rejects(folder.find('x'.repeat(200)), { kind: 'plugin_file_missing' });
  });

  it('writes files, and `__init__.py` of folders', async () => {
    const folder = open();
    await folder.write('a.py', 'new');
    await folder.write('sub/b.py', Buffer.from('b'));
    await folder.write('team', 'of the folder');
    await folder.write('team/', 'again');
    assert.deepEqual([await textOf('a.py'), await textOf('sub/b.py')], ['new', 'b']);
    assert.equal(await textOf('team/__init__.py'), 'again');
    assert.deepEqual((await readdir(root)).sort(), ['a.py', 'away', 'near', 'sub', 'team']);
    await assert.rejects(
      folder.write('none/', 'x'),
      /none\/ is not a folder; omit the \/ at the end/,
    );
    await assert.rejects(
      folder.write('a.py/b.py', 'x'),
      /conflicts with an existing file or folder/,
    );
    await assert.rejects(folder.write('near/__pycache__/x.py', 'x'), /compiled code/);
    for (const name of ['.', 'team/.git/config', './']) {
      await assert.rejects(folder.write(name, 'x'), { kind: 'plugin_file_refused' }, name);
    }
    for (const name of ESCAPING) {
      await assert.rejects(folder.write(name, 'x'), { kind: 'plugin_path_escapes' }, name);
    }
    assert.deepEqual(await readdir(join(top, 'outside')), ['o.py']);
    // A failed write does not block later ones.
    await Promise.allSettled([folder.write('..', 'x'), folder.write('c.py', 'c')]);
    assert.equal(await textOf('c.py'), 'c');
  });

  it('distinguishes a full disk from a name conflict', async () => {
    const files: FileSystem = new NodeFileSystem();
    const full = Object.assign(new Error('no room'), { code: 'ENOSPC' });
    files.open = () => Promise.reject(full);
    await assert.rejects(open({ files }).write('b.py', 'b'), (error) => error === full);
  });

  it('refuses hidden folders, even through a link', async () => {
    await mkdir(join(root, '.hidden'));
    await symlink(join(root, '.hidden'), join(root, 'shown'));
    await assert.rejects(open().write('shown/x.py', 'x'), /begin with a dot/);
    await symlink(join(root, 'team'), join(root, '.link'));
    await assert.rejects(open().write('.link/x.py', 'x'), /begin with a dot/);
    await symlink(root, join(root, 'self'));
    await assert.rejects(open().write('self', 'x'), /refers to the plugin folder itself/);
    await writeFile(join(root, '.hidden/key.py'), 'secret');
    await assert.rejects(open().read('shown/key.py'), /begin with a dot/);
    await symlink(join(root, '.hidden/key.py'), join(root, 'plain.py'));
    await assert.rejects(open().read('plain.py'), /begin with a dot/);
    assert.equal((await open().read('near')).content, await textOf('team/__init__.py'));
  });

  it('reports files that it cannot open', async () => {
    const files: FileSystem = new NodeFileSystem();
    const failing = (code: string) => {
      files.open = () => Promise.reject(Object.assign(new Error(code), { code }));
      return open({ files }).read('a.py');
    };
    await assert.rejects(failing('EACCES'), {
      kind: 'plugin_file_refused',
      message: /a\.py cannot be read; give the user of the server read access/,
    });
    await assert.rejects(failing('ENOENT'), { kind: 'plugin_file_missing' });
    await assert.rejects(failing('EIO'), { code: 'EIO' });
  });

  it('replaces a complete folder, or leaves everything unchanged', async () => {
    const folder = open();
    const files = [
      { path: '__init__.py', content: 'new' },
      { path: 'deep/x.py', content: 'x' },
    ];
    await folder.replaceFolder('team', files);
    assert.deepEqual((await readdir(join(root, 'team'))).sort(), ['__init__.py', 'deep']);
    assert.equal(await textOf('team/deep/x.py'), 'x');
    await folder.replaceFolder('fresh', files);
    assert.equal(await textOf('fresh/__init__.py'), 'new');
    const before = (await readdir(root)).sort();
    for (const [name, path, error] of [
      ['team', '../x.py', /plugin_path_escapes|plugin_file_refused/],
      ['team', '.env', /begin with a dot/],
      ['team', 'a.py/b.py', /conflicts with an existing file or folder/],
      ['a.py', 'x.py', /a\.py is a single-file plugin, not a directory/],
      ['.', 'x.py', /refers to the plugin folder itself/],
      ['../x', 'x.py', /plugin_path_escapes/],
    ] as const) {
      const broken = [
        { path: 'a.py', content: '' },
        { path, content: '' },
      ];
      await assert.rejects(folder.replaceFolder(name, broken), (thrown: Error) => {
        assert.match(`${Reflect.get(thrown, 'kind')} ${thrown.message}`, error);
        return true;
      });
      assert.equal(await textOf('team/__init__.py'), 'new');
      assert.deepEqual((await readdir(root)).sort(), before);
    }
  });

  it('does not mix files into a new folder, and restores the previous one on failure', async () => {
    await mkdir(join(root, 'team.tmp'));
    await writeFile(join(root, 'team.tmp/stale.py'), '');
    await mkdir(join(root, 'team.old'));
    await writeFile(join(root, 'team.old/older.py'), '');
    const files = [{ path: '__init__.py', content: 'new' }];
    await open().replaceFolder('team', files);
    assert.deepEqual(await readdir(join(root, 'team')), ['__init__.py']);
    const failing: FileSystem = new NodeFileSystem();
    const rename = failing.rename.bind(failing);
    failing.rename = async (from, to) => {
      if (from.endsWith('team.tmp') || from.endsWith('fresh.tmp')) throw new Error('no');
      await rename(from, to);
    };
    for (const name of ['team', 'fresh']) {
      await assert.rejects(open({ files: failing }).replaceFolder(name, files), { message: 'no' });
    }
    assert.equal(await textOf('team/__init__.py'), 'new');
    assert.deepEqual((await readdir(root)).sort(), ['a.py', 'away', 'near', 'team']);
  });

  it('writes nothing into the environment of packages, and replaces no folder that contains it', async () => {
    const environment = join(root, 'team/venv');
    await mkdir(environment);
    const folder = open({ environment });
    const refused = /(?:is inside|contains) the Python virtual environment/;
    await assert.rejects(folder.write('team/venv/x.py', 'x'), refused);
    await assert.rejects(folder.write('team/venv', 'x'), refused);
    await assert.rejects(folder.write('near/venv/x.py', 'x'), refused);
    await assert.rejects(folder.replaceFolder('team', []), refused);
    await folder.write('team/venvx.py', 'x');
    await folder.write('team/x.py', 'x');
    await folder.replaceFolder('fresh', [{ path: '__init__.py', content: '' }]);
    // An environment in another folder, or one that contains the plugins, is not protected.
    for (const elsewhere of [join(top, 'outside'), root, top]) {
      await open({ environment: elsewhere }).write('team/x.py', elsewhere);
      assert.equal(await textOf('team/x.py'), elsewhere);
    }
  });

  it('makes required files readable for other users, regardless of the umask', async () => {
    const modeOf = async (name: string) => (await stat(join(root, name))).mode & 0o777;
    const umask = process.umask(0o077);
    try {
      await open({ isForOthers: true }).write('sub/b.py', 'b');
      await open().write('own/b.py', 'b');
    } finally {
      process.umask(umask);
    }
    assert.deepEqual([await modeOf('sub'), await modeOf('sub/b.py')], [0o755, 0o644]);
    assert.deepEqual([(await modeOf('own')) & 0o077, (await modeOf('own/b.py')) & 0o077], [0, 0]);
  });

  it('lists the sources of a plugin', async () => {
    const folder = open();
    await mkdir(join(root, 'team/__pycache__'));
    for (const name of ['inner/x.py', '__pycache__/y.py', 'notes.txt']) {
      await writeFile(join(root, 'team', name), name);
    }
    const list = (name: string) =>
      folder
        .list(name)
        .map((file) => [file.name, file.path.slice(root.length), file.sizeBytes])
        .sort();
    assert.deepEqual(list('a.py'), [['a.py', '/a.py', 1]]);
    assert.deepEqual(list('team'), [
      ['__init__.py', '/team/__init__.py', 4],
      ['inner/x.py', '/team/inner/x.py', 10],
    ]);
    assert.deepEqual(list('none'), []);
    await Promise.all(
      Array.from({ length: 1001 }, (_, i) => writeFile(join(root, `team/${i}.py`), '')),
    );
    assert.equal(folder.list('team').length, 1000);
  });

  it('finds files by absolute path, and where a path of the system leads', async () => {
    const folder = open();
    assert.equal(await folder.pathOf(join(root, 'a.py')), join(root, 'a.py'));
    assert.equal(await folder.pathOf('a.py'), join(root, 'a.py'));
    const link = join(top, 'link');
    await symlink(root, link);
    assert.equal(await open({ root: link }).pathOf(join(root, 'a.py')), join(link, 'a.py'));
    for (const name of [
      join(top, 'outside/o.py'),
      `${root}x/a.py`,
      root,
      join(root, 'away/o.py'),
    ]) {
      await assert.rejects(folder.pathOf(name), { kind: 'plugin_path_escapes' }, name);
    }
    assert.equal(
      await folder.realPathWithin(join(root, 'near/__init__.py')),
      join(root, 'team/__init__.py'),
    );
    assert.equal(await folder.realPathWithin(root), root);
    for (const path of [join(root, 'away/o.py'), join(root, 'none'), top, `${root}x`]) {
      assert.equal(await folder.realPathWithin(path), undefined, path);
    }
  });

  it('creates a missing folder, and reports once why it cannot', async () => {
    const told: string[] = [];
    assert.equal(await open({ root: join(top, 'new/plugins') }).obstacle(), undefined);
    assert.deepEqual(await readdir(join(top, 'new/plugins')), []);
    const folder = open({ root: join(root, 'a.py'), onObstacle: (why) => told.push(why) });
    const why = await folder.obstacle();
    assert.deepEqual(told, [why]);
    assert.match(
      why ?? '',
      /a\.py cannot be created or read \(E\w+:.*set tsdb\.plugin_dir to another folder/,
    );
    assert.equal(await folder.obstacle(), why);
    assert.deepEqual(told, [why]);
    assert.match((await open({ root: join(root, 'a.py') }).obstacle()) ?? '', /cannot be created/);
    // A folder that seems to exist after its creation, but cannot be read.
    const files: FileSystem = new NodeFileSystem();
    files.makeDirectory = async () => {};
    assert.match((await open({ root: join(top, 'none'), files }).obstacle()) ?? '', /ENOENT/);
  });
});
