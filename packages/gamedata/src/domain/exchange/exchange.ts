import type { Clock } from '@plinth/kernel';
import { BodyRefused, type ValidationDetail, ValidationFailed } from '../../errors.js';
import { applyPatch, diffJson, type PatchOperation } from '../../model/json-patch.js';
import { byTypeKey, KIND_WIRE, KINDS, type Kind, mapKinds } from '../../model/kinds.js';
import { freeSlug } from '../../model/normal-text.js';
import type { EditionStore } from '../../storage/edition-store.js';
import type { DataSet } from '../data-set.js';
import type { Attempt, Editor } from '../edit/editor.js';
import { GROUP_SIZE, groupRows, type RowGroup } from '../kind-table.js';
import type { Library } from '../library.js';
import { makeRow, parseRow, prepareRecord, type StoredRecord } from '../record-rows.js';
import { Row } from '../row.js';
import { countChanges, diffSets } from '../set-changes.js';
import { Slices } from '../slices.js';
import { validateSet } from '../validation.js';
import { JsonPieces, PiecesBroken } from './json-pieces.js';
import { readNative, writeNative } from './native.js';
import type { ImportWarning, Payload } from './payload.js';
import { repairReferences } from './repair.js';
import { readTarkovData } from './tarkovdata/read-tarkovdata.js';
import { writeTarkovData } from './tarkovdata/write-tarkovdata.js';

export type ExchangeFormat = 'native' | 'tarkovdata';

export interface ImportOptions {
  readonly format: ExchangeFormat;
  readonly mode: 'replace' | 'merge';
  readonly dryRun: boolean;
  readonly publish: boolean;
  /** Nothing is stored when there is any warning. */
  readonly strict: boolean;
  /** Edits made by hand since the last import are done again on top. */
  readonly overlay: boolean;
}

const MAX_SAMPLE_WARNINGS = 100;
const MAX_DETAILS = 100;
const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/;

/** Takes whole data sets in and gives them out. Source: gamedata, section 8. */
export class Exchange {
  readonly #library: Library;
  readonly #editor: Editor;
  readonly #editions: EditionStore;
  readonly #clock: Clock;

  constructor(needs: {
    readonly library: Library;
    readonly editor: Editor;
    readonly editions: EditionStore;
    readonly clock: Clock;
  }) {
    this.#library = needs.library;
    this.#editor = needs.editor;
    this.#editions = needs.editions;
    this.#clock = needs.clock;
  }

  async *export(set: DataSet, format: ExchangeFormat): AsyncGenerator<string> {
    if (format === 'native') yield* writeNative(set);
    else yield `${JSON.stringify(writeTarkovData(set))}\n`;
  }

  /** All or nothing. Throws `BodyRefused` and `ValidationFailed`. */
  async import(attempt: Attempt, bytes: Buffer, options: ImportOptions): Promise<unknown> {
    try {
      const payload = await readPayload(bytes, options.format);
      return await this.#library.alone(() => this.#import(attempt, payload, options));
    } catch (error) {
      if (error instanceof PiecesBroken || error instanceof SyntaxError) {
        throw new BodyRefused(
          'invalid_json',
          `the body is not JSON: ${error.message.slice(0, 200)}`,
        );
      }
      throw error;
    }
  }

