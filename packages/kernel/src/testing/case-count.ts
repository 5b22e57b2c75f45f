/** A run of `npm test` sets it to `few`; `npm run test:full` repeats those tests with all of their cases. */
const CASES = 'PLINTH_TEST_CASES';
const FEW_SHARE = 0.2;

/** How many cases a test over generated input runs, at least one. */
export function caseCount(full: number): number {
  return process.env[CASES] === 'few' ? Math.ceil(full * FEW_SHARE) : full;
}
