import { isEmail } from './libraries.js';

/**
 * Host name labels have at most 63 characters. The local part is limited to the same length here
 * (64 are allowed).
 */
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const PLAIN = new RegExp(
  `^(?=[^@]{1,63}@)[A-Za-z0-9]+(?:[._+-][A-Za-z0-9]+)*@(?:${LABEL}\\.){1,3}[A-Za-z]{2,24}$`,
);

/**
 * A fast check accepts nearly all addresses; the library checks the others. The library also
 * accepts all addresses that the fast check accepts.
 */
export const isEmailAddress = (text: string): boolean => PLAIN.test(text) || isEmail()(text);
