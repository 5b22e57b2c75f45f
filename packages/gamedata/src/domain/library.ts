import { createHash } from 'node:crypto';
import { asOutage, type Clock, type Logger, type Outbox } from '@plinth/kernel';
import { gameDataError } from '../errors.js';
import type { Manifest, RecordChange, StoredDraft, Version } from '../model/edition.js';
import { mapKinds } from '../model/kinds.js';
import type { HistoryBounds } from '../storage/edit-history.js';
import type { EditionState, EditionStore } from '../storage/edition-store.js';
import { type GroupStore, ObjectDamaged } from '../storage/group-store.js';
import type { TextStore } from '../storage/text-store.js';
import { DataSet } from './data/data-set.js';
import { countChanges, diffSets } from './data/set-changes.js';
import { SetObjects } from './data/set-objects.js';
import { validateSet } from './data/validation.js';
import { ConcurrentChange, type Ledger, type SerializedWrite } from './ledger.js';
import { OldEditions } from './old-editions.js';
import {
  describePublication,
  type Edition,
  type Publication,
  type PublicationListener,
  type Published,
} from './publication.js';

export interface LibraryDeps {
  readonly ledger: Ledger;
  readonly editions: EditionStore;
  readonly groups: GroupStore;
  /** Text of the records in use. */
  readonly texts: TextStore;
  readonly clock: Clock;
  readonly outbox: Outbox;
  readonly log: Logger;
  readonly keepVersions: number;
  readonly keepHistory: HistoryBounds;
}

/**
 * Maximum number of reads of the stored state; a read is repeated if the state changes during it.
 */
const MAX_READ_COUNT = 20;

/** Corruption persists until an operator acts, so clients should retry rarely. */
const DAMAGE_RETRY_SEC = 60;

const UNREADABLE = 'version of the game data cannot be read';
const REMEDY =
  'restore the object from a backup, or import and publish the data again; plinth verify lists corrupt objects';

/** State as of the given change numbers. */
export interface Loaded {
  /** Base of the draft. */
  readonly base: DataSet;
  readonly changes: readonly StoredDraft[];
  readonly seq: number;
  readonly baseSeq: number;
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

/**
 * All versions of the data. Readers use `current` and may keep a reference to it. A publication
 * makes the next version complete and durable before it becomes current. Changes are serialized by
 * `SerializedWrites`.
 */
export class Library {
  readonly #deps: LibraryDeps;
  readonly #listeners: PublicationListener[] = [];
  readonly #objects: SetObjects;
  readonly #old: OldEditions;
  #versions: readonly Version[] = [];
  #current: Edition = { version: NO_VERSION, set: DataSet.empty() };
  #isDegraded = false;

