import { errorCatalogue } from '../errors/domain-error.js';

export const objectError = errorCatalogue('ObjectError', {
  /** The name is already in use; objects are never overwritten. */
  object_exists: (object: string) => `object already exists: ${object}`,
  /** The object was never stored, or has been deleted. */
  object_not_found: (object: string) => `object not found: ${object}`,
  /** A name that could escape the store, or that some kinds of stores do not support. */
  object_name_invalid: (object: string) => `invalid object name: ${JSON.stringify(object)}`,
  /** A store on another machine rejected a request, which would fail again: wrong credentials, bucket or permissions. */
  store_refused: (reason: string) => `the object store rejected the request: ${reason}`,
  /** The store cannot be used, although it responds. */
  store_unusable: (reason: string) => `the object store cannot be used: ${reason}`,
  /** The store received bytes that do not match the checksum. */
  object_corrupt: (object: string) =>
    `object ${object} was rejected: its bytes do not match the checksum`,
});
