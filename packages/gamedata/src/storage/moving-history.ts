import { type Kysely, type Selectable, sql } from 'kysely';
import type { EditionStore, EditionTransaction } from './edition-store.js';
import type { GameDataTables } from './tables.js';

type Row = Selectable<GameDataTables['gamedata_history']>;

const READ_AT_ONCE = 1000;
/** Size limit per statement: each change has two records of up to 256 KiB. */
const MAX_PIECE_BYTES = 1_048_576;
/** Number of batches that one statement moves into the history. */
const PIECES_AT_ONCE = 5;

/**
 * Copies a history into the database. A long one takes longer than a transaction may.
 * It is therefore first copied in batches into a separate table, and then moved within the main
 * transaction.
 */
export class MovingHistory {
  readonly #editions: EditionStore;
  /** Other nodes may be copying their own history. */
  readonly #attempt: string;
  /** Last change number of each batch, in order. */
  readonly #edges: number[] = [];

  constructor(editions: EditionStore, attempt: string) {
    this.#editions = editions;
    this.#attempt = attempt;
  }

  async bring(from: Kysely<GameDataTables>): Promise<void> {
    let lastSeq = -1;
    for (let round = 1; ; round++) {
      const rows = await from
        .selectFrom('gamedata_history')
        .selectAll()
        .where('seq', '>', lastSeq)
        .orderBy('seq')
        .limit(READ_AT_ONCE)
        .execute();
      for (const piece of piecesOf(rows)) await this.#bringPiece(piece);
      lastSeq = rows.at(-1)?.seq ?? lastSeq;
      const isEnd = rows.length < READ_AT_ONCE;
      if (isEnd || round % PIECES_AT_ONCE === 0) this.#edges.push(lastSeq);
      if (isEnd) return;
    }
  }

  /**
   * Moves the copied history into place within the transaction. The separate table is then emptied,
   * because copies of other nodes have become obsolete.
   */
  async moveIntoPlace(tx: EditionTransaction): Promise<void> {
    let afterSeq = -1;
    for (const edge of this.#edges) {
      await sql`insert into gamedata_history
        select seq, at_ms, actor, op, kind, id, before_body, after_body, replaced_by, about_seq, version
        from gamedata_moving_history
        where attempt = ${this.#attempt} and seq > ${afterSeq} and seq <= ${edge}`.execute(tx);
      afterSeq = edge;
    }
    await sql`truncate gamedata_moving_history`.execute(tx);
  }

  async #bringPiece(rows: readonly Row[]): Promise<void> {
    await this.#editions.transaction(async (tx) => {
      const values = rows.map((row) => ({ ...row, attempt: this.#attempt }));
      await tx.insertInto('gamedata_moving_history').values(values).execute();
    });
  }
}

/** Removes incomplete copies of other nodes once the database is in use. */
export async function dropMovingHistory(editions: EditionStore): Promise<void> {
  await editions.transaction(async (tx) => {
    const left = await tx
      .selectFrom('gamedata_moving_history')
      .select('seq')
      .limit(1)
      .executeTakeFirst();
    if (left !== undefined) await sql`truncate gamedata_moving_history`.execute(tx);
  });
}

function* piecesOf(rows: readonly Row[]): Generator<readonly Row[]> {
  let piece: Row[] = [];
  let sizeBytes = 0;
  for (const row of rows) {
    const rowBytes = (row.before_body?.length ?? 0) + (row.after_body?.length ?? 0);
    if (piece.length > 0 && sizeBytes + rowBytes > MAX_PIECE_BYTES) {
      yield piece;
      piece = [];
      sizeBytes = 0;
    }
    piece.push(row);
    sizeBytes += rowBytes;
  }
  if (piece.length > 0) yield piece;
}
