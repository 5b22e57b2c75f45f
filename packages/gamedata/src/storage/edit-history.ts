import type { RelationalStore } from '@plinth/kernel';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { type HistoryEntry, type HistoryOp, NO_VERSION } from '../model/edition.js';
import type { Kind } from '../model/kinds.js';
import type { GameDataTables } from './tables.js';

type EditionTransaction = Transaction<GameDataTables>;
type EditionReader = Kysely<GameDataTables>;

type HistoryRow = Selectable<GameDataTables['gamedata_history']>;

export interface HistoryFilter {
  readonly kind?: Kind | undefined;
  readonly id?: string | undefined;
  readonly actor?: string | undefined;
  readonly op?: HistoryOp | undefined;
}

/** Limits on published changes: number, and total size of their records. */
export interface HistoryBounds {
  readonly count: number;
  readonly sizeBytes: number;
}

/** Batch size for removing old changes, because a transaction blocks all writers. */
const FORGET_AT_ONCE = 200;
/** Further changes are removed after the next publications. */
const MAX_FORGET_ROUNDS = 50;
/** Limit on the records per read; a single change may exceed it. */
const MAX_PAGE_BYTES = 4_194_304;
/** Maximum number of changes per query. */
const MAX_PAGE_COUNT = 1000;

/** Size of a change's records before and after; computed without reading the record text. */
const SIZE_BYTES = sql<number>`coalesce(octet_length(before_body), 0) + coalesce(octet_length(after_body), 0)`;

/** A change without its records. */
export type HistoryHead = Pick<HistoryEntry, 'seq' | 'op' | 'aboutSeq'>;

/** Change history in the relational store. */
export class EditHistory {
  readonly #store: RelationalStore;

  constructor(store: RelationalStore) {
    this.#store = store;
  }

  async add(tx: EditionTransaction, entry: HistoryEntry): Promise<void> {
    await tx
      .insertInto('gamedata_history')
      .values({
        seq: entry.seq,
        at_ms: entry.atMs,
        actor: entry.actor,
        op: entry.op,
        kind: entry.kind,
        id: entry.id,
        before_body: entry.before,
        after_body: entry.after,
        replaced_by: entry.replacedBy,
        about_seq: entry.aboutSeq,
        version: entry.version,
      })
      .execute();
  }

  /** Marks unpublished changes of these kinds up to `throughSeq` as published with `version`. */
  async markPublished(
    tx: EditionTransaction,
    kinds: readonly Kind[],
    { version, throughSeq }: { readonly version: number; readonly throughSeq: number },
  ): Promise<void> {
    await tx
      .updateTable('gamedata_history')
      .set({ version })
      .where('version', 'is', null)
      .where('kind', 'in', kinds)
      .where('seq', '<=', throughSeq)
      .execute();
  }

  /** Marks unpublished changes of these kinds as discarded. */
  async markDiscarded(
    tx: EditionTransaction,
    kinds: readonly Kind[],
    throughSeq: number,
  ): Promise<void> {
    await this.markPublished(tx, kinds, { version: NO_VERSION, throughSeq });
  }

  /**
   * Returns entries, newest first. There are fewer than `limit` if their records exceed the size
   * limit.
   */
  async page(
    filter: HistoryFilter,
    page: { readonly limit: number; readonly offset: number },
    on: EditionReader = this.#reader(),
  ): Promise<{ readonly total: number; readonly entries: readonly HistoryEntry[] }> {
    let query = on.selectFrom('gamedata_history');
    for (const column of ['kind', 'id', 'actor', 'op'] as const) {
      const value = filter[column];
      if (value !== undefined) query = query.where(column, '=', value);
    }
    const { total } = await query
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    const found = await query
      .select(['seq', SIZE_BYTES.as('size')])
      .orderBy('seq', 'desc')
      .limit(page.limit)
      .offset(page.offset)
      .execute();
    const rows = await this.#rowsOf(found, on);
    return { total: Number(total), entries: rows.map(entryOf).reverse() };
  }

  /** Returns the changes of records after `seq`, oldest first. */
  async *changesAfter(seq: number): AsyncGenerator<HistoryEntry, void, undefined> {
    for (let seenSeq = seq; ; ) {
      const found = await this.#reader()
        .selectFrom('gamedata_history')
        .select(['seq', SIZE_BYTES.as('size')])
        .where('seq', '>', seenSeq)
        .where('kind', 'is not', null)
        .orderBy('seq')
        .limit(MAX_PAGE_COUNT)
        .execute();
      const rows = await this.#rowsOf(found, this.#reader());
      yield* rows.map(entryOf);
      const lastSeq = rows.at(-1)?.seq;
      if (lastSeq === undefined) return;
      seenSeq = lastSeq;
    }
  }

