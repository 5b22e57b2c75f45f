/** Both words of `WITH PASSWORD` and `SET PASSWORD`, whatever comments stand between them, and whichever endpoint the text was sent to. */
const PASSWORD = /\bpassword\b/i;
const WITH_OR_SET = /\b(?:with|set)\b/i;
/** What was shown once is the same when it is shown again. A comment, a text, a quoted name, a word, or a character of its own. */
const TOKEN =
  /\[REDACTED\]|--[^\n]*|\/\*.*?(?:\*\/|$)|'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|[\p{L}\p{N}_]+|\S/gsu;
const BEFORE_PASSWORD = /^(?:password|=)$/i;
const COMMENT = /^(?:--|\/\*)/;
const OF_USER = /\b(?:create|set)\b/i;

/** What may stand behind the name of a user, by the words before it; `?` is the password. */
const UNDERSTOOD: Readonly<Record<string, readonly string[]>> = {
  'CREATE USER': ['WITH PASSWORD ?', 'WITH PASSWORD ? WITH ALL PRIVILEGES'],
  'SET PASSWORD FOR': ['= ?'],
};
const MOST_WORDS = 6;

/** A statement as queries under way, those of the past and the audit log show it: without the passwords that it sets. */
export function withoutPasswords(statement: string): string {
  const shown = OF_USER.test(statement) ? withoutMistaken(statement) : statement;
  return PASSWORD.test(shown) && WITH_OR_SET.test(shown) ? withoutTexts(shown) : shown;
}

/**
 * Every string, perhaps without an end, and a quoted name where a password stands. Read by tokens: a quote within a quoted name
 * or a comment begins no string.
 */
function withoutTexts(statement: string): string {
  let before = '';
  return statement.replace(TOKEN, (token) => {
    if (COMMENT.test(token)) return token;
    const isPassword =
      token.startsWith("'") || (token.startsWith('"') && BEFORE_PASSWORD.test(before));
    before = token;
    return isPassword ? '[REDACTED]' : token;
  });
}

/** Where a statement about a user has a mistake, any word may be the password: all behind the name goes. */
function withoutMistaken(text: string): string {
  let start = '';
  let nameEnd: number | undefined;
  let rest: string[] = [];
  let end = 0;
  const isMistaken = () => nameEnd !== undefined && !UNDERSTOOD[start]?.includes(rest.join(' '));
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (COMMENT.test(token)) continue;
    if (token === ';') {
      if (isMistaken()) break;
      [start, nameEnd, rest] = ['', undefined, []];
    } else if (nameEnd !== undefined) {
      rest.push(/^(?:\[REDACTED\]|'.*'|".*")$/s.test(token) ? '?' : token.toUpperCase());
      if (rest.length > MOST_WORDS) break;
    } else if (start === 'SET PASSWORD' && token.toUpperCase() !== 'FOR') {
      nameEnd = end; // Nobody is named.
    } else if (Object.hasOwn(UNDERSTOOD, start)) {
      nameEnd = index + token.length;
    } else if (start.length < 'SET PASSWORD FOR'.length) {
      start = `${start} ${token.toUpperCase()}`.trim();
    }
    end = index + token.length;
  }
  return isMistaken() ? `${text.slice(0, nameEnd)} [REDACTED]` : text;
}
