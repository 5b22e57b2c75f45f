import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutPasswords, withoutPasswordsInSql } from './without-passwords.js';

describe('a displayed statement', () => {
  for (const [statement, shown] of [
    [
      `CREATE USER "ann" WITH PASSWORD 'it\\'s secret' WITH ALL PRIVILEGES`,
      'CREATE USER "ann" WITH PASSWORD [REDACTED] WITH ALL PRIVILEGES',
    ],
    [`set\n password for ann='secret`, 'set\n password for ann [REDACTED]'],
    [`SET PASSWORD FOR ann='secret'`, 'SET PASSWORD FOR ann=[REDACTED]'],
    [`CREATE USER u WITH PASSWRD 'secret'`, 'CREATE USER u [REDACTED]'],
    ['CREATE USER u WITH PASSWORD secret', 'CREATE USER u [REDACTED]'],
    ['create /* x */ user "a b" pass-word secret', 'create /* x */ user "a b" [REDACTED]'],
    [`CREATE USER u WITH PASSWORD 'x' WITH secret`, 'CREATE USER u [REDACTED]'],
    ['SET PASSWORD u secret', 'SET PASSWORD [REDACTED]'],
    ['SET PASSWORD FOR u TO secret', 'SET PASSWORD FOR u [REDACTED]'],
    ['SHOW USERS; CREATE USER u secret; SHOW USERS', 'SHOW USERS; CREATE USER u [REDACTED]'],
    [
      `CREATE USER a WITH PASSWORD 'x'; SET PASSWORD FOR b secret`,
      'CREATE USER a WITH PASSWORD [REDACTED]; SET PASSWORD FOR b [REDACTED]',
    ],
    [`CREATE USER u WITH PASSWORD 'x;y''secret'`, 'CREATE USER u [REDACTED]'],
    [`SELECT v FROM m WHERE t = 'create user x y'`, `SELECT v FROM m WHERE t = 'create user x y'`],
    ['CREATE DATABASE a WITH DURATION 1h', 'CREATE DATABASE a WITH DURATION 1h'],
    [
      `SET /* new */ PASSWORD FOR "ann" = "secret"`,
      'SET /* new */ PASSWORD FOR "ann" = [REDACTED]',
    ],
    [`CREATE USER ann WITH -- a\n PASSWORD "secret`, 'CREATE USER ann [REDACTED]'],
    [
      `CREATE USER a WITH /* a*b */ PASSWORD 'x'`,
      'CREATE USER a WITH /* a*b */ PASSWORD [REDACTED]',
    ],
    [
      `SET -- ${'-'.repeat(300)}\n PASSWORD FOR a = 'x'`,
      `SET -- ${'-'.repeat(300)}\n PASSWORD FOR a = [REDACTED]`,
    ],
    [`CREATE USER "u'x" WITH PASSWORD 'secret'`, `CREATE USER "u'x" WITH PASSWORD [REDACTED]`],
    [`SET PASSWORD FOR "'" = 'secret'`, `SET PASSWORD FOR "'" = [REDACTED]`],
    [`SET PASSWORD FOR "a\\"b'c" = "secret"`, `SET PASSWORD FOR "a\\"b'c" = [REDACTED]`],
    [`CREATE USER "x'" WITH PASSWORD 'it\\'s'`, `CREATE USER "x'" WITH PASSWORD [REDACTED]`],
    [
      `SHOW GRANTS FOR "'"; SET PASSWORD FOR "'" = 'one'; CREATE USER "x'" WITH PASSWORD 'two'`,
      `SHOW GRANTS FOR "'"; SET PASSWORD FOR "'" = [REDACTED]; CREATE USER "x'" WITH PASSWORD [REDACTED]`,
    ],
    [
      `CREATE USER a WITH PASSWORD /* it's */ 'secret'`,
      'CREATE USER a WITH PASSWORD /* [REDACTED] */ [REDACTED]',
    ],
    [
      `SELECT * FROM m WHERE host=~/'/; CREATE USER zed WITH PASSWORD 'secret'`,
      `SELECT * FROM m WHERE host=~/'/; [REDACTED]`,
    ],
    [
      `SELECT * FROM m WHERE host=~/--/; CREATE /* x */ USER zed WITH PASSWORD 'secret'`,
      'SELECT * FROM m WHERE host=~/--/; [REDACTED]',
    ],
    [`SELECT * FROM /"/; SET PASSWORD FOR a = 'secret'`, 'SELECT * FROM /"/; [REDACTED]'],
    [`SELECT * FROM /'/; CREATE USER a WITH PASSWRD 'secret'`, `SELECT * FROM /'/; [REDACTED]`],
    [
      `CREATE USER a WITH PASSWORD 'x' -- it was 'secret'`,
      'CREATE USER a WITH PASSWORD [REDACTED] /* [REDACTED] */',
    ],
    [
      `CREATE SUBSCRIPTION "s" ON "d"."rp" DESTINATIONS ALL 'https://ann:it's secret@host'`,
      'CREATE SUBSCRIPTION [REDACTED]',
    ],
    [
      `SHOW USERS; create "s" on "d" destinations any 'udp://ann:secret@host:1'`,
      'SHOW USERS; create "s" on "d" destinations [REDACTED]',
    ],
    [
      `CREATE SUBSCRIPTION s ON d DESTINATIONS ALL 'udp://host:1'`,
      `CREATE SUBSCRIPTION s ON d DESTINATIONS ALL 'udp://host:1'`,
    ],
    [`SELECT v FROM m WHERE h =~ /user/`, `SELECT v FROM m WHERE h =~ /user/`],
    [`SELECT * FROM m WHERE what = 'password'`, `SELECT * FROM m WHERE what = 'password'`],
  ] as const)
    it(`has no password: ${shown}`, () => {
      assert.equal(withoutPasswords(statement), shown);
      assert.equal(withoutPasswords(shown), shown, 'again');
    });
});

describe('a displayed SQL statement', () => {
  for (const [statement, shown] of [
    [
      `SELECT * FROM m WHERE x = '\\'; CREATE USER u WITH PASSWORD 'secret'`,
      `SELECT * FROM m WHERE x = '\\'; [REDACTED]`,
    ],
    [`SELECT $$'$$; CREATE USER u WITH PASSWORD 'secret'`, `SELECT $$'$$; [REDACTED]`],
    [
      `CREATE SUBSCRIPTION s ON d DESTINATIONS ALL 'http://ann:secret@host'`,
      'CREATE SUBSCRIPTION [REDACTED]',
    ],
    [`SET PASWORD FOR u = 'secret'`, '[REDACTED]'],
    [`ALTER USER u IDENTIFIED BY 'secret'`, '[REDACTED]'],
    [`CREATE ROLE u LOGIN PASSWORD 'secret'`, '[REDACTED]'],
    ['SELECT password FROM "user"', 'SELECT password FROM "user"'],
  ] as const)
    it(`has no password: ${shown}`, () => {
      assert.equal(withoutPasswordsInSql(statement), shown);
      assert.equal(withoutPasswordsInSql(shown), shown, 'again');
    });
});