  /**
   * Returns as many of these changes as the size limit allows, at least the first; oldest first.
   */
  async #rowsOf(
    found: readonly { readonly seq: number; readonly size: number }[],
    on: EditionReader,
  ): Promise<readonly HistoryRow[]> {
    let sizeBytes = 0;
    const seqs: number[] = [];
    for (const { seq, size } of found) {
      sizeBytes += Number(size);
      if (seqs.length > 0 && sizeBytes > MAX_PAGE_BYTES) break;
      seqs.push(seq);
    }
    if (seqs.length === 0) return [];
    return await on
      .selectFrom('gamedata_history')
      .selectAll()
      .where('seq', 'in', seqs)
      .orderBy('seq')
      .execute();
  }

  async entry(seq: number, on: EditionReader): Promise<HistoryEntry | undefined> {
    const row = await on
      .selectFrom('gamedata_history')
      .selectAll()
      .where('seq', '=', seq)
      .executeTakeFirst();
    return row && entryOf(row);
  }

  /** Returns the unpublished changes of one actor, newest first. */
  async openEntries(
    actor: string,
    limit: number,
    on: EditionReader,
  ): Promise<readonly HistoryHead[]> {
    const rows = await on
      .selectFrom('gamedata_history')
      .select(['seq', 'op', 'about_seq'])
      .where('actor', '=', actor)
      .where('version', 'is', null)
      .where('kind', 'is not', null)
      .orderBy('seq', 'desc')
      .limit(limit)
      .execute();
    return rows.map(({ seq, op, about_seq: aboutSeq }) => ({ seq, op: op as HistoryOp, aboutSeq })); // written by `add`
  }

  /**
   * Removes the oldest changes beyond these bounds. Unpublished changes stay, as does the first
   * change of each record since the last import, with which a manual edit is compared.
   */
  async forget(bounds: HistoryBounds): Promise<void> {
    const newestGone = await this.#newestBeyond(bounds);
    if (newestGone === undefined) return;
    const lastImport = await this.#reader()
      .selectFrom('gamedata_history')
      .select('seq')
      .where('op', '=', 'import')
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    const importSeq = lastImport?.seq ?? 0;
    // Each round continues after the previous one, since skipped entries need not be checked again.
    let seenSeq = 0;
    for (let round = 0; round < MAX_FORGET_ROUNDS; round++) {
      const found = await this.#reader()
        .selectFrom('gamedata_history as change')
        .select('seq')
        .where('seq', '>', seenSeq)
        .where('seq', '<=', newestGone)
        .where('seq', '<>', importSeq)
        .where((row) => row.or([row('version', 'is not', null), row('kind', 'is', null)]))
        .where((row) =>
          row.or([
            row('seq', '<', importSeq),
            row('kind', 'is', null),
            row('before_body', 'is', null),
            row.exists(
              row
                .selectFrom('gamedata_history as first')
                .select('first.seq')
                .whereRef('first.kind', '=', 'change.kind')
                .whereRef('first.id', '=', 'change.id')
                .whereRef('first.seq', '<', 'change.seq')
                .where('first.seq', '>', importSeq)
                .where('first.before_body', 'is not', null),
            ),
          ]),
        )
        .orderBy('seq')
        .limit(FORGET_AT_ONCE)
        .execute();
      const seqs = found.map(({ seq }) => seq);
      const lastSeq = seqs.at(-1);
      if (lastSeq === undefined) return;
      await this.#store.transaction<GameDataTables, void>(async (tx) => {
        await tx.deleteFrom('gamedata_history').where('seq', 'in', seqs).execute();
      });
      if (found.length < FORGET_AT_ONCE) return;
      seenSeq = lastSeq;
    }
  }

  /** Returns the number of the newest change outside the bounds. */
  async #newestBeyond({ count, sizeBytes }: HistoryBounds): Promise<number | undefined> {
    const sized = this.#reader()
      .selectFrom('gamedata_history')
      .select(['seq', SIZE_BYTES.as('size')])
      .orderBy('seq', 'desc')
      .limit(count + 1)
      .as('sized');
    const summed = this.#reader()
      .selectFrom(sized)
      .select([
        'seq',
        sql<number>`row_number() over (order by seq desc)`.as('position'),
        sql<number>`sum(size) over (order by seq desc)`.as('total'),
      ])
      .as('summed');
    const found = await this.#reader()
      .selectFrom(summed)
      .select(({ fn }) => fn.max<number | null>('seq').as('seq'))
      .where((row) => row.or([row('position', '>', count), row('total', '>', sizeBytes)]))
      .executeTakeFirst();
    return found?.seq ?? undefined;
  }

  #reader() {
    return this.#store.reader<GameDataTables>();
  }
}

function entryOf(row: HistoryRow): HistoryEntry {
  return {
    seq: row.seq,
    atMs: Number(row.at_ms),
    actor: row.actor,
    op: row.op as HistoryOp, // written by `add`
    kind: row.kind as Kind | null,
    id: row.id,
    before: row.before_body,
    after: row.after_body,
    replacedBy: row.replaced_by,
    aboutSeq: row.about_seq,
    version: row.version,
  };
}
