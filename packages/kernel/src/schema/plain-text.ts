const FORBIDDEN = /[\p{Control}\p{Surrogate}]/u;
const HALF = /\p{Surrogate}/u;

/**
 * Whether every store, log and terminal preserves the text: only complete characters, and no control characters. Names
 * must meet this requirement: a store changes half a surrogate pair, and PostgreSQL rejects NUL.
 */
export const isPlainText = (text: string): boolean => !FORBIDDEN.test(text);

/** Whether the text contains half a surrogate pair, which UTF-8 cannot represent. */
export const hasLoneSurrogate = (text: string): boolean => HALF.test(text);

/** Characters that no name may contain, as a class of a regular expression with flag `u`. */
const HIDDEN = [
  // Characters that `isPlainText` rejects.
  '\\p{Control}\\p{Surrogate}',
  // Line and paragraph separators, which end lines in logs and scripts.
  '\\p{Zl}\\p{Zp}',
  // Directional marks and invisible characters, which can make one name look like another.
  '\\p{Cf}\\p{Default_Ignorable_Code_Point}',
].join('');

/** Parts of an emoji that are invisible without others: they select its form or join it to the next one. */
const EMOJI_PART = '(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])[\\u200d\\ufe0f]';

/**
 * One character that names of tokens, users and apps can contain. For a regular expression with flag `u`.
 */
export const SAFE_IN_NAMES = `(?:[^${HIDDEN}]|${EMOJI_PART})`;

const SAFE = new RegExp(`^${SAFE_IN_NAMES}*$`, 'u');

export const isSafeName = (name: string): boolean => SAFE.test(name);
