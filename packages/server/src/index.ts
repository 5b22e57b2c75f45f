export { describeCommands } from './commands/describe-commands.js';
export { describeMetrics, describeServer } from './describe-server.js';
export type { ServerAddress } from './port/listener.js';
export { closeOnSignals } from './process/stop-signals.js';
export { describeAllSettings, SETTINGS, type Settings } from './settings.js';
export {
  type RunningServer,
  readSettings,
  type StartOptions,
  startServer,
} from './start-server.js';
