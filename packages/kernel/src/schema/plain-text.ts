/**
 * Characters that no name has: control characters, half surrogate pairs, line and paragraph separators, and those that
 * reverse the direction of the text around them. For regular expressions with the flag `u`.
 */
export const NO_NAME_CHARACTERS = '\\p{Control}\\p{Surrogate}\\p{Zl}\\p{Zp}\\p{Bidi_Control}';

const FORBIDDEN = new RegExp(`[${NO_NAME_CHARACTERS}]`, 'u');
const HALF = /\p{Surrogate}/u;

/**
 * Whether every store, log and terminal keeps the text as it is: whole characters, and none that controls. What names
 * something has to be one: half a character becomes another one in a store, and PostgreSQL takes no NUL.
 */
export const isPlainText = (text: string): boolean => !FORBIDDEN.test(text);

/** Whether the text has half of a surrogate pair in it, which UTF-8 cannot say. */
export const hasHalfCharacter = (text: string): boolean => HALF.test(text);
