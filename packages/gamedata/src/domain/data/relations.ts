import type { Kind } from '../../model/kinds.js';
import type { Tables } from './kind-table.js';
import { listColumn, type Row, textColumn } from './row.js';
import { TimeSlices } from './time-slices.js';

export interface Offer {
  readonly traderId: string;
  readonly level: number;
  readonly price: number;
  readonly currency: string;
}

export interface InventoryColumn {
  readonly id: string;
  readonly level: number;
  readonly price: number;
  readonly currency: string;
}

export interface ModuleItemColumn {
  readonly id: string;
  readonly level: number;
}

/** Kinds whose records are scanned for references. */
export const RELATED_KINDS: readonly Kind[] = [
  'traders',
  'quests',
  'hideout',
  'item-presets',
  'ammunition',
];

/**
 * Reverse references: the records that refer to an item, trader or map.
 * Built in one pass over the kinds that are small in all known data sets; items are not scanned.
 */
export class Relations {
  readonly soldBy = new Index<Offer>();
  readonly questsOfItem = new Index<string>();
  readonly rewardedBy = new Index<string>();
  readonly hideoutOfItem = new Index<{ readonly moduleId: string; readonly level: number }>();
  readonly presetsOfItem = new Index<string>();
  readonly ammunitionOfItem = new Index<string>();
  readonly questsOfTrader = new Index<string>();
  readonly questsOfMap = new Index<string>();
  readonly tradersOfMap = new Index<string>();
  readonly gameIds = new Index<string>();

  private constructor() {}

  static atOnce(tables: Tables): Relations {
    const relations = new Relations();
    for (const _step of relations.#fill(tables));
    return relations;
  }

  /** Builds the relations in time slices. */
  static async inSteps(tables: Tables): Promise<Relations> {
    const relations = new Relations();
    const slices = new TimeSlices();
    for (const _step of relations.#fill(tables)) {
      const pause = slices.next();
      if (pause !== undefined) await pause;
    }
    return relations;
  }

  /** Yields once per row. */
  *#fill(tables: Tables): Generator<void> {
    for (const row of tables.traders.rows) {
      yield;
      for (const offer of listColumn<InventoryColumn>(row, 'inventory')) {
        const { level, price, currency } = offer;
        this.soldBy.add(offer.id, { traderId: row.id, level, price, currency });
      }
      this.tradersOfMap.addAll(listColumn(row, 'mapIds'), row.id);
    }
    for (const row of tables.quests.rows) {
      yield;
      this.#addQuest(row);
    }
    for (const row of tables.hideout.rows) {
      yield;
      for (const { id, level } of listColumn<ModuleItemColumn>(row, 'items')) {
        this.hideoutOfItem.add(id, { moduleId: row.id, level });
      }
    }
    for (const row of tables['item-presets'].rows) {
      yield;
      this.presetsOfItem.addAll(listColumn(row, 'partIds'), row.id);
    }
    for (const row of tables.ammunition.rows) {
      yield;
      const itemId = textColumn(row, 'itemId');
      if (itemId !== null) this.ammunitionOfItem.add(itemId, row.id);
    }
  }

  #addQuest(row: Row): void {
    this.questsOfItem.addAll(listColumn(row, 'itemIds'), row.id);
    this.rewardedBy.addAll(listColumn(row, 'rewardIds'), row.id);
    this.questsOfMap.addAll(listColumn(row, 'mapIds'), row.id);
    const giverId = textColumn(row, 'giverId');
    if (giverId !== null) this.questsOfTrader.add(giverId, row.id);
    const gameId = textColumn(row, 'gameId');
    if (gameId !== null) this.gameIds.add(gameId, row.id);
  }
}

class Index<T> {
  readonly #lists = new Map<string, T[]>();

  add(key: string, value: T): void {
    const list = this.#lists.get(key);
    if (list === undefined) this.#lists.set(key, [value]);
    else list.push(value);
  }

  addAll(keys: readonly string[], value: T): void {
    for (const key of keys) this.add(key, value);
  }

  of(key: string): readonly T[] {
    return this.#lists.get(key) ?? [];
  }
}
