// Source: query-languages, section 15.3; docs/ARCHITECTURE.md, "Threads".
import { it } from 'node:test';
import { checkStatements } from './event-loop-statements.js';

it('no statement over 100,000 series keeps others waiting', async () => {
  await checkStatements({ seriesCount: 100_000, maxMs: 50 });
});