  async #import(attempt: Attempt, payload: Payload, options: ImportOptions): Promise<unknown> {
    const before = this.#editor.draft;
    const seq = this.#library.nextSeq();
    const read = await this.#assemble(before, payload, options, seq);
    const repaired = await repairReferences(
      read.set,
      (kind, id) =>
        read.places.get(`${kind}/${id}`) ?? {
          path: `/${KIND_WIRE[kind].typeKey}/${id}`,
        },
    );
    const overlaid = options.overlay
      ? await this.#overlay(repaired.set, before, seq)
      : { set: repaired.set, warnings: [], overlays: [] };
    const { set } = overlaid;
    const warnings: ImportWarning[] = [
      ...payload.warnings,
      ...read.warnings,
      ...repaired.warnings,
      ...overlaid.warnings,
    ];
    if (!options.publish) warnings.push(...(await this.#remainingFaults(set)));
    if (options.strict && warnings.length > 0) {
      const details = warnings.slice(0, MAX_DETAILS).map((warning) => ({ ...warning }));
      throw new ValidationFailed(`${warnings.length} warnings; nothing was stored`, details);
    }
    const counts = byTypeKey(read.counts);
    const changes = countChanges(diffSets(before, set));
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
    const current = this.#library.current.version.version;
    if (options.dryRun) {
      const details = options.publish ? await validateSet(set) : [];
      if (details.length > 0)
        throw new ValidationFailed(`${details.length} faults`, details.slice(0, MAX_DETAILS));
      return reply(false, current);
    }
    if (!options.publish) {
      await this.#keepAsDraft(attempt, set, seq, overlaid.overlays, reply(false, current));
      return reply(false, current);
    }
    const published = await this.#library.publish(set, {
      actor: attempt.actor,
      message: `import, ${options.format}`,
      source: 'import',
      action: 'imported',
      op: 'import',
      kinds: KINDS,
      draft: set,
      also: async (tx, { version }) => {
        if (options.overlay) await this.#editions.replaceOverlays(tx, overlaid.overlays);
        await this.#editions.dropDrafts(tx, KINDS);
        await attempt.keep?.(tx, reply(true, version.version));
      },
    });
    this.#editor.replaceDraft(this.#library.current.set);
    return reply(true, published.version.version);
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
    attempt: Attempt,
    set: DataSet,
    seq: number,
    overlays: readonly { kind: Kind; id: string; patch: string }[],
    reply: object,
  ): Promise<void> {
    const draftManifest = await this.#library.store(set);
    await this.#editions.transaction(async (tx) => {
      await this.#editions.dropDrafts(tx, KINDS);
      await this.#editions.putState(tx, { lastSeq: seq, draftManifest });
      await this.#editions.addHistory(tx, {
        seq,
        atMs: this.#clock.nowMs(),
        actor: attempt.actor,
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
      await attempt.keep?.(tx, reply);
    });
    this.#editor.replaceDraft(set);
  }

  /** The set that the draft becomes, before references are looked at. Throws `ValidationFailed`. */
  async #assemble(before: DataSet, payload: Payload, options: ImportOptions, seq: number) {
    const now = new Date(this.#clock.nowMs()).toISOString();
    const rows = mapKinds(
      (kind) =>
        new Map<string, Row>(
          options.mode === 'merge' ? before.tables[kind].rows.map((row) => [row.id, row]) : [],
        ),
    );
    const slugs = mapKinds(
      (kind) => new Map<string, string>([...rows[kind].values()].map((row) => [row.slug, row.id])),
    );
    const places = new Map<string, { file?: string; path: string }>();
    const details: ValidationDetail[] = [];
    const warnings: ImportWarning[] = [];
    const counts = mapKinds(() => 0);
    const seen = new Set<string>();
    const loose: Row[] = [];
    const slices = new Slices();
    for (const incoming of payload.records) {
      const { kind, body, file, path } = incoming;
      counts[kind] += 1;
      const pause = slices.next();
      if (pause !== undefined) await pause;
      const old = before.row(kind, String(body['id']));
      const updatedAt =
        typeof body['updatedAt'] === 'string' && RFC_3339.test(body['updatedAt'])
          ? body['updatedAt']
          : now;
      const prepared = prepareRecord(kind, body, {
        updatedAt,
        ...(old !== undefined && options.mode === 'merge' && { slug: old.slug }),
      });
      if (prepared.record === undefined) {
        for (const fault of prepared.faults) {
          const type = KIND_WIRE[kind].typeKey;
          details.push({
            ...fault,
            type,
            id: String(body['id'] ?? ''),
            path: `${path}${fault.path}`,
            ...(file && { file }),
          });
        }
        if (details.length >= MAX_DETAILS) break;
        continue;
      }
      const key = `${kind}/${prepared.record.id}`;
      if (seen.has(key)) {
        const message = `${kind} ${prepared.record.id} is there twice`;
        details.push({ path: `${path}/id`, code: 'duplicate_id', message, ...(file && { file }) });
        continue;
      }
      seen.add(key);
      places.set(key, { ...(file !== undefined && { file }), path });
      const row = place(kind, prepared.record, { old, slugs: slugs[kind], seq });
      if (row.slug !== prepared.record.slug) {
        const message = `slug ${prepared.record.slug} is taken: ${row.slug}`;
        if (body['slug'] !== undefined)
          warnings.push({ code: 'changed_slug', path, message, ...(file && { file }) });
      }
      rows[kind].set(row.id, row);
      loose.push(row);
      if (loose.length >= GROUP_SIZE) Row.pack(loose.splice(0));
    }
    if (details.length > 0) {
      throw new ValidationFailed(
        'the import is not valid; nothing was stored',
        details.slice(0, MAX_DETAILS),
      );
    }
    const { about } = before;
    const isMerge = options.mode === 'merge';
    const defaultLanguage = isMerge
      ? about.defaultLanguage
      : (payload.defaultLanguage ?? about.defaultLanguage);
    const languages = [
      ...new Set([defaultLanguage, ...(isMerge ? about.languages : []), ...payload.languages]),
    ];
    const aliases = isMerge ? { ...about.aliases } : {};
    for (const kind of KINDS) {
      const own = payload.aliases[kind];
      if (own !== undefined) aliases[kind] = { ...aliases[kind], ...own };
    }
    const groups: Partial<Record<Kind, readonly RowGroup[]>> = {};
    for (const kind of KINDS) {
      const next = [...rows[kind].values()];
      const old = before.tables[kind];
      const isSame =
        next.length === old.rows.length && next.every((row, index) => row === old.rows[index]);
      if (!isSame) groups[kind] = regroup(next, old.groups);
    }
    return {
      set: before.with(groups, { defaultLanguage, languages, aliases }),
      places,
      warnings,
      counts,
    };
  }

  /** Edits of the draft against the import it was based on, done again on the new import. */
  async #overlay(set: DataSet, before: DataSet, seq: number) {
    const known = new Map(
      (await this.#editions.overlays()).map((entry) => [`${entry.kind}/${entry.id}`, entry]),
    );
    const warnings: ImportWarning[] = [];
    const overlays: { kind: Kind; id: string; patch: string }[] = [];
    const edited = await this.#editedRecords(before, known);
    const groups: Partial<Record<Kind, readonly RowGroup[]>> = {};
    for (const kind of KINDS) {
      let hasChanged = false;
      const rows = set.tables[kind].rows.map((row) => {
        const patch = edited.get(`${kind}/${row.id}`);
        if (patch === undefined) return row;
        const record = parseRow(kind, row);
        const path = `/${KIND_WIRE[kind].typeKey}/${row.id}`;
        const target = structuredClone(record);
        if (!applyPatch(target, patch)) {
          warnings.push({
            code: 'overlay_conflict',
            path,
            message: 'the edit no longer fits the record',
          });
          return row;
        }
        if (diffJson(record, target).length === 0) {
          warnings.push({
            code: 'overlay_obsolete',
            path,
            message: 'the import says the same already',
          });
          return row;
        }
        overlays.push({ kind, id: row.id, patch: JSON.stringify(patch) });
        hasChanged = true;
        return makeRow(kind, target, seq);
      });
      if (hasChanged) groups[kind] = groupRows(rows);
    }
    return { set: set.with(groups), warnings, overlays };
  }

  /** Patches by kind and id: those kept from before, and what the history since the last import says. */
  async #editedRecords(
    before: DataSet,
    known: ReadonlyMap<string, { readonly patch: string }>,
  ): Promise<ReadonlyMap<string, readonly PatchOperation[]>> {
    const patches = new Map<string, readonly PatchOperation[]>();
    for (const [key, { patch }] of known) patches.set(key, JSON.parse(patch) as PatchOperation[]);
    const [lastImport] = (await this.#editions.history({ op: 'import' }, { limit: 1, offset: 0 }))
      .entries;
    const first = new Map<string, string>();
    for (const entry of await this.#editions.changesAfter(lastImport?.seq ?? 0)) {
      const { kind, id, before: old } = entry;
      const key = `${kind}/${id}`;
      if (kind === null || id === null || first.has(key) || old === null) continue;
      first.set(key, old);
      const now = before.row(kind, id);
      if (now === undefined) continue;
      const own = diffJson(JSON.parse(old), JSON.parse(now.text)).filter(
        ({ path }) => path !== '/updatedAt' && !path.startsWith('/source'),
      );
      patches.set(key, [...(patches.get(key) ?? []), ...own]);
    }
    return patches;
  }
}

