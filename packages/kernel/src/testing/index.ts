export { ManualClock } from './manual-clock.js';
export { SeededRandom } from './seeded-random.js';
export { type SimFaults, SimFileSystem } from './sim-file-system.js';
