import type { Chance } from '../harness/index.js';

/** Strings that are difficult for parsers. */
const AWKWARD = [
  ...[
    '\0',
    '\n',
    '\r\n',
    '\\',
    '"',
    "'",
    '`',
    ',',
    '=',
    ' ',
    ';',
    '--',
    '/*',
    '*/',
    '$1',
    '$x',
    '?',
  ],
  ...[
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '((((((((',
    '))))))))',
    '-',
    '-0',
    '1e999',
    '0x',
    'NaN',
    'null',
  ],
  ...[
    '9223372036854775808',
    '-9223372036854775809',
    '18446744073709551616i',
    '0.0000000001',
    '99999',
  ],
  ...[
    'ä',
    '😀',
    '\u{feff}',
    '\u202e',
    '%',
    '%00',
    '%zz',
    '..',
    '/etc/passwd',
    '__proto__',
    'constructor',
  ],
  ...[
    'read_csv(',
    "COPY x TO '/tmp/x'",
    'ATTACH',
    'PRAGMA',
    'SELECT',
    'UNION',
    'ORDER BY',
    'interval ',
  ],
];

/** Applies one to four changes to a text: cut, repeat, join with another text, or insert an awkward string. */
export function mutated(text: string, chance: Chance, others: readonly string[]): string {
  let result = text;
  for (let left = chance.between(1, 4); left > 0; left--) result = changed(result, chance, others);
  return result;
}

function changed(text: string, chance: Chance, others: readonly string[]): string {
  const from = chance.between(0, text.length);
  const to = Math.min(text.length, from + chance.between(0, 12));
  const before = text.slice(0, from);
  switch (chance.between(0, 6)) {
    case 0:
      return before + text.slice(to);
    case 1:
      return before + text.slice(from, to).repeat(chance.between(2, 40)) + text.slice(to);
    case 2:
      return before + chance.pick(others).slice(chance.between(0, 20));
    case 3:
      return before + String.fromCodePoint(chance.between(0, 0x2ff)) + text.slice(to);
    case 4:
      return before + text.slice(to) + text.slice(from, to);
    default:
      return before + chance.pick(AWKWARD) + text.slice(from);
  }
}
