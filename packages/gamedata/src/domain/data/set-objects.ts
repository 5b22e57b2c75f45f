import type { Manifest } from '../../model/edition.js';
import { KINDS, type Kind, mapKinds } from '../../model/kinds.js';
import type { GroupStore } from '../../storage/group-store.js';
import type { TextStore } from '../../storage/text-store.js';
import { DataSet } from './data-set.js';
import { KindTable, type RowGroup } from './kind-table.js';
import { readRow } from './record-rows.js';
import { Row } from './row.js';
import { SharedTexts } from './shared-texts.js';
import { TimeSlices } from './time-slices.js';

const PUTS_AT_A_TIME = 4;

/** Stores data sets as one object per group of rows and a manifest with their names. */
export class SetObjects {
  readonly #groups: GroupStore;
  readonly #texts: TextStore;

  constructor(groups: GroupStore, texts: TextStore) {
    this.#groups = groups;
    this.#texts = texts;
  }

  /** Stores the groups that are not stored yet. @returns the manifest of the set. */
  async put(set: DataSet): Promise<Manifest> {
    const missing = KINDS.flatMap((kind) =>
      set.tables[kind].groups
        .filter(({ objectName }) => objectName === undefined)
        .map((group) => ({ kind, group })),
    );
    const put = async (): Promise<void> => {
      for (let next = missing.pop(); next !== undefined; next = missing.pop()) {
        const { kind, group } = next;
        await Row.pack(group.rows, this.#texts);
        const lines = group.rows.map(({ rev, bytes }) => [Buffer.from(`${rev}\t`), bytes]);
        group.objectName = await this.#groups.put({ head: { holds: 'rows', kind }, lines });
      }
    };
    await Promise.all(Array.from({ length: PUTS_AT_A_TIME }, put));
    return {
      ...set.metadata,
      groups: mapKinds((kind) => set.tables[kind].groups.map(({ objectName }) => objectName ?? '')),
    };
  }

  /** Reads a set. Groups that one of `others` already has are shared. */
  async read({ groups, ...about }: Manifest, others: readonly DataSet[]): Promise<DataSet> {
    const known = new Map<string, RowGroup>();
    for (const table of others.flatMap(({ tables }) => Object.values(tables))) {
      for (const group of table.groups) {
        if (group.objectName !== undefined) known.set(group.objectName, group);
      }
    }
    const reading = { slices: new TimeSlices(), shared: new SharedTexts() };
    const tables = new Map<Kind, KindTable>();
    for (const kind of KINDS) {
      const read: RowGroup[] = [];
      for (const name of groups[kind]) {
        const group = known.get(name) ?? (await this.#readGroup(kind, name, reading));
        read.push(group);
      }
      tables.set(kind, new KindTable(read));
    }
    const set = new DataSet(
      about,
      mapKinds((kind) => tables.get(kind) ?? new KindTable([])),
    );
    await set.prepare();
    return set;
  }

  async #readGroup(
    kind: Kind,
    objectName: string,
    { slices, shared }: { readonly slices: TimeSlices; readonly shared: SharedTexts },
  ): Promise<RowGroup> {
    const { lines } = await this.#groups.get(objectName);
    const rows: Row[] = [];
    for (const line of lines) {
      const tab = line.indexOf('\t');
      rows.push(readRow(kind, line.slice(tab + 1), Number(line.slice(0, tab)), shared));
      const pause = slices.next();
      if (pause !== undefined) await pause;
    }
    await Row.pack(rows, this.#texts);
    return { rows, objectName };
  }
}
