import { ServerInProcess, ServerProcess, type ServerProcessOptions } from '../harness/index.js';

/** Starts the server after a kill. The last one is not killed under load, so it needs no process of its own. */
export const startNext = (
  options: Pick<ServerProcessOptions, 'flags' | 'env' | 'dataDir'>,
  isLast: boolean,
): Promise<ServerInProcess | ServerProcess> =>
  isLast ? ServerInProcess.start(options) : ServerProcess.start(options);
