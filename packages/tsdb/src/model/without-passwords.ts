/** As `WITH PASSWORD` and `SET PASSWORD` stand in statements of version 1, whichever endpoint they were sent to. */
const SETS_PASSWORD = /\b(?:with|set)(?:\s|--[^\n]{0,200}\n|\/\*[^*]{0,200}\*\/)+password\b/i;
/** Perhaps without an end: statements with mistakes are shown as well. */
const TEXT = /'(?:[^'\\]|\\.)*'?/gs;
const QUOTED_PASSWORD = /((?:\bpassword|=)\s*)"(?:[^"\\]|\\.)*"?/gis;

/** A statement as queries under way, those of the past and the audit log show it: without the passwords that it sets. */
export const withoutPasswords = (statement: string): string =>
  SETS_PASSWORD.test(statement)
    ? statement.replace(TEXT, '[REDACTED]').replace(QUOTED_PASSWORD, '$1[REDACTED]')
    : statement;
