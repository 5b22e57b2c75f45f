import type { Clock } from '@plinth/kernel';
import { gameDataError } from '../../errors.js';
import type { Manifest } from '../../model/edition.js';
import { byTypeKey, KIND_WIRE, KINDS } from '../../model/kinds.js';
import type { EditionStore } from '../../storage/edition-store.js';
import type { DataSet } from '../data/data-set.js';
import { countChanges, diffSets } from '../data/set-changes.js';
import { validateSet } from '../data/validation.js';
import type { EditRequest } from '../edit/edit-request.js';
import type { Editor } from '../edit/editor.js';
import type { Ledger, SerializedWrite } from '../ledger.js';
import type { Library } from '../library.js';
import { type Assembled, assembleSet, MAX_DETAILS, refuseLeft } from './assemble.js';
import type { ExchangeFormat } from './import-batches.js';
import { type OpenImport, openImport } from './import-thread.js';
import { PiecesBroken } from './json-pieces.js';
import { writeNative } from './native.js';
import { type Overlay, overlayEdits } from './overlay.js';
import type { ImportWarning } from './payload.js';
import { repairReferences } from './repair.js';
import { writeTarkovData } from './tarkovdata/write-tarkovdata.js';

export interface ImportOptions {
  readonly format: ExchangeFormat;
  readonly mode: 'replace' | 'merge';
  readonly dryRun: boolean;
  readonly publish: boolean;
  /** Whether any warning makes the import fail. */
  readonly strict: boolean;
  /** Whether manual edits since the last import are applied again. */
  readonly overlay: boolean;
  /** Aborted when the client has disconnected; then no data is stored. */
  readonly signal?: AbortSignal;
}

const MAX_SAMPLE_WARNINGS = 100;

/** Imports and exports complete data sets. Source: gamedata, section 8. */
export class ImportExport {
  readonly #ledger: Ledger;
  readonly #library: Library;
  readonly #editor: Editor;
  readonly #editions: EditionStore;
  readonly #clock: Clock;
  readonly #maxRecordCount: number;

  constructor(deps: {
    readonly ledger: Ledger;
    readonly library: Library;
    readonly editor: Editor;
    readonly editions: EditionStore;
    readonly clock: Clock;
    /** Limit per import. */
    readonly maxRecordCount: number;
  }) {
    this.#ledger = deps.ledger;
    this.#library = deps.library;
    this.#editor = deps.editor;
    this.#editions = deps.editions;
    this.#clock = deps.clock;
    this.#maxRecordCount = deps.maxRecordCount;
  }

  async *export(set: DataSet, format: ExchangeFormat): AsyncGenerator<string> {
    if (format === 'native') yield* writeNative(set);
    else yield `${JSON.stringify(writeTarkovData(set))}\n`;
  }

  /**
   * Imports everything or nothing. Throws `invalid_json`, `validation_failed`, `too_large` and
   * `client_left`.
   * @param bytes ownership passes to the import; the buffer may be detached afterwards.
   */
  async import(editRequest: EditRequest, bytes: Buffer, options: ImportOptions): Promise<unknown> {
    try {
      return await this.#editor.writes.changeBaseOnce(editRequest, async () => {
        refuseLeft(options.signal);
        const open = await openImport({
          ...{ bytes, format: options.format, maxRecordCount: this.#maxRecordCount },
          updatedAt: new Date(this.#clock.nowMs()).toISOString(),
        });
        try {
          return await this.#import(editRequest, open, options);
        } finally {
          await open.close();
        }
      });
    } catch (error) {
      if (error instanceof PiecesBroken || error instanceof SyntaxError) {
        throw gameDataError(
          'invalid_json',
          `the body is not valid JSON: ${error.message.slice(0, 200)}`,
        );
      }
      throw error;
    }
  }

