/** `npm test` sets it to `few`; `npm run test:full` runs those tests with all their cases. */
const CASES = 'PLINTH_TEST_CASES';
const FEW_SHARE = 0.2;

/** The number of cases of a test with generated input, at least one. */
export function caseCount(full: number): number {
  return process.env[CASES] === 'few' ? Math.ceil(full * FEW_SHARE) : full;
}
