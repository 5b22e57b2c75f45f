import { createHash } from 'node:crypto';
import { type Clock, Exclusive, type Logger, type Outbox, storeError } from '@plinth/kernel';
import { gameDataError } from '../errors.js';
import type { DraftRecord, Manifest, RecordChange, Version } from '../model/edition.js';
import { mapKinds } from '../model/kinds.js';
import type { EditionStore } from '../storage/edition-store.js';
import { type GroupStore, ObjectDamaged } from '../storage/group-store.js';
import type { TextStore } from '../storage/text-store.js';
import { DataSet } from './data/data-set.js';
import { countChanges, diffSets } from './data/set-changes.js';
import { SetObjects } from './data/set-objects.js';
import { validateSet } from './data/validation.js';
import { OldEditions } from './old-editions.js';
import {
  describePublication,
  type Edition,
  type Publication,
  type PublicationListener,
  type Published,
} from './publication.js';

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

/** Damaged versions stay so until somebody does something: asking more often changes nothing. */
const DAMAGE_RETRY_SEC = 60;

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

/**
 * All versions of the data. Readers take `current` and keep it as long as they like; a publication makes the next
 * one whole and durable before it becomes the current one. Changes run one after the other (`alone`).
 */
export class Library {
  readonly #needs: LibraryNeeds;
  readonly #listeners: PublicationListener[] = [];
  readonly #objects: SetObjects;
  readonly #old: OldEditions;
  #versions: Version[] = [];
  #current: Edition = { version: NO_VERSION, set: DataSet.empty() };
  #lastSeq = 0;
  #isDegraded = false;
  readonly #changes = new Exclusive();

