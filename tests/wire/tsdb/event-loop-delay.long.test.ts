// Source: query-languages, section 15.1; docs/ARCHITECTURE.md, "Threads".
import { it } from 'node:test';
import { checkStatements } from './event-loop-statements.js';

it('no statement over 500,000 series keeps others waiting', async (test) => {
  const report = test.diagnostic.bind(test);
  await checkStatements({ seriesCount: 500_000, maxMs: 100, report });
});
