#!/usr/bin/env node
// npm test [-- word ...] [--all]
//   no word   unit, property, wire and short crash tests
//   word ...  only the files whose path contains one of the words
//   --all     long crash and fuzz tests as well (*.long.test.ts)
// Other flags go to the test runner, e.g. --test-name-pattern="reads timestamps".
import { ensureBuiltOrExit } from './ensure-built.mjs';
import { runNode } from './lib/run.mjs';
import { listTestFiles } from './lib/test-files.mjs';

const CONCURRENCY = 2;
/** A test that hangs must fail, not stop the run. */
const TEST_TIMEOUT_MS = 300_000;

const given = process.argv.slice(2);
const withLong = given.includes('--all');
const runnerFlags = given.filter((word) => word.startsWith('-') && word !== '--all');
const words = given.filter((word) => !word.startsWith('-'));

await ensureBuiltOrExit();
const files = listTestFiles({ words, withLong });
if (files.length === 0) {
  console.error(`plinth: no test file's path contains ${words.join(' or ') || 'anything'}`);
  process.exit(1);
}
// The runner starts one process per file; one reporter on stdout, so its totals are the last lines.
process.exitCode = await runNode([
  '--enable-source-maps',
  '--test',
  `--test-concurrency=${CONCURRENCY}`,
  ...(withLong ? [] : [`--test-timeout=${TEST_TIMEOUT_MS}`]),
  `--test-reporter=${process.stdout.isTTY ? 'spec' : 'tap'}`,
  '--test-reporter-destination=stdout',
  ...runnerFlags,
  ...files,
]);
