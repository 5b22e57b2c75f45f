export { describeServer } from './describe-server.js';
export type { ServerAddress } from './port/listener.js';
export { describeAllSettings, SETTINGS, type Settings } from './settings.js';
export {
  type RunningServer,
  readSettings,
  type StartOptions,
  startServer,
} from './start-server.js';
export { closeOnSignals } from './stop-signals.js';
