// Source: query-languages, section 15.1; docs/ARCHITECTURE.md, "Threads".
// Own process: its main thread is measured.
import { it } from 'node:test';
import { checkStatements } from './event-loop-statements.js';

const LINUX = {
  skip: process.platform !== 'linux' && 'CPU time is read from /proc',
  timeout: 360_000, // four times as long as on an idle machine
};

it('no statement over 60,000 series keeps others waiting', LINUX, async (test) => {
  // The long test runs the same statements on every endpoint.
  const only = /^(?!native: |_internal|Flight, |Flight: (?!Command|SELECT array_agg))/;
  await checkStatements({
    seriesCount: 60_000,
    maxMs: 50,
    only,
    report: test.diagnostic.bind(test),
  });
});

it('no statement about 1000 tables keeps others waiting', LINUX, async (test) => {
  const only =
    /^(?!Flight, |.* (?:LIMIT|FOR))(?:SHOW|EXPLAIN SELECT|DESCRIBE|native: SHOW|Flight: CommandGet|.*_schema|.*system)/;
  await checkStatements({
    seriesCount: 2000,
    tableCount: 1000,
    maxMs: 50,
    only,
    report: test.diagnostic.bind(test),
  });
});
