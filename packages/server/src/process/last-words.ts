import { createLogger } from '@plinth/kernel';

/**
 * From here on a failure that nobody expected ends the process at once, with a line in the log. An ordinary exit would
 * first wait for every statement that the engine has been given, with the port open and nobody to answer; what was
 * acknowledged is on disk whatever way the process ends.
 */
export function endAtOnceOnBug(): void {
  process.on('uncaughtException', (err) => {
    const log = createLogger({ level: 'fatal', destination: 2 });
    log.fatal({ err }, 'unexpected failure, the server ends');
    process.kill(process.pid, 'SIGKILL');
  });
}
