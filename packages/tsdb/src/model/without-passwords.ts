/** Both words of `WITH PASSWORD` and `SET PASSWORD`, whatever comments stand between them, and whichever endpoint the text was sent to. */
const PASSWORD = /\bpassword\b/i;
const WITH_OR_SET = /\b(?:with|set)\b/i;
/** Perhaps without an end: statements with mistakes are shown as well. */
const TEXT = /'(?:[^'\\]|\\.)*'?/gs;
const QUOTED_PASSWORD = /((?:\bpassword|=)\s*)"(?:[^"\\]|\\.)*"?/gis;

/** A statement as queries under way, those of the past and the audit log show it: without the passwords that it sets. */
export const withoutPasswords = (statement: string): string =>
  PASSWORD.test(statement) && WITH_OR_SET.test(statement)
    ? statement.replace(TEXT, '[REDACTED]').replace(QUOTED_PASSWORD, '$1[REDACTED]')
    : statement;
