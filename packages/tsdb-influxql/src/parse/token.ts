/** Keywords, which are valid as names only in quotes. Source: query-languages, "Tokens". */
export const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'ALL ALTER ANALYZE AND ANY AS ASC BEGIN BY CARDINALITY CONTINUOUS CREATE DATABASE DATABASES DEFAULT DELETE DESC ' +
    'DESTINATIONS DIAGNOSTICS DISTINCT DROP DURATION END EVERY EXACT EXPLAIN FIELD FOR FROM GRANT GRANTS GROUP GROUPS ' +
    'IN INF INSERT INTO KEY KEYS KILL LIMIT MEASUREMENT MEASUREMENTS NAME OFFSET ON OR ORDER PASSWORD POLICIES POLICY ' +
    'PRIVILEGES QUERIES QUERY READ REPLICATION RESAMPLE RETENTION REVOKE SELECT SERIES SET SHARD SHARDS SHOW SLIMIT ' +
    'SOFFSET STATS SUBSCRIPTION SUBSCRIPTIONS TAG TO USER USERS VALUES WHERE WITH WRITE'
  ).split(' '),
);

interface At {
  /** Offset of the first character. */
  readonly at: number;
  /** Offset after the last character. */
  readonly end: number;
}

export type Token = At &
  (
    | { readonly kind: 'name'; readonly text: string; readonly isQuoted: boolean }
    /** `text` is in upper case. */
    | { readonly kind: 'keyword'; readonly text: string }
    | { readonly kind: 'string'; readonly text: string }
    | { readonly kind: 'integer'; readonly value: bigint }
    | { readonly kind: 'number'; readonly value: number }
    | { readonly kind: 'duration'; readonly ns: bigint }
    | { readonly kind: 'parameter'; readonly text: string }
    | { readonly kind: 'symbol'; readonly text: string }
    | { readonly kind: 'end' }
  );
