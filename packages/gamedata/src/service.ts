import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type BackupMoment,
  type Clock,
  type CountTogether,
  type FileSystem,
  type FrozenFiles,
  type HttpService,
  type Logger,
  type Metrics,
  type ObjectStore,
  type Outbox,
  type Random,
  type RelationalStore,
  type RouteGroup,
  repeatJob,
  whenIdle,
} from '@plinth/kernel';
import type { GameDataConfig } from './config.js';
import { BulkFiles } from './domain/bulk-files.js';
import { DataSet } from './domain/data/data-set.js';
import { imageLinks } from './domain/data/image-links.js';
import { groupRows } from './domain/data/kind-table.js';
import { makeRow } from './domain/data/record-rows.js';
import type { Row } from './domain/data/row.js';
import { TimeSlices } from './domain/data/time-slices.js';
import { Editor } from './domain/edit/editor.js';
import { ImportExport } from './domain/exchange/import-export.js';
import { Ledger } from './domain/ledger.js';
import { Library } from './domain/library.js';
import { Opening } from './domain/opening.js';
import { Catalog } from './domain/query/catalog.js';
import { generateSample, SAMPLE_LANGUAGES } from './domain/sample/generate-sample.js';
import { readWordLists } from './domain/sample/words.js';
import { registerMetrics } from './metrics.js';
import type { Kind } from './model/kinds.js';
import { KINDS } from './model/kinds.js';
import { cacheFor } from './routes/content-headers.js';
import { GameDataConventions } from './routes/conventions.js';
import { ALL_SCOPES, EditorAccess, readEditorToken } from './routes/editor/editor-access.js';
import { type PublicRouteDeps, warmUp } from './routes/public-routes.js';
import { ReplyCache } from './routes/reply-cache.js';
import { gameDataRouteGroup } from './routes/table.js';
import { adoptFolder } from './storage/adopt-folder.js';
import { EditionStore } from './storage/edition-store.js';
import { GroupStore } from './storage/group-store.js';
import { ImageFolder } from './storage/image-folder.js';
import { RelationalObjects } from './storage/relational-objects.js';
import { TextStore } from './storage/text-store.js';

export interface GameDataDeps {
  readonly settings: GameDataConfig;
  /** Versions, drafts and history; on a shared store, also the records. */
  readonly relational: RelationalStore;
  /** Records of a node without a shared store. */
  readonly objects: ObjectStore;
  /** The node's own store, which contains its data from before it used a shared store. */
  readonly local: RelationalStore;
  readonly fileSystem: FileSystem;
  /** Folder for temporary files. */
  readonly folder: string;
  readonly outbox: Outbox;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Whether `/` shows the index; false if another service serves it. */
  readonly ownsRoot: boolean;
  /** Returns the admin token of the server that an editor request contains. */
  readonly findAdmin: (token: string) => { readonly name: string } | undefined;
  /** Counter for wrong tokens across nodes; without it, each node counts separately. */
  readonly countTogether?: CountTogether;
}

/**
 * Idle time before the newest version is warmed up. Servers are often loaded with data immediately after startup,
 * which should not compete with warm-up for CPU time.
 */
const CALM_MS = 100;
/** Maximum delay per page under continuous load. */
const LONGEST_WAIT_MS = 10_000;

/** Interval of checks for changes of other nodes; each check reads a few rows. */
const FOLLOW_MS = 300;
/** A node that could not read changes for this long reports a problem. */
const MAX_BEHIND_MS = 5000;

export interface GameData extends HttpService {
  /** Reason why this node's game data may be outdated; `undefined` if none is known. */
  readonly obstacle: string | undefined;
}

/**
 * Creates the service for game data and its editor. `start` returns immediately; requests wait
 * until the data is loaded.
 */
export async function createGameData(deps: GameDataDeps): Promise<GameData> {
  const token = await readAdminToken(deps.settings);
  return new GameDataService(deps, token);
}

class GameDataService implements GameData {
  readonly name = 'gamedata';
  readonly #deps: GameDataDeps;
  readonly #groups: GroupStore;
  readonly #ledger: Ledger;
  readonly #library: Library;
  readonly #parts: PublicRouteDeps;
  readonly #conventions: GameDataConventions;
  readonly #editions: EditionStore;
  readonly #texts: TextStore;
  readonly #images: ImageFolder;
  readonly #editor: Editor;
  readonly #importExport: ImportExport;
  readonly #closing = new AbortController();
  #sharedObjects: RelationalObjects | undefined;
  #following: Disposable | undefined;
  readonly #opening: Opening;
  #warming: Promise<void> = Promise.resolve();
  #isWarmUpDue = false;

