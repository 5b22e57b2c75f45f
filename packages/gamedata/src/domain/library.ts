import { createHash } from 'node:crypto';
import { type Clock, type Logger, type Outbox, StoreUnusable } from '@plinth/kernel';
import { ValidationFailed, VersionGone, VersionUnknown } from '../errors.js';
import type { DraftRecord, HistoryOp, Manifest, RecordChange, Version } from '../model/edition.js';
import { byTypeKey, KINDS, type Kind, mapKinds } from '../model/kinds.js';
import type { EditionStore, EditionTransaction } from '../storage/edition-store.js';
import type { GroupStore } from '../storage/group-store.js';
import type { TextStore } from '../storage/text-store.js';
import { DataSet } from './data-set.js';
import { KindTable, type RowGroup } from './kind-table.js';
import { readRow } from './record-rows.js';
import { Row } from './row.js';
import { countChanges, diffSets } from './set-changes.js';
import { SharedTexts } from './shared-texts.js';
import { Slices } from './slices.js';
import { validateSet } from './validation.js';

export interface LibraryNeeds {
  readonly editions: EditionStore;
  readonly groups: GroupStore;
  /** Of the records that are in use. */
  readonly texts: TextStore;
  readonly clock: Clock;
  readonly outbox: Outbox;
  readonly log: Logger;
  readonly keepVersions: number;
  /** Changes; at least as many stay. */
  readonly keepHistory: number;
}

/** A version with its records. */
export interface Edition {
  readonly version: Version;
  readonly set: DataSet;
}

export interface Publication {
  readonly actor: string;
  readonly message: string;
  readonly source: string;
  readonly action: 'published' | 'imported' | 'restored';
  readonly op: HistoryOp;
  /** Kinds whose draft becomes this version. */
  readonly kinds: readonly Kind[];
  /** What the draft is afterwards. */
  readonly draft: DataSet;
  /** Runs in the transaction that makes the version durable. */
  readonly also?: (tx: EditionTransaction, published: Published) => Promise<void>;
}

export type PublicationListener = (
  edition: Edition,
  about: { readonly durationMs: number },
) => void;

export interface Published {
  readonly version: Version;
  readonly changed: number;
}

const NO_VERSION: Version = {
  version: 0,
  publishedMs: 0,
  message: '',
  actor: '',
  source: '',
  manifest: {
    defaultLanguage: 'en',
    languages: ['en'],
    aliases: {},
    groups: mapKinds(() => []),
  },
  counts: mapKinds(() => 0),
  changes: { created: 0, updated: 0, deleted: 0 },
  changesObject: '',
};

/** Old versions in memory at a time. */
const MAX_OPEN_EDITIONS = 3;
const PUTS_AT_A_TIME = 4;
const MAX_EVENT_RECORDS = 1000;

/**
 * All versions of the data. Readers take `current` and keep it as long as they like; a publication makes the next
 * one whole and durable before it becomes the current one. Changes run one after the other (`alone`).
 */
export class Library {
  readonly #needs: LibraryNeeds;
  readonly #listeners: PublicationListener[] = [];
  readonly #open = new Map<number, Promise<Edition>>();
  #versions: Version[] = [];
  #current: Edition = { version: NO_VERSION, set: DataSet.empty() };
  #lastSeq = 0;
  #isDegraded = false;
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(needs: LibraryNeeds) {
    this.#needs = needs;
  }

  /** Reads what is stored. @returns the draft, and what it changed of its base. */
  async load(): Promise<{ readonly draft: DataSet; readonly changes: readonly DraftRecord[] }> {
    const { editions, groups, log } = this.#needs;
    await editions.migrate();
    this.#versions = await editions.versions();
    const { draftManifest, lastSeq } = await editions.state();
    this.#lastSeq = lastSeq;
    for (const version of [...this.#versions].reverse()) {
      try {
        this.#current = { version, set: await this.#readSet(version.manifest) };
        break;
      } catch (err) {
        if (err instanceof StoreUnusable) throw err;
        this.#isDegraded = true;
        log.error({ err, version: version.version }, 'version of the game data cannot be read');
      }
    }
    const named = [...this.#versions.map(({ manifest }) => manifest), draftManifest].flatMap(
      (manifest) => (manifest === undefined ? [] : Object.values(manifest.groups).flat()),
    );
    const lists = this.#versions.map(({ changesObject }) => changesObject);
    await groups.keepOnly(new Set([...named, ...lists]));
    const changes = await editions.drafts();
    const base =
      draftManifest === undefined ? this.#current.set : await this.#readSet(draftManifest);
    return { draft: base, changes };
  }

  get texts(): TextStore {
    return this.#needs.texts;
  }

  get current(): Edition {
    return this.#current;
  }

  /** True when the newest version could not be read and an older one is served. */
  get isDegraded(): boolean {
    return this.#isDegraded;
  }

  /** Oldest first. */
  get versions(): readonly Version[] {
    return this.#versions;
  }

  onPublished(listener: PublicationListener): void {
    this.#listeners.push(listener);
  }

  /** One change at a time: drafts, imports and publications wait for each other. */
  alone<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#lastChange.then(change);
    this.#lastChange = result.catch(() => undefined); // Told to the caller of that change.
    return result;
  }

