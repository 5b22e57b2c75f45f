import type { Language } from '../lib/query/macros.js';
import { authorization, curlOf, send, sendForJson, urlOf } from './client.js';

export interface Extent {
  readonly row_count: number;
  readonly size_bytes: number;
  readonly segment_count: number;
  readonly buffered_row_count: number;
  readonly min_time: string | null;
  readonly max_time: string | null;
}

/** Column type of new integer fields. */
export type IntegerFields = 'integer' | 'float';

export interface DatabaseSettings {
  /** Empty: keep rows forever. */
  readonly retention: string;
  /** Absent for retention policies, which use the option of their database. */
  readonly integerFields?: IntegerFields;
}

export interface Database extends Extent {
  readonly name: string;
  readonly retention_ns: string | null;
  readonly integer_fields: IntegerFields;
  readonly table_count: number;
  readonly deleted_at: string | null;
  readonly hard_delete_at: string | null;
}

export interface TableColumn {
  readonly name: string;
  readonly kind: 'time' | 'tag' | 'float64' | 'int64' | 'uint64' | 'utf8' | 'bool';
}

export interface Table extends Extent {
  readonly name: string;
  readonly series_key: readonly string[];
  readonly columns: readonly TableColumn[];
  readonly retention_ns: string | null;
  readonly series_count: number;
}

export interface TablePage {
  readonly tables: readonly Table[];
  readonly table_count: number;
  readonly next_cursor: string | null;
}

export interface SavedQuery {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly folder: string;
  readonly tags: readonly string[];
  readonly db: string;
  readonly lang: Language;
  readonly text: string;
  readonly view: Readonly<Record<string, string>>;
  readonly rev: number;
  readonly created_by: string | null;
  readonly updated_at: string;
}

export interface LoggedQuery {
  readonly id: string;
  readonly language: string;
  readonly text: string;
  /** Whether `text` is only the start of the query. */
  readonly is_cut?: boolean;
  readonly issued: string;
  readonly phase: string;
  readonly running: boolean;
  readonly age_ms: number;
  readonly file_count?: number;
  readonly db?: string;
  readonly token?: string;
}

const DATABASE = '/api/v3/configure/database';
const SAVED = '/ops/v1/tsdb/saved-queries';

export const fetchDatabases = async (
  query: { find?: string; deleted?: boolean } = {},
): Promise<readonly Database[]> =>
  (await sendForJson<{ databases: Database[] }>('/ops/v1/tsdb/databases', { query })).databases;

export const fetchTables = (query: {
  db: string;
  find?: string;
  cursor?: string;
  limit?: number;
}): Promise<TablePage> => sendForJson('/ops/v1/tsdb/schema', { query });

/** Fetches the tables whose names contain `table`, including the table itself. */
export const fetchTable = (db: string, table: string): Promise<TablePage> =>
  fetchTables({ db, find: table, limit: 1000 });

export const createDatabase = (db: string, settings: DatabaseSettings): Promise<unknown> =>
  send(DATABASE, { body: { db, ...databaseBody(settings) } });

export const changeDatabase = (db: string, settings: DatabaseSettings): Promise<unknown> =>
  send(DATABASE, { method: 'PUT', body: { db, ...databaseBody(settings) } });

const databaseBody = ({ retention, integerFields }: DatabaseSettings) => ({
  retention_period: retention === '' ? null : retention,
  ...(integerFields !== undefined && { integer_fields: integerFields }),
});

export const deleteDatabase = (db: string): Promise<unknown> =>
  send(DATABASE, { method: 'DELETE', query: { db } });

export const undeleteDatabase = (db: string): Promise<unknown> =>
  send(`${DATABASE}/undelete`, { body: { db } });

export const deleteTable = (db: string, table: string): Promise<unknown> =>
  send('/api/v3/configure/table', { method: 'DELETE', query: { db, table } });

/** Objects that refer to a table or column; the text of those in `needs_change` contains its name. */
export interface References {
  readonly follows: readonly { readonly kind: string; readonly name: string }[];
  readonly needs_change: References['follows'];
}

/** Renames a table, or one of its columns. A dry run only checks the names and lists the references. */
export const rename = (options: {
  readonly db: string;
  readonly table: string;
  readonly column?: string;
  readonly newName: string;
  readonly isDryRun: boolean;
}): Promise<References> => {
  const { db, table, column, newName, isDryRun } = options;
  const what = column === undefined ? 'table' : 'column';
  const body = { db, table, column, new_name: newName, dry_run: isDryRun };
  return sendForJson<References>(`/api/v3/configure/${what}/rename`, { body });
};

const CONVERT = '/api/v3/configure/column/convert';

interface ConversionRequest {
  readonly db: string;
  readonly table: string;
  readonly column: string;
  readonly to: string;
}

/** What a conversion would change. */
export interface ConversionCounts extends References {
  readonly value_count: number;
  readonly impossible_values: number;
  readonly inexact_values: number;
  readonly rows_without_field: number;
  readonly merged_points: number;
}

export interface Conversion extends ConversionRequest {
  readonly id: number;
  readonly from: string;
  readonly state: 'running' | 'completed' | 'failed' | 'cancelled';
  readonly row_count: number;
  readonly copied_count: number;
  readonly error: string | null;
}

export const checkConversion = (request: ConversionRequest): Promise<ConversionCounts> =>
  sendForJson<ConversionCounts>(CONVERT, { body: { ...request, dry_run: true } });

export const startConversion = (request: ConversionRequest): Promise<unknown> =>
  send(CONVERT, { body: request });