  constructor(deps: GameDataDeps, adminToken: string | undefined) {
    this.#deps = deps;
    const { settings, relational, objects, outbox, clock, log } = deps;
    this.#texts = new TextStore({
      fileSystem: deps.fileSystem,
      folder: deps.folder,
      log,
      memoryLimitBytes: settings.text_memory_bytes,
    });
    const { signal } = this.#closing;
    this.#opening = new Opening({ clock, log, signal, open: () => this.#load() });
    this.#editions = new EditionStore(relational);
    if (this.#editions.isShared) this.#sharedObjects = new RelationalObjects(relational);
    this.#groups = new GroupStore(this.#sharedObjects ?? objects);
    this.#ledger = new Ledger(this.#editions);
    this.#library = new Library({
      ledger: this.#ledger,
      editions: this.#editions,
      groups: this.#groups,
      texts: this.#texts,
      clock,
      outbox,
      log,
      keepVersions: settings.keep_versions,
      keepHistory: { count: settings.keep_history, sizeBytes: settings.keep_history_bytes },
    });
    this.#editor = new Editor({
      ledger: this.#ledger,
      library: this.#library,
      editions: this.#editions,
      clock,
      random: deps.random,
      requireIfMatch: settings.require_if_match,
    });
    this.#importExport = new ImportExport({
      ledger: this.#ledger,
      library: this.#library,
      editor: this.#editor,
      editions: this.#editions,
      clock,
      maxRecordCount: settings.max_import_records,
    });
    const access = new EditorAccess({
      tokens: [
        ...settings.tokens.map(readEditorToken),
        ...(adminToken === undefined
          ? []
          : [
              {
                name: 'admin',
                hash: createHash('sha256').update(adminToken).digest(),
                scopes: ALL_SCOPES,
                expiresMs: undefined,
              },
            ]),
      ],
      clock,
      findAdmin: deps.findAdmin,
      ...(deps.countTogether !== undefined && { countTogether: deps.countTogether }),
    });
    this.#conventions = new GameDataConventions({
      ownsRoot: deps.ownsRoot,
      cors: settings.cors,
      editorOrigins: settings.editor_origins,
      access,
      reportBug(err) {
        const requestId = deps.random.uuidV4();
        log.error({ err, requestId }, 'request failed');
        return requestId;
      },
    });
    this.#images = new ImageFolder({
      folder: join(deps.folder, 'images'),
      clock,
      log,
      onChanged: () => this.#forgetReplies(),
    });
    const imageLink = imageLinks(settings.image_base, (name) => this.#images.has(name));
    this.#parts = {
      clock,
      images: this.#images,
      ownsRoot: deps.ownsRoot,
      library: this.#library,
      catalog: new Catalog(imageLink),
      bulk: new BulkFiles(imageLink),
      limits: { defaultLimit: settings.default_limit, maxLimit: settings.max_limit },
      cache: new ReplyCache(settings.cache_bytes),
      ready: () => this.#opening.ready(),
      cacheControl: cacheFor(settings.max_age_sec),
    };
    registerMetrics(deps.metrics, {
      library: this.#library,
      cache: this.#parts.cache,
      behindMs: () => this.#editor.writes.behindMs,
    });
    this.#library.onPublished(({ set }) => {
      this.#parts.cache.clear();
      this.#parts.catalog.forgetOthers(set);
      if (this.#opening.ready() === undefined) this.#warmSoon();
    });
  }

  routeGroups(): readonly RouteGroup[] {
    this.#opening.begin(() => {
      this.#warmSoon();
      this.#follow();
    });
    const parts = this.#parts;
    const editor = {
      library: this.#library,
      editor: this.#editor,
      importExport: this.#importExport,
      replies: this.#editions,
      ready: () => this.#opening.ready(),
      clock: this.#deps.clock,
      maxImportBytes: this.#deps.settings.max_import_bytes,
    };
    return [gameDataRouteGroup({ conventions: this.#conventions, parts, editor })];
  }

  /** Does nothing: the first publication needs the outbox, which starts after the services. */
  async start(): Promise<void> {}

  get obstacle(): string | undefined {
    if (!this.#editions.isShared) return undefined;
    if (this.#opening.isFailing) return 'the game data cannot be loaded';
    if (this.#opening.ready() !== undefined) return undefined;
    if (this.#library.isUnreadable) return 'no version of the game data is readable';
    const { behindMs } = this.#editor.writes;
    if (behindMs <= MAX_BEHIND_MS) return undefined;
    return `changes to the game data by other nodes have not been read for ${Math.round(behindMs / 1000)} s`;
  }

  #follow(): void {
    if (!this.#editions.isShared) return;
    const { clock, log } = this.#deps;
    const name = 'read game data changes of other nodes';
    const job = { clock, log, name, intervalMs: FOLLOW_MS };
    this.#following = repeatJob(job, () => this.#editor.writes.follow());
  }

  async freeze({ copyStore }: BackupMoment): Promise<FrozenFiles> {
    const frozen = await this.#groups.freeze(copyStore);
    const hasImages = this.#images.count > 0;
    return {
      release: () => frozen.release(),
      leftOut: hasImages ? ['game data images: copy the folder gamedata/images separately'] : [],
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#images.close();
    await this.#opening.ended();
    this.#following?.[Symbol.dispose]();
    await this.#ledger.exclusive(async () => {});
    await this.#parts.catalog.close();
    await this.#warming;
    await this.#texts.close();
  }

  /** Clears cached replies, because image links may have changed. */
  #forgetReplies(): void {
    this.#parts.cache.clear();
    this.#parts.bulk.clear();
    if (this.#opening.ready() === undefined) this.#warmSoon();
  }

  async #load(): Promise<void> {
    await this.#images.start();
    await this.#editions.migrate();
    await this.#adoptFolder();
    const { writes } = this.#editor;
    await writes.load();
    await this.#library.removeUnreferenced();
    if (this.#isNew && this.#deps.settings.sample) await this.#publishSample();
  }

  /** Whether nothing is stored, neither a version nor a draft. */
  get #isNew(): boolean {
    const { current, versions } = this.#library;
    return versions.length === 0 && this.#editor.draft.isSameAs(current.set);
  }

  async #adoptFolder(): Promise<void> {
    if (this.#sharedObjects === undefined) return;
    const { local, objects, random, log } = this.#deps;
    const from = { relational: local, objects };
    const { version, leavesDraft } = await adoptFolder(from, {
      editions: this.#editions,
      objects: this.#sharedObjects,
      random,
    });
    if (version !== undefined)
      log.info({ version }, 'game data migrated from the data folder to PostgreSQL');
    if (leavesDraft)
      log.warn(
        'game data draft not migrated to PostgreSQL, because no version is published; it remains in the data folder',
      );
  }

  async #publishSample(): Promise<void> {
    const { sample_seed: seed } = this.#deps.settings;
    const set = await sampleSet(seed);
    await this.#editor.writes.changeBase({ actor: 'system' }, async () => {
      // Another node may have started the same publication.
      if (!this.#isNew) return;
      await this.#library.publish(set, {
        actor: 'system',
        message: `sample data, seed ${seed}`,
        source: 'sample',
        action: 'published',
        op: 'publish',
        kinds: KINDS,
        draft: set,
        dropsDraft: false,
      });
      this.#editor.replaceDraft(this.#library.current.set);
    });
  }

  #warmSoon(): void {
    // A pending warm-up uses the version that is current when it starts.
    if (this.#isWarmUpDue || this.#library.isUnreadable) return;
    this.#isWarmUpDue = true;
    const { signal } = this.#closing;
    const { clock, log } = this.#deps;
    const calm = () => whenIdle({ clock, stepMs: CALM_MS, longestMs: LONGEST_WAIT_MS, signal });
    this.#warming = this.#warming
      .then(calm)
      .then(() => {
        this.#isWarmUpDue = false;
        return warmUp(this.#parts, calm, signal);
      })
      .catch((err) => {
        if (!signal.aborted) log.warn({ err }, 'cannot warm up the response cache');
      });
  }
}

async function sampleSet(seed: number): Promise<DataSet> {
  const wordLists = await readWordLists();
  const rows = new Map<Kind, Row[]>(KINDS.map((kind) => [kind, []]));
  const slices = new TimeSlices();
  for (const { kind, record } of generateSample({ seed, scale: 1, wordLists })) {
    rows.get(kind)?.push(makeRow(kind, record, 0));
    const pause = slices.check();
    if (pause !== undefined) await pause;
  }
  const groups = Object.fromEntries(KINDS.map((kind) => [kind, groupRows(rows.get(kind) ?? [])]));
  return DataSet.empty({ languages: SAMPLE_LANGUAGES }).with(groups);
}

async function readAdminToken(settings: GameDataConfig): Promise<string | undefined> {
  const { admin_token, admin_token_file } = settings;
  if (admin_token_file === undefined) return admin_token;
  return (await readFile(admin_token_file, 'utf8')).trim();
}
