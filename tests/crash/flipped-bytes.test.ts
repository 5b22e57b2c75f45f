// Source: docs/DURABILITY.md, "Recovery"; docs/formats/commit-log.md, "Repair".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runFlippedBytes } from './flipped-bytes-rounds.js';

it('A flipped bit in any kind of file never causes a wrong row or an unreported loss', async (t) => {
  const report = (line: string): void => t.diagnostic(line);
  const seen = await runFlippedBytes({ seed: 20260131, placeCount: 3, report });
  // The offsets are chosen so that each of these results occurs: a test that changes nothing would also pass.
  const kinds = new Set([...seen].map((each) => each.split(':')[0]));
  for (const kind of ['catalog', 'log', 'stored file', 'quarantine', 'journal'])
    assert.ok(kinds.has(kind), kind);
  assert.ok(seen.has('log: repaired'), [...seen].join());
  assert.ok(seen.has('quarantine: served'), [...seen].join());
});
