import { type SampleItem, slugWord } from './sample-items.js';
import { sampleId } from './sample-random.js';
import type { WordLists } from './words.js';

/** A record as an editor would send it. */
export type Body = Record<string, unknown>;

/** Data to which later kinds refer. */
export interface World {
  readonly seed: number;
  readonly wordLists: WordLists;
  /** Items of the first block; all other kinds refer only to these. */
  readonly items: readonly SampleItem[];
}

// Ids that records of other kinds can use before the records exist.
export const traderId = (seed: number, index: number): string => sampleId(seed, 'traders', index);
export const questId = (seed: number, index: number): string => sampleId(seed, 'quests', index);
export const moduleId = (seed: number, index: number): string => sampleId(seed, 'hideout', index);
export const mapId = (wordLists: WordLists, index: number): string =>
  slugWord(wordLists.maps[index % wordLists.maps.length]?.name.en ?? '');
export const chapterId = (seed: number, index: number): string =>
  sampleId(seed, 'storyline', index);

export const TRADER_COUNT = 8;
export const MODULE_COUNT = 20;
/** Quests at scale 1; larger worlds repeat the block. */
export const QUEST_BLOCK = 128;

export const ofCategory = (world: World, ...categories: string[]): readonly SampleItem[] =>
  world.items.filter(({ category }) => categories.includes(category));

export const levelsOfModule = (index: number): number => (index % 2 === 0 ? 3 : 2);

export const SKILLS = [
  'Dredging',
  'Field Surgery',
  'Marksmanship',
  'Haggling',
  'Navigation',
  'Endurance',
];
