import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  DEFAULT_PLATFORM_SETTINGS,
  type PlatformSettings,
} from '../../model/platform/platform-settings.js';
import { VendorWord } from '../../model/platform/vendor-word.js';
import { REFERENCE_LISTS } from '../reference/reference-lists.js';
import { patchSettings } from './patch-settings.js';

const NEEDS = { lists: REFERENCE_LISTS, vendorWord: new VendorWord('stripe', []) };

/** Settings as stored before their values were validated against lists. */
const STORED: PlatformSettings = {
  ...DEFAULT_PLATFORM_SETTINGS,
  name: '',
  direct_min_api_version: '2025-13-01',
  disabled_capabilities: ['magic'],
};

describe('patchSettings', () => {
  it('changes one member although the other stored members are no longer valid', () => {
    assert.deepEqual(patchSettings(STORED, { max_accounts: 7 }, NEEDS), {
      ...STORED,
      max_accounts: 7,
    });
  });

  it('rejects invalid members of the patch itself', () => {
    const body = { disabled_capabilities: ['magic', 'cards'] };
    assert.throws(() => patchSettings(STORED, body, NEEDS), /disabled_capabilities\.0/);
  });

  it('restores the default of a removed member and accepts the aliases of requests', () => {
    const body = { name: null, disabled_capabilities: ['stripe_balance.stripe_transfers'] };
    const after = patchSettings(STORED, body, NEEDS);
    assert.equal(after.name, DEFAULT_PLATFORM_SETTINGS.name);
    assert.deepEqual(after.disabled_capabilities, ['vendor_balance.vendor_transfers']);
    assert.equal(after.direct_min_api_version, '2025-13-01');
  });
});
