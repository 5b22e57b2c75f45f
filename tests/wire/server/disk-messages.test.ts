// Source: CONTRIBUTING.md, "Style": a message contains the path and the system's error.
// Own process: its store is looked at by another user.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { CLI, runCli } from '../../harness/cli.js';
import { ServerInProcess, ServerProcess, temporaryFolder, write } from '../../harness/index.js';

const NOBODY = 65534;
const IS_LINUX_ROOT = process.platform === 'linux' && process.getuid?.() === 0;
const SKIP = IS_LINUX_ROOT ? false : 'root alone becomes another user and mounts a small disk';
const BIND = ['--http-bind', '127.0.0.1:0', '--without-auth'];

let root = '';
beforeEach(async () => {
  root = await temporaryFolder();
  await chmod(root, 0o755);
});

/** Runs a command as an unprivileged user. Returns its error output. */
function failsAsNobody(...args: readonly string[]): string {
  const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
  try {
    const command = [...user, process.execPath, CLI, ...args];
    execFileSync('setpriv', command, { stdio: 'pipe', timeout: 60_000, env: { HOME: root } });
  } catch (error) {
    return String(Reflect.get(Object(error), 'stderr'));
  }
  throw new Error(`${args[0]} succeeded`);
}

describe('A folder of another user', { skip: SKIP }, () => {
  it('is reported with the system error, by the lock and by the store', async () => {
    const dataDir = join(root, 'data');
    await mkdir(dataDir, { mode: 0o755 });
    const denied = `EACCES: permission denied, access '${dataDir}'`;
    assert.ok(
      failsAsNobody('serve', '--data-dir', dataDir, ...BIND).startsWith(
        `plinth: the folder ${dataDir} cannot be locked: ${denied}`,
      ),
    );
    const store = join(dataDir, 'plinth.db');
    await writeFile(store, 'x', { mode: 0o600 });
    await chmod(dataDir, 0o777);
    assert.match(
      failsAsNobody('verify', '--data-dir', dataDir),
      new RegExp(`${store} could not be opened: EACCES: permission denied, access '${store}'\n$`),
    );
  });

  it('is reported by restore and backup', async () => {
    await using server = await ServerProcess.start();
    const to = join(root, 'copy');
    const backup = failsAsNobody('backup', '--to', to, '--host', server.url);
    assert.match(backup, new RegExp(`the folder ${to} cannot be created or read: EACCES`));
    const from = join(root, 'whole');
    const made = await runCli(['backup', '--to', from, '--host', server.url]);
    assert.equal(made.code, 0, made.stderr);
    const target = join(root, 'target');
    const restore = failsAsNobody('restore', '--from', from, '--data-dir', target);
    assert.match(restore, new RegExp(`cannot read ${from}/backup.json: EACCES`));
  });
});

describe('A read-only disk', { skip: SKIP }, () => {
  it('is reported with the folder by serve', async () => {
    const disk = join(root, 'disk');
    await mkdir(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200m', 'tmpfs', disk]);
    try {
      const dataDir = join(disk, 'data');
      const flags = ['--without-auth', '--storage-min-free-bytes', '0'];
      await using server = await ServerInProcess.start({ dataDir, flags });
      await server.close();
      execFileSync('mount', ['-o', 'remount,ro', disk]);
      const { code, stderr } = await runCli(['serve', '--data-dir', dataDir, ...BIND]);
      assert.equal(code, 1);
      const words = stderr.slice(stderr.indexOf('plinth: '));
      assert.ok(
        words.startsWith(`plinth: the data folder ${dataDir} cannot be written: EROFS`),
        stderr,
      );
      assert.match(words, /\n {2}the file system is read-only: /);
      assert.doesNotMatch(stderr, /^ +at |AggregateError/m);
    } finally {
      execFileSync('umount', [disk]);
    }
  });
});

describe('A full disk', { skip: SKIP }, () => {
  let disk = '';
  beforeEach(async () => {
    disk = join(root, 'disk');
    await mkdir(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
    await writeFile(join(disk, 'fill'), Buffer.alloc(60 * 1024));
  });
  afterEach(() => {
    execFileSync('umount', [disk]);
  });

  it('is reported with the file by backup, restore, export and query', async () => {
    await using server = await ServerInProcess.start();
    await write(server, { db: 'd' }, 'm v=1 1');
    const whole = join(root, 'whole');
    const host = ['--host', server.url];
    assert.equal((await runCli(['backup', '--to', whole, ...host])).code, 0);
    const long = "SELECT repeat('x', 100000)";
    for (const [file, ...args] of [
      ['b/', 'backup', '--to', join(disk, 'b'), ...host],
      ['r', 'restore', '--from', whole, '--data-dir', join(disk, 'r')],
      ['x', 'export', '-d', 'd', '--query', long, '-f', 'csv', '-o', join(disk, 'x'), ...host],
      ['y', 'query', '-d', 'd', long, '-o', join(disk, 'y'), ...host],
    ]) {
      const { code, stderr } = await runCli(args);
      assert.equal(code, 1, args[0]);
      const [line, advice] = stderr.split('\n');
      assert.ok(line?.startsWith(`plinth: cannot write ${join(disk, file ?? '')}`), stderr);
      assert.match(line ?? '', /ENOSPC: no space left on device/);
      assert.equal(advice, '  the disk is full: free some space and try again');
    }
  });

  it('is reported with the folder by serve', async () => {
    const dataDir = join(disk, 'data');
    const { code, stderr } = await runCli(['serve', '--data-dir', dataDir, ...BIND]);
    assert.equal(code, 1);
    assert.ok(stderr.includes(dataDir), stderr);
    assert.match(stderr, /no space left/);
  });
});
