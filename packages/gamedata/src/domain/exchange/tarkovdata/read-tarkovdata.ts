import type { Payload } from '../payload.js';
import { readHideout } from './read-hideout.js';
import { LANGUAGE_FILE, readAmmunition, readItems } from './read-items.js';
import { readQuests } from './read-quests.js';
import { readStoryline } from './read-storyline.js';
import { readLevels, readMaps, readPresets, readTraders } from './read-world.js';
import { type Files, Reading } from './reading.js';

/**
 * Reads the community's files as records. Every record keeps its raw form in `source`, so that an
 * export reproduces the files.
 * Source: gamedata, sections 1.6 and 8.3.
 */
export function readTarkovData(files: Files): Payload {
  const reading = new Reading(files);
  const known = new Set(fileNames(reading));
  for (const name of files.keys()) {
    if (!known.has(name)) reading.warn('unknown_file', name, '', 'unknown file, ignored');
  }
  // The order matters: quests refer to items, traders and maps.
  readItems(reading);
  readAmmunition(reading);
  readTraders(reading);
  readMaps(reading);
  readLevels(reading);
  readHideout(reading);
  readPresets(reading);
  readQuests(reading);
  readStoryline(reading);
  return {
    defaultLanguage: 'en',
    languages: [...reading.languages],
    aliases: {},
    records: reading.records,
    warnings: reading.warnings,
  };
}

function fileNames(reading: Reading): readonly string[] {
  const own = [
    'ammunition',
    'traders',
    'maps',
    'quests',
    'hideout',
    'item_presets',
    'levels',
    'storyline',
  ];
  const items = [...reading.files.keys()].filter((name) => LANGUAGE_FILE.test(name));
  return [...own.map((name) => `${name}.json`), ...items];
}
