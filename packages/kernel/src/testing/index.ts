export { ManualClock } from './manual-clock.js';
export { SeededRandom } from './seeded-random.js';
