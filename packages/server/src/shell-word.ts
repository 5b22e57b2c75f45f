/** Quotes one word of a command to copy into a shell. */
export const shellWord = (text: string): string =>
  /^[\w.,:@%+=/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
