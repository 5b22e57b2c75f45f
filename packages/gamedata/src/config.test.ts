// Source: gamedata, sections 2.13 and 10.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { loadSettings } from '@plinth/kernel';
import { GAMEDATA_SETTINGS } from './config.js';

const load = (
  flags: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
) => loadSettings({ gamedata: GAMEDATA_SETTINGS }, { flags: new Map(Object.entries(flags)), env });

it('a base of images that is not an https URL stops the start', () => {
  for (const base of ['http://cdn.example', 'https://cdn.example/?a', 'cdn']) {
    const given = { 'gamedata-image-base': base };
    assert.throws(() => load(given), /--gamedata-image-base: expected text like/, base);
  }
  load({ 'gamedata-image-base': 'https://cdn.example/pictures' });
});

it('a token that is too short is refused with its least length, and is not shown', () => {
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
