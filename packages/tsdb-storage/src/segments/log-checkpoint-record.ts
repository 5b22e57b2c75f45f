import type {
  LogCheckpoint,
  LogCheckpointStore,
  LogEnd,
  RecordRef,
  RelationalStore,
} from '@plinth/kernel';
import type { Transaction } from 'kysely';

interface LogCheckpointRow {
  id: number;
  epoch: number | null;
  first_file: number | null;
  first_sequence: number | null;
  end_file: number | null;
  end_sequence: number | null;
  end_checksum: number | null;
}

interface Tables {
  tsdb_known_log: LogCheckpointRow;
  tsdb_known_log_file: { id: number; file: number };
}

type StoredExpectation = Pick<LogCheckpoint, 'serverStartNumber' | 'first' | 'end'>;

/** The log state in the relational store, except for the newest file: docs/formats/commit-log.md, "Log state in the relational store". */
export class LogCheckpointRecord {
  readonly #store: RelationalStore;

  constructor(store: RelationalStore) {
    this.#store = store;
  }

  async load(): Promise<StoredExpectation> {
    const rows = this.#store.reader<Tables>().selectFrom('tsdb_known_log').selectAll();
    const row = await rows.executeTakeFirst();
    // Before the first start, the log is empty or was written by an earlier release.
    if (row === undefined) return { serverStartNumber: 0, first: undefined, end: undefined };
    return {
      serverStartNumber: numberOf(row.epoch), // the stored name of the start number
      first: recordRefOf(numberOf(row.first_file), numberOf(row.first_sequence)),
      end: endOf(row),
    };
  }

  async newestFile(): Promise<number> {
    const files = this.#store.reader<Tables>().selectFrom('tsdb_known_log_file').select('file');
    return Number((await files.executeTakeFirst())?.file ?? 0);
  }

  /** @param newestFile log file that must exist. */
  async asStore(newestFile: number): Promise<LogCheckpointStore> {
    return {
      expected: { ...(await this.load()), newestFile },
      storeStart: (serverStartNumber) => this.storeStart(serverStartNumber),
      storeStop: (end) => this.storeStop(end),
    };
  }

  async storeStart(serverStartNumber: number): Promise<void> {
    await this.#change({
      epoch: serverStartNumber,
      end_file: null,
      end_sequence: null,
      end_checksum: null,
    });
  }

  async storeStop({ file, sequence, checksum }: LogEnd): Promise<void> {
    const end_checksum = checksum ?? null;
    await this.#change({ end_file: file, end_sequence: sequence, end_checksum });
  }

  /**
   * Lets the next start accept the log unchanged. Used when the store was replaced on purpose.
   */
  async forget(): Promise<void> {
    await this.#change(NOTHING);
  }

  async #change(columns: Partial<LogCheckpointRow>): Promise<void> {
    await this.#store.transaction<Tables, void>(async (tx) => await upsert(tx, columns));
  }
}

/** Runs within the caller's transaction. */
export async function storeFirstRecord<DB>(
  tx: Transaction<DB>,
  { file, sequence }: RecordRef,
): Promise<void> {
  // This file defines the table; the type of the caller's transaction may not contain it.
  const own = tx as unknown as Transaction<Tables>;
  await upsert(own, { first_file: file, first_sequence: sequence });
}

/** Runs within the caller's transaction. */
export async function storeNewestFile<DB>(tx: Transaction<DB>, file: number): Promise<void> {
  const own = tx as unknown as Transaction<Tables>; // the cast is safe, as above
  await own
    .insertInto('tsdb_known_log_file')
    .values({ id: 1, file })
    .onConflict((c) => c.column('id').doUpdateSet({ file }))
    .execute();
}

async function upsert(tx: Transaction<Tables>, columns: Partial<LogCheckpointRow>): Promise<void> {
  await tx
    .insertInto('tsdb_known_log')
    .values({ ...NOTHING, ...columns })
    .onConflict((c) => c.column('id').doUpdateSet(columns))
    .execute();
}

const NOTHING: LogCheckpointRow = {
  ...{ id: 1, epoch: null, first_file: null, first_sequence: null },
  ...{ end_file: null, end_sequence: null, end_checksum: null },
};

const numberOf = (value: number | null): number | undefined =>
  value === null ? undefined : Number(value);

const recordRefOf = (
  file: number | undefined,
  sequence: number | undefined,
): RecordRef | undefined =>
  file === undefined || sequence === undefined ? undefined : { file, sequence };

function endOf(row: LogCheckpointRow): LogEnd | undefined {
  const end = recordRefOf(numberOf(row.end_file), numberOf(row.end_sequence));
  return end === undefined ? undefined : { ...end, checksum: numberOf(row.end_checksum) };
}
