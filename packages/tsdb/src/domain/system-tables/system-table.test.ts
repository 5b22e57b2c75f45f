import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import { BOOLEAN, nanosOfMs, systemTable, TEXT, UINT64 } from './system-table.js';
import { type TokenRecord, tokensTable } from './tables/tokens.js';

describe('systemTable', () => {
  it('orders cells by column and requests the rows for each query', () => {
    let count = 0;
    const table = systemTable({ b: TEXT, a: UINT64, c: BOOLEAN }, () => {
      count++;
      return [{ a: count, c: undefined, b: 'x' }];
    });
    assert.deepEqual(
      table.columns.map(({ name, type }) => [name, type.kind]),
      [
        ['b', 'utf8'],
        ['a', 'int'],
        ['c', 'boolean'],
      ],
    );
    assert.equal(count, 0);
    assert.deepEqual(table.rows(), [['x', 1, undefined]]);
    assert.deepEqual(table.rows(), [['x', 2, undefined]]);
  });

  it('converts milliseconds to the nanoseconds of every timestamp column', () => {
    assert.equal(nanosOfMs(1_745_000_000_123), 1_745_000_000_123_000_000n);
    assert.equal(nanosOfMs(undefined), undefined);
  });
});

describe('tokensTable', () => {
  const token: TokenRecord = {
    id: 7,
    name: 'ci',
    hash: '0123456789abcdef'.repeat(8),
    createdMs: 1000,
    createdByTokenId: 0,
    updatedMs: undefined,
    updatedByTokenId: undefined,
    expiryMs: 2000,
    permissions: undefined,
  };
  const read = (isAuthRequired: boolean) => {
    const table = tokensTable({ list: () => [token], isAuthRequired }, FULL_ACCESS);
    return { names: table.columns.map(({ name }) => name), rows: table.rows() };
  };

  it('shows nine digits of the hash', () => {
    const { names, rows } = read(true);
    const hashAt = names.indexOf('hash');
    assert.equal(rows[0]?.[hashAt], '012345678');
  });

  it('has no hash column if authentication is off', () => {
    const { names, rows } = read(false);
    assert.ok(!names.includes('hash'));
    assert.equal(names.length, 10);
    assert.deepEqual(rows, [
      [
        ...[7, 'ci', 1_000_000_000n, undefined, 0, undefined, undefined, 2_000_000_000n, '*:*:*'],
        undefined,
      ],
    ]);
  });
});
