// Loaded before each test file: a test that hangs, or leaves something open that keeps its process running, fails and is named.
import fs from 'node:fs';
import os from 'node:os';
import { afterEach, beforeEach } from 'node:test';

const LIMIT_MS = 60_000;
/** A test that needs longer has this option of its own. */
const OWN_LIMIT = /\btimeout: ([\d_]+)/g;
/** The files that share this process: `unit-groups.mjs`. */
const IMPORTED = /^await import\("(.*)"\);$/gm;

/** Tests that run, the innermost last. */
const running = [];
let quietSinceMs = performance.now();

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
  const { name, startMs } = running.at(-1) ?? { startMs: quietSinceMs };
  const seconds = Math.round((performance.now() - startMs) / 1000);
  if (seconds * 1000 <= limitMs * slowness()) return;
  if (name !== undefined) fail(`"${name}" hangs: it has not ended after ${seconds} s`);
  fail(`no test has run for ${seconds} s: a hook hangs, or a test left something open`);
}

if (process.env.NODE_TEST_CONTEXT !== undefined) {
  setInterval(check, 1_000, limitOfProcess(process.argv[1])).unref();
  beforeEach(({ fullName }) => {
    running.push({ name: fullName, startMs: performance.now() });
  });
  afterEach(({ fullName }) => {
    const index = running.findLastIndex(({ name }) => name === fullName);
    if (index >= 0) running.splice(index, 1);
    quietSinceMs = performance.now();
  });
}
