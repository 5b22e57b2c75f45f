import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'node:test';
import { temporaryFolder } from '../testing/temporary-folder.js';
import { FolderLock } from './folder-lock.js';
import { NodeFileSystem } from './node-file-system.js';

const files = new NodeFileSystem();
const MODULE = new URL('./folder-lock.js', import.meta.url).href;
const FILES_MODULE = new URL('./node-file-system.js', import.meta.url).href;

let folder: string;
const holders: ReturnType<typeof spawn>[] = [];
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(async () => {
  for (const child of holders.splice(0)) child.kill('SIGKILL');
});

const take = () => FolderLock.take(files, folder);

/** A process that takes the lock, runs `then` and lives until it is killed. */
async function holder(then = ''): Promise<ReturnType<typeof spawn>> {
  const program = `
    const { FolderLock } = await import('${MODULE}');
    const { NodeFileSystem } = await import('${FILES_MODULE}');
    const lock = await FolderLock.take(new NodeFileSystem(), ${JSON.stringify(folder)});
    await lock.sign();
    ${then}
    console.log('held');
    setInterval(() => lock, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  holders.push(child);
  await once(child.stdout, 'data');
  return child;
}

it('is had once in a process, and again after it was given back', async () => {
  const lock = await take();
  await lock.sign();
  const why = `the folder ${folder} is in use by another process (pid ${process.pid}); stop that process and wait until it has exited, or use another folder`;
  await assert.rejects(take(), { kind: 'folder_in_use', message: why });
  // The refused process has opened and closed the same file.
  await assert.rejects(take(), { kind: 'folder_in_use' });
  await lock.release();
  await lock.release();
  await assert.rejects(readFile(join(folder, 'server.pid')), { code: 'ENOENT' });
  await (await take()).release();
});

it('is not had by removing its file under the one who has it', async () => {
  const child = await holder();
  await rm(join(folder, 'server.lock'));
  for (let turn = 0; turn < 2; turn++) {
    await assert.rejects(take(), (error: Error) => error.message.includes(`(pid ${child.pid})`));
  }
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  await (await take()).release();
});

it('is given back by the system when its process is killed, whose name may stay', async () => {
  const child = await holder();
  await assert.rejects(take(), (error: Error) => error.message.includes(`(pid ${child.pid})`));
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  assert.equal(
    (await readFile(join(folder, 'server.pid'), 'utf8')).split(' ')[0],
    String(child.pid),
  );
  await (await take()).release();
});

it('does not pass to children, which may outlive the process', async () => {
  const child = await holder(`
    const { spawn } = await import('node:child_process');
    const { writeFileSync } = await import('node:fs');
    const left = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)'], { stdio: 'ignore', detached: true });
    writeFileSync(${JSON.stringify(join(folder, 'left'))}, String(left.pid));`);
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  const left = Number(await readFile(join(folder, 'left'), 'utf8'));
  try {
    process.kill(left, 0); // The process still runs.
    await (await take()).release();
  } finally {
    process.kill(left, 'SIGKILL');
  }
});

const owner = (text: string): Promise<void> => writeFile(join(folder, 'server.pid'), text);

it('is free whatever an owner wrote who has gone, and whoever has its number', async () => {
  // Owners on another machine, in this process, and unknown: the lock file does not exist.
  for (const text of [
    `${process.ppid} elsewhere\n`,
    `${process.pid} ${hostname()}\n`,
    'x',
    '7 a',
  ]) {
    await owner(text);
    await (await take()).release();
    assert.equal(await readFile(join(folder, 'server.pid'), 'utf8'), text, 'it was not signed');
    await rm(join(folder, 'server.lock'));
  }
  // A live owner process, while the file exists and the lock is free.
  await (await take()).release();
  await owner(`${process.ppid} ${hostname()}\n`);
  await (await take()).release();
});

it('says who has it as far as that is known', async () => {
  const lock = await take();
  assert.deepEqual(await readdir(folder), ['server.lock']);
  const told = async (text: string): Promise<string> => {
    await owner(text);
    let message = '';
    await assert.rejects(take(), (error: Error) => {
      message = error.message.replace(/;.*/, '');
      return true;
    });
    return message;
  };
  const start = `the folder ${folder} is in use by another process`;
  assert.equal(await told(`7 ${hostname()}\n`), `${start} (pid 7)`);
  assert.equal(await told('7 elsewhere\n'), `${start} (pid 7 on elsewhere)`);
  for (const text of ['', 'seven\n', '7\n']) assert.equal(await told(text), start);
  await lock.release();
});

it('is kept until the process ends, unless it was given back before', async () => {
  const listenerCount = process.listenerCount('exit');
  const returned = await take();
  await returned.release();
  returned.keep();
  assert.equal(process.listenerCount('exit'), listenerCount);
  const lock = await take();
  lock.keep();
  await lock.release();
  await assert.rejects(take(), { kind: 'folder_in_use' });
  assert.equal(process.listenerCount('exit'), listenerCount + 1);
});

it('says that the folder is not where it was, also when another stands there', async () => {
  const lock = await take();
  assert.equal(await lock.isInPlace(), true);
  await rename(folder, `${folder}-moved`);
  assert.equal(await lock.isInPlace(), false);
  await mkdir(folder);
  await writeFile(join(folder, 'server.lock'), '');
  assert.equal(await lock.isInPlace(), false);
  await rm(folder, { recursive: true });
  await rename(`${folder}-moved`, folder);
  assert.equal(await lock.isInPlace(), true);
  await lock.release();
});

it('says that a folder cannot be locked, and why', async () => {
  await writeFile(join(folder, 'server.lock'), 'no database'.repeat(100));
  await assert.rejects(take(), (error: Error) => {
    assert.equal(Reflect.get(error, 'kind'), 'folder_not_locked');
    assert.match(error.message, /cannot be locked: file is not a database/);
    return true;
  });
});
