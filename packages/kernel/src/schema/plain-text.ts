const FORBIDDEN = /[\p{Control}\p{Surrogate}]/u;
const HALF = /\p{Surrogate}/u;

/**
 * Whether every store, log and terminal keeps the text as it is: whole characters, and none that controls. What names
 * something has to be one: half a character becomes another one in a store, and PostgreSQL takes no NUL.
 */
export const isPlainText = (text: string): boolean => !FORBIDDEN.test(text);

/** Whether the text has half of a surrogate pair in it, which UTF-8 cannot say. */
export const hasHalfCharacter = (text: string): boolean => HALF.test(text);

/**
 * Characters that names of tokens, users and apps do not contain: what `isPlainText` refuses, line and paragraph separators, and
 * marks that change the direction of the text around them, by which one name can look like another. For the flag `u`.
 */
export const UNSAFE_IN_NAMES = '\\p{Control}\\p{Surrogate}\\p{Zl}\\p{Zp}\\p{Bidi_Control}';

const UNSAFE = new RegExp(`[${UNSAFE_IN_NAMES}]`, 'u');

export const isSafeName = (name: string): boolean => !UNSAFE.test(name);
