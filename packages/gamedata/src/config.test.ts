// Source: gamedata, sections 2.13 and 10.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { loadSettings } from '@plinth/kernel';
import { GAMEDATA_SETTINGS } from './config.js';

const load = (
  flags: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
) => loadSettings({ gamedata: GAMEDATA_SETTINGS }, { flags: new Map(Object.entries(flags)), env });

it('rejects an image base that is not an https URL at startup', () => {
  for (const base of ['http://cdn.example', 'https://cdn.example/?a', 'cdn']) {
    const given = { 'gamedata-image-base': base };
    assert.throws(() => load(given), /--gamedata-image-base: expected text like/, base);
  }
  load({ 'gamedata-image-base': 'https://cdn.example/pictures' });
});

it('rejects a short token with the minimum length, without showing it', () => {
  const given = { PLINTH_GAMEDATA_ADMIN_TOKEN: 'too-short-one' };
  assert.throws(
    () => load({}, given),
    (error: Error) => {
      const text = `${error.message} ${JSON.stringify(error)}`;
      assert.match(text, /PLINTH_GAMEDATA_ADMIN_TOKEN: expected .*at least 16 characters/);
      assert.doesNotMatch(text, /too-short-one/);
      return true;
    },
  );
});
