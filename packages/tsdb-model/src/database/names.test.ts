import assert from 'node:assert/strict';
import { it } from 'node:test';
import { findDatabaseNameFault, findLegacyDatabaseNameFault } from './names.js';

// Source of the expected messages: tsdb-http, "Database names" and "Request-level failures".
const CHARACTER =
  'invalid character in database or rp name: must be ASCII, containing only letters, numbers, underscores, or hyphens';
const POLICY =
  "db name with invalid retention policy, if providing a retention policy name, must be of form '<db_name>/<rp_name>'";

it('names the rule of the native endpoints that a database name violates', () => {
  const cases: [string, string | undefined][] = [
    ['a', undefined],
    ['0', undefined],
    ['My_db-1', undefined],
    ['db/rp', undefined],
    ['a'.repeat(511), undefined],
    ['', 'db name cannot be empty'],
    ['a'.repeat(512), 'db name too long: max 511'],
    ['ä'.repeat(256), 'db name too long: max 511'],
    ['_internal', 'db name did not start with a number or letter'],
    ['/rp', 'db name did not start with a number or letter'],
    ['ärger', 'db name did not start with a number or letter'],
    ['my db', CHARACTER],
    ['my.db', CHARACTER],
    ['db\n', CHARACTER],
    ['dä', CHARACTER],
    ['db/', POLICY],
    ['db/rp/x', POLICY],
  ];
  for (const [name, fault] of cases) assert.equal(findDatabaseNameFault(name), fault, name);
});

it('names the rule of the v1 and v2 write endpoints that a database name violates', () => {
  const bad = (name: string, index: number) =>
    `namespace name '${name}' contains invalid character, character number ${index} is not allowed`;
  const cases: [string, string | undefined][] = [
    ['a', undefined],
    ['a'.repeat(64), undefined],
    ['db/rp', undefined],
    ['_internal', undefined],
    ['', 'namespace name  length must be between 1 and 64 characters'],
    ['a'.repeat(65), `namespace name ${'a'.repeat(65)} length must be between 1 and 64 characters`],
    ['🍌', bad('🍌', 0)],
    ['it\tis', bad('it\tis', 2)],
    ['bad\0bananas', bad('bad\0bananas', 3)],
    ['my db', bad('my db', 2)],
  ];
  for (const [name, fault] of cases) assert.equal(findLegacyDatabaseNameFault(name), fault, name);
});
