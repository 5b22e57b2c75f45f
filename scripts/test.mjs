#!/usr/bin/env node
// npm test                      unit tests, query cases, and wire tests of the main requests: minutes, needs Node and npm only
// npm test -- word ...          the test files whose path contains one of the words, of whichever tier
// npm run test:full             every test but the long ones; some need PostgreSQL, Redis, Python, Chromium, and skip without
// npm run test:long [-- word]   the long ones (*.long.test.ts)
//   --rest        what test:full has beyond npm test
//   --durations   print the duration and the server starts of each test file, not just the ten slowest
//   --again       files that failed run once more, alone; what passes then is named as unsteady and does not fail the run
// Other flags go to the test runner, e.g. --test-name-pattern="reads timestamps".
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ensureBuiltOrExit } from './ensure-built.mjs';
import { MAIN_WIRE_FILES } from './lib/main-wire-files.mjs';
import { root } from './lib/root.mjs';
import { runNode } from './lib/run.mjs';
import { openSharedServers } from './lib/shared-servers.mjs';
import { listTestFiles } from './lib/test-files.mjs';
import { groupUnitTests } from './lib/unit-groups.mjs';

const CONCURRENCY = 2;
/** A process that hangs must fail, not stop the run; of one test this is `hang-watch.mjs`. */
const TEST_TIMEOUT_MS = 900_000;
/** More files than this do not fail by chance. */
const MAX_FILES_AGAIN = 4;
const SHOWN_COUNT = 10;
/** Tests of the complete engine on real stores take minutes: `npm test` has the query cases and generated ones. */
const ENGINE_TESTS = 'packages/tsdb/test/';
const QUICK_ENGINE_TESTS = /(?:-cases|\.prop)\.test\.js$/;

const OWN_FLAGS = ['--full', '--rest', '--long', '--durations', '--again'];

const given = process.argv.slice(2);
const has = (flag) => given.includes(flag);
const runnerFlags = given.filter((word) => word.startsWith('-') && !OWN_FLAGS.includes(word));
const words = given.filter((word) => !word.startsWith('-'));
const isQuick = words.length === 0 && !['--full', '--rest', '--long'].some(has);

await ensureBuiltOrExit();
const files = chosenFiles();
if (files.length === 0) {
  console.error(`plinth: no test file's path contains ${words.join(' or ') || 'anything'}`);
  process.exit(1);
}
if (isQuick) process.env['PLINTH_TEST_CASES'] = 'few';
const reports = fs.mkdtempSync(path.join(os.tmpdir(), 'plinth-test-'));
/** A line with the test file for each server that the tests started: `tests/harness/server-process.ts`. */
const starts = path.join(reports, 'starts');
fs.writeFileSync(starts, '');
process.env['PLINTH_TEST_STARTS'] = starts;
let sharedCount = 0;
try {
  process.exitCode = await runAll();
} finally {
  fs.rmSync(reports, { recursive: true, force: true });
}

function chosenFiles() {
  const all = listTestFiles({ words, withLong: has('--long') });
  if (has('--long')) return all.filter((file) => file.endsWith('.long.test.js'));
  if (words.length > 0 || has('--full')) return all;
  return all.filter(has('--rest') ? (file) => !isMain(file) || hasMoreCases(file) : isMain);
}

/** Those whose generated cases `npm test` runs a part of: `case-count.ts` of the kernel. */
function hasMoreCases(file) {
  return fs.readFileSync(path.join(root, file), 'utf8').includes('caseCount(');
}

