export { describeCommands } from './commands/describe-commands.js';
export { explainFailedStart } from './commands/folder/serve.js';
export { describeMetrics, describeServer } from './describe-server.js';
export { closeOnSignals } from './process/stop-signals.js';
export { describeAllSettings, SETTINGS, type Settings } from './settings.js';
export { readSettings, startServer } from './start-server.js';
