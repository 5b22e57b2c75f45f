import { errorCatalogue } from '../errors/domain-error.js';

export const objectError = errorCatalogue('ObjectError', {
  /** The name is taken; objects are never overwritten. */
  object_exists: (object: string) => `object exists: ${object}`,
  /** Never put here, or deleted since. */
  object_not_found: (object: string) => `object not found: ${object}`,
  /** A name that could lead out of the store, or that not every kind of store can hold. */
  object_name_invalid: (object: string) => `object name is not valid: ${JSON.stringify(object)}`,
});
