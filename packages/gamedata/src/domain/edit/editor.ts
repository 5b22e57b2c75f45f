import { type Clock, mergePatch, type Random } from '@plinth/kernel';
import { gameDataError } from '../../errors.js';
import { isSameJson, pointerOf } from '../../model/json.js';
import { KIND_WIRE, KINDS, type Kind } from '../../model/kinds.js';
import { freeSlug } from '../../model/normal-text.js';
import type { HistoryFilter } from '../../storage/edit-history.js';
import type { EditionStore } from '../../storage/edition-store.js';
import type { DataSet } from '../data/data-set.js';
import { parseRow, prepareRecord, type StoredRecord } from '../data/record-rows.js';
import type { Row } from '../data/row.js';
import type { RecordFault } from '../data/validation.js';
import { KIND_SPECS } from '../kinds/index.js';
import type { Ledger } from '../ledger.js';
import type { Library } from '../library.js';
import { resolveAliases } from './aliases.js';
import { Draft, type EditedRecord, presentRow } from './draft.js';
import type { EditRequest } from './edit-request.js';
import { Publishing } from './publishing.js';
import { SerializedWrites } from './serialized-writes.js';
import { Undoing } from './undoing.js';

/** The record state that the editor expects. */
export interface Precondition {
  /** Numbers from `If-Match`; `*` for any state; `undefined` without the header. */
  readonly ifMatch: readonly number[] | '*' | undefined;
}

const MAX_REFERRERS = 50;

/**
 * Changes records in a draft that only editors see, and publishes it. Source: gamedata, section 6.
 */
export class Editor {
  readonly #library: Library;
  readonly #editions: EditionStore;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #requireIfMatch: boolean;
  readonly #draft: Draft;
  readonly writes: SerializedWrites;
  readonly undoing: Undoing;
  readonly publishing: Publishing;

  constructor(deps: {
    readonly ledger: Ledger;
    readonly library: Library;
    readonly editions: EditionStore;
    readonly clock: Clock;
    readonly random: Random;
    readonly requireIfMatch: boolean;
  }) {
    this.#library = deps.library;
    this.#editions = deps.editions;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#requireIfMatch = deps.requireIfMatch;
    this.#draft = new Draft(deps);
    this.writes = new SerializedWrites({ ...deps, draft: this.#draft });
    const parts = { ...deps, draft: this.#draft, writes: this.writes };
    this.undoing = new Undoing(parts);
    this.publishing = new Publishing(parts);
  }

  get draft(): DataSet {
    return this.#draft.set;
  }

  /** Only inside `SerializedWrites.changeBase` and `SerializedWrites.changeBaseOnce`. */
  replaceDraft(set: DataSet): void {
    this.#draft.replace(set, KINDS);
  }

  /** Throws `not_found` for an unknown record. */
  read(kind: Kind, id: string, isPublished: boolean): EditedRecord {
    const set = isPublished ? this.#library.current.set : this.#draft.set;
    const row = set.row(kind, id);
    if (row === undefined) throw gameDataError('not_found', KIND_WIRE[kind].notFound);
    return presentRow(set, kind, row);
  }

  async create(
    editRequest: EditRequest,
    kind: Kind,
    body: Record<string, unknown>,
    options: { readonly generateId: boolean },
  ): Promise<EditedRecord> {
    return await this.writes.changeRecord(editRequest, async (write) => {
      const requestedId = body['id'];
      const isGenerated = options.generateId && requestedId === undefined;
      const own = isGenerated ? { ...body, id: this.#newId() } : body;
      if (own['id'] === undefined && kind !== 'levels') {
        const fault = { path: '/id', code: 'required', message: 'id is missing' };
        throw gameDataError('validation_failed', { message: 'id is missing', details: [fault] });
      }
      const record = this.#prepare(kind, own, undefined);
      if (this.#draft.set.row(kind, record.id) !== undefined) {
        throw gameDataError('conflict', { message: `record ${record.id} already exists` });
      }
      return await this.#draft.put({ write, editRequest }, 'create', {
        kind,
        record,
        aboutSeq: null,
      });
    });
  }

  async replace(
    editRequest: EditRequest,
    target: { readonly kind: Kind; readonly id: string } & Precondition,
    body: Record<string, unknown>,
  ): Promise<EditedRecord> {
    return await this.#update(editRequest, target, () => body);
  }

  async patch(
    editRequest: EditRequest,
    target: { readonly kind: Kind; readonly id: string } & Precondition,
    patch: Record<string, unknown>,
  ): Promise<EditedRecord> {
    return await this.#update(
      editRequest,
      target,
      (current) => mergePatch(current, patch) as Record<string, unknown>, // an object merged with an object
    );
  }

  async #update(
    editRequest: EditRequest,
    target: { readonly kind: Kind; readonly id: string } & Precondition,
    change: (current: Record<string, unknown>) => Record<string, unknown>,
  ): Promise<EditedRecord> {
    const { kind, id } = target;
    return await this.writes.changeRecord(editRequest, async (write) => {
      const row = this.#existing(target);
      const current = presentRow(this.#draft.set, kind, row).data;
      const body = change(current);
      if (body['id'] !== undefined && body['id'] !== id) {
        const fault = {
          path: '/id',
          code: 'contradiction',
          message: `id must match the id in the path, ${id}`,
        };
        throw gameDataError('validation_failed', {
          message: 'the id in the body differs from the id in the path',
          details: [fault],
        });
      }
      const sent = { ...body, id };
      // Members derived from other records may differ from the values in the request.
      const record = isSameContent(sent, current)
        ? undefined
        : this.#prepare(kind, resolveAliases(KIND_SPECS[kind], sent, current), row);
      if (record === undefined || isSameContent(record, parseRow(kind, row))) {
        const result = presentRow(this.#draft.set, kind, row);
        await editRequest.storeReply?.(write.tx, { success: true, data: result.data });
        return { result };
      }
      return await this.#draft.put({ write, editRequest }, 'update', {
        kind,
        record,
        aboutSeq: null,
      });
    });
  }

