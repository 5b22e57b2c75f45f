const FORBIDDEN = /[\p{Control}\p{Surrogate}]/u;

/**
 * Whether every store, log and terminal keeps the text as it is: whole characters, and none that controls. What names
 * something has to be one: half a character becomes another one in a store, and PostgreSQL takes no NUL.
 */
export const isPlainText = (text: string): boolean => !FORBIDDEN.test(text);