export const fetchConversions = async (): Promise<readonly Conversion[]> =>
  (await sendForJson<{ conversions: Conversion[] }>(CONVERT)).conversions;

export const cancelConversion = (id: number): Promise<unknown> =>
  send(CONVERT, { method: 'DELETE', query: { id } });

/** Returns the URL for writes that accept the valid lines even if other lines are rejected. */
export const writeUrl = (db: string, precision: string): string =>
  urlOf('/api/v3/write_lp', { db, precision, accept_partial: true });

export const writeLines = (options: {
  readonly db: string;
  readonly precision: string;
  readonly lines: string;
}): Promise<unknown> => send(writeUrl(options.db, options.precision), { body: options.lines });

export const fetchQueries = async (
  query: { running?: boolean; console?: boolean; limit?: number } = {},
): Promise<readonly LoggedQuery[]> =>
  (await sendForJson<{ queries: LoggedQuery[] }>('/ops/v1/tsdb/queries', { query })).queries;

export const cancelQuery = (id: string): Promise<unknown> =>
  send(`/ops/v1/tsdb/queries/${encodeURIComponent(id)}`, { method: 'DELETE' });

export const fetchSavedQueries = async (): Promise<readonly SavedQuery[]> =>
  (await sendForJson<{ saved_queries: SavedQuery[] }>(SAVED)).saved_queries;

export const fetchSavedQuery = (id: string): Promise<SavedQuery> =>
  sendForJson(`${SAVED}/${encodeURIComponent(id)}`);

export type SavedContent = Pick<SavedQuery, 'name' | 'db' | 'lang' | 'text' | 'view'> &
  Partial<Pick<SavedQuery, 'description' | 'folder' | 'tags'>>;

export const createSavedQuery = (content: SavedContent): Promise<SavedQuery> =>
  sendForJson(SAVED, { body: content });

/** @param rev the revision that was edited. The server returns 412 when it has changed since. */
export const replaceSavedQuery = (
  id: string,
  content: SavedContent,
  rev: number,
): Promise<SavedQuery> =>
  sendForJson(`${SAVED}/${encodeURIComponent(id)}`, {
    method: 'PUT',
    headers: { 'if-match': `"${rev}"` },
    body: content,
  });

export const deleteSavedQuery = (id: string): Promise<unknown> =>
  send(`${SAVED}/${encodeURIComponent(id)}`, { method: 'DELETE' });

export interface QueryText {
  readonly db: string;
  readonly lang: Language;
  readonly text: string;
  /** Parameter values as a JSON object in text form, so that numbers keep all digits. */
  readonly params?: string | undefined;
  /** Whether the console runs it automatically to fill a page. The list of queries hides it. */
  readonly isOwn?: boolean;
}

/** The server recognizes the console's own queries by this comment. */
const OWN = '/* console */ ';

/** Returns the request body of a query. */
export const queryBody = ({ db, text, params, isOwn }: QueryText, format: string): string => {
  const body = JSON.stringify({ db, q: isOwn ? OWN + text : text, format });
  return params === undefined ? body : `${body.slice(0, -1)},"params":${params}}`;
};

export const queryPath = (lang: Language): string =>
  lang === 'sql' ? '/api/v3/query_sql' : '/api/v3/query_influxql';

/** Returns the rows of a query for a page as objects, for small results. 64-bit integers lose precision. */
export const queryRows = async <T>(query: QueryText): Promise<readonly T[]> =>
  await sendForJson(queryPath(query.lang), {
    body: queryBody({ isOwn: true, ...query }, 'json_rows'),
    headers: { 'content-type': 'application/json' },
  });

export const queryCurl = (query: QueryText, format: string): string =>
  curlOf({
    method: 'POST',
    url: queryPath(query.lang),
    headers: { ...authorization(), 'content-type': 'application/json' },
    body: queryBody(query, format),
  });

export const queryLink = ({ db, lang, text, params }: QueryText, format: string): string =>
  urlOf(queryPath(lang), { db, q: text, format, params });

/** Tokens as the server lists them, without their secrets. */
export interface WantedPermission {
  readonly resource_type: string;
  readonly resource_identifier: readonly string[];
  readonly actions: readonly string[];
}

export interface TokenRow {
  readonly token_id: number;
  readonly name: string;
  readonly hash: string;
  readonly created_at: string;
  /** Absent when the token never expires. */
  readonly expiry?: string | null;
  /** `*:*:*`, or `type:names:actions` separated by `;`. */
  readonly permissions: string;
  /** To the minute; absent when the token was never used. */
  readonly last_used_at?: string | null;
}

export const fetchTokens = (): Promise<readonly TokenRow[]> =>
  queryRows({
    db: '_internal',
    lang: 'sql',
    text: 'SELECT * FROM system.tokens ORDER BY token_id',
  });

/** @param permissions empty for an admin token. */
export const createToken = (
  name: string,
  request: {
    readonly expirySec: number | undefined;
    readonly permissions: readonly WantedPermission[];
  },
): Promise<{ readonly token: string; readonly name: string }> => {
  const { expirySec, permissions } = request;
  const path =
    permissions.length === 0
      ? '/api/v3/configure/token/named_admin'
      : '/api/v3/enterprise/configure/token';
  return sendForJson(path, {
    body: {
      token_name: name,
      ...(permissions.length > 0 && { permissions }),
      ...(expirySec !== undefined && { expiry_secs: expirySec }),
    },
  });
};

export const deleteToken = (name: string): Promise<unknown> =>
  send('/api/v3/configure/token', { method: 'DELETE', query: { token_name: name } });
