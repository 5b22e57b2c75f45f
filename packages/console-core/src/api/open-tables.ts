import { sendForJson } from './client.js';

/** One of the two names under which a table is published as an Iceberg table. */
export interface PublishedTable {
  readonly table: string;
  readonly namespace: string;
  /** The Iceberg format version: 3 with nanoseconds, 2 for Trino and Spark. */
  readonly format_version: number;
  readonly state: string;
  readonly reason: string | null;
  readonly location: string;
  readonly absent_columns: readonly string[];
  readonly version: number | null;
  readonly fresh_through: string | null;
  readonly row_count: number | null;
}

/** Fetches the published tables of all databases. The list is empty if no database is published. */
export const fetchPublished = async (): Promise<
  readonly (PublishedTable & { readonly db: string })[]
> =>
  (
    await sendForJson<{ tables: (PublishedTable & { readonly db: string })[] }>(
      '/ops/v1/tsdb/open-tables',
    )
  ).tables;

/** Flushes and publishes a table now. */
export const publishTable = (db: string, table: string): Promise<unknown> =>
  sendForJson('/ops/v1/tsdb/open-tables/publish', { body: { db, table } });
