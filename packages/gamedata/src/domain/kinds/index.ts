import type { Kind } from '../../model/kinds.js';
import { AMMUNITION } from './ammunition.js';
import { HIDEOUT } from './hideout.js';
import { ITEM_PRESETS } from './item-presets.js';
import { ITEMS } from './items.js';
import type { KindSpec } from './kind-spec.js';
import { LEVELS } from './levels.js';
import { MAPS } from './maps.js';
import { QUESTS } from './quests.js';
import { STORYLINE } from './storyline.js';
import { TRADERS } from './traders.js';

/**
 * A spec accepts only records of its own kind. Callers look it up by the kind of the row, which
 * TypeScript cannot express.
 */
const SPECS = {
  items: ITEMS,
  ammunition: AMMUNITION,
  traders: TRADERS,
  quests: QUESTS,
  maps: MAPS,
  hideout: HIDEOUT,
  'item-presets': ITEM_PRESETS,
  levels: LEVELS,
  storyline: STORYLINE,
};

// biome-ignore lint/suspicious/noExplicitAny: see above, only `any` accepts each kind.
export type AnySpec = KindSpec<any>;

export const KIND_SPECS: Readonly<Record<Kind, AnySpec>> = SPECS;