async function readPayload(bytes: Buffer, format: ExchangeFormat): Promise<Payload> {
  const pieces = new JsonPieces(bytes);
  if (format === 'native') return readNative(pieces);
  return readTarkovData(await readFiles(pieces));
}

async function readFiles(pieces: JsonPieces): Promise<ReadonlyMap<string, unknown>> {
  const files = new Map<string, unknown>();
  const slices = new Slices();
  for (const [name, piece] of pieces.members(pieces.whole())) {
    const file = name.replace(/^data\//, '');
    try {
      files.set(file, pieces.parse(piece));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      const message = `${file} is not JSON: ${error.message.slice(0, 200)}`;
      throw new ValidationFailed(message, [{ file, path: '', code: 'invalid_json', message }]);
    }
    await slices.check();
  }
  return files;
}

/** The row of an imported record; the old one when nothing but its time differs. */
function place(
  kind: Kind,
  record: StoredRecord,
  at: { readonly old: Row | undefined; readonly slugs: Map<string, string>; readonly seq: number },
): Row {
  const { old, slugs, seq } = at;
  const slug = freeSlug(record.slug, (candidate) => {
    const owner = slugs.get(candidate);
    return owner !== undefined && owner !== record.id;
  });
  slugs.set(slug, record.id);
  const row = makeRow(kind, slug === record.slug ? record : { ...record, slug }, seq);
  if (old === undefined) return row;
  if (old.text === row.text) return old;
  const withoutTime = (text: string): string => text.replace(/"updatedAt":"[^"]*"/, '');
  return withoutTime(old.text) === withoutTime(row.text) ? old : row;
}

/** Groups that hold the same rows as before stay the same objects, and need not be stored again. */
function regroup(rows: readonly Row[], old: readonly RowGroup[]): RowGroup[] {
  const groups: RowGroup[] = [];
  let start = 0;
  for (const group of old) {
    const isSame = group.rows.every((row, index) => rows[start + index] === row);
    if (!isSame) break;
    groups.push(group);
    start += group.rows.length;
  }
  return [...groups, ...groupRows(rows.slice(start))];
}

function summary(warnings: readonly ImportWarning[]): object {
  const byCode: Record<string, number> = {};
  for (const { code } of warnings) byCode[code] = (byCode[code] ?? 0) + 1;
  return { total: warnings.length, byCode, sample: warnings.slice(0, MAX_SAMPLE_WARNINGS) };
}