  constructor(deps: LibraryDeps) {
    this.#deps = deps;
    this.#objects = new SetObjects(deps.groups, deps.texts);
    this.#old = new OldEditions(async (version) => ({
      version,
      set: await this.#objects.read(version.manifest, [this.#current.set]),
    }));
  }

  /**
   * Reads the stored state of all nodes; also used after a failure. Call only inside
   * `Ledger.exclusive`.
   * @param known data set whose records the draft may share.
   */
  async load(known: DataSet): Promise<Loaded> {
    for (let readCount = 1; ; readCount++) {
      const { state, versions, changes } = await this.#stored();
      const found = await this.#newestReadable(versions);
      const base = await this.#readDraft(state.draftManifest, [found.edition.set, known]);
      // Missing objects are not corruption if another node has changed the base in the meantime.
      const { baseSeq } = await this.#deps.editions.state();
      if (baseSeq !== state.baseSeq && readCount < MAX_READ_COUNT) continue;
      this.#setCurrent(found.edition, versions, found.isDegraded);
      return { base, changes, seq: state.lastSeq, baseSeq: state.baseSeq };
    }
  }

  /** Reads state, versions and drafts consistently. */
  async #stored(): Promise<{
    readonly state: EditionState;
    readonly versions: readonly Version[];
    readonly changes: readonly StoredDraft[];
  }> {
    const { editions } = this.#deps;
    for (let readCount = 1; ; readCount++) {
      const state = await editions.state();
      const versions = await editions.versions();
      const changes = await editions.drafts(0);
      const { baseSeq } = await editions.state();
      if (baseSeq === state.baseSeq) return { state, versions, changes };
      if (readCount >= MAX_READ_COUNT) throw gameDataError('unavailable', { retryAfterSec: 1 });
    }
  }

  async #newestReadable(
    versions: readonly Version[],
  ): Promise<{ readonly edition: Edition; readonly isDegraded: boolean }> {
    let isDegraded = false;
    for (const version of [...versions].reverse()) {
      if (version.version === this.#current.version.version) {
        return { edition: this.#current, isDegraded };
      }
      try {
        const set = await this.#objects.read(version.manifest, [this.#current.set]);
        return { edition: { version, set }, isDegraded };
      } catch (err) {
        if (asOutage(err) !== undefined) throw err;
        isDegraded = true;
        if (!this.#isDegraded)
          this.#deps.log.error({ err, version: version.version, remedy: REMEDY }, UNREADABLE);
      }
    }
    return { edition: { version: NO_VERSION, set: DataSet.empty() }, isDegraded };
  }

  /** Makes an edition current, and notifies listeners if it differs from the previous one. */
  #setCurrent(edition: Edition, versions: readonly Version[], isDegraded: boolean): void {
    const isOther = edition !== this.#current;
    this.#versions = versions;
    this.#current = edition;
    this.#isDegraded = isDegraded;
    this.#old.retainOnly(versions);
    if (!isOther) return;
    for (const listener of this.#listeners) listener(edition, { durationMs: undefined });
  }

  /**
   * If the draft cannot be read, editors start from the published version, which must stay
   * available.
   */
  async #readDraft(manifest: Manifest | undefined, known: readonly DataSet[]): Promise<DataSet> {
    const [published = DataSet.empty()] = known;
    if (manifest === undefined) return published;
    try {
      return await this.#objects.read(manifest, known);
    } catch (err) {
      if (!(err instanceof ObjectDamaged)) throw err;
      this.#deps.log.error({ err, remedy: REMEDY }, 'draft of the game data cannot be read');
      return published;
    }
  }

  get texts(): TextStore {
    return this.#deps.texts;
  }

  get current(): Edition {
    return this.#current;
  }

  /** True when the newest version is unreadable and an older one is served. */
  get isDegraded(): boolean {
    return this.#isDegraded;
  }

  /** True when versions are stored but none is readable; the current version is then empty. */
  get isUnreadable(): boolean {
    return this.#isDegraded && this.#current.version.version === 0;
  }

  /** Throws `unavailable`, so that corruption is not mistaken for empty data. */
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

  /** Throws `unknown_version` and `unavailable`. */
  async edition(number: number | undefined): Promise<Edition> {
    if (number === undefined || number === this.#current.version.version) return this.#current;
    const version = this.#versions.find((candidate) => candidate.version === number);
    if (version === undefined) throw gameDataError('unknown_version', { version: number });
    return await this.#orUnavailable(this.#old.edition(version));
  }

  /**
   * Returns the changes after `since`, oldest first. Throws `version_gone`, `unknown_version` and
   * `unavailable`.
   */
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
      const { lines } = await this.#orUnavailable(this.#deps.groups.get(changesObject));
      for (const line of lines) found.push({ version, ...(JSON.parse(line) as RecordChange) });
    }
    return found;
  }

  /**
   * Validates and stores `set` and makes it the current version, atomically. An equal set does not create a version.
   * Call only inside `SerializedWrites.changeBase` or `SerializedWrites.changeBaseOnce`. Throws `validation_failed` and
   * `ConcurrentChange`.
   */
  async publish(set: DataSet, publication: Publication): Promise<Published> {
    const startMs = this.#deps.clock.monotonicMs();
    const before = this.#current;
    const faults = await validateSet(
      set,
      before.version.version === 0 ? {} : { since: before.set },
    );
    if (faults.length > 0) {
      throw gameDataError('validation_failed', {
        message: `the draft was not published (validation errors: ${faults.length}); fix them first`,
        details: faults,
      });
    }
    const changes = await diffSets(before.set, set);
    const isSameMetadata = JSON.stringify(before.set.metadata) === JSON.stringify(set.metadata);
    if (changes.length === 0 && isSameMetadata && before.version.version > 0) {
      const published = { version: before.version, changed: 0 };
      await this.#commitNothing(publication, published);
      return published;
    }
    // Everything that can fail runs before the commit, because a published version must be served.
    await set.prepare();
    const manifest = await this.store(set);
    const draftManifest = await this.store(publication.draft);
    const changesObject = await this.#deps.groups.put({
      head: { holds: 'changes' },
      lines: changes.map((change) => [Buffer.from(JSON.stringify(change))]),
    });
    const version: Version = {
      version: (this.#versions.at(-1)?.version ?? 0) + 1,
      publishedMs: this.#deps.clock.nowMs(),
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
    this.#versions = [...this.#versions, version];
    this.#current = { version, set };
    this.#isDegraded = false;
    const durationMs = this.#deps.clock.monotonicMs() - startMs;
    for (const listener of this.#listeners) listener(this.#current, { durationMs });
    // A failed cleanup does not affect the publication; the next one repeats it.
    await this.#forgetOld().catch((err: unknown) => {
      if (err instanceof ConcurrentChange) return;
      this.#deps.log.error(
        { err, remedy: REMEDY },
        'old versions and changes of the game data cannot be removed',
      );
    });
    return published;
  }

  async #commit(options: {
    readonly publication: Publication;
    readonly published: Published;
    readonly changes: readonly RecordChange[];
    readonly draftManifest: Manifest | null;
  }): Promise<void> {
    const { editions, outbox, ledger } = this.#deps;
    const { publication, published, changes, draftManifest } = options;
    const { version } = published;
    const { kinds } = publication;
    const store = async ({ tx, seq, throughSeq }: SerializedWrite): Promise<Manifest | null> => {
      await editions.insertVersion(tx, version);
      await editions.dropDrafts(tx, kinds, throughSeq);
      const at = { version: version.version, throughSeq };
      await editions.history.markPublished(tx, kinds, at);
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
      await publication.also?.(tx, published);
      const { action } = publication;
      const previous = this.#current.version;
      const payload = describePublication({ version, previous, changes, action });
      await outbox.publish(tx, { type: `game_data.${action}`, payload });
      return draftManifest;
    };
    await ledger.moveBase(store, { isStrict: publication.isStrict ?? false });
  }

  /** Moves the draft base without a new version. */
  async #commitNothing(publication: Publication, published: Published): Promise<void> {
    const { editions, ledger } = this.#deps;
    const { kinds, dropsDraft, isStrict = false } = publication;
    await ledger.moveBase(
      async ({ tx, throughSeq }) => {
        if (dropsDraft) await editions.dropDrafts(tx, kinds, throughSeq);
        await publication.also?.(tx, published);
        return dropsDraft ? null : undefined;
      },
      { isStrict },
    );
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
      this.#deps.log.error({ err }, 'old version of the game data cannot be read');
      throw gameDataError('unavailable', { retryAfterSec: DAMAGE_RETRY_SEC });
    }
  }

  /** Removes old changes and versions, and objects that only these versions used. */
  async #forgetOld(): Promise<void> {
    const { editions, ledger, keepVersions, keepHistory } = this.#deps;
    await editions.history.forget(keepHistory);
    const excess = this.#versions.length - keepVersions;
    if (excess <= 0) return;
    const retained = this.#versions.slice(excess);
    await ledger.moveBase(async ({ tx }) => {
      await editions.deleteVersions(tx, retained[0]?.version ?? 0);
      return undefined;
    });
    this.#versions = retained;
    this.#old.retainOnly(retained);
    await this.removeUnreferenced();
  }

  /** Removes objects that neither a version nor the draft uses. */
  async removeUnreferenced(): Promise<void> {
    await this.#deps.groups.keepOnly(await this.#deps.editions.referencedObjects());
  }
}

/**
 * Returns the checksum of a version's content; equal records have the same checksum on every
 * machine.
 */
export function checksumOf({ manifest }: Version): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('hex');
}
