import fs from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 200;
const MAX_WAIT_MS = 15 * 60_000;

/**
 * Runs `work` under an exclusive lock between processes. The lock is a file that names its holder.
 * Takes over the lock of a dead process. Waits for a live one and prints one line about the wait.
 * Throws after 15 minutes of waiting.
 */
export async function withLock(file, what, work) {
  const release = await acquire(file, what);
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

async function acquire(file, what) {
  const mine = `${file}.${process.pid}`;
  const giveUpAtMs = Date.now() + MAX_WAIT_MS;
  fs.writeFileSync(mine, JSON.stringify({ pid: process.pid, host: hostname() }));
  try {
    for (let waited = false; ; waited = true) {
      if (tryLink(mine, file)) return () => fs.rmSync(file, { force: true });
      if (isHolderDead(file)) {
        fs.rmSync(file, { force: true });
        continue;
      }
      if (Date.now() > giveUpAtMs) {
        throw new Error(`another process still holds ${file}; if none runs, delete that file`);
      }
      if (!waited) console.error(`plinth: waiting for another process to finish ${what} ...`);
      await sleep(POLL_MS);
    }
  } finally {
    fs.rmSync(mine, { force: true });
  }
}

/** Creating a hard link is atomic, so a reader never sees a lock without its holder. */
function tryLink(from, to) {
  try {
    fs.linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function isHolderDead(file) {
  try {
    const { pid, host } = JSON.parse(fs.readFileSync(file, 'utf8'));
    if (host !== hostname()) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}
