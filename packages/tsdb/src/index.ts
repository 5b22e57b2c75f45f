export { TSDB_SETTINGS, type TsdbSettings } from './config.js';
export type { Engine, QueryRequest, WriteOutcome, WriteRequest } from './domain/engine/engine.js';
export type { TsdbError } from './errors.js';
export type { RouteDeps } from './routes/deps.js';
export { registerTsdbRoutes } from './routes/register-routes.js';