function isMain(file) {
  if (file.startsWith(ENGINE_TESTS)) return QUICK_ENGINE_TESTS.test(file);
  if (!file.startsWith('tests/')) return true;
  return MAIN_WIRE_FILES.includes(file.replace(/^tests\/dist\//, '').replace(/\.test\.js$/, ''));
}

/** @returns the exit code. */
async function runAll() {
  const first = await runFiles(groupUnitTests(files, reports), CONCURRENCY);
  printDurations(first.tests);
  reportStarts();
  if (first.code === 0) return 0;
  printFailures('failed', first.failures);
  const compiled = first.failures.map(({ file }) => compiledFiles(path.relative(root, file)));
  const failedFiles = [...new Set(compiled.flat())];
  const alone =
    compiled.every((found) => found.length > 0) &&
    failedFiles.length > 0 &&
    failedFiles.length <= MAX_FILES_AGAIN;
  if (!has('--again') || !alone) return first.code;
  console.error(`plinth: once more, alone: ${failedFiles.join(' ')}`);
  const second = await runFiles(failedFiles, 1);
  if (second.code !== 0) printFailures('failed again', second.failures);
  else printFailures('unsteady, fix it', first.failures);
  return second.code;
}

/**
 * One process for each of `chosen`; one reporter on stdout, so its totals are the last lines.
 * @returns the runner's exit code, its tests (`test-report.mjs`), and those that failed.
 */
async function runFiles(chosen, concurrency) {
  const report = path.join(reports, `report-${concurrency}`);
  const servers = await openSharedServers(reports);
  process.env['PLINTH_TEST_SERVERS'] = servers.socket;
  const code = await runNode([
    '--enable-source-maps',
    ...(has('--long') ? [] : [`--import=${path.join(root, 'scripts', 'lib', 'hang-watch.mjs')}`]),
    '--test',
    `--test-concurrency=${concurrency}`,
    ...(has('--long') ? [] : [`--test-timeout=${TEST_TIMEOUT_MS}`]),
    `--test-reporter=${process.stdout.isTTY ? 'spec' : 'tap'}`,
    '--test-reporter-destination=stdout',
    `--test-reporter=${path.join(root, 'scripts', 'lib', 'test-report.mjs')}`,
    `--test-reporter-destination=${report}`,
    ...runnerFlags,
    ...chosen,
  ]);
  sharedCount += servers.count();
  await servers.close();
  const tests = fs
    .readFileSync(report, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return { code, tests, failures: tests.filter(({ error }) => error !== undefined) };
}

/** Sums of the tests of each file; the start of its process and its hooks are not included. */
function printDurations(tests) {
  const ofFile = new Map();
  for (const { file, durationMs } of tests) ofFile.set(file, (ofFile.get(file) ?? 0) + durationMs);
  const slowest = [...ofFile].sort(([, a], [, b]) => b - a);
  const shown = has('--durations') ? slowest : slowest.slice(0, SHOWN_COUNT);
  console.error(`plinth: ${tests.length} tests of ${ofFile.size} files; the slowest:`);
  for (const [file, ms] of shown)
    console.error(`  ${(ms / 1000).toFixed(1).padStart(6)} s  ${path.relative(root, file)}`);
}

function reportStarts() {
  const lines = fs.readFileSync(starts, 'utf8').split('\n').filter(Boolean);
  const ofFile = new Map();
  for (const file of lines) ofFile.set(file, (ofFile.get(file) ?? 0) + 1);
  console.error(
    `plinth: ${lines.length + sharedCount} server starts: ${lines.length} by ${ofFile.size} test files, ${sharedCount} shared`,
  );
  if (!has('--durations')) return;
  for (const [file, count] of [...ofFile].sort(([, a], [, b]) => b - a))
    console.error(`  ${String(count).padStart(6)}    ${path.relative(root, file)}`);
}

/** @param file a test file, its source or as compiled: node:test names either. Of tests that several files share: these. */
function compiledFiles(file) {
  if (files.includes(file)) return [file];
  const found = listTestFiles({ words: [file], withLong: has('--long') });
  if (found.length > 0) return found;
  const name = `/${path.basename(file, '.ts')}.js`;
  return files.filter((each) => fs.readFileSync(path.join(root, each), 'utf8').includes(name));
}

function printFailures(what, failures) {
  for (const { file, line, name, error } of failures) {
    console.error(
      `plinth: ${what}: ${path.relative(root, file)}:${line} ${name}\n    ${error.replaceAll('\n', '\n    ')}`,
    );
  }
}
