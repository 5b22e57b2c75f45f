// The modules of a running service in one bundle. Separate bundles would share two dozen files, and each file slows
// down the start.
export { createTextFormats } from './routes/formats/index.js';
export { PiecePool } from './routes/formats/piece-pool.js';
export { encodedRun } from './routes/influxql/v1-query-route.js';
export { liveSources } from './routes/operator/live-sources.js';
export { resultResponse } from './routes/query/result-response.js';
export { tsdbRouteGroups } from './routes/table.js';
export { openTsdb } from './service.js';
