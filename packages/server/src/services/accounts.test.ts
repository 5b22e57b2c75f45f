// Source: accounts, section 17.3; docs/SETTINGS.md: unless given, settings of events are those of webhooks.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { loadSettings } from '@plinth/kernel';
import { SETTINGS } from '../settings.js';
import { egressOf } from './accounts.js';

/** Egress settings of event deliveries for these flags. */
const egress = (flags: Readonly<Record<string, string>>) =>
  egressOf(loadSettings(SETTINGS, { flags: new Map(Object.entries(flags)), env: {} }));

const CASES = [
  ['allowed-ports', 'allowedPorts', ['443', [443]], ['1', [1]]],
  ['extra-ca-file', 'extraCaFile', ['/a.pem', '/a.pem'], ['/b.pem', '/b.pem']],
  ['egress-proxy', 'proxy', ['http://a:1', 'http://a:1'], ['http://b:1', 'http://b:1']],
  ['egress-no-proxy', 'directHosts', ['a.example', ['a.example']], ['b.example', ['b.example']]],
] as const;

for (const [flag, name, [own, expected], [others, expectedOthers]] of CASES) {
  it(`${flag} of webhooks applies to events unless accounts sets its own`, () => {
    assert.deepEqual(egress({ [`webhooks-${flag}`]: others })[name], expectedOthers);
    assert.deepEqual(egress({ [`accounts-${flag}`]: own })[name], expected);
    const both = { [`accounts-${flag}`]: own, [`webhooks-${flag}`]: others };
    assert.deepEqual(egress(both)[name], expected);
  });
}

it('targets that webhooks may reach are not allowed for events', () => {
  assert.deepEqual(egress({ 'webhooks-allow-private-targets': '10.0.0.1' }).allowedTargets, []);
  const own = egress({ 'accounts-allow-private-targets': '10.0.0.1' });
  assert.deepEqual(own.allowedTargets, ['10.0.0.1']);
});
