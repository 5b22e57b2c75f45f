import { objectError } from './object-errors.js';

/** One segment: letters, digits and a few symbols, without a leading dot. Names have at most 1024 bytes, as in S3. */
const SEGMENT = /^[A-Za-z0-9_=+@-][A-Za-z0-9_=+@.-]{0,199}$/;
const MAX_NAME_LENGTH = 1024;

/** Throws `object_name_invalid` for names that could escape a store, or that some kinds of stores do not support. */
export function checkObjectName(name: string): void {
  const isValid =
    name.length <= MAX_NAME_LENGTH && name.split('/').every((segment) => SEGMENT.test(segment));
  if (!isValid) throw objectError('object_name_invalid', name);
}