  /** Throws `conflict` if other records refer to this one, unless `force` is set. */
  async delete(
    editRequest: EditRequest,
    target: { readonly kind: Kind; readonly id: string } & Precondition,
    options: { readonly force: boolean; readonly replacedBy: string | undefined },
  ): Promise<void> {
    const { kind, id } = target;
    await this.writes.changeRecord(editRequest, async (write) => {
      this.#existing(target);
      const { replacedBy } = options;
      if (
        replacedBy !== undefined &&
        (replacedBy === id || !this.#draft.set.row(kind, replacedBy))
      ) {
        throw gameDataError('conflict', {
          message: `replacedBy must be the id of another existing record, not ${replacedBy}`,
        });
      }
      if (!options.force) this.#refuseIfReferenced(kind, id);
      return await this.#draft.remove({ write, editRequest }, 'delete', {
        kind,
        id,
        replacedBy: replacedBy ?? null,
        aboutSeq: null,
      });
    });
  }

  #existing(target: { readonly kind: Kind; readonly id: string } & Precondition): Row {
    const row = this.#draft.set.row(target.kind, target.id);
    if (row === undefined) {
      if (target.ifMatch !== undefined)
        throw gameDataError('precondition_failed', { rev: undefined });
      throw gameDataError('not_found', KIND_WIRE[target.kind].notFound);
    }
    if (target.ifMatch === undefined) {
      if (this.#requireIfMatch) throw gameDataError('precondition_required');
    } else if (target.ifMatch !== '*' && !target.ifMatch.includes(row.rev)) {
      throw gameDataError('precondition_failed', { rev: row.rev });
    }
    return row;
  }

  #refuseIfReferenced(kind: Kind, id: string): void {
    const referrers: RecordFault[] = [];
    const quoted = JSON.stringify(id);
    for (const other of KINDS) {
      for (const row of this.#draft.set.tables[other].rows) {
        if (!row.mentions(quoted) || (other === kind && row.id === id)) continue;
        for (const reference of KIND_SPECS[other].references(parseRow(other, row))) {
          if (reference.kind !== kind || reference.id !== id) continue;
          referrers.push({
            type: KIND_WIRE[other].typeKey,
            id: row.id,
            path: pointerOf(reference.path),
            code: 'referenced',
            message: `record ${row.id} in ${other} refers to this record`,
          });
          if (referrers.length >= MAX_REFERRERS) break;
        }
        if (referrers.length >= MAX_REFERRERS) break;
      }
    }
    if (referrers.length > 0) {
      throw gameDataError('conflict', {
        message: 'other records refer to this record; change them first',
        details: referrers.slice(0, MAX_REFERRERS),
      });
    }
  }

  /** Converts the body to a record of the draft. Throws `validation_failed`. */
  #prepare(kind: Kind, body: Record<string, unknown>, current: Row | undefined): StoredRecord {
    const updatedAt = new Date(this.#clock.nowMs()).toISOString();
    const prepared = prepareRecord(kind, body, {
      updatedAt,
      ...(current !== undefined && { slug: current.slug }),
    });
    if (prepared.record === undefined) {
      throw gameDataError('validation_failed', {
        message:
          `invalid record: ${prepared.faults[0]?.path ?? ''} ${prepared.faults[0]?.message ?? ''}`.trim(),
        details: prepared.faults,
      });
    }
    const { record } = prepared;
    const { languages } = this.#draft.set.metadata;
    const unknown = Object.keys(record.locales).filter((language) => !languages.includes(language));
    if (unknown.length > 0) {
      throw gameDataError('validation_failed', {
        message: `unknown language ${unknown.join(', ')}`,
        details: unknown.map((language) => ({
          path: pointerOf(['locales', language]),
          code: 'unknown_language',
          message: `available languages: ${languages.join(', ')}`,
        })),
      });
    }
    const table = this.#draft.set.tables[kind];
    const isTaken = (slug: string): boolean => {
      const other = table.bySlug(slug);
      return other !== undefined && other.id !== record.id;
    };
    const source = current === undefined ? undefined : parseRow(kind, current).source;
    return {
      ...record,
      slug: freeSlug(record.slug, isTaken),
      ...(source !== undefined && { source }),
    };
  }

  #newId(): string {
    return Buffer.from(this.#random.bytes(12)).toString('hex');
  }

  /** Newest entries first. */
  async history(filter: HistoryFilter, page: { readonly limit: number; readonly offset: number }) {
    return await this.#editions.history.page(filter, page);
  }
}

const isSameContent = (one: object, other: object): boolean =>
  isSameJson({ ...one, updatedAt: '' }, { ...other, updatedAt: '' });
