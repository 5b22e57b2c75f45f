// Loaded before each test file. Fails and names a test that hangs, or that leaves a handle open and so keeps its process running.
// Also reports the time of the process to `test.mjs`.
import fs from 'node:fs';
import os from 'node:os';
import { afterEach, beforeEach } from 'node:test';
import { isMainThread } from 'node:worker_threads';

const LIMIT_MS = 60_000;
const TICKS_PER_SEC = 100;
/** A test that needs more time sets its own `timeout`. */
const OWN_LIMIT = /\btimeout: ([\d_]+)/g;
/** Number of test files in this process (`unit-groups.mjs`). */
const IMPORTED = /^await import\("(.*)"\);$/gm;

/** Tests may mock the clock. */
const now = performance.now.bind(performance);
/** Running tests, innermost last. */
const running = [];
let quietSinceMs = now();

/** Extends the timeouts on a machine with more work than processors. */
const slowness = () => Math.max(1, (os.loadavg()[0] ?? 0) / os.availableParallelism());

/** Longest timeout of the tests in this process. */
function limitOfProcess(entry) {
  const text = fs.readFileSync(entry, 'utf8');
  const files = [...text.matchAll(IMPORTED)].map(([, file]) => fs.readFileSync(file, 'utf8'));
  const own = [text, ...files].flatMap((each) => [...each.matchAll(OWN_LIMIT)]);
  return Math.max(LIMIT_MS, ...own.map(([, ms]) => Number(ms.replaceAll('_', ''))));
}

function fail(reason) {
  const open = process.getActiveResourcesInfo().join(', ');
  process.stderr.write(`plinth: ${reason}; open: ${open || 'nothing'}\n`);
  process.exit(1);
}

function check(limitMs) {
  const { name, startMs } = running.at(-1) ?? { startMs: quietSinceMs };
  const seconds = Math.round((now() - startMs) / 1000);
  if (seconds * 1000 <= limitMs * slowness()) return;
  if (name !== undefined) fail(`"${name}" did not end within ${seconds} s`);
  fail(`no test has run for ${seconds} s: a hook hangs, or a test left a handle open`);
}

/** CPU seconds of this process and of its child processes that have ended (on Linux). */
function cpuSec() {
  const { user, system } = process.cpuUsage();
  const own = (user + system) / 1e6;
  if (process.platform !== 'linux') return own;
  // Fields 16 and 17 in proc(5). The name of the process, in field 2, may contain spaces.
  const [childUser, childSystem] = fs
    .readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\)/, '0 0')
    .split(' ')
    .slice(15, 17);
  return own + (Number(childUser) + Number(childSystem)) / TICKS_PER_SEC;
}

function reportTime() {
  const time = { file: process.argv[1], elapsedSec: now() / 1000, cpuSec: cpuSec() };
  fs.appendFileSync(process.env.PLINTH_TEST_TIMES, `${JSON.stringify(time)}\n`);
}

if (process.env.NODE_TEST_CONTEXT !== undefined && isMainThread) {
  if (process.env.PLINTH_TEST_TIMES !== undefined) process.once('exit', reportTime);
  setInterval(check, 1_000, limitOfProcess(process.argv[1])).unref();
  beforeEach(({ fullName }) => {
    running.push({ name: fullName, startMs: now() });
  });
  afterEach(({ fullName }) => {
    const index = running.findLastIndex(({ name }) => name === fullName);
    if (index >= 0) running.splice(index, 1);
    quietSinceMs = now();
  });
}
