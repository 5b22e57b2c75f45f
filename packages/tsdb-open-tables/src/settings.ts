import { defineSettings, type SettingsOf } from '@plinth/kernel';
import { Type } from 'typebox';

/** Settings of tables in an open format: docs/OPEN-TABLES.md. */
export const OPEN_TABLES_SETTINGS = defineSettings('open_tables', {
  databases: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    examples: ['home,weather'],
    description: 'databases whose tables are published as Apache Iceberg tables',
    details:
      'Readers such as ClickHouse, Trino, Spark and PyIceberg read the segments in place. A retention policy is a separate database (`db/policy`).',
  }),
  store: Type.Union([Type.Literal('file'), Type.Literal('s3')], {
    default: 'file',
    description: 'location of published tables: the data folder or a bucket',
    details:
      '`s3` uploads published segments to `object_store.bucket`, so that readers on other machines find them. The server itself reads its local files.',
  }),
  interval_ms: Type.Integer({
    default: 60_000,
    minimum: 100,
    description: 'interval at which changed tables are published',
  }),
  keep_ms: Type.Integer({
    default: 3_600_000,
    minimum: 0,
    description: 'time for which replaced snapshots and their files are kept',
    details:
      'A reader that opened a snapshot can read it for this time. With 0, files are removed as soon as they are merged.',
  }),
  flush_age_ms: Type.Integer({
    default: 60_000,
    minimum: 100,
    description: 'age at which rows of published tables are written to segments',
    details: 'Published tables contain only rows in segments. Other tables are not affected.',
  }),
});

export type OpenTablesSettings = SettingsOf<typeof OPEN_TABLES_SETTINGS>;
