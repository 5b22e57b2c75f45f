// node [FLAG ...] run-test-files.mjs OPTIONS FILE ...
// Runs test files in the given order, which `node --test` would replace by the order of their paths. OPTIONS is JSON:
// {concurrency, timeoutMs, namePatterns, report}. Totals are the last lines on stdout; `report` is a file for `test-report.mjs`.
import fs from 'node:fs';
import { run } from 'node:test';
import { spec, tap } from 'node:test/reporters';
import testReport from './test-report.mjs';

const [options, ...files] = process.argv.slice(2);
const { concurrency, timeoutMs, namePatterns, report } = JSON.parse(options);

const tests = run({
  files,
  concurrency,
  ...(timeoutMs !== undefined && { timeout: timeoutMs }),
  ...(namePatterns.length > 0 && { testNamePatterns: namePatterns }),
});
tests.on('test:fail', ({ todo, skip }) => {
  if (todo === undefined && skip === undefined) process.exitCode = 1;
});
tests.compose(process.stdout.isTTY ? new spec() : tap).pipe(process.stdout);
tests.compose(testReport).pipe(fs.createWriteStream(report));