  /** Number of the next change. Only inside `alone`; one that is not stored leaves a gap. */
  nextSeq(): number {
    this.#lastSeq += 1;
    return this.#lastSeq;
  }

  /** Throws `VersionUnknown`. */
  async edition(number: number | undefined): Promise<Edition> {
    if (number === undefined || number === this.#current.version.version) return this.#current;
    const version = this.#versions.find((candidate) => candidate.version === number);
    if (version === undefined) throw new VersionUnknown({ version: number });
    let edition = this.#open.get(number);
    if (edition === undefined) {
      edition = this.#readSet(version.manifest).then((set) => ({ version, set }));
      edition.catch(() => this.#open.delete(number));
      const [oldest] = this.#open.keys();
      if (this.#open.size >= MAX_OPEN_EDITIONS && oldest !== undefined) this.#open.delete(oldest);
    } else this.#open.delete(number);
    // Used last, forgotten last.
    this.#open.set(number, edition);
    return await edition;
  }

  /** Changes after `since`, oldest first. Throws `VersionGone` and `VersionUnknown`. */
  async changesSince(
    since: number,
  ): Promise<readonly (RecordChange & { readonly version: number })[]> {
    const oldest = this.#versions[0]?.version ?? 0;
    if (since > this.#current.version.version) throw new VersionUnknown({ version: since });
    if (since + 1 < oldest) throw new VersionGone({ version: since, oldest });
    const found: (RecordChange & { version: number })[] = [];
    for (const { version, changesObject } of this.#versions) {
      if (version <= since) continue;
      const { lines } = await this.#needs.groups.get(changesObject);
      for (const line of lines) found.push({ version, ...(JSON.parse(line) as RecordChange) });
    }
    return found;
  }

  /**
   * Checks `set`, stores it and makes it the current version; all or nothing. Only inside `alone`.
   * Throws `ValidationFailed`. Without a difference the version stays.
   */
  async publish(set: DataSet, publication: Publication): Promise<Published> {
    const startMs = this.#needs.clock.monotonicMs();
    const before = this.#current;
    const faults = await validateSet(
      set,
      before.version.version === 0 ? {} : { since: before.set },
    );
    if (faults.length > 0) {
      throw new ValidationFailed(`${faults.length} faults; nothing was published`, faults);
    }
    const changes = await diffSets(before.set, set);
    const isSameAbout = JSON.stringify(before.set.about) === JSON.stringify(set.about);
    if (changes.length === 0 && isSameAbout && before.version.version > 0) {
      const published = { version: before.version, changed: 0 };
      await this.#needs.editions.transaction(async (tx) => {
        await publication.also?.(tx, published);
      });
      return published;
    }
    const manifest = await this.store(set);
    const draftManifest = await this.store(publication.draft);
    const changesObject = await this.#needs.groups.put({
      head: { holds: 'changes' },
      lines: changes.map((change) => [Buffer.from(JSON.stringify(change))]),
    });
    const version: Version = {
      version: (this.#versions.at(-1)?.version ?? 0) + 1,
      publishedMs: this.#needs.clock.nowMs(),
      message: publication.message,
      actor: publication.actor,
      source: publication.source,
      manifest,
      counts: set.counts(),
      changes: countChanges(changes),
      changesObject,
    };
    const published = { version, changed: changes.length };
    const hasOwnBase = JSON.stringify(draftManifest) !== JSON.stringify(manifest);
    await this.#commit({
      publication,
      published,
      changes,
      draftManifest: hasOwnBase ? draftManifest : null,
    });
    await set.prepare();
    this.#versions.push(version);
    this.#current = { version, set };
    this.#isDegraded = false;
    const durationMs = this.#needs.clock.monotonicMs() - startMs;
    for (const listener of this.#listeners) listener(this.#current, { durationMs });
    // What is published stays so, whatever becomes of what is old: that goes with the next publication.
    await this.#forgetOld().catch((err: unknown) => {
      this.#needs.log.error({ err }, 'old versions and changes of the game data cannot be removed');
    });
    return published;
  }

  async #commit(at: {
    readonly publication: Publication;
    readonly published: Published;
    readonly changes: readonly RecordChange[];
    readonly draftManifest: Manifest | null;
  }): Promise<void> {
    const { editions, outbox } = this.#needs;
    const { publication, published, changes, draftManifest } = at;
    const { version } = published;
    const seq = this.nextSeq();
    await editions.transaction(async (tx) => {
      await editions.insertVersion(tx, version);
      await editions.dropDrafts(tx, publication.kinds);
      await editions.markPublished(tx, publication.kinds, version.version);
      await editions.addHistory(tx, {
        seq,
        atMs: version.publishedMs,
        actor: publication.actor,
        op: publication.op,
        kind: null,
        id: null,
        before: null,
        after: null,
        replacedBy: null,
        aboutSeq: null,
        version: version.version,
      });
      await editions.putState(tx, { lastSeq: seq, draftManifest });
      await publication.also?.(tx, published);
      const { action } = publication;
      const payload = this.#eventOf(version, changes, action);
      await outbox.publish(tx, { type: `game_data.${action}`, payload });
    });
  }

  /** Source: gamedata, section 5. */
  #eventOf(version: Version, changes: readonly RecordChange[], action: string): object {
    return {
      action,
      version: {
        number: version.version,
        previous: this.#current.version.version || null,
        publishedAt: new Date(version.publishedMs).toISOString(),
        message: version.message,
        actor: version.actor,
        counts: byTypeKey(version.counts),
      },
      changes: {
        total: changes.length,
        truncated: changes.length > MAX_EVENT_RECORDS,
        records: changes.slice(0, MAX_EVENT_RECORDS).map(({ kind, id, op }) => ({ kind, id, op })),
      },
      service: 'game-data',
    };
  }

  /** Puts the groups that are not stored yet. @returns the manifest of the set. */
  async store(set: DataSet): Promise<Manifest> {
    const missing = KINDS.flatMap((kind) =>
      set.tables[kind].groups
        .filter(({ objectName }) => objectName === undefined)
        .map((group) => ({ kind, group })),
    );
    const put = async (): Promise<void> => {
      for (let next = missing.pop(); next !== undefined; next = missing.pop()) {
        const { kind, group } = next;
        await Row.pack(group.rows, this.texts);
        const lines = group.rows.map(({ rev, bytes }) => [Buffer.from(`${rev}\t`), bytes]);
        group.objectName = await this.#needs.groups.put({ head: { holds: 'rows', kind }, lines });
      }
    };
    await Promise.all(Array.from({ length: PUTS_AT_A_TIME }, put));
    return {
      ...set.about,
      groups: mapKinds((kind) => set.tables[kind].groups.map(({ objectName }) => objectName ?? '')),
    };
  }

  async #readSet({ groups, ...about }: Manifest): Promise<DataSet> {
    const known = new Map<string, RowGroup>();
    for (const table of Object.values(this.#current.set.tables)) {
      for (const group of table.groups) {
        if (group.objectName !== undefined) known.set(group.objectName, group);
      }
    }
    const reading = { slices: new Slices(), shared: new SharedTexts() };
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
    { slices, shared }: { readonly slices: Slices; readonly shared: SharedTexts },
  ): Promise<RowGroup> {
    const { lines } = await this.#needs.groups.get(objectName);
    const rows: Row[] = [];
    for (const line of lines) {
      const tab = line.indexOf('\t');
      rows.push(readRow(kind, line.slice(tab + 1), Number(line.slice(0, tab)), shared));
      const pause = slices.next();
      if (pause !== undefined) await pause;
    }
    await Row.pack(rows, this.texts);
    return { rows, objectName };
  }

  /** Removes changes and versions beyond those that are kept, and what only these versions had. */
  async #forgetOld(): Promise<void> {
    const { editions, groups, keepVersions, keepHistory } = this.#needs;
    await editions.forgetHistory(keepHistory);
    const excess = this.#versions.length - keepVersions;
    if (excess <= 0) return;
    const kept = this.#versions.slice(excess);
    await editions.deleteVersions(kept[0]?.version ?? 0);
    this.#versions = kept;
    for (const number of this.#open.keys()) {
      if (!kept.some(({ version }) => version === number)) this.#open.delete(number);
    }
    const { draftManifest } = await editions.state();
    const manifests = [
      ...kept.map(({ manifest }) => manifest),
      ...(draftManifest ? [draftManifest] : []),
    ];
    const named = manifests.flatMap((manifest) => Object.values(manifest.groups).flat());
    await groups.keepOnly(new Set([...named, ...kept.map(({ changesObject }) => changesObject)]));
  }
}

/** Identity of what a version holds: the same records give the same text on every machine. */
export function checksumOf({ manifest }: Version): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('hex');
}
