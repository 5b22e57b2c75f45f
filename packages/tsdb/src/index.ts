export { TSDB_SETTINGS, type TsdbSettings } from './config.js';
export type { Engine, QueryRequest, WriteOutcome, WriteRequest } from './domain/engine/engine.js';
export type { TsdbError } from './errors.js';
