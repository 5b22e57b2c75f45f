// Source: docs/adr/0082-file-commits.md, "Testing". The long variant runs any number of other
// seeds.
import { it } from 'node:test';
import { runShortSimulation } from './short-simulation.js';

it('contains exactly the acknowledged data through many steps (from seed 100)', () =>
  runShortSimulation(100));
