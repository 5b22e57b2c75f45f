import type { Language } from './macros.js';

const PLAIN = { sql: /^[a-z_][a-z0-9_]*$/, influxql: /^[A-Za-z_][A-Za-z0-9_]*$/ };
/** The reserved words of both languages. */
const RESERVED = new Set(
  'all and any as asc between by case cast create cross current_date database delete desc distinct drop else end except exists explain false fill field from full group having in inner insert interval into is join key left like limit measurement natural not null offset on or order outer over partition right select series set show slimit soffset table tag then time to true union using values when where window with'.split(
    ' ',
  ),
);

/** Returns the name, quoted if the language requires it. */
export function quoteName(name: string, language: Language): string {
  const isPlain = PLAIN[language].test(name) && !RESERVED.has(name.toLowerCase());
  if (isPlain || name === 'time') return name;
  return language === 'sql'
    ? `"${name.replaceAll('"', '""')}"`
    : `"${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

export const quoteText = (text: string, language: Language): string =>
  language === 'sql'
    ? `'${text.replaceAll("'", "''")}'`
    : `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