  async #import(
    editRequest: EditRequest,
    open: OpenImport,
    options: ImportOptions,
  ): Promise<unknown> {
    // A dry run does not even use up a change number.
    const seq = options.dryRun
      ? this.#ledger.seq + 1
      : await this.#editor.writes.reserveSeq(editRequest);
    // Read only after the reservation, which first applies changes of other nodes.
    const before = this.#editor.draft;
    const read = await assembleSet(before, open, {
      isMerge: options.mode === 'merge',
      seq,
      texts: this.#library.texts,
      signal: options.signal,
    });
    await open.close();
    const repaired = this.#isSound(read, before, options)
      ? { set: read.set, warnings: [] }
      : await repairReferences(
          read.set,
          (kind, id) => read.placeOf(kind, id) ?? { path: `/${KIND_WIRE[kind].typeKey}/${id}` },
        );
    const overlaid = options.overlay
      ? await overlayEdits(repaired.set, { before, editions: this.#editions, seq })
      : { set: repaired.set, warnings: [], overlays: [] };
    const { set } = overlaid;
    const warnings: ImportWarning[] = [
      ...open.head.warnings,
      ...read.warnings,
      ...repaired.warnings,
      ...overlaid.warnings,
    ];
    if (!options.publish) warnings.push(...(await this.#remainingFaults(set)));
    if (options.strict && warnings.length > 0) {
      const details = warnings.slice(0, MAX_DETAILS).map((warning) => ({ ...warning }));
      throw gameDataError('validation_failed', {
        message: `the import was rejected because strict is true (warnings: ${warnings.length}); fix the data, or set strict to false`,
        details,
      });
    }
    const counts = byTypeKey(read.counts);
    const changes = countChanges(await diffSets(before, set));
    const reply = (published: boolean, version: number): object => ({
      success: true,
      format: options.format,
      mode: options.mode,
      dryRun: options.dryRun,
      published,
      version,
      counts,
      changes,
      warnings: summary(warnings),
    });
    refuseLeft(options.signal);
    const current = this.#library.current.version.version;
    if (options.dryRun) {
      const details = options.publish ? await validateSet(set) : [];
      if (details.length > 0)
        throw gameDataError('validation_failed', {
          message: `validation errors: ${details.length}`,
          details: details.slice(0, MAX_DETAILS),
        });
      return reply(false, current);
    }
    if (!options.publish) {
      await this.#keepAsDraft(editRequest, set, seq, overlaid.overlays, reply(false, current));
      return reply(false, current);
    }
    const published = await this.#library.publish(set, {
      actor: editRequest.actor,
      message: `import, ${options.format}`,
      source: 'import',
      action: 'imported',
      op: 'import',
      kinds: KINDS,
      draft: set,
      dropsDraft: true,
      isStrict: true,
      also: async (tx, { version }) => {
        if (options.overlay) await this.#editions.replaceOverlays(tx, overlaid.overlays);
        await editRequest.storeReply?.(tx, reply(true, version.version));
      },
    });
    this.#editor.replaceDraft(this.#library.current.set);
    return reply(true, published.version.version);
  }

  /** Whether no reference can dangle, so that repairs need no scan. */
  #isSound(read: Assembled, before: DataSet, { mode }: ImportOptions): boolean {
    if (!read.isComplete) return false;
    // In a merge, retained records may dangle as before, or refer to a map by its former slug.
    const isMergedOnSound =
      before.isSameAs(this.#library.current.set) && before.tables.maps === read.set.tables.maps;
    return mode === 'replace' || isMergedOnSound;
  }

  async #remainingFaults(set: DataSet): Promise<readonly ImportWarning[]> {
    const faults = await validateSet(set, { since: this.#library.current.set });
    return faults.map(({ code, type, id, path, message }) => ({
      code,
      path: `/${type}/${id}${path}`,
      message,
    }));
  }

  async #keepAsDraft(
    editRequest: EditRequest,
    set: DataSet,
    seq: number,
    overlays: readonly Overlay[],
    reply: object,
  ): Promise<void> {
    const draftManifest = await this.#library.store(set);
    const store = async ({ tx, throughSeq }: SerializedWrite): Promise<Manifest> => {
      await this.#editions.dropDrafts(tx, KINDS, throughSeq);
      await this.#editions.history.add(tx, {
        seq,
        atMs: this.#clock.nowMs(),
        actor: editRequest.actor,
        op: 'import',
        kind: null,
        id: null,
        before: null,
        after: null,
        replacedBy: null,
        aboutSeq: null,
        version: null,
      });
      if (overlays.length > 0) await this.#editions.replaceOverlays(tx, overlays);
      await editRequest.storeReply?.(tx, reply);
      return draftManifest;
    };
    await this.#ledger.moveBase(store, { isStrict: true });
    this.#editor.replaceDraft(set);
  }
}

function summary(warnings: readonly ImportWarning[]): object {
  const byCode: Record<string, number> = {};
  for (const { code } of warnings) byCode[code] = (byCode[code] ?? 0) + 1;
  return { total: warnings.length, byCode, sample: warnings.slice(0, MAX_SAMPLE_WARNINGS) };
}
