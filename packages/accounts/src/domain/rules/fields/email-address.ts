import { isEmail } from './libraries.js';

/** Labels of a host name are 63 characters at most, and so is what stands before the @ here (64 are allowed). */
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const PLAIN = new RegExp(
  `^(?=[^@]{1,63}@)[A-Za-z0-9]+(?:[._+-][A-Za-z0-9]+)*@(?:${LABEL}\\.){1,3}[A-Za-z]{2,24}$`,
);

/** What nearly all addresses are like is seen at a glance; the library judges the others. It takes all that are plain. */
export const isEmailAddress = (text: string): boolean => PLAIN.test(text) || isEmail()(text);
