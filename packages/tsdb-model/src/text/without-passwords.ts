/**
 * Both words of `WITH PASSWORD` and `SET PASSWORD`, with any comments in between and on every
 * endpoint.
 */
const PASSWORD = /\bpassword\b/i;
const WITH_OR_SET = /\b(?:with|set)\b/i;
/**
 * Matches a redaction, comment, string, quoted name, word, or single character. Matching redactions
 * keeps repeated calls idempotent.
 */
const TOKEN =
  /\[REDACTED\]|--[^\n]*|\/\*.*?(?:\*\/|$)|'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|[\p{L}\p{N}_]+|\S/gsu;
const BEFORE_PASSWORD = /^(?:password|=)$/i;
const COMMENT = /^(?:--|\/\*)/;
const ABOUT_USER = /\b(?:user|role|identified)\b|\bpas[sw]/i;
const START_OF_USER = /\b(?:create|set|password)\b/i;
/** In SQL, a column may have the name `password`. */
const START_IN_SQL = /\b(?:create|set|alter|grant)\b/i;
/**
 * Destinations are URLs, which can contain credentials. Subscriptions are not supported, but the refused statement is
 * shown.
 */
const SUBSCRIPTION = /\bcreate\b[^;]*?\b(?:subscri\w*|destinations?)\b/i;
const OF_USER = /\b(?:create|set)\b/i;

/** The words that may follow a user name, by the words before it; `?` is the password. */
const UNDERSTOOD: Readonly<Record<string, readonly string[]>> = {
  'CREATE USER': ['WITH PASSWORD ?', 'WITH PASSWORD ? WITH ALL PRIVILEGES'],
  'SET PASSWORD FOR': ['= ?'],
};
const MOST_WORDS = 6;

/**
 * Returns a statement without the passwords that it sets, as shown in running queries, the query
 * log and the audit log.
 */
export function withoutPasswords(statement: string): string {
  const text = withoutLogins(statement);
  if (hasSlash(text)) return cutAt(START_OF_USER, text);
  const shown = OF_USER.test(text) ? withoutMistaken(text) : text;
  return PASSWORD.test(shown) && WITH_OR_SET.test(shown) ? withoutTexts(shown) : shown;
}

/**
 * Like `withoutPasswords` for SQL, which has no statements about users. Text that looks like one was meant for another
 * endpoint, and SQL quotes differ.
 */
export function withoutPasswordsInSql(statement: string): string {
  return cutAt(START_IN_SQL, withoutLogins(statement));
}

/** Removes everything after the start of a subscription, because a login can contain any character. */
function withoutLogins(text: string): string {
  const start = text.includes('@') ? SUBSCRIPTION.exec(text) : null;
  return start === null ? text : `${text.slice(0, start.index)}${start[0]} [REDACTED]`;
}

/**
 * Returns whether the text may contain a regular expression. It can contain quotes and comment starts, and only the
 * parser can find its end.
 */
function hasSlash(text: string): boolean {
  for (const [token] of text.matchAll(TOKEN)) if (token === '/') return true;
  return false;
}

function cutAt(startOfChange: RegExp, text: string): string {
  const start = ABOUT_USER.test(text) ? startOfChange.exec(text)?.index : undefined;
  return start === undefined ? text : `${text.slice(0, start)}[REDACTED]`;
}

/**
 * Redacts every string, terminated or not, and a quoted name in the position of a password. Reads tokens, because a
 * quote within a quoted name or a comment does not start a string.
 */
function withoutTexts(statement: string): string {
  let before = '';
  return statement.replace(TOKEN, (token) => {
    // A comment could contain a password.
    if (COMMENT.test(token)) return /['"]/.test(token) ? '/* [REDACTED] */' : token;
    const isPassword =
      token.startsWith("'") || (token.startsWith('"') && BEFORE_PASSWORD.test(before));
    before = token;
    return isPassword ? '[REDACTED]' : token;
  });
}

/** Removes everything after the name if a statement about a user is malformed, because any word can be the password. */
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
      nameEnd = end; // The statement names no user.
    } else if (Object.hasOwn(UNDERSTOOD, start)) {
      nameEnd = index + token.length;
    } else if (start.length < 'SET PASSWORD FOR'.length) {
      start = `${start} ${token.toUpperCase()}`.trim();
    }
    end = index + token.length;
  }
  return isMistaken() ? `${text.slice(0, nameEnd)} [REDACTED]` : text;
}
