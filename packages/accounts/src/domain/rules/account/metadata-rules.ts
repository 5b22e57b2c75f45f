import { MAX_METADATA_KEY_COUNT } from '../../../model/shape/person-params.js';
import type { Violation } from '../../../model/violation.js';
import { invalidField } from '../violate.js';

/**
 * Section 8.1: the bound holds for what is stored, not only for what one request brings.
 * @param metadata as it would be stored; `undefined` when the request does not touch it.
 */
export function checkMetadata(field: string, metadata: object | undefined): Violation | undefined {
  const count = Object.keys(metadata ?? {}).length;
  if (count <= MAX_METADATA_KEY_COUNT) return undefined;
  const message = `${field} would have ${count} keys, more than ${MAX_METADATA_KEY_COUNT}.`;
  return invalidField({ field, code: 'too_long', message });
}
