import type { ReportEvent } from '@plinth/kernel';
import { formatDuration } from '@plinth/tsdb-model/time/duration.js';
import type { Transaction } from 'kysely';
import { inParts } from './records/write-catalog.js';

type Change = 'created' | 'deleted';

/**
 * Publishes events for created and deleted databases and tables. Source: webhooks, "Internal
 * events".
 */
export class CatalogEvents {
  readonly #report: ReportEvent | undefined;

  constructor(report: ReportEvent | undefined) {
    this.#report = report;
  }

  async database<DB>(tx: Transaction<DB>, change: Change, database: Described): Promise<void> {
    const payload = { database: described(database) };
    await this.#report?.(tx, { type: `database.${change}`, payload });
  }

  async tables<DB>(
    tx: Transaction<DB>,
    change: Change,
    options: { readonly database: Described; readonly tables: readonly string[] },
  ): Promise<void> {
    const database = described(options.database);
    const events = options.tables.map((name) => ({
      type: `table.${change}`,
      payload: { database, table: { name } },
    }));
    for (const some of inParts(events)) await this.#report?.(tx, ...some);
  }
}

interface Described {
  readonly name: string;
  readonly retentionNs: bigint | undefined;
}

/** Formats the retention period like the setting; null keeps rows forever. */
function described({ name, retentionNs }: Described): object {
  return { name, retention: retentionNs === undefined ? null : formatDuration(retentionNs) };
}
