#!/usr/bin/env node
// npm test [-- word ...] [--all]
//   no word   unit, property, wire and short crash tests
//   word ...  only the files whose path contains one of the words
//   --all     long crash and fuzz tests as well (*.long.test.ts)
//   --again   files that failed run once more, alone; what passes then is named as unsteady and does not fail the run
// Other flags go to the test runner, e.g. --test-name-pattern="reads timestamps".
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ensureBuiltOrExit } from './ensure-built.mjs';
import { root } from './lib/root.mjs';
import { runNode } from './lib/run.mjs';
import { listTestFiles } from './lib/test-files.mjs';

const CONCURRENCY = 2;
/** A test that hangs must fail, not stop the run. */
const TEST_TIMEOUT_MS = 300_000;
/** More files than this do not fail by chance. */
const MAX_FILES_AGAIN = 4;

const OWN_FLAGS = ['--all', '--again'];

const given = process.argv.slice(2);
const withLong = given.includes('--all');
const runnerFlags = given.filter((word) => word.startsWith('-') && !OWN_FLAGS.includes(word));
const words = given.filter((word) => !word.startsWith('-'));

await ensureBuiltOrExit();
const files = listTestFiles({ words, withLong });
if (files.length === 0) {
  console.error(`plinth: no test file's path contains ${words.join(' or ') || 'anything'}`);
  process.exit(1);
}
const reports = fs.mkdtempSync(path.join(os.tmpdir(), 'plinth-test-'));
try {
  process.exitCode = await runAll();
} finally {
  fs.rmSync(reports, { recursive: true, force: true });
}

/** @returns the exit code. */
async function runAll() {
  const first = await runFiles(files, CONCURRENCY);
  if (first.code === 0) return 0;
  tell('failed', first.failures);
  const compiled = first.failures.map(({ file }) => compiledFiles(path.relative(root, file)));
  const failedFiles = [...new Set(compiled.flat())];
  const alone =
    compiled.every((found) => found.length > 0) &&
    failedFiles.length > 0 &&
    failedFiles.length <= MAX_FILES_AGAIN;
  if (!given.includes('--again') || !alone) return first.code;
  console.error(`plinth: once more, alone: ${failedFiles.join(' ')}`);
  const second = await runFiles(failedFiles, 1);
  if (second.code !== 0) tell('failed again', second.failures);
  else tell('unsteady, mend it', first.failures);
  return second.code;
}

/**
 * The runner starts one process per file; one reporter on stdout, so its totals are the last lines.
 * @returns the runner's exit code and its failures as `failed-tests.mjs` tells them.
 */
async function runFiles(chosen, concurrency) {
  const report = path.join(reports, String(fs.readdirSync(reports).length));
  const code = await runNode([
    '--enable-source-maps',
    '--test',
    `--test-concurrency=${concurrency}`,
    ...(withLong ? [] : [`--test-timeout=${TEST_TIMEOUT_MS}`]),
    `--test-reporter=${process.stdout.isTTY ? 'spec' : 'tap'}`,
    '--test-reporter-destination=stdout',
    `--test-reporter=${path.join(root, 'scripts', 'lib', 'failed-tests.mjs')}`,
    `--test-reporter-destination=${report}`,
    ...runnerFlags,
    ...chosen,
  ]);
  const lines = fs.readFileSync(report, 'utf8').split('\n').filter(Boolean);
  return { code, failures: lines.map((line) => JSON.parse(line)) };
}

/** @param file a test file, its source or as compiled: node:test names either. Of tests that several files share: these. */
function compiledFiles(file) {
  if (files.includes(file)) return [file];
  const found = listTestFiles({ words: [file], withLong });
  if (found.length > 0) return found;
  const name = `/${path.basename(file, '.ts')}.js`;
  return files.filter((each) => fs.readFileSync(path.join(root, each), 'utf8').includes(name));
}

function tell(what, failures) {
  for (const { file, line, name, error } of failures) {
    console.error(
      `plinth: ${what}: ${path.relative(root, file)}:${line} ${name}\n    ${error.replaceAll('\n', '\n    ')}`,
    );
  }
}
