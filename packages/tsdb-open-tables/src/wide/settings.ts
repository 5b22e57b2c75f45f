import { defineSettings, type SettingsOf } from '@plinth/kernel';
import { Type } from 'typebox';

/** Settings of wide queries: docs/WIDE-QUERIES.md. */
export const QUERY_SETTINGS = defineSettings('query', {
  wide_url: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s/?#]+(/[^\\s/?#]*)?$',
      examples: ['http://trino.internal:8080/plinth'],
      description: 'Trino coordinator that runs queries with `engine=trino`',
      details:
        'The path is the name of the catalog in Trino (default: `plinth`). The user name and password in the URL are sent to Trino; the default user is `plinth`. Without this setting, all queries run on this server.',
    }),
  ),
  wide_bytes: Type.Integer({
    default: 0,
    minimum: 0,
    description: 'size of segments above which a SQL query runs on Trino; 0 only on request',
    details:
      'The server adds up the segments in the time range of the query. Queries that Trino cannot run, and queries with `engine=duckdb`, run on this server.',
  }),
});

export type QuerySettings = SettingsOf<typeof QUERY_SETTINGS>;
