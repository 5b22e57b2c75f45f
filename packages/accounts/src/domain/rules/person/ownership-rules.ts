import type { Relationship } from '../../../model/account/person.js';
import type { Violation } from '../../../model/violation.js';
import { violate } from '../violate.js';

const FRACTION_DIGITS = 10;
const HUNDRED = scaled('100');

/** An owner's share must be above zero (row 70). `path` is the path of the relationship. */
export function checkOwnShare(
  path: string,
  relationship: Relationship | undefined,
): Violation | undefined {
  const percent = relationship?.percent_ownership;
  if (!relationship?.owner || percent === undefined || scaled(percent) !== 0n) return undefined;
  return violate('person_percent_ownership_invalid', {
    param: `${path}.percent_ownership`,
    message: `${path}.percent_ownership of an owner must be more than 0, not ${percent}.`,
  });
}

/** Whether the shares of all owners exceed 100 %. Uses decimal arithmetic without rounding. */
export function exceedsWhole(relationships: readonly (Relationship | undefined)[]): boolean {
  const total = relationships.reduce(
    (sum, relationship) =>
      relationship?.owner ? sum + scaled(relationship.percent_ownership ?? '0') : sum,
    0n,
  );
  return total > HUNDRED;
}

/** Whether a share is at least `percent`, an integer. */
export function isAtLeast(share: string | undefined, percent: number): boolean {
  return share !== undefined && scaled(share) >= scaled(String(percent));
}

/** Converts a decimal string to an integer in units of the last allowed digit. */
function scaled(decimal: string): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return BigInt(
    `${whole || '0'}${fraction.padEnd(FRACTION_DIGITS, '0').slice(0, FRACTION_DIGITS)}`,
  );
}
