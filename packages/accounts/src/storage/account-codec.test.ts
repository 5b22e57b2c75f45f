// Source: docs/formats/accounts.md, "Rows".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { testAccount } from '../testing/test-account.js';
import { fromAccountRow, toAccountRow } from './account-codec.js';
import { Encryptor } from './encryptor.js';

it('stores the requirements of the operator as `injected`', () => {
  const requirement = {
    id: 'reqent_9',
    description: 'inquiry',
    awaiting_action_from: 'user',
    restricts: [],
  } as const;
  const account = testAccount({}, { operatorRequirements: [requirement] });
  const encryptor = new Encryptor({
    current: 'k1',
    keys: new Map(),
    digestKey: Buffer.alloc(32),
  });
  const row = toAccountRow(account, '{}', encryptor);
  const body = JSON.parse(row.body);
  assert.deepEqual(body.injected, [requirement]);
  assert.equal('operatorRequirements' in body, false);
  assert.deepEqual(fromAccountRow(row, account, encryptor), account);
});
