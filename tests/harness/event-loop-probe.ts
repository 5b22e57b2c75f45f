// Loaded into a server by `EventLoopDelay`: measures the longest event-loop tick.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const TICK_MS = 4;
const file = process.env['EVENT_LOOP_PROBE'];

/** CPU time of the main thread, so that other processes of a busy machine do not count. Linux only. */
const cpuMs = (): number =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

if (isMainThread && file !== undefined && process.argv.includes('serve')) {
  let longestMs = 0;
  let last = cpuMs();
  const look = (): void => {
    const now = cpuMs();
    longestMs = Math.max(longestMs, now - last);
    last = now;
  };
  setInterval(look, TICK_MS).unref();
  process.on('SIGUSR2', () => {
    look();
    writeFileSync(`${file}.new`, String(longestMs));
    renameSync(`${file}.new`, file);
    longestMs = 0;
  });
}
