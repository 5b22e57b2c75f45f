import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutPasswords } from './without-passwords.js';

describe('a statement as it is shown', () => {
  for (const [statement, shown] of [
    [
      `CREATE USER "ann" WITH PASSWORD 'it\\'s secret' WITH ALL PRIVILEGES`,
      'CREATE USER "ann" WITH PASSWORD [REDACTED] WITH ALL PRIVILEGES',
    ],
    [`set\n password for ann='secret`, 'set\n password for ann=[REDACTED]'],
    [
      `SET /* new */ PASSWORD FOR "ann" = "secret"`,
      'SET /* new */ PASSWORD FOR "ann" = [REDACTED]',
    ],
    [
      `CREATE USER ann WITH -- a\n PASSWORD "secret`,
      'CREATE USER ann WITH -- a\n PASSWORD [REDACTED]',
    ],
    [
      `CREATE USER a WITH /* a*b */ PASSWORD 'x'`,
      'CREATE USER a WITH /* a*b */ PASSWORD [REDACTED]',
    ],
    [
      `SET -- ${'-'.repeat(300)}\n PASSWORD FOR a = 'x'`,
      `SET -- ${'-'.repeat(300)}\n PASSWORD FOR a = [REDACTED]`,
    ],
    [`SELECT * FROM m WHERE what = 'password'`, `SELECT * FROM m WHERE what = 'password'`],
  ] as const)
    it(`has no password: ${shown}`, () => assert.equal(withoutPasswords(statement), shown));
});
