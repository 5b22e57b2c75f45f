// Source: docs/DURABILITY.md, "Recovery". PLINTH_CRASH_ROUNDS, PLINTH_CRASH_SEED and PLINTH_CRASH_KINDS set the number of rounds and the offsets.
import { it } from 'node:test';
import { runFlippedBytes } from './flipped-bytes-rounds.js';

it('A flipped bit at any of 200 offsets in each kind of file never causes a wrong row', async () => {
  const placeCount = Number(process.env['PLINTH_CRASH_ROUNDS'] ?? 200);
  const seed = Number(process.env['PLINTH_CRASH_SEED'] ?? Date.now() % 1_000_000);
  const kinds = process.env['PLINTH_CRASH_KINDS']?.split(',');
  // Written directly, because the runner shows diagnostics only when a test has ended.
  const report = (line: string): void => void process.stdout.write(`${line}\n`);
  await runFlippedBytes({ seed, placeCount, kinds, report });
});