  constructor(needs: LibraryNeeds) {
    this.#needs = needs;
    this.#objects = new SetObjects(needs.groups, needs.texts);
    this.#old = new OldEditions(async (version) => ({
      version,
      set: await this.#read(version.manifest),
    }));
  }

  /** Reads what is stored; again after a failure. @returns the draft, and what it changed of its base. */
  async load(): Promise<{ readonly draft: DataSet; readonly changes: readonly DraftRecord[] }> {
    const { editions, log } = this.#needs;
    await editions.migrate();
    this.#versions = await editions.versions();
    const { draftManifest, lastSeq } = await editions.state();
    this.#lastSeq = lastSeq;
    this.#isDegraded = false;
    for (const version of [...this.#versions].reverse()) {
      try {
        this.#current = { version, set: await this.#read(version.manifest) };
        break;
      } catch (err) {
        if (storeError.is(err, 'store_unusable')) throw err;
        this.#isDegraded = true;
        log.error({ err, version: version.version }, 'version of the game data cannot be read');
      }
    }
    await this.#keepNamed(draftManifest);
    const changes = await editions.drafts();
    return { draft: await this.#readDraft(draftManifest), changes };
  }

  /** A draft that cannot be read must not close what is published: its editors begin with that. */
  async #readDraft(manifest: Manifest | undefined): Promise<DataSet> {
    if (manifest === undefined) return this.#current.set;
    try {
      return await this.#read(manifest);
    } catch (err) {
      if (!(err instanceof ObjectDamaged)) throw err;
      this.#needs.log.error({ err }, 'draft of the game data cannot be read');
      return this.#current.set;
    }
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

  /** True when versions are stored and none of them could be read: what is current holds nothing. */
  get isUnreadable(): boolean {
    return this.#isDegraded && this.#current.version.version === 0;
  }

  /** Throws `unavailable`, so that nobody takes damage for empty data. */
  assertReadable(): void {
    if (this.isUnreadable) throw gameDataError('unavailable', { retryAfterSec: DAMAGE_RETRY_SEC });
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
    return this.#changes.run(change);
  }

  /** Number of the next change. Only inside `alone`; one that is not stored leaves a gap. */
  nextSeq(): number {
    this.#lastSeq += 1;
    return this.#lastSeq;
  }

  /** Throws `unknown_version` and `unavailable`. */
  async edition(number: number | undefined): Promise<Edition> {
    if (number === undefined || number === this.#current.version.version) return this.#current;
    const version = this.#versions.find((candidate) => candidate.version === number);
    if (version === undefined) throw gameDataError('unknown_version', { version: number });
    return await this.#orUnavailable(this.#old.edition(version));
  }

  /** Changes after `since`, oldest first. Throws `version_gone`, `unknown_version` and `unavailable`. */
  async changesSince(
    since: number,
  ): Promise<readonly (RecordChange & { readonly version: number })[]> {
    const oldest = this.#versions[0]?.version ?? 0;
    if (since > this.#current.version.version)
      throw gameDataError('unknown_version', { version: since });
    if (since + 1 < oldest) throw gameDataError('version_gone', { version: since, oldest });
    const found: (RecordChange & { version: number })[] = [];
    for (const { version, changesObject } of this.#versions) {
      if (version <= since) continue;
      const { lines } = await this.#orUnavailable(this.#needs.groups.get(changesObject));
      for (const line of lines) found.push({ version, ...(JSON.parse(line) as RecordChange) });
    }
    return found;
  }

  /**
   * Checks `set`, stores it and makes it the current version; all or nothing. Only inside `alone`.
   * Throws `validation_failed`. Without a difference the version stays.
   */
  async publish(set: DataSet, publication: Publication): Promise<Published> {
    const startMs = this.#needs.clock.monotonicMs();
    const before = this.#current;
    const faults = await validateSet(
      set,
      before.version.version === 0 ? {} : { since: before.set },
    );
    if (faults.length > 0) {
      throw gameDataError('validation_failed', {
        message: `${faults.length} faults; nothing was published`,
        details: faults,
      });
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
      await editions.history.markPublished(tx, publication.kinds, version.version);
      await editions.history.add(tx, {
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
      const previous = this.#current.version;
      const payload = describePublication({ version, previous, changes, action });
      await outbox.publish(tx, { type: `game_data.${action}`, payload });
    });
  }

  /** Stores the records of a set. @returns its manifest. */
  async store(set: DataSet): Promise<Manifest> {
    return await this.#objects.put(set);
  }

  async #orUnavailable<T>(reading: Promise<T>): Promise<T> {
    try {
      return await reading;
    } catch (err) {
      if (!(err instanceof ObjectDamaged)) throw err;
      this.#needs.log.error({ err }, 'old version of the game data cannot be read');
      throw gameDataError('unavailable', { retryAfterSec: DAMAGE_RETRY_SEC });
    }
  }

  async #read(manifest: Manifest): Promise<DataSet> {
    return await this.#objects.read(manifest, this.#current.set);
  }

  /** Removes changes and versions beyond those that are kept, and what only these versions had. */
  async #forgetOld(): Promise<void> {
    const { editions, keepVersions, keepHistory } = this.#needs;
    await editions.history.forget(keepHistory);
    const excess = this.#versions.length - keepVersions;
    if (excess <= 0) return;
    const kept = this.#versions.slice(excess);
    await editions.deleteVersions(kept[0]?.version ?? 0);
    this.#versions = kept;
    this.#old.keepOnly(kept);
    const { draftManifest } = await editions.state();
    await this.#keepNamed(draftManifest);
  }

  /** Removes the objects that neither a version nor the draft names. */
  async #keepNamed(draftManifest: Manifest | undefined): Promise<void> {
    const manifests = this.#versions.map(({ manifest }) => manifest);
    if (draftManifest !== undefined) manifests.push(draftManifest);
    const named = manifests.flatMap(({ groups }) => Object.values(groups).flat());
    const lists = this.#versions.map(({ changesObject }) => changesObject);
    await this.#needs.groups.keepOnly(new Set([...named, ...lists]));
  }
}

/** Identity of what a version holds: the same records give the same text on every machine. */
export function checksumOf({ manifest }: Version): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('hex');
}
