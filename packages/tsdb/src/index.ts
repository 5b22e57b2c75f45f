export { TSDB_SETTINGS, type TsdbSettings } from './config.js';
export { createTsdb, preloadTsdb, type Tsdb } from './create-tsdb.js';
export type { Engine, QueryRequest, WriteOutcome, WriteRequest } from './domain/engine/engine.js';
export type { TokenDirectory, TokenRecord } from './domain/system-tables/tables/tokens.js';
export type { TsdbError } from './errors.js';
export { findDamage } from './find-damage.js';
export type { TsdbNeeds } from './needs.js';
export { type ParquetMapping, readParquet } from './read-parquet.js';
export { TSDB_API } from './routes/description.js';
