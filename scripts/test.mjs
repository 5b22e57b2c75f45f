#!/usr/bin/env node
// npm test                      unit tests, query cases and wire tests of the main requests; takes minutes, needs only Node and npm
// npm test -- word ...          test files of any tier whose path contains one of the words
// npm run test:full             all tests except the long ones; tests that need PostgreSQL, Redis, Python or Chromium skip without it
// npm run test:long [-- word]   long tests (*.long.test.ts)
//   --rest        run only the tests that test:full adds to npm test
//   --durations   print the time, the CPU time and the server starts of each test process, not only the ten slowest
//   --again       repeat failed files separately; report tests that then pass as unstable, without failing the run
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
import { inTestOrder } from './lib/test-order.mjs';
import { groupUnitTests } from './lib/unit-groups.mjs';

/** Test files that run at the same time. Many files of the longer tests wait for timers, so that two leave cores idle. */
const CONCURRENCY = 2;
const LONG_CONCURRENCY = 4;
/** A test process that hangs fails after this time. `hang-watch.mjs` detects single tests that hang. */
const TEST_TIMEOUT_MS = 900_000;
/** More failed files than this are not repeated, because their failures are not random. */
const MAX_FILES_AGAIN = 4;
const SHOWN_COUNT = 10;
/** Engine tests on real stores take minutes, so `npm test` runs only the query cases and property tests. */
const ENGINE_TESTS = 'packages/tsdb/test/';
const QUICK_ENGINE_TESTS = /(?:-cases|\.prop)\.test\.js$/;
/** Tests that wait for seconds, because Redis measures the time. */
const CLOCK_OF_REDIS = /\/redis-store\.test\.js$/;

const NAME_PATTERN = /^--test-name-pattern=(.*)$/s;

const OWN_FLAGS = ['--full', '--rest', '--long', '--durations', '--again'];

const given = process.argv.slice(2);
const has = (flag) => given.includes(flag);
const runnerFlags = given.filter((word) => word.startsWith('-') && !OWN_FLAGS.includes(word));
const words = given.filter((word) => !word.startsWith('-'));
const isQuick = words.length === 0 && !['--full', '--rest', '--long'].some(has);

await ensureBuiltOrExit();
const files = chosenFiles();
if (files.length === 0) {
  console.error(`plinth: no test file path contains ${words.join(' or ') || 'anything'}`);
  process.exit(1);
}
if (isQuick) process.env['PLINTH_TEST_CASES'] = 'few';
const reports = fs.mkdtempSync(path.join(os.tmpdir(), 'plinth-test-'));
/** Contains the name of the test file for each server start (`tests/harness/server-process.ts`). */
const starts = path.join(reports, 'starts');
fs.writeFileSync(starts, '');
process.env['PLINTH_TEST_STARTS'] = starts;
/** Contains the time of each test process (`hang-watch.mjs`). */
const times = path.join(reports, 'times');
fs.writeFileSync(times, '');
process.env['PLINTH_TEST_TIMES'] = times;
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

/** Returns whether `npm test` runs only a part of the file's generated cases (`case-count.ts` of the kernel). */
function hasMoreCases(file) {
  return fs.readFileSync(path.join(root, file), 'utf8').includes('caseCount(');
}

function isMain(file) {
  if (file.startsWith(ENGINE_TESTS)) return QUICK_ENGINE_TESTS.test(file);
  if (!file.startsWith('tests/')) return !CLOCK_OF_REDIS.test(file);
  return MAIN_WIRE_FILES.includes(file.replace(/^tests\/dist\//, '').replace(/\.test\.js$/, ''));
}

/** @returns the exit code. */
async function runAll() {
  const concurrency = has('--rest') || has('--full') ? LONG_CONCURRENCY : CONCURRENCY;
  const startMs = performance.now();
  const first = await runFiles(inTestOrder(groupUnitTests(files, reports)), concurrency);
  printDurations(first.tests, (performance.now() - startMs) / 1000);
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
  console.error(`plinth: repeating separately: ${failedFiles.join(' ')}`);
  const second = await runFiles(failedFiles, 1);
  if (second.code !== 0) printFailures('failed again', second.failures);
  else printFailures('unstable, needs a fix', first.failures);
  return second.code;
}

/**
 * Runs each chosen file in its own process. Only one reporter writes to stdout, so its totals are the last lines.
 * @returns the runner's exit code, its tests (`test-report.mjs`) and the failed tests.
 */
async function runFiles(chosen, concurrency) {
  const report = path.join(reports, `report-${concurrency}`);
  const servers = await openSharedServers(reports);
  process.env['PLINTH_TEST_SERVERS'] = servers.socket;
  const code = await runNode([
    '--enable-source-maps',
    ...(has('--long') ? [] : [`--import=${path.join(root, 'scripts', 'lib', 'hang-watch.mjs')}`]),
    ...runnerFlags.filter((flag) => !NAME_PATTERN.test(flag)),
    path.join(root, 'scripts', 'lib', 'run-test-files.mjs'),
    JSON.stringify({
      concurrency,
      report,
      namePatterns: runnerFlags.flatMap((flag) => NAME_PATTERN.exec(flag)?.[1] ?? []),
      ...(!has('--long') && { timeoutMs: TEST_TIMEOUT_MS }),
    }),
    ...chosen,
  ]);
  sharedCount += servers.count();
  await servers.close();
  const tests = linesOf(report).map((line) => JSON.parse(line));
  return { code, tests, failures: tests.filter(({ error }) => error !== undefined) };
}

/** Prints the time of each test process, and the share of the processors that the run has used. */
function printDurations(tests, elapsedSec) {
  const all = linesOf(times).map((line) => JSON.parse(line));
  const total = all.reduce((sum, { cpuSec }) => sum + cpuSec, 0);
  const percent = Math.round((100 * total) / elapsedSec / os.availableParallelism());
  console.error(
    `plinth: ${tests.length} tests of ${all.length} processes in ${elapsedSec.toFixed()} s, ` +
      `${total.toFixed()} s CPU (${percent}% of ${os.availableParallelism()} cores); slowest:`,
  );
  const slowest = all.sort((a, b) => b.elapsedSec - a.elapsedSec);
  for (const each of has('--durations') ? slowest : slowest.slice(0, SHOWN_COUNT)) {
    const [elapsed, cpu] = [each.elapsedSec, each.cpuSec].map((sec) => sec.toFixed(1).padStart(6));
    const file = path.relative(root, each.file);
    console.error(
      `  ${elapsed} s ${cpu} s CPU  ${file.startsWith('..') ? path.basename(file) : file}`,
    );
  }
}

function linesOf(file) {
  return fs.readFileSync(file, 'utf8').split('\n').filter(Boolean);
}

function reportStarts() {
  const lines = linesOf(starts);
  const ofFile = new Map();
  for (const file of lines) ofFile.set(file, (ofFile.get(file) ?? 0) + 1);
  console.error(
    `plinth: ${lines.length + sharedCount} server starts: ${lines.length} by ${ofFile.size} test files, ${sharedCount} shared`,
  );
  if (!has('--durations')) return;
  for (const [file, count] of [...ofFile].sort(([, a], [, b]) => b - a))
    console.error(`  ${String(count).padStart(6)}    ${path.relative(root, file)}`);
}

/**
 * Returns the compiled test files for a source or compiled file, because node:test reports either. For a file of shared tests, returns
 * the files that import it.
 */
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
