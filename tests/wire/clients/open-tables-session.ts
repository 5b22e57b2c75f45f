import assert from 'node:assert/strict';
import type { ObjectStoreProcess, OwnServer } from '../../harness/index.js';

/** Flags of a server that publishes the database `home`. */
export const OPEN_TABLES_FLAGS: readonly string[] = [
  ...['--services', 'tsdb', '--first-token', 'anyone', '--open-tables-databases', 'home'],
];
const LAST_NS = 9_223_372_036_854_775_806n;
const SUM_OF_FLOATS = 2;

/** Returns the properties of a Trino catalog. @param token omitted for a server without tokens */
export const trinoCatalog = (
  server: OwnServer,
  token?: string,
): Readonly<Record<string, string>> => ({
  'connector.name': 'iceberg',
  'iceberg.catalog.type': 'rest',
  'iceberg.rest-catalog.uri': `${server.url}/iceberg`,
  ...(token !== undefined && {
    'iceberg.rest-catalog.security': 'OAUTH2',
    'iceberg.rest-catalog.oauth2.token': token,
  }),
});

/** Returns the properties of a Trino catalog whose files are in a bucket. */
export const trinoBucket = (store: ObjectStoreProcess): Readonly<Record<string, string>> => ({
  'fs.native-s3.enabled': 'true',
  's3.endpoint': store.url,
  's3.path-style-access': 'true',
  's3.region': 'us-east-1',
  's3.aws-access-key': store.key,
  's3.aws-secret-key': store.secret,
});

/** Runs a statement of another engine. 64-bit integers are strings in its rows. */
export type RunStatement = (statement: string) => Promise<readonly (readonly unknown[])[]>;

/** An admin's requests to a server that publishes `home`. */
export class OpenTablesSession {
  readonly token: string;
  #server: OwnServer;

  static async open(server: OwnServer): Promise<OpenTablesSession> {
    const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    return new OpenTablesSession(server, JSON.parse(made.text).token);
  }

  private constructor(server: OwnServer, token: string) {
    this.#server = server;
    this.token = token;
  }

  /** The server has been restarted. */
  set server(server: OwnServer) {
    this.#server = server;
  }

  async send(path: string, body?: string): Promise<string> {
    const response = await this.#server.http.send(path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    });
    assert.ok(response.status < 300, `${path}: ${response.status} ${response.text}`);
    return response.text;
  }

  async write(lines: readonly string[]): Promise<void> {
    await this.send('/api/v3/write_lp?db=home&precision=nanosecond', lines.join('\n'));
  }

  async publish(): Promise<void> {
    await this.send('/ops/v1/tsdb/open-tables/publish', '{"db":"home"}');
  }

  /** Count, sums and extremes of the table `m`; integers as strings, the third value as a number. */
  async sums(): Promise<readonly unknown[]> {
    const q =
      'SELECT count(*), sum(i), sum(f), CAST(min(time) AS BIGINT), CAST(max(time) AS BIGINT), min(i), max(i), count(s), max(tag), max("Tag") FROM m';
    const csv = await this.send(`/api/v3/query_sql?db=home&format=csv&q=${encodeURIComponent(q)}`);
    const cells = (csv.trim().split('\n')[1] ?? '').split(',');
    return cells
      .map((cell) => cell.replaceAll('"', ''))
      .map((cell, index) => (index === SUM_OF_FLOATS ? Number(cell) : cell));
  }

  /**
   * Changes the table `m` by writes, a deletion, an added column and a merge, and calls `check` after each.
   * @param options.hasUnsigned adds an unsigned field, which is not published
   */
  async changeTable(
    { hasUnsigned }: { readonly hasUnsigned: boolean },
    check: () => Promise<void>,
  ): Promise<void> {
    const unsigned = hasUnsigned ? ',u=18446744073709551615u' : '';
    await this.write([
      `m,tag=a,Tag=x i=1i,f=0.5,s="one"${unsigned} -5000000000000000001`,
      `m,tag=b i=-9223372036854775808i,f=-0.0,b=true ${LAST_NS}`,
      'm i=9223372036854775807i 1700000000123456789',
      'm,Tag=z s="" 1',
    ]);
    await this.publish();
    await check();
    const range = { start: '1677-09-22T00:00:00Z', stop: '2262-04-11T00:00:00Z' };
    const remove = { predicate: 'tag="b"', ...range };
    await this.send('/api/v2/delete?org=o&bucket=home', JSON.stringify(remove));
    await this.publish();
    await check();
    await this.write(['m,tag=c i=7i,added=1.5 1700000000123456790']);
    await this.publish();
    await check();
    for (let round = 0; round < 9; round++) {
      await this.write([`m,tag=d i=${round}i,f=${round}.25 ${1_700_000_000_200_000_000 + round}`]);
      await this.publish();
    }
    await this.send('/ops/v1/tsdb/storage/compact', '{"db":"home","table":"m"}');
    await this.publish();
    await check();
  }
}

/** Returns the statement for `sums` in an engine that quotes names with `quote`. @param text type of strings. */
export const sumsOf = (table: string, text: string, quote: string): string => {
  const integer = (value: string) => `CAST(${value} AS ${text})`;
  const columns = [
    integer('count(*)'),
    // The total fits into 64 bits, the sum of some of the rows may not.
    integer('sum(CAST(i AS decimal(38, 0)))'),
    'sum(f)',
    ...['min(time_ns)', 'max(time_ns)', 'min(i)', 'max(i)', 'count(s)'].map(integer),
    'max(tag)',
    `max(${quote}tag__2${quote})`,
  ];
  return `SELECT ${columns.join(', ')} FROM ${table}`;
};
