// Loaded before each test file: a test that hangs, or leaves something open that keeps its process running, fails and is named.
import fs from 'node:fs';
import os from 'node:os';
import { after, afterEach, beforeEach } from 'node:test';

const LIMIT_MS = 60_000;
const LINGER_LIMIT_MS = 20_000;
/** A test that needs longer has this option of its own. */
const OWN_LIMIT = /\btimeout: ([\d_]+)/g;
/** The files that share this process: `unit-groups.mjs`. */
const IMPORTED = /^await import\("(.*)"\);$/gm;

const running = [];

/** Everything takes longer on a machine that has more work than processors. */
const slowness = () => Math.max(1, (os.loadavg()[0] ?? 0) / os.availableParallelism());

/** The longest that any test of this process may take. */
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
  const test = running.at(-1);
  if (test === undefined) return;
  const seconds = Math.round((performance.now() - test.startMs) / 1000);
  if (seconds * 1000 > limitMs * slowness())
    fail(`"${test.name}" hangs: it has not ended after ${seconds} s`);
}

if (process.env.NODE_TEST_CONTEXT !== undefined) {
  setInterval(check, 1_000, limitOfProcess(process.argv[1])).unref();
  beforeEach(({ fullName }) => {
    running.push({ name: fullName, startMs: performance.now() });
  });
  afterEach(({ fullName }) => {
    running.splice(
      running.findLastIndex(({ name }) => name === fullName),
      1,
    );
  });
  after(() => {
    setTimeout(
      () => fail('all tests have ended, and something keeps their process running'),
      LINGER_LIMIT_MS * slowness(),
    ).unref();
  });
}
