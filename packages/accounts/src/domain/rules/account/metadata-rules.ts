import { MAX_METADATA_KEY_COUNT } from '../../../model/shape/person-params.js';
import type { Violation } from '../../../model/violation.js';
import { invalidField } from '../violate.js';

/**
 * The limit applies to the merged metadata, not only to that of the request (section 8.1).
 * @param metadata as it would be stored; `undefined` if the request does not change it.
 */
export function checkMetadata(field: string, metadata: object | undefined): Violation | undefined {
  const count = Object.keys(metadata ?? {}).length;
  if (count <= MAX_METADATA_KEY_COUNT) return undefined;
  const message = `${field} would contain ${count} keys; the limit is ${MAX_METADATA_KEY_COUNT}.`;
  return invalidField({ field, code: 'too_long', message });
}
