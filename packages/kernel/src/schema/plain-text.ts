const FORBIDDEN = /[\p{Control}\p{Surrogate}]/u;
const HALF = /\p{Surrogate}/u;

/**
 * Whether every store, log and terminal preserves the text: only complete characters, and no control characters. Names must meet
 * this: a store changes half a surrogate pair, and PostgreSQL rejects NUL.
 */
export const isPlainText = (text: string): boolean => !FORBIDDEN.test(text);

/** Whether the text contains half a surrogate pair, which UTF-8 cannot represent. */
export const hasHalfCharacter = (text: string): boolean => HALF.test(text);

/**
 * Characters that names of tokens, users and apps must not contain: characters that `isPlainText` rejects, line and
 * paragraph separators, and directional marks, which can make one name look like another. For a regular expression
 * with flag `u`.
 */
export const UNSAFE_IN_NAMES = '\\p{Control}\\p{Surrogate}\\p{Zl}\\p{Zp}\\p{Bidi_Control}';

const UNSAFE = new RegExp(`[${UNSAFE_IN_NAMES}]`, 'u');

export const isSafeName = (name: string): boolean => !UNSAFE.test(name);
