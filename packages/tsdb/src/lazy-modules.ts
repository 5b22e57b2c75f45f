// What a running service is made of, loaded as one: apart, these would share two dozen files, and each costs a start its time.
export { createTextFormats } from './routes/formats/index.js';
export { PiecePool } from './routes/formats/piece-pool.js';
export { encodedRun } from './routes/influxql/v1-query-route.js';
export { liveSources } from './routes/operator/live-sources.js';
export { resultAnswer } from './routes/query/result-answer.js';
export { tsdbTables } from './routes/table.js';
export { openTsdb } from './service.js';
