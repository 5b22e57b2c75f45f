import type { ExplainStatement } from './explain-statement.js';
import type {
  AlterRetentionPolicy,
  CreateDatabase,
  CreateRetentionPolicy,
  DeleteRows,
  DropDatabase,
  DropMeasurement,
  DropRetentionPolicy,
  KillQuery,
} from './schema-statements.js';
import type { SelectStatement } from './select-statement.js';
import type {
  ShowCardinality,
  ShowDatabases,
  ShowFieldKeys,
  ShowMeasurements,
  ShowNothing,
  ShowQueries,
  ShowRetentionPolicies,
  ShowSeries,
  ShowServer,
  ShowShards,
  ShowTagKeys,
  ShowTagValues,
} from './show-statements.js';
import type { UnsupportedStatement } from './unsupported-statement.js';

export type SchemaStatement =
  | CreateDatabase
  | DropDatabase
  | CreateRetentionPolicy
  | AlterRetentionPolicy
  | DropRetentionPolicy
  | DropMeasurement
  | DeleteRows
  | KillQuery;

export type ShowStatement =
  | ShowDatabases
  | ShowRetentionPolicies
  | ShowMeasurements
  | ShowTagKeys
  | ShowFieldKeys
  | ShowTagValues
  | ShowSeries
  | ShowCardinality
  | ShowQueries
  | ShowServer
  | ShowShards
  | ShowNothing;

export type Statement =
  | SelectStatement
  | ExplainStatement
  | ShowStatement
  | SchemaStatement
  | UnsupportedStatement;
