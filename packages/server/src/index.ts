export { describeMetrics, describeServer } from './describe-server.js';
export { explainFailedStart } from './process/explain-failed-start.js';
export { closeOnSignals } from './process/signals.js';
export { describeAllSettings, SETTINGS, type Settings } from './settings.js';
export { readSettings, startServer } from './start-server.js';
